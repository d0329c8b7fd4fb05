package node

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/gate/behave"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/testing/trees"
	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/test/bench"
)

var typedFiles = map[string]string{
	"package.json":  `{"name": "typed", "type": "module", "private": true}`,
	"tsconfig.json": "{ // of the project\n  \"compilerOptions\": {\"strict\": true, \"paths\": {\"@/*\": [\"./src/*\"]},}\n}\n",
	"src/deep.ts":   "export const deep = (n: number): number => n\n",
	"src/util.ts":   "export interface Opts { suffix?: string }\nexport const upper = (s: string): string => s.toUpperCase()\n",
	"src/lib.ts": `import { upper, type Opts } from './util.js'
import { deep } from '@/deep'

export type Mode = 'fast' | 'slow'
export interface Item { name: string; count?: number }
export enum Color { Red, Green }

export function pages(total: number, size: number = 10): number {
  if (total <= 0 || size <= 0) return 0
  return PAGES
}

export const label = (item: Item, opts?: Opts): string => upper(item.name) + (opts?.suffix ?? '')

export function pick(mode: 'fast' | 'slow', list: readonly string[]): string | undefined {
  return mode === 'slow' ? list[0] : list[LAST]
}

export class Quota<T extends string> {
  private used = 0
  constructor(private readonly limit: number) {}
  take(n: number, who?: T): boolean {
    if (this.used + n LIMIT this.limit) return false
    this.used += deep(n)
    return true
  }
}

export const same = <T,>(list: T[]): T[] => SAME
function inner(n: number): number { return n + INNER }
export const outer = (n: number): number => inner(n) * 2
`,
	"src/lib.test.ts": `import { test, expect } from 'vitest'
import { pages, label, Quota } from './lib'

test('pages', () => { expect(pages(25, 10)).toBe(3) })
test('label', () => { expect(label({name: 'ab', count: 2})).toBe('AB') })
test('quota', () => { const q = new Quota(5); expect(q.take(3)).toBe(true) })
`,
}

// TestTypeScriptIsCalled calls functions of TypeScript by either compiler that a project can
// have: with its types, its paths and what it does not export, and names where they stand.
func TestTypeScriptIsCalled(t *testing.T) {
	variants.Only(t) // a compiler is installed
	t.Parallel()
	runners, err := bench.Runners(t.Context())
	if err != nil {
		t.Skipf("compilers of TypeScript are needed: %v", err)
	}
	base := strings.NewReplacer("PAGES", "Math.ceil(total / size)", "LAST", "list.length - 1", "LIMIT", ">", "SAME", "list.map((x) => x)", "INNER", "1")
	head := strings.NewReplacer("PAGES", "Math.floor(total / size) + 1", "LAST", "list.length - 2", "LIMIT", ">=", "SAME", "{ const out: T[] = []; for (const x of list) out.push(x); return out }", "INNER", "2")
	for compiler, packages := range map[string][]string{"typescript": {"typescript"}, "esbuild": {"esbuild", "@esbuild"}, "": nil} {
		variants.Run(t, "by "+compiler, compiler == "typescript", func(t *testing.T) {
			t.Parallel()
			dirs := map[string]string{}
			for side, with := range map[string]*strings.Replacer{"base": base, "head": head} {
				dirs[side] = t.TempDir()
				for name, text := range typedFiles {
					put(t, filepath.Join(dirs[side], name), with.Replace(text))
				}
				for _, name := range packages {
					link := filepath.Join(dirs[side], "node_modules", name)
					put(t, link+".txt", "") // for the folder
					if err := os.Symlink(filepath.Join(runners, name), link); err != nil {
						t.Fatal(err)
					}
				}
			}
			by := nodeBehaviour()
			plan, ok := by.Plan(os.DirFS(dirs["base"]), os.DirFS(dirs["head"]), ecosystem.Calling{Dir: ".", Files: []string{"src/lib.ts", "src/lib.d.ts"}})
			if !ok {
				t.Fatal("nothing is called")
			}
			said := map[string]behave.Answers{}
			for side, dir := range dirs {
				put(t, filepath.Join(dir, by.File("TestCalls")), plan.File("TestCalls"))
				cmd := exec.CommandContext(t.Context(), "node", by.File("TestCalls"))
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				if compiler == "" {
					if why := "TypeScript cannot be loaded"; !strings.Contains(string(out), why) && !strings.Contains(string(out), "cannot be compiled") {
						t.Errorf("want %q in %s", why, out)
					}
				}
				said[side] = behave.All(string(out))
			}
			differs := map[string]bool{}
			if compiler == "" {
				all := plan.Compare(said["base"], said["head"]).Functions
				if len(all) != 1 || all[0].Name != "src/lib.ts" || !strings.HasPrefix(all[0].Unlike, behave.NotLoaded) {
					t.Errorf("%+v", all)
				}
				return
			}
			for _, f := range plan.Compare(said["base"], said["head"]).Functions {
				differs[f.Name] = f.Differing > 0
				line := map[string]int{"pages": 8, "label": 13, "pick": 15, "Quota": 21, "Quota.take": 22, "same": 29, "outer": 31}[f.Name]
				if f.Unlike != "" || f.Line != line || f.Path != "src/lib.ts" || f.Inputs < 5 {
					t.Errorf("%+v, want line %d", f, line)
				}
				if test := map[string]string{"pages": "pages", "Quota.take": "quota"}[f.Name]; test != "" && !slices.Contains(f.Tested, test) {
					t.Errorf("%s: tested by %v, want %s", f.Name, f.Tested, test)
				}
			}
			for name, want := range map[string]bool{"pages": true, "pick": true, "Quota.take": true, "same": false, "outer": true} {
				if got, ok := differs[name]; !ok || got != want {
					t.Errorf("%s differs: %v (%v), want %v", name, got, ok, want)
				}
			}
		})
	}
}

// inDriver gives a change of a.js and a.test.js to the driver, in place of calls, and says what
// the statements print.
func inDriver(t *testing.T, statements string) []string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is needed")
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "zz.mjs"), nodeBehave+"\n"+statements)
	cmd := exec.CommandContext(t.Context(), node, "zz.mjs")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// TestExpectedErrors: an error is expected where a test that the change alters, or a helper of
// its file, has to do with one.
func TestExpectedErrors(t *testing.T) {
	t.Parallel()
	const none = "const { f } = require('./a')\ntest('f', () => { assert.equal(f([1]), 1) })\n"
	type change struct{ What, Was, Is, Want string }
	changes := []change{
		{"nothing", none, none + "test('g', () => { f([2]) })\n", "false"},
		{"throws", none, none + "test('g', () => { assert.throws(() => f(null)) })\n", "true"},
		{"a try", none, none + "test('g', () => {\n  try {\n    f(null)\n    assert.fail()\n  } catch {}\n})\n", "true"},
		{"a helper", none, "function refuses (...args) {\n  assert.throws(() => f(...args))\n}\n" + none + "test('g', () => {\n  f([1])\n  refuses(null)\n})\n", "true"},
		{"a helper in a group", none, none + "describe('a', () => {\n  const refuses = g => expect(g).toThrow()\n  test('g', () => { refuses(() => f(null)) })\n})\n", "true"},
		{"a table", none, none + "test.each([[null], [undefined]])('g %s', v => { expect(() => f(v)).toThrow() })\n", "true"},
		{"a row of a table", none + "const bad = [1]\ntest('g', () => { for (const v of bad) expect(() => f(v)).toThrow() })\n", none + "const bad = [1, null]\ntest('g', () => { for (const v of bad) expect(() => f(v)).toThrow() })\n", "true"},
		{"as before", none + "test('g', () => { expect(() => f(1)).toThrow() })\n", none + "test('h', () => { f([3]) })\ntest('g', () => { expect(() => f(1)).toThrow() })\n", "false"},
		{"of another", none, none + "test('g', () => { expect(() => g(1)).toThrow() })\n", "false"},
	}
	text, err := json.Marshal(changes)
	if err != nil {
		t.Fatal(err)
	}
	got := inDriver(t, `for (const c of `+string(text)+`) {
  const module = { path: 'a.js', head: 'exports.f = l => l[0]', base: '' }
  const fn = { module, name: 'f', plain: 'f', expr: 'M.f', owner: null, text: 'l => l[0]', params: [], at: 1, tests: [{ path: 'a.test.js', base: c.Was, head: c.Is }] }
  console.log(about(fn, {}).Awaited)
}
`)
	for i, c := range changes {
		if i >= len(got) || got[i] != c.Want {
			t.Errorf("%s: %v, want %s", c.What, got[i:], c.Want)
		}
	}
}

// TestMoreFunctions: functions above those that are called are counted.
func TestMoreFunctions(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is needed")
	}
	dirs, by := []string{t.TempDir(), t.TempDir()}, nodeBehaviour()
	for i, dir := range dirs {
		text := ""
		for n := range 23 {
			text += fmt.Sprintf("exports.f%d = () => %d\n", n, n+i*100)
		}
		put(t, filepath.Join(dir, "a.js"), text)
	}
	plan, ok := by.Plan(os.DirFS(dirs[0]), os.DirFS(dirs[1]), ecosystem.Calling{Dir: ".", Files: []string{"a.js"}})
	if !ok {
		t.Fatal("nothing is called")
	}
	put(t, filepath.Join(dirs[0], by.File("TestCalls")), plan.File("TestCalls"))
	cmd := exec.CommandContext(t.Context(), program, by.File("TestCalls"))
	cmd.Dir = dirs[0]
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all := behave.All(string(out))
	if c := plan.Compare(all, all); c.Left != 3 || len(c.Functions) != 20 {
		t.Errorf("%d left of %d", c.Left, len(c.Functions))
	}
}

// TestHeldInModules: what is printed to be pasted can be run where it says that it belongs, also
// in modules that know no require.
func TestHeldInModules(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is needed")
	}
	for name, text := range map[string]string{"mjs": "export const made = n => new Map([[n, 1]])\n", "cjs": "exports.made = n => new Map([[n, 1]])\n"} {
		out := inDriver(t, `const f = { module: { path: 'lib/a.`+name+`', head: '' }, name: 'made', plain: 'made', expr: 'M.made', owner: null, kind: 'function' }
console.log(held(f, new Input('', ['2'], false, false), { kind: 'r', result: new Map([[2, 1]]), waited: false, many: false }).join('\n'))
`)
		dir := t.TempDir()
		put(t, filepath.Join(dir, "lib", "a."+name), text)
		head := "import test from 'node:test'\nimport assert from 'node:assert'\n"
		if name == "cjs" {
			head = "const test = require('node:test')\nconst assert = require('node:assert')\n"
		}
		put(t, filepath.Join(dir, "a.test."+name), head+strings.Join(out, "\n")+"\n")
		cmd := exec.CommandContext(t.Context(), program, "a.test."+name)
		cmd.Dir = dir
		if said, err := cmd.CombinedOutput(); err != nil || out[0] != "// in a file beside package.json" {
			t.Errorf("%s: %v\n%s\n%s", name, err, strings.Join(out, "\n"), said)
		}
	}
}

// TestClockOfSeconds: what a clock of whole seconds says differs from itself where a call is made
// again, however slowly the first one begins.
func TestClockOfSeconds(t *testing.T) {
	t.Parallel()
	const text = "const fs = require('fs'), slow = process.env.SLOW\nif (slow && !fs.existsSync(slow)) {\n  fs.mkdirSync(slow)\n  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1300)\n}\n" +
		"exports.now = () => { const x = VAR; return new Date().toISOString().slice(0, 19) }\n"
	calls := trees.PlanCalls(t, "node", nodeBehaviour(), "a.js", text, [2]string{"1", "2"})
	at := calls.Compare(behave.All(calls.Made(t, 0)), behave.Answers{}).Functions[0].At
	if said := behave.Some(calls.Made(t, 0, "SLOW="+filepath.Join(t.TempDir(), "slow"), "CALLS="+behave.Which(time.Second, [][2]int{{at, 0}}))); len(said) != 1 || said[0].Stable {
		t.Errorf("%+v", said)
	}
}

// TestPlacesAreNoDifference: where the tree of a side lies, and where a call was made, differs
// between the sides and is not what a function does. It sees no arguments of what calls it.
func TestPlacesAreNoDifference(t *testing.T) {
	t.Parallel()
	const text = "const os = require('os')\nexports.args = () => { const VAR = 1; return process.argv.slice(2) }\nexports.where = () => { const VAR = 1; return __filename }\nexports.url = () => { const VAR = 1; return require('url').pathToFileURL(__dirname) }\nexports.here = () => { const VAR = 1; return process.cwd() }\nexports.home = () => { const VAR = 1; throw new Error(os.homedir() + '/a') }\n"
	calls := trees.PlanCalls(t, "node", nodeBehaviour(), "a.js", text, [2]string{"x", "other"})
	all := calls.Compare(behave.All(calls.Made(t, 0, "HOME=/home/x")), behave.All(calls.Made(t, 1, "HOME=/home/other"))).Functions
	for _, f := range all {
		if f.Unlike != "" || f.Differing+f.Worded > 0 || f.Inputs == 0 {
			t.Errorf("%s: %+v", f.Name, f)
		}
	}
	if len(all) != 5 {
		t.Errorf("%d functions", len(all))
	}
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestCallsAreBounded: where all calls take as long as they may, functions that were not begun are
// left out.
func TestCallsAreBounded(t *testing.T) {
	t.Parallel()
	const text = "exports.block = n => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) + VAR\nexports.last = n => n + VAR\n"
	calls := trees.PlanCalls(t, "node", nodeBehaviour(), "a.js", text, [2]string{"1", "2"})
	out := calls.Made(t, 0, behave.TimeVar+"=1s")
	all := behave.All(out)
	found := calls.Compare(all, all).Functions
	if len(found) != 2 || found[1].Name != "last" || found[1].Unlike != behave.NotBegun {
		t.Errorf("%+v\n%s", found, out)
	}
}

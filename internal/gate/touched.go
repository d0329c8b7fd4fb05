package gate

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A touch is a path of the tests, their data, support or steering at which base
// and head differ.
type touch struct {
	class compare.FileClass
	eco   string // whose table says so; empty: of none alone
	path  string
	file  change.File   // that it comes from
	put   workspace.Put // what the base has there
	mixed bool          // only parts of the file are of the class
}

// versions are the two contents of a changed file, nil where a side has none.
type versions struct{ base, head []byte }

// readBoth reads both versions of the paths of the change.
func (r *runner) readBoth(ctx context.Context) (map[string]versions, error) {
	out := map[string]versions{}
	read := func(commit, name string) ([]byte, error) {
		data, err := r.Mirror.ReadFile(ctx, commit, name)
		switch {
		case err == nil && data == nil:
			return []byte{}, nil
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid):
			return nil, nil
		}
		return data, err
	}
	for _, f := range r.in.Change.Files {
		for _, name := range slices.Compact([]string{f.Path, f.OldPath}) {
			if _, done := out[name]; done || name == "" || f.Binary || isDoc(name) {
				continue
			}
			if len(out) > maxRead && !isTestSource(name) && mixtureOf(name) == nil {
				continue // its path has to do
			}
			var v versions
			var err error
			if v.base, err = read(r.in.Base.Commit, name); err != nil && ctx.Err() != nil {
				return nil, err
			}
			if v.head, err = read(r.in.Head.Commit, name); err != nil && ctx.Err() != nil {
				return nil, err
			}
			out[name] = v
		}
	}
	return out, nil
}

// touches are the paths of the change that are not source, with what the base has
// there. A file is of the first class that it has on either side.
func (r *runner) touches(ctx context.Context) ([]touch, error) {
	both, err := r.readBoth(ctx)
	if err != nil {
		return nil, err
	}
	r.texts = both
	also := r.referred(both)
	var out []touch
	for _, f := range r.in.Change.Files {
		for _, name := range slices.Compact([]string{f.Path, f.OldPath}) {
			if name == "" || slices.ContainsFunc(out, func(t touch) bool { return t.path == name }) {
				continue
			}
			t := touch{path: name, file: f, put: workspace.Put{Path: name, From: r.in.Base.Commit}}
			if m := mixtureOf(name); m != nil && !inFolder(name, dataFolders...) {
				if !r.mix(&t, m, both[name]) {
					continue
				}
			} else {
				t.class, t.eco = classOfBoth(name, both[name], also)
			}
			if t.class == compare.Source && f.Status == change.Retyped || t.class == compare.Source && r.linkAt(ctx, name) {
				t.class, t.eco = classOf(name+"/x", nil, also) // a link to a folder is what the folder is
			}
			if t.class != compare.Source {
				out = append(out, t)
			}
		}
	}
	r.relocate(out)
	return append(out, r.inTheWay(out)...), nil
}

// linkAt says whether either side has a symbolic link at a path.
func (r *runner) linkAt(ctx context.Context, name string) bool {
	for _, commit := range []string{r.in.Base.Commit, r.in.Head.Commit} {
		entries, err := r.Mirror.Files(ctx, commit)
		if err != nil {
			continue
		}
		i, ok := slices.BinarySearchFunc(entries, name, func(e workspace.Entry, name string) int { return strings.Compare(e.Path, name) })
		if ok && entries[i].Mode == "120000" {
			return true
		}
	}
	return false
}

// inTheWay are links and files of the head where the base has folders of what is
// put back.
func (r *runner) inTheWay(touches []touch) []touch {
	var out []touch
	for _, t := range touches {
		for dir := path.Dir(t.path); dir != "."; dir = path.Dir(dir) {
			there := func(o touch) bool { return o.path == dir }
			if _, ok := slices.BinarySearch(r.plan[Head].files, dir); ok && !slices.ContainsFunc(touches, there) && !slices.ContainsFunc(out, there) {
				out = append(out, touch{class: t.class, eco: t.eco, path: dir, file: t.file, put: workspace.Put{Path: dir, From: r.in.Base.Commit}})
			}
		}
	}
	return out
}

// mix fills in the touch of a file of several uses; false where the change leaves
// the parts alone that are not source.
func (r *runner) mix(t *touch, m *mixture, v versions) bool {
	if v.head == nil {
		return false // its project is gone, or built with something else
	}
	merged, err := m.merge(v.base, v.head)
	if err != nil {
		r.note("%s: what it sets for tests could not be told from the rest, so that the change's version is used: %v", t.path, err)
		return false
	}
	t.class, t.mixed = m.class, true
	t.put = workspace.Put{Path: t.path, Data: merged}
	return !bytes.Equal(merged, v.head)
}

func classOfBoth(name string, v versions, also referred) (compare.FileClass, string) {
	order := []compare.FileClass{compare.Steering, compare.Support, compare.Test, compare.Data, compare.Source}
	best, of := compare.Source, ""
	for _, src := range [][]byte{v.base, v.head} {
		if src == nil && (v.base != nil || v.head != nil) {
			continue
		}
		if c, eco := classOf(name, src, also); slices.Index(order, c) < slices.Index(order, best) {
			best, of = c, eco
		}
	}
	return best, of
}

// relocate lets the base's version of a moved test stand where the head has it,
// where what it tests moved along.
func (r *runner) relocate(touches []touch) {
	for i, t := range touches {
		f := t.file
		if f.Status != change.Renamed || t.path != f.Path || t.mixed || !r.movedAlong(f) {
			continue
		}
		touches[i].put.At = f.OldPath
		for j, o := range touches {
			if o.path == f.OldPath && o.file.Path == f.Path {
				touches[j].put = workspace.Put{Path: o.path}
			}
		}
	}
}

// movedAlong says whether sources moved in the same way as a file, such as with
// the whole folder.
func (r *runner) movedAlong(f change.File) bool {
	from, to := movedPrefix(f)
	return slices.ContainsFunc(r.in.Change.Files, func(o change.File) bool {
		if o.Status != change.Renamed || !isSource(o.Path) || isTestFile(o.Path) {
			return false
		}
		of, ot := movedPrefix(o)
		return of == from && ot == to || path.Dir(o.OldPath) == path.Dir(f.OldPath) && path.Dir(o.Path) == path.Dir(f.Path) && path.Dir(o.Path) != path.Dir(o.OldPath)
	})
}

// movedPrefix is what is left of both names without what they end in alike.
func movedPrefix(f change.File) (from, to string) {
	a, b := strings.Split(path.Dir(f.OldPath), "/"), strings.Split(path.Dir(f.Path), "/")
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return strings.Join(a, "/"), strings.Join(b, "/")
}

// referred reads what the trees say of files elsewhere.
func (r *runner) referred(both map[string]versions) referred {
	called := map[string]bool{}
	var configs []string
	note := func(dir, text string) {
		for _, w := range calledIn(text) {
			called[path.Join(dir, w)] = true
		}
	}
	for _, side := range []Side{Base, Head} {
		if r.plan[side] == nil {
			continue
		}
		root := r.tree(side).Dir
		for _, c := range r.plan[side].test {
			note(c.unit, c.text)
		}
		for _, p := range r.plan[side].projects {
			for _, name := range []string{"GNUmakefile", "makefile", "Makefile", "justfile", "Taskfile.yml", "package.json"} {
				if src, err := readInTree(root, path.Join(p.dir, name)); err == nil {
					note(p.dir, testRecipes(name, string(src)))
				}
			}
			configs = append(configs, runnerSettings(root, p.dir)...)
		}
	}
	all := strings.Join(configs, "\n")
	return referred{
		called: called,
		setup:  func(name string) bool { return namesSetup(all, name) },
		data:   r.dataOfTests(both),
	}
}

var (
	scriptWord  = pattern.New(`["']?[\w./@-]*[\w-]["']?`)
	makeTest    = pattern.New(`(?m)^\s*@?["']?(?:tests?|check)["']?(?:\s[^:=\n]*)?:[^=\n]*\n?((?:[ \t]+.*\n?|\n)*)`)
	nodeScripts = pattern.New(`"(?:pre|post)?test[\w:-]*"\s*:\s*"((?:\\.|[^"\\])*)"`)
)

// testRecipes is what a file of targets or scripts runs for tests.
func testRecipes(name, src string) string {
	by := makeTest
	if name == "package.json" {
		by = nodeScripts
	}
	var out []string
	for _, m := range by.FindAllStringSubmatch(src, -1) {
		recipe := m[len(m)-1]
		if name == "package.json" {
			recipe = strings.ReplaceAll(recipe, `\"`, `"`)
		}
		out = append(out, recipe)
	}
	return strings.Join(out, "\n")
}

// runnerSettings are the texts in which runners are told of files of their own.
func runnerSettings(root, dir string) []string {
	var out []string
	for _, name := range []string{"package.json", "jest.config.js", "jest.config.cjs", "jest.config.mjs", "jest.config.ts", "jest.config.json", "vitest.config.js", "vitest.config.ts", "vitest.config.mts", "vite.config.js", "vite.config.ts", ".mocharc.js", ".mocharc.cjs", ".mocharc.json", ".mocharc.yml", ".mocharc.yaml", "test/mocha.opts", "karma.conf.js", "phpunit.xml", "phpunit.xml.dist", ".rspec"} {
		if src, err := readInTree(root, path.Join(dir, name)); err == nil {
			out = append(out, string(src))
		}
	}
	return out
}

// looksLikeSetup is a name or a folder of what belongs to tests.
var looksLikeSetup = pattern.New(`(?i)(?:^|[/._-])(?:tests?|specs?|__tests__|bootstrap|set-?up|support|helpers?|hooks?|env(?:ironment)?|polyfills?|register|fixtures?|transform(?:er)?|resolver|reporter|loader|runner|serializer)`)

// namesSetup says whether settings name a file as one that is loaded before tests.
// One that lies among the sources and is not called a setup file is a source that is
// loaded first, as where PHPUnit's bootstrap is the library itself.
func namesSetup(settings, name string) bool {
	if inFolder(name, "src", "lib", "app") && !looksLikeSetup.MatchString(name) {
		return false
	}
	stem := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if !strings.Contains(settings, stem) {
		return false
	}
	key := `(?s)(?:setupFiles|setupFilesAfterEnv|globalSetup|globalTeardown|testEnvironment|testRunner|reporters?|transform|resolver|snapshotSerializers|--require|--import|--loader|--setup|\brequire|\bbootstrap|\s-r)["']?[\s:=\[]*[^\]}]{0,200}?[/"'\s]`
	return regexp.MustCompile(key + regexp.QuoteMeta(stem) + `(?:\.\w+)?["'\s,\]]`).MatchString(settings)
}

// maxRead bounds how many files are searched for the name of one.
const maxRead = 4000

// dataOfTests tells files that test files name by path and no source does.
func (r *runner) dataOfTests(both map[string]versions) func(string) bool {
	var files []string
	return func(name string) bool {
		if _, changed := both[name]; !changed {
			return false
		}
		if files == nil {
			if p := r.plan[Base]; p != nil {
				files = p.files
			}
		}
		test, read := false, 0
		for _, f := range files {
			if !isSource(f) || ignoredDir(path.Dir(f)) {
				continue
			}
			if read++; read > maxRead {
				return false // in doubt source
			}
			src, err := readInTree(r.in.Base.Dir, f)
			if err != nil || !names(string(src), path.Dir(f), name) {
				continue
			}
			if !isTestSource(f) {
				return false
			}
			test = true
		}
		return test
	}
}

// names says whether a source in dir has the path of a file, or of a folder that it
// is in, in a string.
func names(src, dir, file string) bool {
	for at := file; at != "." && at != "/" && at != dir; at = path.Dir(at) {
		for _, way := range []string{path.Base(at), strings.TrimPrefix(at, dir+"/"), at} {
			for _, q := range []string{`"`, "'", "`", "/"} {
				if i := strings.Index(src, q+way); i >= 0 && i+len(q+way) < len(src) && strings.ContainsRune("\"'`/", rune(src[i+len(q+way)])) {
					return true
				}
			}
		}
	}
	return false
}

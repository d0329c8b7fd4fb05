package golang

import (
	"bytes"
	"go/build"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/behave"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

func goBehaviour() *ecosystem.Behaviour {
	run := func(c ecosystem.Command, pkg, tests, calls string, flags ...string) ecosystem.Command {
		before, _, _ := strings.Cut(c.Text, "go test") // settings
		argv := slices.Concat([]string{"go", "test"}, goTags([]ecosystem.Command{c}), flags, []string{"-count=1", "-vet=off", "-v", "-run=^" + tests + "$", pkg})
		if calls != "" {
			argv = append([]string{"env", "CALLS=" + calls}, argv...)
		}
		c.Argv, c.Text, c.Results = argv, before+ecosystem.Quoted(argv...), nil
		return c
	}
	return &ecosystem.Behaviour{
		Plan:  planGo,
		File:  func(test string) string { return strings.ToLower(test) + "_test.go" },
		Calls: func(c ecosystem.Command, pkg, test, which string) ecosystem.Command { return run(c, pkg, test, which) },
		Uses: func(c ecosystem.Command, pkg, test string) ecosystem.Command {
			return run(c, pkg, test, "", "-gcflags=-e") // all errors, not ten
		},
		Record: func(c ecosystem.Command, pkg string, tests []string) ecosystem.Command {
			return run(c, pkg, "("+strings.Join(tests, "|")+")", behave.Record)
		},
	}
}

// maxBeside bounds the packages that are looked at for types that the change declares otherwise.
const maxBeside = 50

// maxCorpus bounds the files of a fuzz target that are read.
const maxCorpus = 40

// planGo reads the package of a folder on both sides.
func planGo(base, head fs.FS, at ecosystem.Calling) (behave.Planned, bool) {
	dir := at.Dir
	var tags []string
	for _, t := range goTags([]ecosystem.Command{at.Command}) {
		_, list, _ := strings.Cut(t, "=")
		tags = strings.Split(list, ",")
	}
	was, now := goFiles(base, dir, tags), goFiles(head, dir, tags)
	p, ok := behave.Compare(was, now)
	if !ok {
		return p, false
	}
	if isInternal(dir) {
		p.Hide()
	}
	p.Elsewhere(otherGoFiles(head, dir, now))
	for _, other := range at.Packages[:min(len(at.Packages), maxBeside)] {
		if other.Dir != dir {
			p.Beside(other.ImportPath, goFiles(base, other.Dir, tags), goFiles(head, other.Dir, tags))
		}
	}
	targets, _ := fs.ReadDir(base, path.Join(dir, "testdata/fuzz")) // a folder that is not there has none
	for _, t := range targets {
		var files, kept [][]byte
		inputs, _ := fs.ReadDir(base, path.Join(dir, "testdata/fuzz", t.Name()))
		for _, f := range inputs[:min(len(inputs), maxCorpus)] {
			name := path.Join(dir, "testdata/fuzz", t.Name(), f.Name())
			if data, err := fs.ReadFile(base, name); err == nil {
				files = append(files, data)
			}
			if data, err := fs.ReadFile(head, name); err == nil {
				kept = append(kept, data)
			}
		}
		p.Corpus(was, now, t.Name(), files, kept)
	}
	return p.In(dir), true
}

// isInternal says whether only packages around a folder can import that in it.
func isInternal(dir string) bool { return slices.Contains(strings.Split(dir, "/"), "internal") }

// otherGoFiles are the sources of a folder that are not among some.
func otherGoFiles(tree fs.FS, dir string, but map[string][]byte) [][]byte {
	var out [][]byte
	for name, data := range allGoFiles(tree, dir) {
		if but[name] == nil {
			out = append(out, data)
		}
	}
	return out
}

func allGoFiles(tree fs.FS, dir string) map[string][]byte {
	out := map[string][]byte{}
	entries, _ := fs.ReadDir(tree, dir)
	for _, e := range entries {
		if path.Ext(e.Name()) != ".go" || !e.Type().IsRegular() {
			continue
		}
		if data, err := fs.ReadFile(tree, path.Join(dir, e.Name())); err == nil {
			out[e.Name()] = data
		}
	}
	return out
}

// goFiles are the sources of a folder that are compiled here, its tests among them.
func goFiles(tree fs.FS, dir string, tags []string) map[string][]byte {
	out := allGoFiles(tree, dir)
	with := build.Default
	with.BuildTags = tags
	with.OpenFile = func(name string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(out[path.Base(name)])), nil
	}
	for _, name := range slices.Collect(maps.Keys(out)) {
		if ok, err := with.MatchFile(".", name); err != nil || !ok {
			delete(out, name)
		}
	}
	return out
}

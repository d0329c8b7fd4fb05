package sides

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestHidesLanguage: a declaration for a package of Go is a mark where tests of the base in that package have the name
// from the language, and the package did not declare it.
func TestHidesLanguage(t *testing.T) {
	t.Parallel()
	const test = "package a\n\nfunc want() bool { return len(got) > max(1, 2) && true && err.close() }\n"
	for _, tt := range []struct {
		at, head string
		base     string // another source of the base
		test     string
		want     []int
	}{
		{"a/b.go", "package a\n\nfunc len(x any) int { return 0 }\n", "package a\n", test, []int{3}},
		{"a/b.go", "package a\n\nvar len = func(x any) int { return 0 }\n", "package a\n", test, []int{3}},
		{"a/b.go", "package a\n\nvar n, len = 1, size\n", "package a\n", test, []int{3}},
		{"a/b.go", "package a\n\nconst (\n\tok = 1 == 1\n\ttrue = false\n)\n", "package a\n", test, []int{5}},
		{"a/b.go", "package a\n\ntype bool = any\n", "package a\n", test, []int{3}},
		{"a/b.go", "package a\n\nfunc max[T int](a, b T) T { return a }\n", "package a\n", test, []int{3}},
		{"a/b.go", "package a\n\nfunc len(x any) int { return 0 }\nfunc max(a, b int) int { return a }\n", "package a\nfunc max(a, b int) int { return a }\n", test, []int{3}},

		{"a/b.go", "package a\n\nfunc (s set) len() int { return 0 }\n", "package a\n", test, nil},
		{"a/b.go", "package a\n\nfunc f(a []int) int { len := 3; return len }\n", "package a\n", test, nil},
		{"a/b.go", "package a\n\nimport len \"ex.org/len\"\n\nvar Of = len.Of\n", "package a\n", test, nil}, // the import is this file's
		{"a/b.go", "package a\n\nfunc close() {}\n", "package a\n", test, nil},
		{"a/b.go", "package a\n\nfunc min(a, b int) int { return a }\n", "package a\n", test, nil},
		{"a/b.go", "package a\n\nfunc len(x any) int { return 0 }\n", "package a\nvar len = 1\n", test, nil},
		{"a/b.go", "package a\n\nfunc len(x any) int { return 0 }\n", "package a\n", "package a_test\n\nvar n = len(a.Got)\n", nil},
		{"a/b.go", "package a\n\nfunc len(x any) int { return 0 }\n", "package a\n", "package a\n\nfunc n(len int) int { return len }\n", nil},
		{"b/b.go", "package a\n\nfunc len(x any) int { return 0 }\n", "package a\n", test, nil},
		{"a/b.go", "package a\n\nfunc len(x any) int { return 0 \n", "package a\n", test, nil},
	} {
		files := []string{"a/a.go", "a/a_test.go"}
		r := &Reader{
			Base: &workspace.Tree{Dir: t.TempDir()}, Head: &workspace.Tree{Dir: t.TempDir()},
			Plans:  map[results.Side]*Plan{results.Base: {Files: files}},
			Change: change.Change{Files: []change.File{{Path: tt.at, Status: change.Added}}},
		}
		for at, text := range map[string]string{
			filepath.Join(r.Base.Dir, files[0]): tt.base,
			filepath.Join(r.Base.Dir, files[1]): tt.test,
			filepath.Join(r.Head.Dir, tt.at):    tt.head,
		} {
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		var got []int
		for _, m := range r.hidesLanguage() {
			got = append(got, m.Line)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s %q beside %q and %q: %v, want %v", tt.at, tt.head, tt.base, tt.test, got, tt.want)
		}
	}
}

// TestHidesLanguageMoved: a source that moves into a package brings what it declares, and a package that moves with
// its tests has what it had.
func TestHidesLanguageMoved(t *testing.T) {
	t.Parallel()
	const source, test = "package %s\n\nfunc len(x any) int { return 0 }\n", "package %s\n\nvar n = len(got)\n"
	for _, tt := range []struct {
		name, from, to string
		base           map[string]string
		head           string
		want           int
	}{
		{"into a package", "b/len.go", "a/len.go", map[string]string{"a/a_test.go": fmt.Sprintf(test, "a"), "b/len.go": fmt.Sprintf(source, "b")}, fmt.Sprintf(source, "a"), 1},
		{"with its package", "a/len.go", "b/len.go", map[string]string{"a/a_test.go": fmt.Sprintf(test, "a"), "a/len.go": fmt.Sprintf(source, "a")}, fmt.Sprintf(source, "b"), 0},
		{"again, as its package moves", "a/len.go", "b/len.go", map[string]string{"a/a_test.go": fmt.Sprintf(test, "a"), "a/len.go": "package a\n"}, fmt.Sprintf(source, "b"), 1},
	} {
		r := &Reader{
			Base: &workspace.Tree{Dir: t.TempDir()}, Head: &workspace.Tree{Dir: t.TempDir()},
			Plans:  map[results.Side]*Plan{results.Base: {}},
			Change: change.Change{Files: []change.File{{Path: tt.to, OldPath: tt.from, Status: change.Renamed}}},
		}
		all := map[string]string{filepath.Join(r.Head.Dir, tt.to): tt.head}
		for name, text := range tt.base {
			r.Plans[results.Base].Files = append(r.Plans[results.Base].Files, name)
			all[filepath.Join(r.Base.Dir, name)] = text
		}
		for at, text := range all {
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.hidesLanguage(); len(got) != tt.want {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

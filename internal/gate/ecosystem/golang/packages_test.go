package golang

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestAffected holds whom a change can influence.
func TestAffected(t *testing.T) {
	t.Parallel()
	pkgs := []ecosystem.Package{
		{Dir: ".", ImportPath: "m"},
		{Dir: "c", ImportPath: "m/c", Imports: []string{"m/b"}}, // before those that it imports
		{Dir: "b", ImportPath: "m/b", Imports: []string{"fmt", "m/a"}},
		{Dir: "a", ImportPath: "m/a"},
		{Dir: "t", ImportPath: "m/t", TestImports: []string{"m/a"}},
		{Dir: "x", ImportPath: "m/x", XTestImports: []string{"m/c"}},
		{Dir: "y", ImportPath: "m/y", Imports: []string{"m/t"}},
	}
	all := "m m/a m/b m/c m/t m/x m/y"
	for changed, want := range map[string]string{
		"a/a.go":               "m/a m/b m/c m/t m/x",
		"c/c.go":               "m/c m/x",
		"t/t_test.go":          "m/t m/y",
		"a/testdata/x/y.json":  "m/a m/b m/c m/t m/x",
		"README.md":            "m",
		"docs/deep/x.md":       "m",
		"go.mod":               all,
		"sub/go.sum":           all,
		"go.work":              all,
		"vendor/x/x.go":        all,
		"a/vendor/modules.txt": all,
		"y/go.mod.txt":         "m/y",
	} {
		got := strings.Join(slices.Sorted(maps.Keys(affected(pkgs, []string{changed}))), " ")
		if got != want {
			t.Errorf("%s affects %q, want %q", changed, got, want)
		}
	}
	if got := affected(pkgs[1:], []string{"README.md"}); len(got) != 0 {
		t.Errorf("a file that no package is above of affects %v", got)
	}
}

// TestParseList holds that packages outside of the tree, which "go list -e"
// makes up or finds elsewhere, are left out, and that what was read before a
// fault counts.
func TestParseList(t *testing.T) {
	t.Parallel()
	in := `{"Dir":"/w/tree","ImportPath":"m"} {"Dir":"/w/tree/a/b","ImportPath":"m/a/b","TestGoFiles":["x_test.go"]}
		{"Dir":"/usr/lib/go/src/fmt","ImportPath":"fmt"} {"Dir":"","ImportPath":"none"} {"Dir":"/w/treetop","ImportPath":"n"} {"Dir":`
	pkgs, err := parseList(strings.NewReader(in), "/w/tree")
	if err == nil {
		t.Error("half a package is no error")
	}
	var got []string
	for _, p := range pkgs {
		got = append(got, p.ImportPath+" in "+p.Dir)
	}
	if want := []string{"m in .", "m/a/b in a/b"}; !slices.Equal(got, want) {
		t.Errorf("packages:\n got %q\nwant %q", got, want)
	}
	if pkgs[0].HasTests() || !pkgs[1].HasTests() {
		t.Error("which packages have tests")
	}
}

// TestTags holds that packages are listed under the tags that the tests have.
func TestTags(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"go test ./...": "", "go test -tags=a,b ./...": "-tags=a,b", "go test -v -tags a ./...": "-tags=a", "make": "",
	} {
		tests := []ecosystem.Command{ecosystem.CommandOf(results.StageTest, text, New())}
		if got := strings.Join(goTags(tests), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestGoAt(t *testing.T) {
	for _, c := range []struct {
		places []string
		unit   string
		want   []string
	}{
		{nil, ".", []string{"./..."}},
		{[]string{"."}, ".", []string{"./."}},
		{[]string{"a/b", "./c/", "a/x_test.go", "x.go"}, ".", []string{"./a/b", "./c", "./a", "./."}},
		{[]string{"example.com/m/a"}, ".", []string{"example.com/m/a"}},
		{[]string{"sub", "sub/a", "sub/x_test.go", "subject"}, "sub", []string{"./.", "./a", "./.", "./subject"}},
	} {
		if got := goAt(c.places, c.unit); !slices.Equal(got, c.want) {
			t.Errorf("At(%q, %q) = %q, want %q", c.places, c.unit, got, c.want)
		}
	}
}

package ecosystem

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// modulesIn lays files out and finds their modules.
func modulesIn(t *testing.T, files map[string]string) ([]goModule, []string) {
	t.Helper()
	dir := t.TempDir()
	bytes, names := map[string][]byte{}, []string{}
	for name, text := range files {
		bytes[name] = []byte(text)
		names = append(names, name)
	}
	lay(t, dir, bytes)
	return findModules(func(name string) ([]byte, error) { return ReadInTree(dir, name) }, names)
}

// TestModules holds what is known of each go.mod: its module, whether it is of
// the workspace and vendored, and whom it replaces.
func TestModules(t *testing.T) {
	t.Parallel()
	mods, problems := modulesIn(t, map[string]string{
		"go.work":                          "go 1.21\n\nuse ./lib\nuse (\n\t.\n\t./tools/x/\n)\n",
		"go.mod":                           "module m\n\ngo 1.21\n",
		"lib/go.mod":                       "module example.org/lib\n\nreplace m => ../\n\nreplace example.org/x v1 => ../tools/x\n\nreplace example.org/far => example.org/near v1.0.0\n",
		"lib/vendor/modules.txt":           "",
		"lib/vendor/example.org/go.mod":    "module v\n",
		"tools/x/go.mod":                   "module \"example.org/x\"\n",
		"alone/go.mod":                     "module example.org/alone\n\nfrobnicate\n",
		"a/testdata/go.mod":                "module t\n",
		"_hidden/go.mod":                   "module h\n",
		".git2/go.mod":                     "module h\n",
		"web/node_modules/thing/go.mod":    "module n\n",
		"notgo.mod":                        "module n\n",
		"deep/testdatax/vendored/x/go.mod": "module d\n",
	})
	if len(problems) > 0 {
		t.Errorf("problems %q", problems)
	}
	got := map[string]string{}
	for _, m := range mods {
		got[m.Dir] = fmt.Sprintf("%s workspace=%v nowork=%v vendored=%v %v", m.Path, m.workspace, m.NoWork, m.Vendored, m.replaces)
	}
	for dir, want := range map[string]string{
		".":                         "m workspace=true nowork=false vendored=false []",
		"lib":                       "example.org/lib workspace=true nowork=false vendored=true [. tools/x]",
		"tools/x":                   "example.org/x workspace=true nowork=false vendored=false []",
		"alone":                     "example.org/alone workspace=false nowork=true vendored=false []",
		"deep/testdatax/vendored/x": "d workspace=false nowork=true vendored=false []",
	} {
		if got[dir] != want {
			t.Errorf("%s: %q, want %q", dir, got[dir], want)
		}
	}
	if len(got) != 5 {
		t.Errorf("modules %v", got)
	}
}

// TestModulesOfHostileTrees holds that a go.mod that leads out of the tree is
// not read, and that a go.work that cannot be parsed is said.
func TestModulesOfHostileTrees(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("module secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "go.mod")); err != nil {
		t.Fatal(err)
	}
	lay(t, dir, map[string][]byte{"go.work": []byte("use (")})
	mods, problems := findModules(func(name string) ([]byte, error) { return ReadInTree(dir, name) }, []string{"go.mod", "go.work"})
	if len(mods) != 0 || len(problems) != 2 {
		t.Errorf("modules %+v, problems %q", mods, problems)
	}
}

func TestFindGo(t *testing.T) {
	t.Parallel()
	if tools, err := findGo(t.Context(), []string{"PATH=" + t.TempDir() + ":."}); tools != nil || err != nil {
		t.Errorf("without go: %+v %v", tools, err)
	}
	tools, err := findGo(t.Context(), os.Environ())
	if err != nil || tools == nil || !filepath.IsAbs(tools.Root) || !strings.HasPrefix(tools.Version, "go") && !strings.HasPrefix(tools.Version, "devel") {
		t.Errorf("%+v %v", tools, err)
	}
	tools, err = findGo(t.Context(), append(os.Environ(), "CGO_ENABLED=0"))
	if err != nil || tools.Race {
		t.Errorf("the race detector without cgo: %v %v", tools.Race, err)
	}
}

// TestModuleCommand holds that a module outside of the workspace is built
// without it, and that people see it.
func TestModuleCommand(t *testing.T) {
	t.Parallel()
	c := goModule{Dir: "alone", NoWork: true}.Command(StageTest, "test", "-json", "./...")
	if c.Unit != "alone" || c.Text != "GOWORK=off go test -json ./..." || strings.Join(c.Env, " ") != "GOWORK=off" {
		t.Errorf("%+v", c)
	}
	c = goModule{Dir: "."}.Command(StageBuild, "build", "./...")
	if strings.Join(c.Env, " ") != "GOFLAGS=-buildvcs=false" || strings.Join(c.Argv, " ") != "go build ./..." {
		t.Errorf("%+v", c)
	}
	var p Project
	p.addGo(goModule{Dir: "alone", NoWork: true}, false)
	again := p.Test[0].goTest("-count=1", "m")
	if again.Text != "GOWORK=off go test -json -count=1 m" || strings.Join(again.Env, " ") != "GOWORK=off" {
		t.Errorf("%+v", again)
	}
}

package golang

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/testing/trees"
)

// modulesIn lays files out and finds their modules.
func modulesIn(t *testing.T, files map[string]string) ([]goModule, []string) {
	t.Helper()
	dir := t.TempDir()
	trees.Lay(t, dir, files)
	return findModules(func(name string) ([]byte, error) { return ecosystem.ReadInTree(dir, name) }, slices.Collect(maps.Keys(files)))
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
		"lib":                       "example.org/lib workspace=true nowork=false vendored=false [. tools/x]", // a workspace uses no vendor folder of a member
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
	trees.Lay(t, dir, map[string]string{"go.work": "use ("})
	mods, problems := findModules(func(name string) ([]byte, error) { return ecosystem.ReadInTree(dir, name) }, []string{"go.mod", "go.work"})
	if len(mods) != 0 || len(problems) != 2 {
		t.Errorf("modules %+v, problems %q", mods, problems)
	}
}

// TestModuleCommand holds that a module outside of the workspace is built
// without it, and that people see it.
func TestModuleCommand(t *testing.T) {
	t.Parallel()
	c := goModule{Dir: "alone", NoWork: true}.Command(results.StageTest, "test", "-json", "./...")
	if c.Unit != "alone" || c.Text != "GOWORK=off go test -json ./..." || strings.Join(c.Env, " ") != "GOWORK=off" {
		t.Errorf("%+v", c)
	}
	c = goModule{Dir: "."}.Command(results.StageBuild, "build", "./...")
	if strings.Join(c.Env, " ") != "GOFLAGS=-buildvcs=false" || strings.Join(c.Argv, " ") != "go build ./..." {
		t.Errorf("%+v", c)
	}
	c = goModule{Dir: ".", modVendor: true}.Command(results.StageBuild, "build", "./...")
	if c.Text != "GOFLAGS=-mod=vendor go build ./..." || strings.Join(c.Env, " ") != "GOFLAGS=-mod=vendor -buildvcs=false" {
		t.Errorf("%+v", c)
	}
	c = goModule{Dir: ".", testMod: "go_test.mod"}.Command(results.StageTest, "test", "-json", "./...")
	if c.Text != "GOFLAGS=-modfile=go_test.mod go test -json ./..." || strings.Join(c.Env, " ") != "GOFLAGS=-modfile=go_test.mod" {
		t.Errorf("%+v", c)
	}
	c = goModule{Dir: ".", version: "go1.16.15"}.Command(results.StageBuild, "build", "./...")
	if len(c.Env) > 0 || c.Go != "go1.16.15" {
		t.Errorf("%+v", c)
	}
	var p ecosystem.Project
	addGo(&p, goModule{Dir: "alone", NoWork: true}, false)
	again := goTestWith(p.Test[0], "-count=1", "m")
	if again.Text != "GOWORK=off go test -json -count=1 m" || strings.Join(again.Env, " ") != "GOWORK=off" {
		t.Errorf("%+v", again)
	}
}

// TestOldGo holds that a go command is not asked for what it does not know.
func TestOldGo(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"go1.16.15":        "go test -json -count=2 -vet=off m",
		"go1.17":           "go test -json -count=2 -vet=off -shuffle=7 m",
		"go1.26.8":         "go test -json -count=2 -vet=off -shuffle=7 m",
		"devel go1.27-abc": "go test -json -count=2 -vet=off -shuffle=7 m",
		"":                 "go test -json -count=2 -vet=off -shuffle=7 m",
	} {
		var p ecosystem.Project
		addGo(&p, goModule{Dir: ".", version: version}, false)
		if got := goPackages().Again(p.Test[0], ecosystem.Probing{Packages: []string{"m"}, Times: 2, Seed: 7}).Text; got != want {
			t.Errorf("%s: %q, want %q", version, got, want)
		}
		fields := strings.Contains(listGo(p, nil).Text, "-json=Dir")
		if fields != (version != "go1.16.15" && version != "go1.17") {
			t.Errorf("%s: %s", version, listGo(p, nil).Text)
		}
	}
}

// TestTestMod holds which file stands for a go.mod.
func TestTestMod(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"go.mod": "module m\n", "go_test.mod": "module m\n"}, "go_test.mod"},
		{map[string]string{"go.mod": "module m\n", "go.test.mod": "module m\n"}, "go.test.mod"},
		{map[string]string{"go.mod": "module m\n", "go_test.mod": "module other\n"}, ""},
		{map[string]string{"go.mod": "module m\n", "go.latest.mod": "module m\n"}, ""},
		{map[string]string{"go.mod": "module m\n", "go_test.mod": "module m\n", "go.test.mod": "module m\n"}, ""},
		{map[string]string{"go.mod": "module m\n", "sub/go_test.mod": "module m\n"}, ""},
		{map[string]string{"go.mod": "module m\n", "a test -toolexec=evil.mod": "module m\n"}, ""}, // GOFLAGS would be three flags
		{map[string]string{"go.mod": "module m\ngo 1.22\n", "go_test.mod": "module m\n", "go.work": "go 1.22\nuse .\n"}, ""},
		{map[string]string{"go.mod": "module m\ngo 1.22\n", "go_test.mod": "module m\n", "vendor/modules.txt": "# a v1.0.0\n"}, ""},
	} {
		mods, problems := modulesIn(t, tt.files)
		if len(problems) > 0 || len(mods) != 1 || mods[0].testMod != tt.want {
			t.Errorf("%v: %+v %v", tt.files, mods, problems)
		}
	}
}

// TestVendored holds which vendor folders the go command uses by itself, and of which it
// has to be asked.
func TestVendored(t *testing.T) {
	t.Parallel()
	const own, work = "# a v1.0.0\n", "## workspace\n# a v1.0.0\n"
	for what, c := range map[string]struct {
		files           map[string]string
		vendored, asked bool
	}{
		"new":                        {map[string]string{"go.mod": "module m\ngo 1.14\n", "vendor/modules.txt": own}, true, false},
		"old":                        {map[string]string{"go.mod": "module m\ngo 1.13\n", "vendor/modules.txt": own}, true, true},
		"no go line":                 {map[string]string{"go.mod": "module m\n", "vendor/modules.txt": own}, true, true},
		"none":                       {map[string]string{"go.mod": "module m\ngo 1.13\n"}, false, false},
		"of a module in a workspace": {map[string]string{"go.work": "go 1.22\nuse .\n", "go.mod": "module m\ngo 1.22\n", "vendor/modules.txt": own}, false, false},
		"of a workspace":             {map[string]string{"go.work": "go 1.22\nuse .\n", "go.mod": "module m\ngo 1.22\n", "vendor/modules.txt": work}, true, false},
	} {
		var names []string
		for name := range c.files {
			names = append(names, name)
		}
		mods, problems := findModules(func(name string) ([]byte, error) {
			if data, ok := c.files[name]; ok {
				return []byte(data), nil
			}
			return nil, os.ErrNotExist
		}, names)
		if len(problems) > 0 || len(mods) != 1 || mods[0].Vendored != c.vendored || mods[0].modVendor != c.asked {
			t.Errorf("%s: %+v %v", what, mods, problems)
		}
	}
}

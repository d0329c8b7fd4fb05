package gate

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/test/bench"
)

// goLanguage is a Go module with a test for each function.
func goLanguage() language {
	return language{
		name: "go", tools: []string{"go"}, src: "m.go", test: "m_test.go",
		files: map[string]string{"go.mod": "module example.com/m\n\ngo 1.22\n"},
		source: func(add, abs bool, _ string) string {
			return "package m\n\nfunc Add(a, b int) int { return a " + either(add, "+", "-") + " b }\n\nfunc Abs(a int) int {\n\tif a < 0 {\n\t\treturn " + either(abs, "-a", "a") + "\n\t}\n\treturn a\n}\n"
		},
		tests: func(names ...string) string {
			return "package m\n\nimport \"testing\"\n\n" + each(names, map[string]string{
				"add": "func TestAdd(t *testing.T) {\n\tif Add(2, 3) != 5 {\n\t\tt.Error(\"wrong sum\")\n\t}\n}\n",
				"abs": "func TestAbs(t *testing.T) {\n\tif Abs(-1) != 1 {\n\t\tt.Error(\"wrong value\")\n\t}\n}\n",
			})
		},
	}
}

// In every language that this machine can run, the test commands that others are given
// run as they stand, report which test fails and what it wrote, and are shown to people
// without what asks for that.
func TestTestCommands(t *testing.T) {
	t.Parallel()
	path := systemPath() + ":" + filepath.Dir(goProgram(t))
	if runners, err := bench.Runners(t.Context()); err == nil {
		path += ":" + filepath.Join(runners, ".bin")
	}
	tools := &Toolchains{Go: &GoToolchain{}, Env: []string{"PATH=" + path, "HOME=" + os.Getenv("HOME")}}
	slow := []string{"automake", "cmake", "jest", "maven", "meson", "mix", "mocha", "poetry", "rust", "tox", "vitest"} // seconds to begin
	for _, l := range append(allLanguages(), goLanguage()) {
		variants.Run(t, l.name, slices.Contains(slow, l.name), func(t *testing.T) {
			t.Parallel()
			for _, tool := range l.tools {
				if !tools.Has(tool) {
					t.Skipf("%s is needed", tool)
				}
			}
			if l.lacks != nil && l.lacks(tools) != "" {
				t.Skipf("%s is needed", l.lacks(tools))
			}
			dir := t.TempDir()
			var files []string
			for name, data := range l.repo(true, false, "", []string{"add", "abs"}) {
				files = append(files, name)
				file := filepath.Join(dir, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, data, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			slices.Sort(files)
			p := newPlan(languages.FindProjects(ecosystem.NewSurvey(ecosystem.InTree(dir), files, tools, t.Logf)), Commands{Setup: l.input["setup"], Test: l.input["test"]})
			for _, c := range p.Setup { // what cannot be fetched here is there, or is missed below
				_, _, _ = shellIn(t, dir, path, "set +e\n"+TestCommand{c: c}.Script())
			}
			for _, c := range p.Build {
				if _, out, exit := shellIn(t, dir, path, "set +e\n"+TestCommand{c: c}.Script()); exit != 0 {
					t.Skipf("%s: %s", c.Text, out)
				}
			}
			if len(p.Test) == 0 {
				t.Fatalf("no test commands in %q", files)
			}
			for _, c := range p.Test {
				if c.Unit == "" {
					c.Unit = "."
				}
				run(t, l, TestCommand{Unit: c.Unit, Text: c.Typed(), PerTest: c.Results != nil, c: c}, dir, path)
			}
		})
	}
}

func run(t *testing.T, l language, c TestCommand, dir, path string) {
	t.Helper()
	if strings.Contains(c.Text, "RESULTS") || strings.Contains(c.Text, "REPORTER") || strings.Contains(c.Text, "json") {
		t.Errorf("people read %q", c.Text)
	}
	if !c.PerTest {
		if !l.command {
			t.Errorf("%q reports no single tests", c.Text)
		}
		return
	}
	stdout, errs, exit := shellIn(t, filepath.Join(dir, c.Unit), path, c.Script())
	s := c.Stream()
	if _, err := s.Write([]byte(stdout)); err != nil {
		t.Fatal(err)
	}
	suite, rest, gap := s.Results(exit, dir)
	got := map[string]Status{}
	for id, one := range suite {
		for _, name := range []string{"add", "abs"} {
			if id.Test != "" && strings.Contains(strings.ToLower(id.Test), name) {
				got[name] = one.Status
				if one.Status == Failed && one.Output == "" {
					t.Errorf("%s says nothing", id)
				}
			}
		}
	}
	if exit == 0 || got["add"] != Passed || got["abs"] != Failed || gap != "" {
		t.Errorf("%q: exit %d, %v, gap %q, rest %q\n%s\n%s", c.Text, exit, got, gap, rest, stdout, errs)
	}
}

// shellIn runs a script as the tool does.
func shellIn(t *testing.T, dir, path, script string) (stdout, stderr string, exit int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-o", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "PATH=") }), "PATH="+path, "CI=true", "COUNTS="+t.TempDir())
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func goProgram(t *testing.T) string {
	t.Helper()
	file, err := exec.LookPath("go")
	if err != nil {
		t.Skip("go is needed")
	}
	return file
}

// A part of the tests is run where the runner can choose it.
func TestTestCommandsOnly(t *testing.T) {
	t.Parallel()
	c := languages.ShellCommand(StageTest, "go test ./...")
	c.Unit = "sub"
	for _, x := range []struct {
		places, names   []string
		want            string
		byPlace, byName bool
	}{
		{nil, []string{"TestA/one", "TestB"}, "go test -count=1 '-run=^(TestA|TestB)$' ./...", false, true},
		{[]string{"sub/pkg/x_test.go"}, nil, "go test -count=1 ./pkg", true, false},
		{[]string{"pkg"}, nil, "go test -count=1 ./pkg", true, false},
		{[]string{"example.com/m/pkg"}, []string{"TestA"}, "go test -count=1 '-run=^(TestA)$' example.com/m/pkg", true, true},
	} {
		some, byPlace, byName := TestCommand{Unit: "sub", c: c}.Only(x.places, x.names)
		if strings.ReplaceAll(some.Text, "'", "") != strings.ReplaceAll(x.want, "'", "") || byPlace != x.byPlace || byName != x.byName {
			t.Errorf("%q %q: %q %v %v, want %q", x.places, x.names, some.Text, byPlace, byName, x.want)
		}
	}
	plainly, _, _ := TestCommand{Unit: ".", c: ecosystem.Command{Text: "make check"}}.Only(nil, []string{"x"})
	if plainly.c.Text != "make check" {
		t.Errorf("%q", plainly.c.Text)
	}
}

package sides

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestRunnersBrought: a new file is used in place of a runner where a command calls it that runs tests on the
// base, without it in the tree.
func TestRunnersBrought(t *testing.T) {
	t.Parallel()
	phpunit := &ecosystem.Results{Name: "JUnit XML of PHPUnit"}
	call := func(unit, text string) ecosystem.Command {
		return ecosystem.Command{Eco: "PHP", Unit: unit, Text: text, Results: phpunit}
	}
	for _, tt := range []struct {
		what, brings, base, head string
		unit                     string
		fails, has, want         bool
	}{
		{what: "what Composer installs", brings: "bin/phpunit", base: "bin/phpunit --log-junit x", want: true},
		{what: "in a project below", brings: "api/bin/phpunit", base: "bin/phpunit", unit: "api", want: true},
		{what: "in another project", brings: "bin/phpunit", base: "bin/phpunit", unit: "api"},
		{what: "behind an interpreter", brings: "tools/check", base: "XDEBUG=off php tools/check", want: true},
		{what: "by a name of the PATH", brings: "phpunit", base: "phpunit"},
		{what: "in a folder that the head chooses", brings: "tools/phpunit", base: "vendor/bin/phpunit", head: "tools/phpunit", want: true},
		{what: "a wrapper that the head brings", brings: "gradlew", base: "gradle test", head: "sh ./gradlew test"},
		{what: "a command that ran no test on the base", brings: "bin/phpunit", base: "bin/phpunit", fails: true},
		{what: "what the build of the head makes again", brings: "dist/run.js", base: "node dist/run.js"},
		{what: "what the base has", brings: "bin/phpunit", base: "bin/phpunit", has: true},
		{what: "another file", brings: "bin/console", base: "bin/phpunit"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			if tt.unit == "" {
				tt.unit = "."
			}
			if tt.head == "" {
				tt.head = tt.base
			}
			status := results.Passed
			if tt.fails {
				status = results.Failed
			}
			r := &Reader{
				Change: change.Change{Files: []change.File{{Path: tt.brings, Status: change.Added}}},
				Plans: map[results.Side]*Plan{
					results.Base: {Test: []ecosystem.Command{call(tt.unit, tt.base)}},
					results.Head: {Files: []string{tt.brings}, Test: []ecosystem.Command{call(tt.unit, tt.head)}},
				},
				Suites: map[results.Side]results.Suite{results.Base: {{Unit: tt.unit, Package: "tests/ATest.php", Test: "a"}: {Status: status, Eco: "PHP"}}},
			}
			if tt.has {
				r.Plans[results.Base].Files = []string{tt.brings}
			}
			if got := r.RunnersBrought(func(name string) bool { return name == "dist/run.js" }); strings.HasSuffix(got, ": "+tt.brings) != tt.want || !tt.want && got != "" {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestInProject: what stands for a module of the standard library, or for a runner, does so in each project.
func TestInProject(t *testing.T) {
	t.Parallel()
	r := &Reader{Plans: map[results.Side]*Plan{
		results.Base: {Projects: []ecosystem.Project{{Dir: "."}, {Dir: "core"}}},
		results.Head: {Files: []string{"core/src/__init__.py"}},
	}}
	for name, want := range map[string]bool{"shlex.py": true, "core/shlex.py": true, "core/src/shlex.py": false, "other/shlex.py": false, "core/shop/shlex.py": false} {
		if got := r.inProject(name, classes.ShadowsLibrary); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

package java

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/testing/trees"
)

// A build of Maven fails for no test, so that one which fails nevertheless says in its results that they
// may not be all.
func TestMavenStatus(t *testing.T) {
	t.Parallel()
	const report = `mkdir -p core/target/surefire-reports; echo '<testsuite name="m.A" tests="1" failures="1"><testcase name="a" classname="m.A"><failure message="no"/></testcase></testsuite>' >core/target/surefire-reports/TEST-m.A.xml; `
	for name, c := range map[string]struct {
		mvn  string
		exit int
		gap  string
	}{
		"a test fails":                 {report + "echo '[ERROR] There are test failures.'; exit 0", 1, ""},
		"all pass":                     {report + "exit 0", 0, ""},
		"a module does not compile":    {report + "echo '[ERROR] COMPILATION ERROR'; exit 1", 1, "exit code 1"},
		"the process of tests crashes": {report + "echo '[ERROR] The forked VM terminated without saying properly goodbye'; exit 0", 1, "exit code 1"},
		"nothing compiles":             {"exit 1", 1, "reported no tests"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			trees.Lay(t, dir, map[string]string{"mvn": c.mvn + "\n"})
			command := javaTests(".", "sh ./mvn", mavenStatus, "*/surefire-reports/TEST-*.xml", "JUnit XML of Surefire", func(string) string { return "" })
			cmd := exec.CommandContext(t.Context(), command.Argv[0], command.Argv[1:]...) //nolint:gosec // it is our own
			cmd.Dir = dir
			out, err := cmd.Output()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if cmd.ProcessState.ExitCode() != c.exit {
				t.Errorf("exit code %d, want %d", cmd.ProcessState.ExitCode(), c.exit)
			}
			stream := command.Results.Collect(".")
			if _, err := stream.Write(out); err != nil {
				t.Fatal(err)
			}
			suite := stream.Suite("E1", dir)
			if got := len(suite) > 0; got != strings.Contains(c.mvn, report) {
				t.Errorf("results %v of %q", suite, out)
			}
			if why, _ := stream.Gap(); !strings.Contains(why, c.gap) || c.gap == "" && why != "" {
				t.Errorf("gap %q, want %q", why, c.gap)
			}
		})
	}
}

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
	const scala = `mkdir -p web/target/scalatest-reports; printf '<testsuite errors="0" failures="1"\nhostname="h" name="m.B" tests="1"><testcase name="b" classname="m.B"><failure message="no"/></testcase></testsuite>' >web/target/scalatest-reports/TEST-m.B.xml; `
	const failed = "printf '\033[31m*** 1 TEST FAILED ***\033[0m\\n'; exit 0"
	for name, c := range map[string]struct {
		mvn   string
		exit  int
		gap   string
		tests int
	}{
		"a test fails":                 {report + "echo '[ERROR] There are test failures.'; exit 0", 1, "", 1},
		"all pass":                     {report + "exit 0", 0, "", 1},
		"a module does not compile":    {report + "echo '[ERROR] COMPILATION ERROR'; exit 1", 1, "exit code 1", 1},
		"the process of tests crashes": {report + "echo '[ERROR] The forked VM terminated without saying properly goodbye'; exit 0", 1, "exit code 1", 1},
		"nothing compiles":             {"exit 1", 1, "reported no tests", 0},
		"a program of tests fails":     {report + "echo '[ERROR] There are test failures.'; echo \"Failed to run task: 'npm test' failed.\"; exit 0", 1, "exit code 1", 1},
		"ScalaTest without reports":    {report + failed, 1, "exit code 1", 1},
		"ScalaTest alone":              {failed, 1, "reported no tests", 0},
		"ScalaTest with its reports":   {report + scala + failed, 1, "", 2},
		"no build of ScalaTest":        {report + failed, 0, "", 1},
		"an aborted suite":             {report + scala + "echo '*** 1 SUITE ABORTED ***'; " + failed, 1, "exit code 1", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, pom := t.TempDir(), "<artifactId>scalatest-maven-plugin</artifactId>"
			if name == "no build of ScalaTest" {
				pom = "<!-- " + pom + " -->"
			}
			trees.Lay(t, dir, map[string]string{"mvnw": c.mvn + "\n"})
			command := mavenProject(trees.Survey(t, map[string]string{"pom.xml": "", "web/pom.xml": pom, "mvnw": ""}, new(strings.Builder), "java"), ".").Test[0]
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
			tests := 0
			for _, test := range suite {
				if test.Leaf {
					tests++
				}
			}
			if tests != c.tests {
				t.Errorf("results %v of %q", suite, out)
			}
			if why, _ := stream.Gap(); !strings.Contains(why, c.gap) || c.gap == "" && why != "" {
				t.Errorf("gap %q, want %q", why, c.gap)
			}
		})
	}
}

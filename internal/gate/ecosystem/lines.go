package ecosystem

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// A LineMeter is how runs of tests say which lines they ran.
type LineMeter struct {
	// Command returns c so that it counts, or why it cannot. What has no [Results] may come
	// to it as well.
	Command func(c Command, q Counting) (Command, string)
	// Reader takes the counts from what such a command writes, and passes the results on.
	Reader func(c Collector, q Counting) *LineCounts
	// Knows says whether the lines of a file can be counted.
	Knows func(name string) bool
	// Needs says what runners need for it that not every project has, by the name of their
	// results.
	Needs map[string]string
}

// unnamed is why lines of a command without results are not counted.
func unnamed(c Command) string {
	return fmt.Sprintf("%q does not name its tests, and no way is known to count for it", c.Text)
}

// countsMark stands alone on the line before counts. What comes before it is not counts,
// whatever it looks like: the tests wrote it.
const countsMark = `{"counts":"follow"}`

// counted is c as a shell runs tests and then show, which prints what they left in the
// folder COUNTS_DIR. The mark begins a line of its own also where results have no end of line.
func (c Command) counted(tests, show string) Command {
	c.Argv = []string{"bash", "--noprofile", "--norc", "-c", strings.Join([]string{
		`COUNTS_DIR=$(command -p mktemp -d) || exit 1`,
		tests,
		`status=$?`,
		`printf '\n%s\n' ` + quoted(countsMark),
		show,
		`command -p rm -rf "$COUNTS_DIR"`,
		`exit $status`,
	}, "\n")}
	return c
}

// NoResults collects from commands that name no tests.
func NoResults(unit string) Collector {
	return Documented(func([]byte) ([]outcome, error) { return nil, nil })(unit)
}

// A ChangedFile is a source of the head with its changed lines.
type ChangedFile struct {
	Path  string
	Src   []byte
	Lines map[int]bool
}

// A Counting is what is to be counted in one folder of commands.
type Counting struct {
	Unit  string
	Files []ChangedFile
	// Own are the packages of files, by path, and Tested those whose tests run, where
	// tests belong to packages.
	Own    map[string]Package
	Tested []string
}

// CodeLine says whether a line of a source has more than a comment or brackets.
func CodeLine(name, text string) bool {
	text = strings.TrimSpace(text)
	if path.Ext(name) == ".py" && strings.HasPrefix(text, "#") {
		return false
	}
	for _, comment := range []string{"//", "/*", "*"} {
		if strings.HasPrefix(text, comment) {
			return false
		}
	}
	return strings.Trim(text, "{}()[];, \t") != ""
}

// goLines reads the profile of "go test -coverprofile".
func goLines() *LineMeter {
	return &LineMeter{
		Knows: func(name string) bool { return path.Ext(name) == ".go" },
		Command: func(c Command, q Counting) (Command, string) {
			if c.Results == nil {
				return c, unnamed(c)
			}
			var pkgs []string
			for _, p := range q.Own {
				if p.Unit == q.Unit {
					pkgs = append(pkgs, p.ImportPath)
				}
			}
			if len(pkgs) == 0 || len(q.Tested) == 0 {
				return c, "no tests ran of packages that the change can affect"
			}
			slices.Sort(pkgs)
			args := []string{"-count=1", "-vet=off", fmt.Sprintf("-coverpkg=%s", strings.Join(slices.Compact(pkgs), ","))}
			return covered(c.goTest(append(args, q.Tested...)...)), ""
		},
		Reader: func(c Collector, _ Counting) *LineCounts { return newLineCounts(c) },
	}
}

// goConstraint is the line of a source that says where it is compiled.
var goConstraint = pattern.New(`(?m)^//go:build (.*)$`)

// Excluded says why a source of Go is not compiled with the package of its folder.
func Excluded(src []byte) string {
	if c := goConstraint.FindSubmatch(src); c != nil {
		return "its constraint leaves it out here: " + string(c[1])
	}
	return "its name or its package clause leaves it out of the package of its folder"
}

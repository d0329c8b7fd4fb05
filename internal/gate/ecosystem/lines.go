package ecosystem

import (
	"fmt"
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/results"
)

// A LineMeter is how runs of tests say which lines they ran.
type LineMeter struct {
	// Command returns c so that it counts, or why it cannot. What has no [Results] may come
	// to it as well.
	Command func(c Command, q Counting) (Command, string)
	// Reader takes the counts from what such a command writes, and passes the results on.
	Reader func(c results.Collector, q Counting) *results.LineCounts
	// Knows says whether the lines of a file can be counted.
	Knows func(name string) bool
	// Tests says whether a command counts the lines of a file of tests as well. Nil: none does.
	Tests func(c Command, name string) bool
	// Needs says what runners need for it that not every project has, by the name of their
	// results.
	Needs map[string]string
}

// OtherPrograms is why more lines may have run than were seen: of the tests themselves all were.
const OtherPrograms = "tests start other programs, and what those run is not seen"

// Unnamed is why lines of a command without results are not counted.
func Unnamed(c Command) string {
	return fmt.Sprintf("%q does not name its tests, and no way is known to count for it", c.Text)
}

// Counted is c as a shell runs tests and then show, which prints what they left in the
// folder COUNTS_DIR. The mark begins a line of its own also where results have no end of line.
func (c Command) Counted(tests, show string) Command {
	c.Argv = []string{"bash", "--noprofile", "--norc", "-c", strings.Join([]string{
		`COUNTS_DIR=$(command -p mktemp -d) || exit 1`,
		tests,
		`status=$?`,
		`printf '\n%s\n' ` + Quoted(results.CountsMark),
		show,
		`command -p rm -rf "$COUNTS_DIR"`,
		`exit $status`,
	}, "\n")}
	return c
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

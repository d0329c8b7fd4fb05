package ecosystem

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// Seals says whether a command compiles and runs nothing of the tree, so that what
// it writes into the cache of its side is what the go command made of the sources.
func (c Command) Seals() bool {
	switch c.Stage {
	case results.StageBuild, results.StageLint, results.StageWarm, results.StageList:
		return c.Argv[0] == "go"
	default:
		return false
	}
}

// A Command is one thing to run at a side.
type Command struct {
	Stage    results.Stage
	Unit     string   // folder in the repository, "." for its top
	Text     string   // for people
	Name     string   // of it as a whole, where text names some of its tests; empty: text
	Whole    string   // the text of the command that it is a part of, with its packages; empty: it is no part
	Packages []string // import paths
	Argv     []string // what is run
	Env      []string
	Network  sandbox.Network
	Eco      string   // name of the ecosystem whose it is; empty: of none
	Results  *Results // how its standard output reports each test; nil: it does not
	Plain    *Command // as the project wrote it, without asking for results, or nearer to that; nil: there is none
	Script   string   // what a person types in its place, where it does what the project's script does before it, too; empty: nothing is
	Flags    []string // of the test runner, which also hold when tests are run again
	Needed   bool     // is run beside setup commands of the configuration
	Go       string   // version of the go command that it calls; empty: none, or not known
	Race     bool     // is of use for the race detector only
	Timeout  time.Duration
	Installs string // the folder in unit that a setup command fills and that depends on manifests alone; empty: not known
	Cache    string // Go's build cache; empty: see seals

	// Interpreter is what starts the runner, as the setup of the side brings it, and By returns the call as
	// it is by another one; nil: what starts it is part of the call.
	Interpreter string
	By          func(interpreter string) Command

	// Stderr sees its standard error once it has ended, as far as that is kept; nil: no one does.
	Stderr io.Writer

	// Untrusted returns what a head that is not trusted, and its base, are set up with in
	// place of this; nil: it is run as it stands.
	Untrusted func(results.Side) []Command
	// Data is what is there in place of the tree, by name; nil: the tree is. Such a
	// command fetches, and runs nothing of the tree.
	Data func(*Survey) map[string][]byte
	// OwnProgram says that the package manager that the base has chosen is among the data.
	OwnProgram bool
}

// StartedAs returns c by the interpreter of another call, under the name that it has.
func (c Command) StartedAs(o Command) Command {
	if c.By == nil || o.By == nil || c.Interpreter == o.Interpreter {
		return c
	}
	by := c.By(o.Interpreter)
	c.Name = c.Label()
	if c.Results != nil {
		c.Text = by.Text
	} else { // what counts as one test is known by its text
		c.Script = by.Text
	}
	c.Argv, c.Results, c.Plain, c.Interpreter = by.Argv, by.Results, by.Plain, by.Interpreter
	return c
}

// CalledAs says whether c is called as another command is, whatever interpreter starts either.
func (c Command) CalledAs(o Command) bool {
	return c.Text == o.Text || c.By != nil && o.By != nil && c.By(o.Interpreter).Text == o.Text
}

// FetchOnly are the commands of setup that say how they fetch for heads that are not
// trusted. Where the configuration has its own setup they are run before it.
func FetchOnly(setup []Command) []Command {
	var out []Command
	for _, c := range setup {
		if c.Untrusted == nil {
			continue
		}
		of := c.Untrusted
		c.Untrusted = func(side results.Side) []Command {
			return slices.DeleteFunc(of(side), func(c Command) bool { return c.Data == nil })
		}
		out = append(out, c)
	}
	return out
}

// ForStrangers returns c, which is run in place of it for a head that is not trusted: fetch
// among data of the tree, and then offline, if there is any.
func (c Command) ForStrangers(fetch string, data func(*Survey, string) map[string][]byte, offline ...string) Command {
	own := c
	c.Untrusted = func(results.Side) []Command {
		f := own.Reporting(fetch)
		f.Data = func(s *Survey) map[string][]byte { return data(s, own.Unit) }
		out := []Command{f}
		for _, text := range offline {
			out = append(out, own.Reporting(text))
		}
		return out
	}
	return c
}

// Reaches says whether a setup command has registries, for a head that is not trusted.
func (c Command) Reaches(side results.Side) bool {
	return c.Network == sandbox.NetworkHost && (side == results.Base || c.Data != nil || c.FillsModCache())
}

// OnlyOfBase returns c as what a head that is not trusted does without: the commands that
// follow it have no network either, and find what the base's has fetched.
func (c Command) OnlyOfBase() Command {
	own := c
	c.Untrusted = func(side results.Side) []Command {
		if side == results.Base {
			return []Command{own}
		}
		return nil
	}
	return c
}

// InShell runs the text of c in a shell.
func (c Command) InShell() Command {
	c.Argv = []string{"bash", "--noprofile", "--norc", "-c", c.Text}
	return c
}

// FillsModCache recognises the command by which the module cache of the project is
// filled: it runs no code of the change, and checks what it fetches.
func (c Command) FillsModCache() bool {
	return c.Stage == results.StageSetup && slices.Equal(c.Argv, []string{"go", "mod", "download"})
}

// ResultsVar is how the text of a command names the file that its runner is to
// write its results to.
const ResultsVar = `"$RESULTS"`

// Reporting makes c run text in a shell. Where text names a file for results,
// that is what goes to standard output, and all that the runner says goes to
// standard error: so results are part of the log and nothing is read back from
// the tree. The shell's own commands are those of the system ("command -p"), and
// prefix, which may change PATH, is for text alone. The file has a random name and
// is in no variable of the environment.
func (c Command) Reporting(text string, prefix ...string) Command {
	c.Text = text
	script := strings.Join(append(prefix, text), "\n")
	if strings.Contains(text, "RESULTS") {
		script = strings.Join([]string{
			`RESULTS_DIR=$(command -p mktemp -d) && RESULTS=$RESULTS_DIR/results || exit 1`,
			"( " + script + "\n) >&2",
			`status=$?`,
			`command -p cat "$RESULTS" 2>/dev/null`,
			`command -p rm -rf "$RESULTS_DIR"`,
			`exit $status`,
		}, "\n")
	}
	c.Argv = []string{"bash", "--noprofile", "--norc", "-c", script}
	return c
}

// Label names a command that reports each test where it failed as a whole, the
// same for all of its parts and on both sides.
func (c Command) Label() string {
	if c.Eco == "Go" && c.Whole == "" {
		return strings.TrimSpace("go test " + lastArg(c.Argv))
	}
	return cmp.Or(c.Name, c.Text)
}

func lastArg(argv []string) string { return argv[len(argv)-1] }

// AsItIs leaves a command alone.
func AsItIs(c Command) Command { return c }

// FromUnit names files of the repository from a folder of it, for a shell.
func FromUnit(unit string, files []string) []string {
	out := make([]string, len(files))
	for i, f := range files {
		if unit != "." {
			f = strings.TrimPrefix(f, unit+"/")
		}
		out[i] = Quoted("./" + f)
	}
	return out
}

// CommandOf runs text as a step of GitHub Actions does. A plain call of a test runner that
// one of the ecosystems knows is asked for machine-readable output, so that each test is
// reported.
func CommandOf(stage results.Stage, text string, ecosystems ...*Ecosystem) Command {
	c := Command{Stage: stage, Unit: ".", Text: text}
	if stage == results.StageSetup {
		c.Network = sandbox.NetworkHost
	}
	if words, ok := PlainWords(text); ok && stage == results.StageTest {
		for _, eco := range ecosystems {
			if eco.Adopt == nil {
				continue
			}
			if a, ok := eco.Adopt(c, words); ok {
				a.Eco = eco.Name
				return a
			}
		}
	}
	c.Argv = []string{"bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text}
	return c
}

package ecosystem

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// Seals says whether a command compiles and runs nothing of the tree, so that what
// it writes into the cache of its side is what the go command made of the sources.
func (c Command) Seals() bool {
	switch c.Stage {
	case StageBuild, StageLint, StageWarm, StageList:
		return c.Argv[0] == "go"
	default:
		return false
	}
}

// ShellCommand runs text as a step of GitHub Actions does. A plain call of a
// test runner that is known is asked for machine-readable output, so that each
// test is reported.
func ShellCommand(stage Stage, text string) Command {
	c := Command{Stage: stage, Unit: ".", Text: text}
	if stage == StageSetup {
		c.Network = sandbox.NetworkHost
	}
	if words, ok := plainWords(text); ok && stage == StageTest {
		for _, eco := range All() {
			if eco.adopt == nil {
				continue
			}
			if a, ok := eco.adopt(c, words); ok {
				a.Eco = eco.Name
				return a
			}
		}
	}
	c.Argv = []string{"bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text}
	return c
}

// plainWords splits a command that is nothing but words, as they are written: no variables,
// redirections or second command. Variables that it sets come first.
func plainWords(text string) ([]string, bool) {
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) != 1 || len(file.Stmts[0].Redirs) > 0 || file.Stmts[0].Background || file.Stmts[0].Negated {
		return nil, false
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok {
		return nil, false
	}
	var words []string
	for _, a := range call.Assigns {
		value := ""
		if a.Value != nil {
			value = a.Value.Lit()
		}
		if a.Append || a.Array != nil || a.Index != nil || a.Value != nil && value == "" {
			return nil, false
		}
		words = append(words, a.Name.Value+"="+value)
	}
	for _, w := range call.Args {
		if !asWritten(w.Parts) {
			return nil, false
		}
		words = append(words, printed(w))
	}
	return words, true
}

// asWritten says whether a shell puts nothing in the place of parts of a word but what quotes
// keep together.
func asWritten(parts []syntax.WordPart) bool {
	return !slices.ContainsFunc(parts, func(p syntax.WordPart) bool {
		switch p := p.(type) {
		case *syntax.Lit:
			return false
		case *syntax.SglQuoted:
			return p.Dollar
		case *syntax.DblQuoted:
			return p.Dollar || !asWritten(p.Parts)
		}
		return true
	})
}

// A Command is one thing to run at a side.
type Command struct {
	Stage    Stage
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
	Plain    *Command // as the project wrote it, without asking for results; nil: there is none
	Script   string   // what a person types in its place, where it does what the project's script does before it, too; empty: nothing is
	Flags    []string // of the test runner, which also hold when tests are run again
	Needed   bool     // is run beside setup commands of the configuration
	Go       string   // version of the go command that it calls; empty: none, or not known
	Race     bool     // is of use for the race detector only
	Timeout  time.Duration
	Installs string // the folder in unit that a setup command fills and that depends on manifests alone; empty: not known
	Cache    string // Go's build cache; empty: see seals

	// Stderr sees its standard error once it has ended, as far as that is kept; nil: no one does.
	Stderr io.Writer

	// Untrusted returns what a head that is not trusted, and its base, are set up with in
	// place of this; nil: it is run as it stands.
	Untrusted func(Side) []Command
	// Data is what is there in place of the tree, by name; nil: the tree is. Such a
	// command fetches, and runs nothing of the tree.
	Data func(*Survey) map[string][]byte
	// OwnProgram says that the package manager that the base has chosen is among the data.
	OwnProgram bool
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
		c.Untrusted = func(side Side) []Command {
			return slices.DeleteFunc(of(side), func(c Command) bool { return c.Data == nil })
		}
		out = append(out, c)
	}
	return out
}

// strangers returns c, which is run in place of it for a head that is not trusted: fetch
// among data of the tree, and then offline, if there is any.
func (c Command) strangers(fetch string, data func(*Survey, string) map[string][]byte, offline ...string) Command {
	own := c
	c.Untrusted = func(Side) []Command {
		f := own.reporting(fetch)
		f.Data = func(s *Survey) map[string][]byte { return data(s, own.Unit) }
		out := []Command{f}
		for _, text := range offline {
			out = append(out, own.reporting(text))
		}
		return out
	}
	return c
}

// Reaches says whether a setup command has registries, for a head that is not trusted.
func (c Command) Reaches(side Side) bool {
	return c.Network == sandbox.NetworkHost && (side == Base || c.Data != nil || c.FillsModCache())
}

// onlyOfBase returns c as what a head that is not trusted does without: the commands that
// follow it have no network either, and find what the base's has fetched.
func (c Command) onlyOfBase() Command {
	own := c
	c.Untrusted = func(side Side) []Command {
		if side == Base {
			return []Command{own}
		}
		return nil
	}
	return c
}

// inShell runs the text of c in a shell.
func (c Command) inShell() Command {
	c.Argv = []string{"bash", "--noprofile", "--norc", "-c", c.Text}
	return c
}

// FillsModCache recognises the command by which the module cache of all projects is
// filled: it runs no code of the change, and checks what it fetches.
func (c Command) FillsModCache() bool {
	return c.Stage == StageSetup && slices.Equal(c.Argv, []string{"go", "mod", "download"})
}

// Command is one call of the go command in a module.
func (m goModule) Command(stage Stage, args ...string) Command {
	c := Command{Stage: stage, Unit: m.Dir, Text: "go " + strings.Join(args, " "), Argv: append([]string{"go"}, args...), Go: m.version}
	var flags []string
	if m.modVendor && args[0] != "mod" {
		flags = append(flags, "-mod=vendor")
		c.Text = "GOFLAGS=-mod=vendor " + c.Text
	}
	if m.testMod != "" {
		flags = append(flags, "-modfile="+m.testMod)
		c.Text = "GOFLAGS=-modfile=" + m.testMod + " " + c.Text
	}
	if m.NoWork {
		c.Env = append(c.Env, "GOWORK=off")
		c.Text = "GOWORK=off " + c.Text
	}
	if slices.Contains([]string{"build", "vet", "list"}, args[0]) && goSince(m.version, "go1.18") {
		flags = append(flags, "-buildvcs=false") // a stamp of the harness's own clone is of no use
	}
	if len(flags) > 0 {
		c.Env = append(c.Env, "GOFLAGS="+strings.Join(flags, " "))
	}
	return c
}

// ShellWords is a command as a shell takes it.
func ShellWords(c Command) string {
	if n := len(c.Argv); n > 2 && c.Argv[0] == "bash" && c.Argv[n-2] == "-c" {
		return c.Argv[n-1]
	}
	return quoted(c.Argv...)
}

// resultsVar is how the text of a command names the file that its runner is to
// write its results to.
const resultsVar = `"$RESULTS"`

// reporting makes c run text in a shell. Where text names a file for results,
// that is what goes to standard output, and all that the runner says goes to
// standard error: so results are part of the log and nothing is read back from
// the tree. The shell's own commands are those of the system ("command -p"), and
// prefix, which may change PATH, is for text alone. The file has a random name and
// is in no variable of the environment.
func (c Command) reporting(text string, prefix ...string) Command {
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

// quoted joins words for a shell.
func quoted(words ...string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:@%,") != "" {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
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

package execution

import (
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// notFound are the words in which shells, make and other runners say themselves
// that there is no program of a name.
var notFound = pattern.New(`(?m)^(?:` +
	`(?:\S+: )?(?:line )?\d+: ([\w.+-]+): (?:command )?not found|` + // bash, dash, and their scripts
	`(?:\S*/)?(?:ba|da|k)?sh: ([\w.+-]+): (?:command )?not found|` +
	`(?:zsh:\d+: )?command not found: ([\w.+-]+)|` + // zsh, yarn
	`g?make(?:\[\d+\])?: ([\w.+-]+): No such file or directory|` +
	`(?:\S*/)?env: [‘'"]?([\w.+-]+)[’'"]?: No such file or directory|` +
	`.*"([\w.+-]+)": executable file not found in \$PATH` + // task
	`)\s*$`)

// codeNotFound is what runners make of exit code 127, by which a shell says so.
var codeNotFound = pattern.New(`(?i)\bError 127\b|\bexit (?:status|code):? 127\b|\bELIFECYCLE\b`)

// exitNotFound is the exit code of a shell that finds no program.
const exitNotFound = 127

// unchosen are the words in which version managers, and macOS, say that they have nothing
// of the sort that a project asks for, and what it is that is missing.
var unchosen = []struct {
	says  *pattern.Pattern
	lacks string
}{
	{pattern.New(`(?m)^error: (?:rustup could not choose a version of|no override and no default toolchain|no default toolchain|toolchain '[^'\n]+' is not installed|could not (?:create temp|download|write) [^\n]*(?:rustup|static\.rust-lang\.org))`), "Rust toolchain of the version asked for"},
	{pattern.New(`(?m)^(\w+env): version [\x60'‘"]?([\w.+-]+)['’"]? is not installed`), "$2 of $1"},
	{pattern.New(`(?m)^(\w+env): ([\w.+-]+): command not found`), "$2 of $1"},
	{pattern.New(`(?m)^No (?:preset )?version (?:is )?(?:set|installed) for command ([\w.+-]+)`), "$1 of asdf"},
	{pattern.New(`(?m)^mise ERROR No version is set for shim: ([\w.+-]+)`), "$1 of mise"},
	{pattern.New(`(?m)^Volta error: (\S+) is not available`), "$1 of Volta"},
	{pattern.New(`(?m)^The operation couldn.t be completed\. Unable to locate a Java Runtime`), "Java runtime"},
}

// lacking names the program for want of which a command failed: its shell or its
// runner says so, and this machine really has none. "" for any other failure.
func (e *Executor) lacking(s ecosystem.Step) string {
	if s.Exit == 0 || s.Stopped() {
		return ""
	}
	for _, u := range unchosen {
		if m := u.says.FindStringSubmatch(s.Output); m != nil {
			m = append(m, "", "")
			return strings.NewReplacer("$1", m[1], "$2", m[2]).Replace(u.lacks)
		}
	}
	if s.Exit != exitNotFound && !codeNotFound.MatchString(s.Output) {
		return ""
	}
	found := notFound.FindAllStringSubmatch(s.Output, -1)
	if len(found) == 0 {
		return ""
	}
	name := strings.Join(found[len(found)-1][1:], "") // one of them matched: the last one ended the command
	if e.Tools.Anywhere(name, e.Env) {
		return ""
	}
	return name
}

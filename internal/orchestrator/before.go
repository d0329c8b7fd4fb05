package orchestrator

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/shelltext"
)

// mostBefore bounds what is written out of a check's own files, in bytes: a reader pastes it.
const mostBefore = 2000

// here are the folders of an agent as a person has them who stands in a checkout.
var here = evidence.Roots{Tree: ".", Home: "$HOME", Temp: "$TMPDIR", Base: "$YCBOT_BASE"}

// before is the shell text that makes for a check's commands what they found: the files that
// the agent wrote for them by commands of its own, and the processes that were held beside the
// last of them. "" where they need nothing, or it is too long.
func (a Audit) before(found evidence.Audited, commands []string) string {
	if len(found.Records) == 0 {
		return ""
	}
	at := slices.IndexFunc(a.Records, func(r evidence.Record) bool { return r.ID == found.Records[len(found.Records)-1] })
	if at < 0 {
		return ""
	}
	rec, lines := a.Records[at], []string{}
	typed := func(r evidence.Record, command string) string {
		return strings.TrimSpace(rundir.RootsOf(a.Journal, r).Move(command, here))
	}
	named := strings.Join(append(slices.Clone(commands), rec.Command), "\n")
	for _, b := range rec.Beside {
		named += "\n" + b.Command
	}
	for _, r := range a.Records[:at] {
		if r.Task == rec.Task && r.Executed && !r.Held && !slices.Contains(found.Records, r.ID) && writes(r.Command, named) {
			lines = append(lines, typed(r, r.Command))
		}
	}
	if slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, "TMPDIR") }) {
		lines = slices.Insert(lines, 0, "export TMPDIR=$(mktemp -d)")
	}
	for _, b := range rec.Beside {
		start := typed(rec, b.Command)
		if strings.Contains(start, "\n") {
			start = "(\n" + start + "\n)"
		}
		lines = append(lines, fmt.Sprintf("export PORT=%d", b.Port), start+" &")
	}
	if text := strings.Join(lines, "\n"); len(text) <= mostBefore {
		return text
	}
	return ""
}

// writes says whether a command writes a file that a text names.
func writes(command, named string) bool {
	file, err := shelltext.Parse(command)
	if err != nil {
		return false
	}
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		r, ok := n.(*syntax.Redirect)
		if !ok || r.Word == nil || r.Op != syntax.RdrOut && r.Op != syntax.AppOut && r.Op != syntax.RdrClob && r.Op != syntax.RdrAll {
			return !found
		}
		var b strings.Builder
		if err := syntax.NewPrinter().Print(&b, r.Word); err == nil {
			name := path.Base(strings.Trim(b.String(), `"'`))
			found = found || slices.Contains(strings.FieldsFunc(named, betweenNames), name) && strings.Trim(name, ".&-0123456789") != "" && name != "null"
		}
		return !found
	})
	return found
}

// betweenNames says whether r stands beside the names of files in a command, and in none.
func betweenNames(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-+@", r)
}

package run

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
)

// Bounds of the search for hidden characters.
const (
	hiddenPatch = 8 << 20 // bytes of the change that are looked at
	hiddenMost  = 20      // findings
)

// hiddenText finds characters in what the change brings that a reviewer does not
// see and that can make text read otherwise than it is: in added lines, names of
// files, commit messages, title and body.
func hiddenText(src rundir.Source, patch patchText) ([]report.Finding, []string) {
	var out []report.Finding
	add := func(where, text, file string, line int) {
		if found := trick(text); found != "" && len(out) < hiddenMost {
			out = append(out, report.Finding{
				Severity: report.SeverityWarning, Title: "hidden characters in " + where + ": " + found, Path: file, Line: line,
			})
		}
	}
	add("the title", src.Change.Title, "", 0)
	if src.Change.Task != src.Change.Title {
		add("what the change is said to do", src.Change.Task, "", 0)
	}
	for _, c := range src.Commits {
		add("the message of commit "+c.OID[:12], c.Subject+"\n"+c.Body, "", 0)
	}
	for _, f := range src.Change.Files {
		add("the name of a file", f.Path, f.Path, 0)
	}
	for _, l := range addedLines(string(patch.text)) {
		add("an added line", l.text, l.file, l.line)
	}
	var notes []string
	if patch.cut {
		notes = append(notes, fmt.Sprintf("only the first %d MiB of the change were searched for hidden characters", hiddenPatch>>20))
	}
	return out, notes
}

// patchText is the text of a change, or the beginning of it.
type patchText struct {
	text []byte
	cut  bool
}

// An addedLine is a line that the head has and the base has not.
type addedLine struct {
	file string
	line int
	text string
}

var hunk = pattern.New(`^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@`)

// addedLines reads them from a patch. Lines within a hunk are counted, so that
// no added text is taken for a heading.
func addedLines(patch string) []addedLine {
	var out []addedLine
	file, line, left := "", 0, 0
	for text := range strings.Lines(patch) {
		text = strings.TrimSuffix(text, "\n")
		switch {
		case left > 0 && strings.HasPrefix(text, "+"):
			out = append(out, addedLine{file, line, text[1:]})
			line, left = line+1, left-1
		case left > 0 && strings.HasPrefix(text, " "):
			line, left = line+1, left-1
		case left > 0:
		case strings.HasPrefix(text, "+++ "):
			file = fileOf(text[4:])
		default:
			if m := hunk.FindStringSubmatch(text); m != nil {
				line, _ = strconv.Atoi(m[1])
				left = 1
				if m[2] != "" {
					left, _ = strconv.Atoi(m[2])
				}
			}
		}
	}
	return out
}

// fileOf reads the name in a "+++" line; git quotes odd ones as C does.
func fileOf(name string) string {
	if unquoted, err := strconv.Unquote(name); err == nil {
		name = unquoted
	}
	_, file, _ := strings.Cut(strings.TrimSuffix(name, "\t"), "/")
	return path.Clean(file)
}

// flags are the emoji of regions, which are spelt with tag characters.
var flags = pattern.New("\U0001F3F4[\U000E0020-\U000E007E]{2,6}\U000E007F")

// trick names the hidden characters of a text that have no honest use there; ""
// for none. Joiners are honest in words of many scripts and in emoji, and not
// between letters of this one; a byte order mark is honest at the beginning.
func trick(text string) string {
	var found []string
	runes := []rune(flags.ReplaceAllString(text, ""))
	for i, r := range runes {
		hit := false
		switch {
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200b, r == 0x2060, r >= 0xe0000 && r <= 0xe007f:
			hit = true
		case r == 0x200c || r == 0x200d:
			hit = i > 0 && i+1 < len(runes) && plainLetter(runes[i-1]) && plainLetter(runes[i+1])
		case r == 0xfeff:
			hit = i > 0
		}
		if name := fmt.Sprintf("U+%04X", r); hit && !slices.Contains(found, name) && len(found) < 4 {
			found = append(found, name)
		}
	}
	return strings.Join(found, ", ")
}

func plainLetter(r rune) bool {
	return r < 0x250 && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}

package kept

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/pattern"
)

// hunkLines is how many lines of each side of a difference are shown.
const hunkLines = 20

// hunkOf is the difference of a file that concerns a test most: one with a line that said
// names, which the base's version of the file said as it failed, or that takes the test away; the first
// one below where the test's name stands; else the first of all.
func (k *keeper) hunkOf(ctx context.Context, t sides.Touch, id results.ID, said string) (line int, old, now string) {
	args := []string{"diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M", "-U0", k.on.Sides.Base.Commit, k.on.Sides.Head.Commit, "--", t.File.Path}
	if t.File.OldPath != "" {
		args = append(args, t.File.OldPath)
	}
	patch, err := k.on.Mirror.Git(ctx, args...)
	if err != nil {
		return 0, "", ""
	}
	was := cmp.Or(t.File.OldPath, t.File.Path)
	at, named := standsAt(string(k.on.Sides.Texts[t.File.Path].Head), id), linesIn(said, path.Base(was))
	if own := standsAt(string(k.on.Sides.Texts[was].Base), id); at == 0 && own > 0 {
		named = []int{own} // the change takes the test away
	}
	var about *pattern.Pattern
	if t.Class == compare.Steering && path.Base(t.Path) != "go.mod" { // which has a version of the language
		about = steersBy
	}
	return hunkAbout(string(patch), at, named, about)
}

// method is the name of a test of unittest, with its class.
var method = pattern.New(`^(?:\w+\.)+\w+$`)

// standsAt is the first line of a file with the name of a test, 0 for none.
func standsAt(text string, id results.ID) int {
	name, top := results.LastName(id.Test[strings.LastIndexByte(id.Test, '/')+1:]), id.Top()
	if method.MatchString(name) {
		name = name[strings.LastIndexByte(name, '.')+1:]
	}
	for i, l := range strings.Split(text, "\n") {
		if name != "" && strings.Contains(l, name) || top != "" && strings.Contains(l, top) {
			return i + 1
		}
	}
	return 0
}

// steersBy is in lines that say how tests are run, in files that say more than that.
var steersBy = pattern.New(`(?i)test|check|makeflags|emulator|launcher|runner|\benv|\bexport\b|preset|reporter`)

// hunkAbout chooses from the hunks of a patch without context: one with a line that is named, or else
// the first whose lines are about something, which nil is not.
func hunkAbout(patch string, at int, named []int, about *pattern.Pattern) (line int, old, now string) {
	said := false // what is chosen is about it
	parts := sides.HunkHead.FindAllStringSubmatchIndex(patch, -1)
	for i, m := range parts {
		end := len(patch)
		if i+1 < len(parts) {
			end = parts[i+1][0]
		}
		start := 0
		fmt.Sscan(patch[m[2]:m[3]], &start) //nolint:errcheck // digits, as the pattern says
		decides := replaces(patch[m[0]:m[1]], named)
		fits := about != nil && !said && about.MatchString(patch[m[1]:end])
		if i > 0 && !decides && !fits && (said || line >= at || start < at) {
			continue
		}
		said = said || fits
		line, old, now = start, side(patch[m[1]:end], "-"), side(patch[m[1]:end], "+")
		if decides {
			break
		}
	}
	return line, old, now
}

// linesIn are the lines of a file that a text names, as file:12 or file", line 12.
func linesIn(text, file string) []int {
	var out []int
	for _, m := range regexp.MustCompile(`(?:^|[^\w.-])`+regexp.QuoteMeta(file)+`(?::|", line |\()(\d+)`).FindAllStringSubmatch(text, -1) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			out = append(out, n)
		}
	}
	return out
}

var replacedLines = pattern.New(`^@@ -(\d+)(?:,(\d+))? `)

// replaces says whether the head of a hunk takes one of some lines away.
func replaces(head string, lines []int) bool {
	m := replacedLines.FindStringSubmatch(head)
	if m == nil {
		return false
	}
	first, err := strconv.Atoi(m[1])
	n, many := 1, error(nil)
	if m[2] != "" {
		n, many = strconv.Atoi(m[2])
	}
	return err == nil && many == nil && slices.ContainsFunc(lines, func(l int) bool { return l >= first && l < first+n })
}

// side returns the lines of a hunk that begin with a sign.
func side(hunk, sign string) string {
	var out []string
	for l := range strings.Lines(hunk) {
		if rest, ok := strings.CutPrefix(l, sign); ok && len(out) < hunkLines {
			out = append(out, strings.TrimRight(rest, "\n"))
		}
	}
	return strings.Join(out, "\n")
}

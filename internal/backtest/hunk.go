package backtest

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// A hunk is one place in a file where a change replaces lines: del of the old file from
// line at, by add of the new one from line now. Lines count from one.
type hunk struct {
	path              string
	before, after     blob
	at, del, now, add int
}

var hunkHead = pattern.New(`(?m)^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// hunks lists the places that a change alters in the sources that both of its sides have.
func (f forge) hunks(ctx context.Context, files []file) ([]hunk, error) {
	var out []hunk
	for _, c := range files {
		if !c.source() || c.before.oid == "" || c.after.oid == "" {
			continue
		}
		text, err := f.Git(ctx, nil, nil, "diff", "-U0", "--no-ext-diff", "--no-textconv", c.before.oid, c.after.oid)
		if err != nil {
			return nil, fmt.Errorf("compare %s: %w", c.path, err)
		}
		for _, m := range hunkHead.FindAllStringSubmatch(string(text), -1) {
			number := func(i, missing int) int {
				if n, err := strconv.Atoi(m[i]); err == nil {
					return n
				}
				return missing
			}
			out = append(out, hunk{c.path, c.before, c.after, number(1, 0), number(2, 1), number(3, 0), number(4, 1)})
		}
	}
	return out, nil
}

// without is the new file with the old lines in this place.
func (h hunk) without(before, after []byte) []byte {
	old, now := strings.SplitAfter(string(before), "\n"), strings.SplitAfter(string(after), "\n")
	from := h.now - 1
	if h.add == 0 { // the line before the place
		from = h.now
	}
	at := h.at - 1
	if h.del == 0 {
		at = h.at
	}
	if from < 0 || from+h.add > len(now) || at < 0 || at+h.del > len(old) {
		return after
	}
	return []byte(strings.Join(now[:from], "") + strings.Join(old[at:at+h.del], "") + strings.Join(now[from+h.add:], ""))
}

// A mutation is a replacement that changes what a line does in most languages.
type mutation struct {
	name string
	from *pattern.Pattern
	to   string
}

var mutations = []mutation{
	{"equal-negated", pattern.New(`([^=!<>])==([^=])`), "${1}!=${2}"},
	{"unequal-negated", pattern.New(`!=([^=])`), "==${1}"},
	{"strict-equal-negated", pattern.New(`===`), "!=="},
	{"less-to-less-or-equal", pattern.New(` < `), " <= "},
	{"greater-to-greater-or-equal", pattern.New(` > `), " >= "},
	{"less-or-equal-to-less", pattern.New(` <= `), " < "},
	{"greater-or-equal-to-greater", pattern.New(` >= `), " > "},
	{"and-to-or", pattern.New(` && `), " || "},
	{"or-to-and", pattern.New(` \|\| `), " && "},
	{"and-to-or", pattern.New(` and `), " or "},
	{"true-to-false", pattern.New(`\btrue\b`), "false"},
	{"false-to-true", pattern.New(`\bfalse\b`), "true"},
	{"true-to-false", pattern.New(`\bTrue\b`), "False"},
	{"false-to-true", pattern.New(`\bFalse\b`), "True"},
	{"plus-to-minus", pattern.New(` \+ 1\b`), " - 1"},
	{"minus-to-plus", pattern.New(` - 1\b`), " + 1"},
	{"zero-to-one", pattern.New(`([ (\[])0([ )\];,]|$)`), "${1}1${2}"},
	{"not-dropped", pattern.New(`([( ])!(\w)`), "${1}${2}"},
}

var commentLine = pattern.New(`^\s*(//|#|\*|/\*|"""|import |from |package )`)

// mutants are versions of the new file with one replacement in a line that the change adds.
func (h hunk) mutants(after []byte) map[string][]byte {
	lines := strings.SplitAfter(string(after), "\n")
	out := map[string][]byte{}
	for i := h.now - 1; i >= 0 && i < h.now-1+h.add && i < len(lines); i++ {
		if commentLine.MatchString(lines[i]) {
			continue
		}
		for _, m := range mutations {
			at := m.from.FindStringSubmatchIndex(lines[i])
			if at == nil || strings.Count(lines[i][:at[0]], `"`)%2 == 1 {
				continue
			}
			changed := lines[i][:at[0]] + m.from.ReplaceAllString(lines[i][at[0]:at[1]], m.to) + lines[i][at[1]:]
			text := strings.Join(lines[:i], "") + changed + strings.Join(lines[i+1:], "")
			out[fmt.Sprintf("mutant:%s:%s:%d", m.name, path.Base(h.path), i+1)] = []byte(text)
		}
	}
	return out
}

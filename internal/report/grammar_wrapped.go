package report

import (
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	markdownInfo = pattern.New(`(?i)^(?:md|markdown)?$`)
	quotedLine   = pattern.New(`^ {0,3}> ?`)
)

// ownLines are the lines of a reply. Where one fence or quote stands around the whole of its
// report, they are its author's own words all the same, and what wraps them is left out;
// within says that its last line stood inside.
//
// A fence in or beside a check is what a program printed, whatever it holds: nothing is
// unwrapped that leaves a check outside of the fence.
func ownLines(text string) (lines []string, within bool) {
	lines = strings.Split(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), "\n")
	for _, unwrap := range []func([]string) ([]string, bool, bool){unquoted, unfenced} {
		if inner, in, ok := unwrap(lines); ok {
			lines, within = inner, within || in
		}
	}
	return lines, within
}

// opensBlock says whether a line is the heading of a check or of a finding.
func opensBlock(line string) bool {
	return checkLine.MatchString(line) || plainLine.MatchString(line) || findingHead.MatchString(line)
}

// unquoted takes a reply out of the quote in which each line of it stands, its verdict aside.
func unquoted(lines []string) (out []string, within, ok bool) {
	out = slices.Clone(lines)
	for i, line := range lines {
		switch {
		case strings.TrimSpace(line) == "":
		case quotedLine.MatchString(line):
			out[i], within = quotedLine.ReplaceAllString(line, ""), true
			ok = ok || opensBlock(out[i])
		case isVerdictLine(line):
			within = false
		default:
			return nil, false, false
		}
	}
	return out, within, ok
}

// unfenced takes a report out of the fence that holds all of it: the first block is in it
// before any other fence, and only the verdict line is below it. A fence that does not call
// itself Markdown has nothing above it but headings, either.
func unfenced(lines []string) (out []string, within, ok bool) {
	first := slices.IndexFunc(lines, fenceLine.MatchString)
	if first < 0 {
		return nil, false, false
	}
	m := fenceLine.FindStringSubmatch(lines[first])
	info, last, below := strings.TrimSpace(m[2]), len(lines)-1, false
	for ; last > first && !fenceLine.MatchString(lines[last]); last-- {
		verdict := isVerdictLine(lines[last])
		if !verdict && strings.TrimSpace(lines[last]) != "" {
			return nil, false, false
		}
		below = below || verdict
	}
	if last == first || !markdownInfo.MatchString(info) || !closes(lines[last], m[1]) {
		return nil, false, false
	}
	for _, line := range lines[:first] {
		if opensBlock(line) || info == "" && strings.TrimSpace(line) != "" && !headingLine.MatchString(line) {
			return nil, false, false
		}
	}
	inner := lines[first+1 : last]
	next := slices.IndexFunc(inner, fenceLine.MatchString)
	if next < 0 {
		next = len(inner)
	}
	if !slices.ContainsFunc(inner[:next], opensBlock) {
		return nil, false, false
	}
	if _, open := outside(inner); open {
		return nil, false, false
	}
	// Fences in a fence of the same length end it too early for Markdown, so that what is
	// left outside shows nothing where one stays open.
	if blocks, open := outside(lines); blocks && !open {
		return nil, false, false
	}
	out = slices.Clone(lines)
	out[first], out[last] = "", ""
	return out, !below, true
}

// closes says whether a line ends a fence that began with mark.
func closes(line, mark string) bool {
	m := fenceLine.FindStringSubmatch(line)
	return m != nil && strings.HasPrefix(m[1], mark) && strings.TrimSpace(m[2]) == ""
}

// outside says whether a block opens outside of all fences, and whether a fence stays open.
func outside(lines []string) (blocks, open bool) {
	mark := ""
	for _, line := range lines {
		switch m := fenceLine.FindStringSubmatch(line); {
		case mark != "":
			if closes(line, mark) {
				mark = ""
			}
		case m != nil:
			mark = m[1]
		default:
			blocks = blocks || opensBlock(line)
		}
	}
	return blocks, mark != ""
}

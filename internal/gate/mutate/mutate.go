// Package mutate makes small changes of source text that a test should notice.
//
// Go is changed by its syntax tree, other languages by operators that replace a
// word or a sign in a line and keep the syntax. Nothing is executed here, and
// nothing is random: the same text and lines give the same mutants in the same
// order. Changes that no test could notice, or that no one would want a test for,
// are left out as far as they can be recognised: comments, text, logging, generated
// files, boundaries at which both branches come to the same.
package mutate

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sorted"
)

// A Mutant is one small change of one file.
type Mutant struct {
	Path string
	Line int    // 1-based, where it begins
	Op   string // what was done, for people
	Was  string
	Now  string
	Weak bool // it may well make no difference that matters, as the value at a boundary
	at   int  // offset of Was
}

// Apply returns src, which m was made from, with the change made.
func (m Mutant) Apply(src []byte) []byte {
	return slices.Concat(src[:m.at], []byte(m.Now), src[m.at+len(m.Was):])
}

// contextLines are as many lines around a change as "git apply" wants.
const contextLines = 3

// Diff shows the change of src as a patch, which "git apply" takes.
func (m Mutant) Diff(src []byte) string {
	end := m.at + len(m.Was)
	from, to := bytes.LastIndexByte(src[:m.at], '\n')+1, len(src)
	if i := bytes.IndexByte(src[end:], '\n'); i >= 0 {
		to = end + i + 1
	}
	lines := func(text ...[]byte) []string {
		all := strings.SplitAfter(string(bytes.Join(text, nil)), "\n")
		if last := len(all) - 1; all[last] == "" {
			all = all[:last]
		}
		return all
	}
	before, behind := lines(src[:from]), lines(src[to:])
	first := len(before)
	before, behind = before[max(0, first-contextLines):], behind[:min(len(behind), contextLines)]
	was, now := lines(src[from:to]), lines(src[from:m.at], []byte(m.Now), src[end:to])
	var b strings.Builder
	at, around := first-len(before)+1, len(before)+len(behind)
	fmt.Fprintf(&b, "--- a/%s\n+++ b/%s\n@@ -%d,%d +%d,%d @@\n", m.Path, m.Path, at, len(was)+around, at, len(now)+around)
	for _, part := range []struct {
		sign  string
		lines []string
	}{{" ", before}, {"-", was}, {"+", now}, {" ", behind}} {
		for _, l := range part.lines {
			b.WriteString(part.sign + strings.TrimSuffix(l, "\n") + "\n")
			if !strings.HasSuffix(l, "\n") {
				b.WriteString("\\ No newline at end of file\n")
			}
		}
	}
	return b.String()
}

// String names the mutant in a line.
func (m Mutant) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", m.Path, m.Line, m.Op, m.change())
}

// change says what stands in the place of what.
func (m Mutant) change() string {
	if strings.HasPrefix(m.Op, "removed ") {
		return short(m.Was)
	}
	return short(m.Was) + " → " + short(m.Now)
}

// Title says what a test does not notice.
func (m Mutant) Title() string { return m.Op + ": " + m.change() }

// shown is how much of a text is shown in a line.
const shown = 60

func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > shown {
		return string(r[:shown]) + "…"
	}
	return s
}

// Of makes the mutants of a file that begin in the given lines, one for each
// line first, then a second one, and so on, so that a run that stops early has
// tried as many lines as he could. Of languages that it does not know, and of
// generated files, there are none.
func Of(name string, src []byte, lines map[int]bool) []Mutant {
	if generated(src) {
		return nil
	}
	var all []Mutant
	if path.Ext(name) == ".go" {
		all = golang(src)
	} else if lang, ok := endings()[strings.ToLower(path.Ext(name))]; ok {
		all = lang.mutants(src)
	}
	out := slices.DeleteFunc(all, func(m Mutant) bool { return !lines[m.Line] })
	for i := range out {
		out[i].Path = name
	}
	sorted.By(out, func(a, b Mutant) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Now, b.Now))
	})
	out = slices.CompactFunc(out, func(a, b Mutant) bool { return a.at == b.at && a.Was == b.Was && a.Now == b.Now })
	return breadthFirst(out)
}

// breadthFirst takes one of each line in turns.
func breadthFirst(list []Mutant) []Mutant {
	turn := make([]int, len(list))
	seen := map[int]int{}
	index := make([]int, len(list))
	for i, m := range list {
		index[i], turn[i] = i, seen[m.Line]
		seen[m.Line]++
	}
	slices.SortStableFunc(index, func(a, b int) int { return cmp.Compare(turn[a], turn[b]) })
	out := make([]Mutant, len(list))
	for i, at := range index {
		out[i] = list[at]
	}
	return out
}

// typesOnly are declarations of types of TypeScript, of which no line runs.
var typesOnly = pattern.New(`(?i)\.d\.(?:[\w-]+\.)?[cm]?ts$`)

// Knows says whether there are operators for files of that name.
func Knows(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	_, ok := endings()[ext]
	return (ok || ext == ".go") && !typesOnly.MatchString(name)
}

// madeByMachine are the words by which generators mark their work, in the first
// lines of a file (https://go.dev/s/generatedcode, and what others use).
var madeByMachine = pattern.New(`(?im)^\W*(code generated .* do not edit|@generated\b|this (file|code) (is|was) (auto-?matically )?(auto-?)?generated|auto-?generated (by|file|code)\b|generated by .*do not (edit|modify))`)

// generated says whether a program wrote the file, so that no one tests its lines.
func generated(src []byte) bool {
	head := src
	if len(head) > 2048 {
		head = head[:2048]
	}
	return madeByMachine.Match(head)
}

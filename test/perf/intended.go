package main

import (
	_ "embed"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// intendedFile says which differences from older programs are meant to be there.
//
//go:embed intended.txt
var intendedFile string

// A change is a place where two texts differ: the lines of the one that stand where
// the other has its own.
type change struct{ before, after []string }

func (c change) empty() bool { return len(c.before)+len(c.after) == 0 }

func (c change) equal(other change) bool {
	return slices.Equal(c.before, other.before) && slices.Equal(c.after, other.after)
}

func (c change) String() string {
	var out strings.Builder
	for _, line := range c.before {
		out.WriteString("-" + line + "\n")
	}
	for _, line := range c.after {
		out.WriteString("+" + line + "\n")
	}
	return out.String()
}

// An intended change may be in the texts whose name a pattern matches. One without
// lines stands for whatever there is, where the script fails with the older program:
// what it is about is newer.
type intended struct {
	change
	patterns []string
	why      string
}

func (i intended) explains(name string, c change, fails bool) bool {
	return (i.equal(c) || i.empty() && fails) && slices.ContainsFunc(i.patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return pattern == script(name) || ok && err == nil
	})
}

// parseIntended reads blocks: a line "== PATTERN…", lines that say why, and the
// changes, each some lines with - and some with +. Lines with # above the first block
// are for people.
func parseIntended(text string) ([]intended, error) {
	var all []intended
	for n, block := range strings.Split("\n"+text, "\n== ") {
		if n == 0 {
			if !comment.MatchString(block) {
				return nil, errors.New("a block begins with == and the names of reports, as in == agents_limits/out-budget")
			}
			continue
		}
		these, err := parseBlock(block)
		if err != nil {
			return nil, err
		}
		all = append(all, these...)
	}
	return all, nil
}

var comment = regexp.MustCompile(`^(#.*|\n)*$`)

func parseBlock(block string) ([]intended, error) {
	names, rest, _ := strings.Cut(block, "\n")
	whole := intended{patterns: strings.Fields(names)}
	if err := wellFormed(whole.patterns); err != nil {
		return nil, err
	}
	var all []intended
	var c change
	end := func() {
		if !c.empty() {
			all = append(all, intended{c, whole.patterns, whole.why})
		}
		c = change{}
	}
	for line := range strings.SplitSeq(rest, "\n") {
		switch {
		case strings.HasPrefix(line, "-"):
			if len(c.after) > 0 {
				end()
			}
			c.before = append(c.before, line[1:])
		case strings.HasPrefix(line, "+"):
			c.after = append(c.after, line[1:])
		case line == "":
			end()
		case len(all) > 0 || !c.empty():
			return nil, fmt.Errorf("%s: %q: a change has lines with - or +, and why it is comes before it", names, line)
		default:
			whole.why = strings.TrimSpace(whole.why + " " + line)
		}
	}
	end()
	if whole.why == "" || strings.HasPrefix(whole.why, unwritten) {
		return nil, fmt.Errorf("%s: say why", names)
	}
	if len(all) == 0 {
		all = append(all, whole)
	}
	return all, nil
}

func wellFormed(patterns []string) error {
	if len(patterns) == 0 {
		return errors.New("a block names no reports")
	}
	for _, pattern := range patterns {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("%s: %w", pattern, err)
		}
	}
	return nil
}

// unwritten stands where a reason is to be written.
const unwritten = "WHY?"

// differences are the places where two texts differ, by a longest common
// subsequence of their lines.
func differences(before, after string) []change {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	common := make([][]int, len(a)+1) // of what follows line i of a and line j of b
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var all []change
	var c change
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			if !c.empty() {
				all, c = append(all, c), change{}
			}
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			c.before = append(c.before, a[i])
			i++
		default:
			c.after = append(c.after, b[j])
			j++
		}
	}
	if !c.empty() {
		all = append(all, c)
	}
	return all
}

package config

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/internal/sorted"
)

// A Problem is one thing that is wrong with a file.
type Problem struct {
	File string
	Line int    // from 1; 0: the file as a whole
	Col  int    // from 1, in characters; 0 with Line 0
	Key  string // path of the key, such as "limits.timeout"; empty where there is none
	Text string
}

// Error is "file:line:col: key: text".
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Col)
	}
	if p.Key != "" {
		b.WriteString(": " + p.Key)
	}
	b.WriteString(": " + p.Text)
	return b.String()
}

// Problems are all that is wrong with a file, in the order of the file. There
// is at least one.
type Problems []Problem

// shownProblems is how many problems Error prints: past it, a file is likely
// something else than a configuration.
const shownProblems = 25

// Error is one line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, 0, len(ps))
	for i, p := range ps {
		if i == shownProblems {
			lines = append(lines, fmt.Sprintf("%s: and %d more problems", p.File, len(ps)-i))
			break
		}
		lines = append(lines, p.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the problems to [errors.As].
func (ps Problems) Unwrap() []error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	return errs
}

// sort puts the problems in the order of the file.
func (ps Problems) sort() {
	sorted.By(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
}

package agents

import (
	"cmp"
	"fmt"

	"github.com/ycbot/ycbot/internal/sorted"
)

// A Problem is something wrong with an agent file.
type Problem struct {
	File  string // as the loader names it
	Line  int    // from 1; 0 where it is no line's
	Text  string
	Fatal bool // there is no such agent because of it
}

// String returns file:line: text.
func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// Error makes a Problem an error.
func (p Problem) Error() string { return p.String() }

// Problems is what is wrong with a file, by line.
type Problems []Problem

// Err returns the first problem because of which there is no such agent; nil
// where all are warnings.
func (ps Problems) Err() error {
	for _, p := range ps {
		if p.Fatal {
			return p
		}
	}
	return nil
}

func (ps Problems) sort() {
	sorted.By(ps, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
}

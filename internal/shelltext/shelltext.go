// Package shelltext parses texts for a shell that others wrote. The parser, its walk and its
// printer call themselves for each level of a text, and a stack that is full ends the whole
// program: texts of more levels than people write are refused.
package shelltext

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of a text: its bytes, the brackets that it opens, each of which takes the parser
// kilobytes of stack, and how many parts stand inside one another.
const (
	maxText   = 128 << 10
	maxOpened = 8 << 10
	maxLevels = 500
)

// ErrBounds is a text that is longer or has more levels than is taken apart.
var ErrBounds = errors.New("it is too long, or has too many levels, to be taken apart")

// Parse parses a text as Bash.
func Parse(text string) (*syntax.File, error) {
	if len(text) > maxText || strings.Count(text, "(") > maxOpened {
		return nil, ErrBounds
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err == nil && deep(file) {
		return nil, ErrBounds
	}
	return file, err
}

// deep says whether a text has too many levels. Commands in a row are none, though each holds
// those before it.
func deep(file *syntax.File) bool {
	level, most := 0, 0
	var counts []bool
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			if counts[len(counts)-1] {
				level--
			}
			counts = counts[:len(counts)-1]
			return true
		}
		_, row := n.(*syntax.BinaryCmd)
		_, command := n.(*syntax.Stmt)
		counts = append(counts, !row && !command)
		if !row && !command {
			level++
		}
		most = max(most, level)
		return true
	})
	return most > maxLevels
}

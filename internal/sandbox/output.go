package sandbox

import (
	"fmt"
	"io"
	"unicode/utf8"
)

const (
	headLimit = KeepLimit / 4 * 3
	tailLimit = KeepLimit/4 - 128 // the rest is for the marker line
)

// A capture keeps the beginning and the end of a stream in bounded memory and
// passes all of it on to tee. One goroutine writes.
type capture struct {
	tee    io.Writer
	teeErr error // first error of tee, which gets nothing after it
	head   []byte
	tail   []byte // a ring once it is full
	at     int    // where the next byte of the full ring goes
	total  int64
	limit  int64
	over   func() // called once, when total passes limit
}

// Write never fails: a command must not notice how it is watched.
func (c *capture) Write(b []byte) (int, error) {
	before := c.total
	c.total += int64(len(b))
	if c.tee != nil && c.teeErr == nil {
		_, c.teeErr = c.tee.Write(b)
	}
	n := len(b)
	room := min(headLimit-len(c.head), len(b))
	c.head = append(c.head, b[:room]...)
	c.keepTail(b[room:])
	if before <= c.limit && c.total > c.limit {
		c.over()
	}
	return n, nil
}

func (c *capture) keepTail(b []byte) {
	if len(b) > tailLimit {
		b = b[len(b)-tailLimit:]
	}
	room := min(tailLimit-len(c.tail), len(b))
	c.tail = append(c.tail, b[:room]...)
	for b = b[room:]; len(b) > 0; {
		n := copy(c.tail[c.at:], b)
		c.at = (c.at + n) % tailLimit
		b = b[n:]
	}
}

// output is what is kept, with the marker line in the place of what is not.
func (c *capture) output() Output {
	tail := append(c.tail[c.at:len(c.tail):len(c.tail)], c.tail[:c.at]...)
	if int64(len(c.head)+len(tail)) == c.total {
		return Output{Bytes: append(c.head, tail...), Total: c.total}
	}
	head := c.head[:len(c.head)-partialEnd(c.head)]
	tail = tail[partialStart(tail):]
	left := c.total - int64(len(head)) - int64(len(tail))
	nl := "\n"
	if len(head) > 0 && head[len(head)-1] == '\n' {
		nl = ""
	}
	out := fmt.Appendf(head[:len(head):len(head)], "%s[%d bytes left out]\n", nl, left)
	return Output{Bytes: append(out, tail...), Total: c.total}
}

// partialEnd is the length of a character that b ends in the middle of.
func partialEnd(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		rest := b[len(b)-n:]
		if utf8.RuneStart(rest[0]) {
			if utf8.FullRune(rest) {
				return 0
			}
			return n
		}
	}
	return 0
}

// partialStart is the length of a character whose end b begins with.
func partialStart(b []byte) int {
	for n := range min(len(b), utf8.UTFMax) {
		if utf8.RuneStart(b[n]) {
			return n
		}
	}
	return 0 // no text
}

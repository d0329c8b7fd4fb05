package results

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
)

// A LineCounts passes results on and keeps the counts of lines.
type LineCounts struct {
	Collector
	Take   func(line string) bool // whether a line behind the mark is counts, which it takes; nil: those of Go
	marked bool                   // the mark was there
	said   bool                   // counts that take takes were there
	blank  bool                   // the line before is empty, and is the mark's if that follows
	part   []byte
	long   bool                    // part is of a line that is too long, and is passed on as it comes
	Knows  map[string]bool         // files that were counted
	lines  map[string]map[int]bool // statements by file: whether they ran
	failed map[string]map[int]bool // lines by file on which an assertion failed, where that is counted
	Ran    map[string]bool         // files of which a line ran
	missed string                  // why more may have run than is known; empty: no more has
	work   int                     // lines and characters that were looked at
}

// NewLineCounts reads the counts of Go, which stand among the results that it passes on to c. Those
// of other runners stand behind [CountsMark], where Take is set.
func NewLineCounts(c Collector) *LineCounts {
	return &LineCounts{Collector: c, Knows: map[string]bool{}, lines: map[string]map[int]bool{}, Ran: map[string]bool{}}
}

// Write implements io.Writer.
func (c *LineCounts) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			if c.part = append(c.part, p...); len(c.part) > maxLine {
				c.long = true
				return n, c.flush()
			}
			return n, nil
		}
		c.part = append(c.part, p[:i+1]...)
		if c.long || !c.took(string(c.part)) {
			if c.Take != nil && !c.long && string(c.part) == "\n" {
				if c.part = c.part[:0]; c.blank {
					if err := c.flush(); err != nil {
						return 0, err
					}
				}
				c.blank, p = true, p[i+1:]
				continue
			}
			if err := c.flush(); err != nil {
				return 0, err
			}
		}
		c.part, c.long, p = c.part[:0], false, p[i+1:]
	}
}

// flush passes on what there is of a line.
func (c *LineCounts) flush() error {
	if c.blank {
		c.blank, c.part = false, append([]byte("\n"), c.part...)
	}
	_, err := c.Collector.Write(c.part)
	c.part = c.part[:0]
	return err
}

// Suite implements [Collector]. The last line need not have an end.
func (c *LineCounts) Suite(evidence, wd string) Suite {
	if c.blank && len(c.part) == 0 || len(c.part) > 0 && (c.long || !c.took(string(c.part))) {
		_ = c.flush() // to memory
	}
	c.part = nil
	return c.Collector.Suite(evidence, wd)
}

func (c *LineCounts) took(line string) bool {
	switch {
	case c.Take == nil:
		return c.count(line)
	case strings.TrimSuffix(line, "\n") == CountsMark: // the last one is that of the command itself
		*c = LineCounts{Collector: c.Collector, Take: c.Take, part: c.part, marked: true, Knows: map[string]bool{}, lines: map[string]map[int]bool{}, Ran: map[string]bool{}}
		return true
	}
	return c.marked && c.Take(line)
}

// Miss keeps why more may have run than is known.
func (c *LineCounts) Miss(why string) { c.missed = cmp.Or(c.missed, why) }

// Missed says why more may have run than is known; empty: no more has.
func (c *LineCounts) Missed() string {
	if c.Take != nil && !c.said {
		return "its counts are missing or not complete"
	}
	return c.missed
}

// count takes a line of a cover profile: "file:from.column,to.column statements times".
func (c *LineCounts) count(line string) bool {
	if line == "" || line[0] == '{' || len(line) > 4096 {
		return false
	}
	if strings.HasPrefix(line, "mode: ") {
		return true
	}
	at := strings.LastIndexByte(line, ':')
	if at < 0 {
		return false
	}
	var from, to, a, b, statements, times int
	if n, err := fmt.Sscanf(line[at+1:], "%d.%d,%d.%d %d %d", &from, &a, &to, &b, &statements, &times); n != 6 || err != nil || from < 1 || to < from || to > MaxPainted || to-from > maxBlock {
		return false
	}
	if c.work += to - from + 1; c.work > MaxPainted {
		return true
	}
	name := line[:at]
	c.Knows[name] = true
	if c.lines[name] == nil {
		c.lines[name] = map[int]bool{}
	}
	for l := from; l <= to; l++ {
		c.lines[name][l] = c.lines[name][l] || times > 0
	}
	if times > 0 {
		c.Ran[name] = true
	}
	return true
}

// maxBlock bounds the lines of one block of a profile.
const maxBlock = 100_000

// Line says whether a line of a file ran, and whether it is one that can.
func (c *LineCounts) Line(name string, n int) (ran, statement bool) {
	ran, statement = c.lines[name][n]
	return ran, statement
}

// Add merges what one more process says of the lines of a file.
func (c *LineCounts) Add(name string, lines map[int]bool) {
	if c.lines[name] == nil {
		c.lines[name] = map[int]bool{}
	}
	c.Knows[name] = true
	for n, ran := range lines {
		c.lines[name][n] = c.lines[name][n] || ran
		c.Ran[name] = c.Ran[name] || ran
	}
}

// Fail notes the lines of a file on which an assertion failed.
func (c *LineCounts) Fail(name string, lines []int) {
	if c.failed == nil {
		c.failed = map[string]map[int]bool{}
	}
	if c.failed[name] == nil {
		c.failed[name] = map[int]bool{}
	}
	for _, n := range lines {
		c.failed[name][n] = true
	}
}

// FailedOn says whether an assertion failed on a line of a file.
func (c *LineCounts) FailedOn(name string, n int) bool { return c.failed[name][n] }

// MaxPainted bounds the work of reading counts, which the change can make up.
const MaxPainted = 1 << 26

// CountsMark stands alone on the line before counts. What comes before it is not counts,
// whatever it looks like: the tests wrote it.
const CountsMark = `{"counts":"follow"}`

// EachCounts reads which lines each test runs by itself.
type EachCounts struct {
	Tests map[ID]*LineCounts // of those that pass
	unit  string
	line  []byte
	now   *LineCounts
}

// Write implements io.Writer.
func (e *EachCounts) Write(p []byte) (int, error) {
	for part := range bytes.Lines(p) {
		if len(e.line) < maxLine {
			e.line = append(e.line, part...)
		}
		if bytes.HasSuffix(part, []byte("\n")) {
			e.take(string(bytes.TrimRight(e.line, "\r\n")))
			e.line = e.line[:0]
		}
	}
	return len(p), nil
}

func (e *EachCounts) take(line string) {
	rest, ok := strings.CutPrefix(line, TestMark+" ")
	if !ok {
		if e.now != nil {
			e.now.count(line)
		}
		return
	}
	e.now = nil
	if f := strings.Fields(rest); len(f) == 3 && f[0] == "0" {
		e.now = NewLineCounts(nil)
		e.Tests[ID{Unit: e.unit, Package: f[1], Test: f[2]}] = e.now
	}
}

// NewEachCounts reads the counts of tests that run in a folder, each behind a line of [TestMark].
func NewEachCounts(unit string) *EachCounts {
	return &EachCounts{Tests: map[ID]*LineCounts{}, unit: unit}
}

// Ended notes that the counts are complete.
func (c *LineCounts) Ended() { c.said = true }

// Worked adds to the work of reading counts, and says whether it is more than is done.
func (c *LineCounts) Worked(n int) (tooMuch bool) {
	c.work += n
	return c.work > MaxPainted
}

package agent

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"
)

// How often a call may give the same answer, with nothing new in between. A command
// that is run once more is evidence of its own, such as that it is not flaky.
// Nor is waiting for something slow a circle so soon.
const (
	repeatLimit  = 3
	commandLimit = 12
	waited       = 5 * time.Second // what a call takes that waits
)

const (
	repeatHint = "\n\n[This call has now given the same answer %d times and nothing new came in between. Asking again will not change it: try another way, or give your final reply with what you know.]"
	errorHint  = "\n\n[Calls have now failed %d times in a row with the same error. Read what it says and do something else, or give your final reply with what you know.]"
)

// repeats notices an agent that goes round in circles. A call counts as a repeat
// when tool, arguments and answer were all seen before; anything new in between
// starts the count again, so that looking at the same thing from time to time is
// no circle. Calls that differ and fail with the same line one after another are
// one too.
type repeats struct {
	seen   map[[32]byte]int // fingerprint to times since the last new thing
	line   string           // of the last failures
	failed int              // how often it came in a row
	hinted int              // number of the answer whose calls got the hint; 0: none yet
	fresh  int              // new things since then: after some of them the hint was taken
}

// A repeat is what note found.
type repeat struct {
	count      int
	errored    bool
	hint, stop bool // the first detection, and one in a later answer
}

func (r repeat) text() string {
	if r.errored {
		return fmt.Sprintf(errorHint, r.count)
	}
	return fmt.Sprintf(repeatHint, r.count)
}

func (r repeat) reason(name string) string {
	if r.errored {
		return fmt.Sprintf("%s failed with the same error %d times in a row, also after a hint", name, r.count)
	}
	return fmt.Sprintf("%s gave the same answer %d times, also after a hint", name, r.count)
}

// units that a duration is written in, those first of which another is the beginning.
var units = []string{"ns", "us", "µs", "ms", "s", "m"}

// steady is text without what differs between two runs of the same command:
// durations and ids of evidence. It is what is left by the expression
// \b\d+(\.\d+)?(ns|us|µs|ms|s|m)\b|\bE\d+\b, which takes longer for a file than
// reading it.
func steady(text string) string {
	var out strings.Builder
	kept := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c != 'E' && !digit(c) || i > 0 && wordByte(text[i-1]) {
			i++
			continue
		}
		end := volatileEnd(text, i)
		if end < 0 {
			i++
			continue
		}
		out.WriteString(text[kept:i])
		kept, i = end, end
	}
	if kept == 0 {
		return text
	}
	out.WriteString(text[kept:])
	return out.String()
}

// volatileEnd is where what begins at i, at the beginning of a word, ends; -1: it is
// nothing that differs.
func volatileEnd(text string, i int) int {
	if text[i] == 'E' {
		if end := digits(text, i+1); end > i+1 && wordEnds(text, end) {
			return end
		}
		return -1
	}
	whole := digits(text, i)
	if whole+1 < len(text) && text[whole] == '.' && digit(text[whole+1]) {
		if end := unitEnd(text, digits(text, whole+1)); end >= 0 {
			return end
		}
	}
	return unitEnd(text, whole)
}

// unitEnd is where the unit at i ends; -1: there is none.
func unitEnd(text string, i int) int {
	for _, u := range units {
		if strings.HasPrefix(text[i:], u) && wordEnds(text, i+len(u)) {
			return i + len(u)
		}
	}
	return -1
}

func digits(text string, i int) int {
	for i < len(text) && digit(text[i]) {
		i++
	}
	return i
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func wordByte(c byte) bool {
	return digit(c) || c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func wordEnds(text string, i int) bool { return i == len(text) || !wordByte(text[i]) }

// note counts a call of answer n.
func (r *repeats) note(n int, name, args string, a answer) repeat {
	found, limit, errors := repeat{count: r.times(name, args, a.Text)}, repeatLimit, repeatLimit
	if len(a.Evidence) > 0 && a.Denied == nil {
		limit = commandLimit
	}
	if a.DurationMS >= waited.Milliseconds() {
		limit, errors = commandLimit, commandLimit
	}
	if failed := r.failures(a.Text, a.Errored); found.count < limit && failed >= errors {
		found, limit = repeat{count: failed, errored: true}, errors
	}
	if found.count < limit {
		return found
	}
	found.stop = r.hinted != 0 && r.hinted < n
	if found.hint = !found.stop; found.hint {
		r.hinted, r.fresh = n, 0
	}
	return found
}

// times counts how often a call gave the same answer.
func (r *repeats) times(name, args, text string) int {
	print := sha256.Sum256([]byte(strings.Join([]string{name, args, steady(text)}, "\x00")))
	if _, ok := r.seen[print]; !ok {
		if r.seen == nil {
			r.seen = map[[32]byte]int{}
		}
		for k := range r.seen {
			r.seen[k] = 1
		}
		r.seen[print] = 0
		if r.fresh++; r.fresh >= repeatLimit {
			r.hinted = 0
		}
	}
	r.seen[print]++
	return r.seen[print]
}

// failures counts how often the same error came in a row. Refusals are no error
// of the model's to fix: each is about a target of its own.
func (r *repeats) failures(text string, errored bool) int {
	line, _, _ := strings.Cut(text, "\n")
	if !errored || strings.HasPrefix(line, "{") || strings.HasPrefix(line, "[") {
		r.line, r.failed = "", 0
		return 0
	}
	if line != r.line {
		r.line, r.failed = line, 0
	}
	r.failed++
	return r.failed
}

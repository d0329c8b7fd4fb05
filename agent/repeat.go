package agent

import (
	"crypto/sha256"
	"regexp"
	"strings"
)

// repeatLimit is how often a call may give the same answer, with nothing new in between.
const repeatLimit = 3

const repeatHint = "\n\n[This call has now given the same answer %d times and nothing new came in between. Asking again will not change it: try another way, or give your final reply with what you know.]"

// repeats notices an agent that goes round in circles. A call counts as a repeat
// when tool, arguments and answer were all seen before; anything new in between
// starts the count again, so that looking at the same thing from time to time is
// no circle.
type repeats struct {
	seen   map[[32]byte]int // fingerprint to times since the last new thing
	hinted int              // number of the answer whose calls got the hint; 0: none yet
}

// volatile is what differs between two runs of the same command.
var volatile = regexp.MustCompile(`\b\d+(\.\d+)?(ns|us|µs|ms|s|m)\b|\bE\d+\b`)

// note counts a call of answer n. It returns how often it came, and what to do:
// a hint at the first detection, the end at one in a later answer.
func (r *repeats) note(n int, name, args, text string) (count int, hint, stop bool) {
	print := sha256.Sum256([]byte(strings.Join([]string{name, args, volatile.ReplaceAllString(text, "")}, "\x00")))
	if _, ok := r.seen[print]; !ok {
		if r.seen == nil {
			r.seen = map[[32]byte]int{}
		}
		for k := range r.seen {
			r.seen[k] = 1
		}
		r.seen[print] = 1
		return 1, false, false
	}
	r.seen[print]++
	count = r.seen[print]
	if count < repeatLimit {
		return count, false, false
	}
	if r.hinted != 0 && r.hinted < n {
		return count, false, true
	}
	r.hinted = n
	return count, true, false
}

package results

import (
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// madeNothing are the words in which make and task say that there was nothing to do for a
// target, as where a file or folder has its name.
var madeNothing = pattern.New(`^(?:g?make(?:\[\d+\])?: (?:['\x60][^']+' is up to date\.|Nothing to be done for ['\x60][^']+'\.|(?:Entering|Leaving) directory .*)|task: Task "[^"]+" is up to date)$`)

// RanNothing says of what a command printed that it found nothing to do, and so ran no test.
func RanNothing(output string) bool {
	some := false
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if !madeNothing.MatchString(line) {
			return false
		}
		some = true
	}
	return some
}

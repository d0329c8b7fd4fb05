package rust

import (
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// complaint is the beginning of an error of the compiler, whose message can have several lines; warnings have
// places as well.
var complaint = pattern.New(`(?m)^error(?:\[E\d+\])?: [^\n]*\n(?:[^\n-]+\n){0,3}?\s*--> ([^\s:]+\.rs):(\d+)`)

// withoutTests takes the tests out of a source in which some lines stand. What is left keeps its lines. What
// tests call stays, as the sources may call it too.
func withoutTests(src []byte, lines []int, _ bool) (rest []byte, tests []string, ok bool) {
	rest = slices.Clone(src)
	left := slices.Clone(lines)
	for _, m := range rustTestHead.FindAllStringSubmatchIndex(string(src), -1) {
		end := rustEnd(string(src), m[1])
		first := 1 + strings.Count(string(src[:m[0]]), "\n")
		last := first + strings.Count(string(src[m[0]:end]), "\n")
		others := slices.DeleteFunc(slices.Clone(left), func(l int) bool { return first <= l && l <= last })
		if len(others) == len(left) {
			continue
		}
		left = others
		tests = append(tests, rustFnName.FindStringSubmatch(string(src[m[0]:end]))[1])
		for i := m[0]; i < end; i++ {
			if rest[i] != '\n' {
				rest[i] = ' '
			}
		}
	}
	return rest, tests, len(tests) > 0 && len(left) == 0
}

package report

import (
	"strings"
	"testing"
)

// TestCountsWrapped: the words of a count stand on one line, and none of them names the list below a second time.
func TestCountsWrapped(t *testing.T) {
	t.Parallel()
	r := Report{Verdict: Pass, Changes: Changes{Files: 1}, Tests: &Tests{HeadPassed: 1, BasePassed: 3, Removed: []string{"m TestA", "m TestB"}}}
	for width := 60; width < 110; width++ {
		text := r.Text(TextOptions{Width: width})
		if strings.Count(text, "2 only on base") != 1 || strings.Contains(text, "only on base:") || !strings.Contains(text, "gone with the change:\n    m TestA\n") {
			t.Errorf("width %d:\n%s", width, text)
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), "·") {
				t.Errorf("width %d: %s", width, line)
			}
		}
	}
}

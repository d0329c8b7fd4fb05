package agent

import (
	"regexp"
	"testing"
)

// What is left out of an answer before it is compared with others is what an
// expression says that is too slow for each answer.
func FuzzSteady(f *testing.F) {
	volatile := regexp.MustCompile(`\b\d+(\.\d+)?(ns|us|µs|ms|s|m)\b|\bE\d+\b`)
	for _, text := range []string{
		"ok pkg 0.012s", "[E12] exit=0 in 1.5s", "3ms4ms 5m", "1.2.3s", "1.s 2.5 s", "E1E2 xE3 E4x E", "7µs, 8us_ 9µsx", "5minutes 5m.", "é3s3sé", "12.34.56ms", "E12.5s", "_1s -1s",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := steady(text), volatile.ReplaceAllString(text, ""); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	})
}

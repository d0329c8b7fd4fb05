package agent

import (
	"fmt"
	"regexp"
	"testing"
	"time"
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

// Waiting for something slow is no circle as soon as asking again at once is, and a hint
// that was taken is forgotten.
func TestWaiting(t *testing.T) {
	t.Parallel()
	const args = `{"process":"p1","wait_text":"ready"}`
	slow := answer{Text: `error: p1: running, no "ready" in its output`, Errored: true, DurationMS: (30 * time.Second).Milliseconds()}
	fast := slow
	fast.DurationMS = 5
	ends := func(a answer) int {
		var r repeats
		for n := 1; ; n++ {
			if r.note(n, "process_output", args, a).stop {
				return n
			}
		}
	}
	if n := ends(fast); n != repeatLimit+1 {
		t.Errorf("asking again at once ends after %d answers", n)
	}
	if n := ends(slow); n != commandLimit+1 {
		t.Errorf("waiting ends after %d answers", n)
	}
	var r repeats
	same := func(n int) repeat { return r.note(n, "read_file", "{}", answer{Text: "x"}) }
	for n := 1; n < repeatLimit; n++ {
		same(n)
	}
	if !same(repeatLimit).hint {
		t.Fatal("no hint")
	}
	for n := range repeatLimit {
		r.note(10+n, "read_file", fmt.Sprint(n), answer{Text: "new"})
	}
	for n := 20; n < 20+repeatLimit-2; n++ {
		same(n)
	}
	if got := same(30); !got.hint || got.stop {
		t.Errorf("after new things the next hint is %+v", got)
	}
}

package publish

import (
	"net/http"
	"testing"

	githubtest "github.com/ycbot/ycbot/internal/testing/github"
)

// TestAwayForAMoment: errors of GitHub's that end within seconds, at each call of a publish, end
// nothing: there is one comment, and one completed check run with each annotation once.
func TestAwayForAMoment(t *testing.T) {
	t.Parallel()
	for name, pattern := range map[string]struct {
		fault githubtest.Fault
		at    []int // how many calls after the first
	}{
		"errors one after the other":         {githubtest.Status(http.StatusBadGateway), []int{0, 1, 2}},
		"an error of each try of a write":    {githubtest.Status(http.StatusInternalServerError), []int{0, 2, 4}},
		"lost answers of each try":           {githubtest.After(), []int{0, 2}},
		"lost answers one after the other":   {githubtest.After(), []int{0, 1, 2}},
		"calls that are lost, and one later": {githubtest.Before(), []int{0, 1, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			for n, through := 1, false; !through; n++ {
				if n > 40 {
					t.Fatal("no publish goes through")
				}
				b.open()
				for _, later := range pattern.at {
					b.FailAt(n+later, pattern.fault)
				}
				before := len(b.Calls())
				p := b.publisher(memory{})
				err := p.Begin(t.Context(), b.target(1))
				if err == nil {
					_, err = p.Finish(t.Context(), b.target(1), b.failing(120), Ending{})
				}
				if err != nil {
					t.Fatalf("call %d: %v", n, err)
				}
				through = len(b.Calls())-before < n
				b.Heal()
				if err := p.Notice(t.Context(), b.target(1), "A hint."); err != nil {
					t.Fatal(err)
				}
				b.checkEnd(name, 0)
			}
		})
	}
}

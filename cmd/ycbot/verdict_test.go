package main

import (
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/github"
)

// The verdict that a merge robot reads is that of the commit's own check run, by the
// expected App.
func TestVerdict(t *testing.T) {
	t.Parallel()
	h := newHosted(t, good)
	head := h.PullHead(h.repo, h.pull)
	look := func(want int, says string, args ...string) {
		t.Helper()
		if len(args) == 0 {
			args = []string{"--app-id", "15368"}
		}
		s := ended(t, h.command(t, "push", []byte("{}"), nil, append([]string{"verdict", "--repo", h.repo.String(), "--sha", head}, args...)...))
		if s.code != want || !strings.Contains(s.log, says) || strings.Count(s.log, "\n") != 1 {
			t.Errorf("exit %d, want %d: %s", s.code, want, s.log)
		}
	}
	look(3, "no check run of App")
	forger := h.Token("", mayPost, "actions")
	forge := func(r github.CheckRun) {
		t.Helper()
		c, err := github.New(github.Options{BaseURL: h.URL, Token: forger, Now: time.Now})
		if err == nil {
			r.Name, r.HeadSHA = "ycbot", head
			_, err = c.CreateCheckRun(t.Context(), h.repo, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	passed := &github.Output{Title: "PASS: all is well", Summary: "x"}
	forge(github.CheckRun{Status: "completed", Conclusion: "success", ExternalID: "mine", Output: passed})
	look(3, "1 others")
	if s := h.step(t, "pull_request", h.opened(), nil); s.code != 0 {
		t.Fatal(s.log)
	}
	look(0, "PASS: acme/sums at "+head)
	look(0, "PASS", "--require", "pass", "--app-id", "15368")
	look(3, "no check run of App 77", "--app-id", "77")
	id := strings.Repeat("a", 64)
	forge(github.CheckRun{Status: "completed", Conclusion: "neutral", ExternalID: id, Output: &github.Output{Title: "PARTIAL: x", Summary: "x"}})
	look(2, "PARTIAL")
	forge(github.CheckRun{Status: "completed", Conclusion: "failure", ExternalID: id, Output: &github.Output{Title: "FAIL: x", Summary: "x"}})
	look(1, "FAIL")
	forge(github.CheckRun{Status: "completed", Conclusion: "skipped", ExternalID: id, Output: passed})
	look(3, "skipped")
	forge(github.CheckRun{Status: "completed", Conclusion: "failure", ExternalID: id, Output: &github.Output{Title: "could not verify", Summary: "x"}})
	look(3, "could not verify")
	forge(github.CheckRun{Status: "in_progress", ExternalID: id})
	look(3, "is not completed")
}

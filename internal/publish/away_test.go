package publish

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/github"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// TestAwayForAMoment: errors of GitHub's that end within seconds, at each call of a publish, end
// nothing: there is one comment, and one completed check run with each annotation once.
func TestAwayForAMoment(t *testing.T) {
	variants.Only(t) // what GitHub answers is waited for
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

// refusing is GitHub with a check run that takes no update.
type refusing struct {
	GitHub
	err             error
	updates, pauses int
}

func (g *refusing) UpdateCheckRun(context.Context, github.Repo, github.CheckRun) (github.CheckRun, error) {
	g.updates++
	return github.CheckRun{}, g.err
}

func (g *refusing) Annotations(context.Context, github.Repo, int64) ([]github.Annotation, error) {
	return nil, nil
}

func (g *refusing) Pause(context.Context, int) error {
	g.pauses++
	return nil
}

// What appends is tried again a few times, and not where GitHub names the time to come again. What
// does not append was tried again by the client.
func TestCompleteEnds(t *testing.T) {
	t.Parallel()
	away, later := &github.Error{Status: http.StatusBadGateway}, &github.LimitError{Until: time.Unix(1, 0)}
	note := []github.Annotation{{Path: "a", StartLine: 1, EndLine: 1, Level: levelNotice, Message: "m"}}
	for name, tt := range map[string]struct {
		err     error
		notes   []github.Annotation
		updates int
	}{
		"away":                   {away, note, tries},
		"away, without notes":    {away, nil, 1},
		"wants to be left alone": {later, note, 1},
		"refuses":                {&github.Error{Status: http.StatusForbidden}, note, 1},
	} {
		g := &refusing{err: tt.err}
		_, _, err := (&Publisher{GitHub: g, Now: time.Now}).complete(t.Context(), Target{}, github.CheckRun{ID: 1}, github.Output{Annotations: tt.notes}, ending{})
		if !errors.Is(err, tt.err) || g.updates != tt.updates || g.pauses != tt.updates-1 {
			t.Errorf("%s: %v after %d updates and %d pauses, want %d updates", name, err, g.updates, g.pauses, tt.updates)
		}
	}
}

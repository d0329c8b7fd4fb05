package job

import (
	"testing"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
)

// TestLeftNothing: what the workflow of a change left is missing for a reason that the
// configuration of the base gives, and not for one that the change could choose.
func TestLeftNothing(t *testing.T) {
	t.Parallel()
	e := &event.Event{Kind: event.Finished, Name: "workflow_run", Repo: widget, Sender: alice, WorkflowRun: &event.WorkflowRun{ID: 1, HeadSHA: headSHA}}
	for name, tt := range map[string]struct {
		config            string
		facts             func(*Facts)
		code              Code
		excluded, refused bool
	}{
		"nothing excludes it":     {code: CodeNothingLeft, refused: true},
		"of a member":             {facts: func(f *Facts) { *f = member() }, code: CodeNothingLeft, refused: true},
		"paths":                   {config: "on: {paths_ignore: ['**']}", facts: func(f *Facts) { f.Paths = []string{"a"} }, code: CodePathsIgnored, excluded: true},
		"paths that are unknown":  {config: "on: {paths_ignore: ['**']}", code: CodeNothingLeft, refused: true},
		"outsiders":               {config: "on: {outsiders: never}", code: CodeOutsider, refused: true},
		"no event":                {config: "on: {pull_request: [labeled]}", code: CodeNotConfigured, excluded: true},
		"one event":               {config: "on: {pull_request: [opened]}", code: CodeNothingLeft, refused: true},
		"another event":           {config: "on: {pull_request: [ready_for_review]}", code: CodeNothingLeft, refused: true},
		"a draft":                 {facts: func(f *Facts) { f.Draft = true }, code: CodeNothingLeft, refused: true},
		"a draft that is ignored": {config: "on: {drafts: true, paths_ignore: ['**']}", facts: func(f *Facts) { f.Draft, f.Paths = true, []string{"a"} }, code: CodePathsIgnored, excluded: true},
		"moved":                   {facts: moved, code: CodeSuperseded},
		"closed":                  {facts: func(f *Facts) { f.Closed = true }, code: CodeClosed},
	} {
		c, err := config.Parse("f", []byte("version: 1\n"+tt.config+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		f := with(member(), fork)
		f.Paths = nil
		if tt.facts != nil {
			tt.facts(&f)
		}
		d := Ended(e, 7).LeftNothing(f, c)
		if d.Run || d.Skip.Code != tt.code || d.Skip.Excluded() != tt.excluded || d.Skip.Refused() != tt.refused || d.Job.HeadSHA != headSHA {
			t.Errorf("%s: run %v, %+v; want %s", name, d.Run, d.Skip, tt.code)
		}
	}
}

package job

import (
	"testing"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
)

// TestAccept: an acceptance is a job about the recorded run of one head, by a person
// who may, and never by a machine.
func TestAccept(t *testing.T) {
	t.Parallel()
	accepting := says("/verify accept " + headSHA[:12] + " the old limit was wrong")
	d := Admit(accepting, inAction)
	if !d.Run || !d.Job.Accept || d.Job.Verb != event.VerbVerify || d.Job.Want != headSHA[:12] || d.Job.Words != "the old limit was wrong" {
		t.Fatalf("admitted as %+v, skip %+v", d.Job, d.Skip)
	}
	labelled := func(e *event.Event) { e.Label = "Behaviour-Change" }
	for name, tt := range map[string]struct {
		event  *event.Event
		facts  Facts
		config string
		code   Code // empty: it is concluded
	}{
		"by a comment":                  {event: accepting, facts: member()},
		"of a fork":                     {event: accepting, facts: with(member(), fork)},
		"of a fork, by a short name":    {event: says("/verify accept " + headSHA[:8]), facts: with(member(), fork), code: CodeSHAShort},
		"of another commit":             {event: says("/verify accept " + newerSHA[:12]), facts: member(), code: CodeSHAMismatch},
		"by a reader":                   {event: accepting, facts: with(member(), func(f *Facts) { f.Actor = "read" }), code: CodeNoPermission},
		"by one of machines":            {event: accepting, facts: member(), config: "version: 1\nmachines: [ALICE]\n", code: CodeMachine},
		"by a bot":                      {event: says("/verify accept "+headSHA[:12], by(robot)), code: CodeBot},
		"by the label":                  {event: pull("labeled", labelled), facts: member()},
		"by the label, of a fork":       {event: pull("labeled", labelled), facts: with(member(), fork)},
		"by the label, which is old":    {event: pull("labeled", labelled), facts: with(member(), moved), code: CodeSuperseded},
		"by the label, by a bot":        {event: pull("labeled", labelled, by(robot)), code: CodeBot},
		"when nothing is left of today": {event: accepting, facts: with(member(), usage(&Usage{RunsToday: 1 << 20}))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config.Default()
			if tt.config != "" {
				var err error
				if c, err = config.Parse("f", []byte(tt.config)); err != nil {
					t.Fatal(err)
				}
			}
			d := Admit(tt.event, inApp)
			if d.Run {
				d = Authorize(d.Job, tt.facts, c, inApp)
			}
			switch {
			case tt.code == "" && (!d.Run || !d.Job.Accept):
				t.Errorf("run %v, accept %v, skip %+v", d.Run, d.Job.Accept, d.Skip)
			case tt.code != "" && (d.Run || d.Skip.Code != tt.code):
				t.Errorf("run %v, skip %+v; want %s", d.Run, d.Skip, tt.code)
			}
		})
	}
}

// TestMachines: a change by a machine is one whatever the head is trusted with, and
// only a person's own trailer counts.
func TestMachines(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Machines = []string{"release-bot"}
	for _, tt := range []struct {
		by           event.User
		facts        func(*Facts)
		machine, may bool
	}{
		{by: alice, may: true},
		{by: event.User{ID: 9, Login: "Release-Bot", Type: "User"}, machine: true},
		{by: robot, machine: true},
		{by: event.User{ID: 9, Login: "x[bot]"}, machine: true},
		{by: alice, facts: fork},
		{by: event.User{}},
	} {
		f := member()
		f.By = tt.by
		if tt.facts != nil {
			tt.facts(&f)
		}
		j := Authorize(admit(t, pull("opened")), f, c, inApp).Job
		if j.Machine != tt.machine || j.MayAccept != tt.may {
			t.Errorf("%+v: machine %v, may accept %v", tt.by, j.Machine, j.MayAccept)
		}
	}
}

// Which pull request the merge queue works for, and into which branch, is read from the name of its own branch.
func TestQueuedPull(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]struct {
		number int
		base   string
	}{
		"refs/heads/gh-readonly-queue/main/pr-7-" + headSHA:         {7, "main"},
		"refs/heads/gh-readonly-queue/release/1.0/pr-12-" + headSHA: {12, "release/1.0"},
		"gh-readonly-queue/release/pr-1/pr-12-" + headSHA:           {12, "release/pr-1"},
		"refs/heads/pr-7":                        {0, "refs/heads/pr-7"},
		"refs/heads/gh-readonly-queue/main/pr-x": {0, "main"},
		"":                                       {},
	} {
		if number, base := QueuedPull(ref), QueuedBase(ref); number != want.number || base != want.base {
			t.Errorf("%q: %d into %q, want %+v", ref, number, base, want)
		}
	}
}

package job

import (
	"math"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/event"
)

// member is a pull request by a writer from a branch of the repository, asked about by a writer.
func member() Facts {
	return Facts{
		Actor: "write", Author: "write", HeadRepo: 100, BaseRepo: 100, HeadSHA: headSHA, BaseSHA: tipSHA,
		Paths: []string{"main.go"}, Usage: &Usage{},
	}
}

func with(f Facts, change ...func(*Facts)) Facts {
	for _, c := range change {
		c(&f)
	}
	return f
}

func fork(f *Facts)     { f.Fork, f.HeadRepo, f.Author = true, 200, "none" }
func stranger(f *Facts) { f.Author = "read" }
func actor(p string) func(*Facts) {
	return func(f *Facts) { f.Actor = p }
}
func draft(f *Facts)              { f.Draft = true }
func shut(f *Facts)               { f.Closed = true }
func moved(f *Facts)              { f.HeadSHA = newerSHA }
func headless(f *Facts)           { f.HeadSHA = "" }
func docsOnly(f *Facts)           { f.Paths = []string{"docs/a.md", "docs/b/c.md"} }
func noPaths(f *Facts)            { f.Paths = nil }
func usage(u *Usage) func(*Facts) { return func(f *Facts) { f.Usage = u } }

// conf is a configuration by the lines of its file.
func conf(t *testing.T, lines ...string) *config.Config {
	t.Helper()
	c, err := config.Parse("ycbot.yml", []byte(strings.Join(append([]string{"version: 1"}, lines...), "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The second step, as a table: event, facts, configuration, and what comes of it.
func TestAuthorize(t *testing.T) {
	t.Parallel()
	const (
		gate, never, full = "on: {outsiders: gate}", "on: {outsiders: never}", "on: {outsiders: full}"
		noEvents          = "on: {pull_request: []}"
		ignore            = `on: {paths_ignore: ["docs/**"]}`
	)
	ours := func(e *event.Event) { e.Label = Label }
	accepting := func(e *event.Event) { e.Label = AcceptLabel }
	type want struct {
		trust     Level
		gateOnly  bool
		needsFull bool
	}
	trusted, untrusted := want{trust: Trusted}, want{Untrusted, false, true}
	tests := []struct {
		rule   string
		event  *event.Event
		facts  Facts
		config string
		run    want
		code   Code // empty: run
		notify Notify
	}{
		// By itself.
		{"a writer's push", pull("opened"), member(), "", trusted, "", ""},
		{"a push moved on", pull("synchronize"), with(member(), moved), "", want{}, CodeSuperseded, NotifySummary},
		{"closed meanwhile", pull("opened"), with(member(), shut), "", want{}, CodeClosed, NotifySummary},
		{"head not known", pull("opened"), with(member(), headless), "", want{}, CodeHeadUnknown, NotifySummary},
		{"action not wanted", pull("opened"), member(), noEvents, want{}, CodeNotConfigured, NotifySummary},
		{"draft", pull("opened"), with(member(), draft), "", want{}, CodeDraft, NotifySummary},
		{"draft, wanted", pull("opened"), with(member(), draft), "on: {drafts: true}", trusted, "", ""},
		{"ready for review", pull("ready_for_review"), member(), "", trusted, "", ""},
		{"ignored paths", pull("opened"), with(member(), docsOnly), ignore, want{}, CodePathsIgnored, NotifySummary},
		{"paths not known are not ignored", pull("opened"), with(member(), noPaths), ignore, trusted, "", ""},
		{"who pushed needs no permission", pull("opened"), with(member(), actor("")), "", trusted, "", ""},

		// Outsiders, by itself.
		{"fork, gate", pull("opened"), with(member(), fork), gate, want{Untrusted, true, false}, "", ""},
		{"fork, full", pull("opened"), with(member(), fork), full, want{Untrusted, false, false}, "", ""},
		{"fork, never", pull("opened"), with(member(), fork), never, want{}, CodeOutsider, NotifySummary},
		{"author without write, gate", pull("opened"), with(member(), stranger), gate, want{Untrusted, true, false}, "", ""},
		{"author without write, never", pull("opened"), with(member(), stranger), never, want{}, CodeOutsider, NotifySummary},
		{"a writer's fork is an outsider", pull("opened"), with(member(), fork, func(f *Facts) { f.Author = "admin" }), never, want{}, CodeOutsider, NotifySummary},
		{"fork, with secrets", pull("opened", target), with(member(), fork), full, untrusted, "", ""},
		{"member, with secrets", pull("opened", target), member(), "", trusted, "", ""},

		// Asked for by comment.
		{"a writer asks", says("/verify"), member(), "", trusted, "", ""},
		{"a maintainer asks, maintain wanted", says("/verify"), with(member(), actor("maintain")), "allow: maintain", trusted, "", ""},
		{"a reader asks", says("/verify"), with(member(), actor("read")), "", want{}, CodeNoPermission, NotifyComment},
		{"triage is not write", says("/verify"), with(member(), actor("triage")), "", want{}, CodeNoPermission, NotifyComment},
		{"a role that is not known", says("/verify"), with(member(), actor("release-captain")), "", want{}, CodeNoPermission, NotifyComment},
		{"permission not known", says("/verify"), with(member(), actor("")), "", want{}, CodeNoPermission, NotifyComment},
		{"account not known", says("/verify", by(event.User{})), member(), "", want{}, CodeNoPermission, NotifyComment},
		{"a writer asks, admin wanted", says("/verify"), member(), "allow: admin", want{}, CodeNoPermission, NotifyComment},
		{"who has no permission learns nothing else", says("/verify " + newerSHA), with(member(), actor("read"), shut), "", want{}, CodeNoPermission, NotifyComment},
		{"on a closed one", says("/verify"), with(member(), shut), "", want{}, CodeClosed, NotifyComment},
		{"asking beats on, draft and paths", says("/verify"), with(member(), draft, docsOnly), "on: {pull_request: [], paths_ignore: [\"docs/**\"]}", trusted, "", ""},
		{"head named", says("/verify " + headSHA[:7]), member(), "", trusted, "", ""},
		{"another commit named", says("/verify " + newerSHA), member(), "", want{}, CodeSHAMismatch, NotifyComment},
		{"pushed after it was named", says("/verify " + headSHA), with(member(), moved), "", want{}, CodeSHAMismatch, NotifyComment},
		{"head not known", says("/verify"), with(member(), headless), "", want{}, CodeHeadUnknown, NotifyComment},

		// Asked for on an outsider's pull request.
		{"commit not named", says("/verify"), with(member(), fork), "", want{}, CodeSHARequired, NotifyComment},
		{"commit not named, author without write", says("/verify full"), with(member(), stranger), "", want{}, CodeSHARequired, NotifyComment},
		{"11 digits", says("/verify " + headSHA[:11]), with(member(), fork), "", want{}, CodeSHAShort, NotifyComment},
		{"12 digits", says("/verify " + headSHA[:12]), with(member(), fork), "", untrusted, "", ""},
		{"12 digits of another", says("/verify " + newerSHA[:12]), with(member(), fork), "", want{}, CodeSHAMismatch, NotifyComment},
		{"asking beats never, and trusts no one", says("/verify " + headSHA), with(member(), fork, actor("admin")), never, untrusted, "", ""},
		{"the author of a fork asks", says("/verify " + headSHA), with(member(), fork, actor("read")), "", want{}, CodeNoPermission, NotifyComment},

		// Stop and status.
		{"a writer stops", says("/verify stop"), with(member(), fork, shut), "", want{}, "", ""},
		{"a reader does not", says("/verify stop"), with(member(), actor("read")), "", want{}, CodeNoPermission, NotifyComment},
		{"nor by the button", check("stop"), with(member(), actor("read")), "", want{}, CodeNoPermission, NotifySummary},
		{"stop needs no pull request's number", check("stop", ofFork), member(), "", want{}, "", ""},

		// Label.
		{"a writer labels", pull("labeled", ours), with(member(), draft, docsOnly), ignore, trusted, "", ""},
		{"a label where it does not ask", pull("labeled", ours), member(), noEvents, want{}, CodeNotConfigured, NotifyComment},
		{"nor beside other events", pull("labeled", ours), member(), "on: {pull_request: [opened, synchronize]}", want{}, CodeNotConfigured, NotifyComment},
		{"a label that accepts", pull("labeled", accepting), member(), noEvents, trusted, "", ""},
		{"a labeler with triage", pull("labeled", ours), with(member(), actor("triage")), "", want{}, CodeNoPermission, NotifyComment},
		{"a label names no commit", pull("labeled", ours), with(member(), fork), "", want{}, CodeSHARequired, NotifyComment},
		{"pushed after the label", pull("labeled", ours), with(member(), moved), "", want{}, CodeSuperseded, NotifyComment},

		// Check run.
		{"asked for again", check(""), member(), "", trusted, "", ""},
		{"by a reader", check(""), with(member(), actor("read")), "", want{}, CodeNoPermission, NotifySummary},
		{"of an older commit", check(""), with(member(), moved), "", want{}, CodeSuperseded, NotifySummary},
		{"a fork's check run is of one commit", check("verify"), with(member(), fork), never, untrusted, "", ""},
		{"unknown of which", check("", ofFork), member(), "", want{}, CodeNoPull, NotifySummary},

		// Dispatch and merge queue.
		{"dispatched", dispatch("pr", "7"), member(), "", trusted, "", ""},
		{"dispatched by a reader", dispatch("pr", "7"), with(member(), actor("read")), "", want{}, CodeNoPermission, NotifySummary},
		{"a fork, commit not named", dispatch("pr", "7"), with(member(), fork), "", want{}, CodeSHARequired, NotifySummary},
		{"a fork, commit named", dispatch("pr", "7", "sha", headSHA), with(member(), fork), "", untrusted, "", ""},
		{"on a branch", dispatch(), member(), "", trusted, "", ""},
		{"on a branch of whom nothing is known", dispatch(), with(member(), func(f *Facts) { f.Author = "" }), "", untrusted, "", ""},
		{"the merge queue", queued(), Facts{Usage: &Usage{}}, never, untrusted, "", ""},
		{"the merge queue, pull request known", queued(), with(member(), moved), "", trusted, "", ""},

		// Limits.
		{"the last of the day", pull("opened"), with(member(), usage(&Usage{RunsToday: 49, CostUSD: 9.99, Recent: 9})), "", trusted, "", ""},
		{"one more", pull("opened"), with(member(), usage(&Usage{RunsToday: 50})), "", want{}, CodeRunsPerDay, NotifySummary},
		{"the repository's own", pull("opened"), with(member(), usage(&Usage{RunsToday: 2})), "limits: {runs_per_day: 2}", want{}, CodeRunsPerDay, NotifySummary},
		{"too dear", says("/verify"), with(member(), usage(&Usage{CostUSD: 10})), "", want{}, CodeCostPerPR, NotifyComment},
		{"asked too often", says("/verify"), with(member(), usage(&Usage{Recent: 3})), "", want{}, CodeCoolDown, NotifyComment},
		{"asked often", says("/verify"), with(member(), usage(&Usage{Recent: 2})), "", trusted, "", ""},
		{"the merge queue too", queued(), Facts{Usage: &Usage{RunsToday: 50}}, "", want{}, CodeRunsPerDay, NotifySummary},
		{"not known", pull("opened"), with(member(), usage(nil)), "", want{}, CodeUsageUnknown, NotifySummary},
		{"not counted", says("/verify"), with(member(), usage(&Usage{RunsToday: -1})), "", want{}, CodeUsageUnknown, NotifyComment},
		{"asked, not counted", says("/verify"), with(member(), usage(&Usage{Recent: -1})), "", want{}, CodeUsageUnknown, NotifyComment},
		{"cost is no number", says("/verify"), with(member(), usage(&Usage{CostUSD: math.NaN()})), "", want{}, CodeUsageUnknown, NotifyComment},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			t.Parallel()
			j := admit(t, tt.event)
			d := Authorize(j, tt.facts, conf(t, tt.config), inApp)
			if tt.code != "" {
				wantSkip(t, d, tt.code, tt.notify)
				byItself := !j.Asked() && (tt.code == CodeNotConfigured || tt.code == CodeDraft || tt.code == CodePathsIgnored)
				if d.Skip.Excluded() != byItself {
					t.Errorf("its check is completed as skipped: %v, want %v", d.Skip.Excluded(), byItself)
				}
				return
			}
			if !d.Run || d.Skip != nil {
				t.Fatalf("run %v, skip %+v", d.Run, d.Skip)
			}
			if got := (want{d.Job.Trust, d.Job.GateOnly, d.Job.NeedsFull}); got != tt.run {
				t.Errorf("got %+v, want %+v", got, tt.run)
			}
			if d.Job.ID != j.ID || d.Job.Verb == event.VerbVerify && d.Job.HeadSHA == "" {
				t.Errorf("identity or head lost: %+v", d.Job)
			}
		})
	}
}

// A job that names no commit gets those of now, one of the merge queue keeps its own.
func TestAuthorizePins(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		event      *event.Event
		base, head string
	}{
		"comment":     {says("/verify"), tipSHA, headSHA},
		"push":        {pull("opened"), tipSHA, headSHA},
		"merge queue": {queued(), baseSHA, headSHA},
	}
	for name, tt := range tests {
		j := Authorize(admit(t, tt.event), member(), config.Default(), inApp).Job
		if j.BaseSHA != tt.base || j.HeadSHA != tt.head {
			t.Errorf("%s: base %s, head %s", name, j.BaseSHA, j.HeadSHA)
		}
	}
}

// The Action keeps no count over several runs, and runs without.
func TestActionHasNoLimits(t *testing.T) {
	t.Parallel()
	d := Authorize(admit(t, says("/verify")), with(member(), usage(nil)), config.Default(), inAction)
	if !d.Run {
		t.Errorf("skip %+v", d.Skip)
	}
}

// A head is trusted only if all is known and in order.
func TestTrust(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*Facts)
		want   Level
	}{
		"member":                 {func(*Facts) {}, Trusted},
		"admin":                  {func(f *Facts) { f.Author = "admin" }, Trusted},
		"fork of an admin":       {func(f *Facts) { f.Author, f.Fork = "admin", true }, Untrusted},
		"other repository":       {func(f *Facts) { f.HeadRepo = 200 }, Untrusted},
		"repository is gone":     {func(f *Facts) { f.HeadRepo = 0 }, Untrusted},
		"repositories not known": {func(f *Facts) { f.HeadRepo, f.BaseRepo = 0, 0 }, Untrusted},
		"triage":                 {func(f *Facts) { f.Author = "triage" }, Untrusted},
		"author not known":       {func(f *Facts) { f.Author = "" }, Untrusted},
	}
	for name, tt := range tests {
		if got := Trust(with(member(), tt.change)); got != tt.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
)

// earlier has a run of the pull request of pushed ended on this machine with a report; of what is the rest of
// its row.
func (d *desk) earlier(t *testing.T, of store.Run, rep report.Report) store.Run {
	t.Helper()
	of.Number, of.State, of.Verdict, of.HeadSHA = pushed().Number, store.Finished, string(rep.Verdict), pushed().HeadSHA
	if of.Job == "" {
		of.Job = of.ID
	}
	of.BaseSHA = baseOID
	if of.Created.IsZero() {
		of.Created = d.now.Add(-time.Hour)
	}
	rep.Schema, rep.RunID, rep.Repo, rep.PR, rep.HeadSHA = report.Schema, of.ID, of.Repo, of.Number, of.HeadSHA
	rep.Trigger, rep.Phase, rep.Trust = "pull_request", report.PhaseEnd, "trusted"
	body, err := rep.JSON()
	if err != nil {
		t.Fatal(err)
	}
	dir := d.dir(of)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"report.json": body, "SHA256SUMS": nil} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.DB.SaveRun(t.Context(), of); err != nil {
		t.Fatal(err)
	}
	mirror, err := d.DB.Mirror(t.Context(), of.ID, dir)
	if err == nil {
		err = mirror.Finish(t.Context())
	}
	if err == nil {
		err = mirror.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return of
}

// accepts is the job of a comment that accepts.
func accepts(comment int64) job.Job {
	j := asked(event.VerbVerify, comment)
	j.Accept, j.Words = true, "it is meant to"
	return j
}

// Only a run that came to its end is concluded again, and none instead of it: who accepts gets one answer, and
// nothing else is touched.
func TestAcceptNeedsACompleteRun(t *testing.T) {
	t.Parallel()
	first, second := store.Run{ID: "first", Repo: "acme/sums", RepoID: 5}, store.Run{ID: "second", Repo: "acme/sums", RepoID: 5}
	partial := func(o report.Outcome) report.Report { return report.Report{Verdict: report.Partial, Outcome: o} }
	for name, test := range map[string]struct {
		runs []report.Report
		old  string // run whose directory another version wrote in another format
		want string // the run that is concluded again; empty: none
	}{
		"none":                    {nil, "", ""},
		"at its time limit":       {[]report.Report{partial(report.TimedOut)}, "", ""},
		"complete":                {[]report.Report{partial(report.Completed)}, "", "first"},
		"the newest at its limit": {[]report.Report{partial(report.Completed), partial(report.TimedOut)}, "", ""},
		"the newest complete":     {[]report.Report{partial(report.TimedOut), partial(report.Completed)}, "", "second"},
		"of another format":       {[]report.Report{partial(report.Completed)}, "first", ""},
		"after another format":    {[]report.Report{partial(report.Completed), partial(report.Completed)}, "first", "second"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			desksOfBoth(t, func(t *testing.T, d *desk) {
				t.Helper()
				for i, rep := range test.runs {
					of := []store.Run{first, second}[i]
					of.Created = d.now.Add(time.Duration(i-9) * time.Minute)
					d.earlier(t, of, rep)
				}
				d.old = test.old
				record := ""
				d.live = func(a Assignment, _ Link) { record = filepath.Base(a.Previous) }
				j := accepts(8)
				d.enqueue(t, j)
				if err := d.Work(t.Context(), j); err != nil {
					t.Fatal(err)
				}
				if test.want == "" {
					if len(d.notes) != 1 || !strings.HasPrefix(d.notes[0], "reply #4 no-record: Nothing was accepted: ") || d.state(t, j) != "skipped" {
						t.Errorf("the host was asked %q, the run is %q", d.notes, d.state(t, j))
					}
					return
				}
				if record != "2222222-"+test.want || d.state(t, j) != "finished PASS" {
					t.Errorf("%q is concluded again, want that of %s; the run is %q", record, test.want, d.state(t, j))
				}
			})
		})
	}
}

// A run is concluded again only for the base that it was about, and only where nothing is verified at that
// moment; what is being posted is waited for.
func TestAcceptIsOfTheLastWord(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		base string              // of the run
		of   func(d *desk) error // has something be under way
		want string
	}{
		"the same base": {"main", nil, "finish run1 PASS"},
		"another base":  {"lax", nil, "reply #4 no-record: Nothing was accepted: there is no finished run"},
		"under way":     {"main", func(d *desk) error { _, err := d.Queue.Enqueue(context.Background(), pushed()); return err }, "reply #4 no-record: Nothing was accepted: the pull request is being verified"},
		"posted now": {"main", func(d *desk) error {
			_, err := d.Queue.Enqueue(context.Background(), pushed())
			return errors.Join(err, d.Queue.Conclude(context.Background(), pushed().ID))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			desksOfBoth(t, func(t *testing.T, d *desk) {
				t.Helper()
				d.facts.Base = "main"
				of := d.earlier(t, store.Run{ID: "first", Repo: "acme/sums", RepoID: 5}, report.Report{Verdict: report.Partial, Outcome: report.Completed})
				if err := d.DB.Record(t.Context(), "job/"+of.ID, `{"base": "`+test.base+`"}`); err != nil {
					t.Fatal(err)
				}
				if test.of != nil {
					if err := test.of(d); err != nil {
						t.Fatal(err)
					}
				}
				j := accepts(8)
				d.enqueue(t, j)
				err := d.Work(t.Context(), j)
				if test.want == "" {
					if !errors.Is(err, queue.ErrLater) || d.notes != nil {
						t.Errorf("error %v, the host was asked %q", err, d.notes)
					}
					return
				}
				if err != nil || len(d.notes) == 0 || !strings.HasPrefix(d.notes[len(d.notes)-1], test.want) {
					t.Errorf("error %v, the host was asked %q, want %q at last", err, d.notes, test.want)
				}
			})
		})
	}
}

// What was accepted stays accepted for the base that it was accepted for: another may not let those accept who did.
func TestAcceptedForTheBase(t *testing.T) {
	t.Parallel()
	queued := func(base string) job.Job {
		return job.Job{Repo: pushed().Repo, Trigger: job.TriggerMergeGroup, Ref: "refs/heads/gh-readonly-queue/" + base + "/pr-4-" + headOID, BaseSHA: baseOID, HeadSHA: headOID}
	}
	into := func(base, sha string) job.Job {
		j := pushed()
		j.Base, j.BaseSHA = base, sha
		return j
	}
	for name, test := range map[string]struct {
		base string // of the run in which it was accepted; empty: not kept
		job  job.Job
		want bool
	}{
		"the same base":                  {"main", into("main", headOID), true},
		"another base":                   {"lax", into("main", baseOID), false},
		"the queue of the same base":     {"main", queued("main"), true},
		"the queue of another base":      {"lax", queued("main"), false},
		"a base that is not kept":        {"", into("main", baseOID), true},
		"another base that was not kept": {"", into("main", headOID), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			desksOfBoth(t, func(t *testing.T, d *desk) {
				t.Helper()
				of := d.earlier(t, store.Run{ID: "first", Repo: "acme/sums", RepoID: 5}, report.Report{
					Verdict: report.Pass, Outcome: report.Completed, Accepted: []report.Acceptance{{By: "bob", At: "2026-01-01T00:00:00Z"}},
				})
				if err := d.DB.Record(t.Context(), "job/"+of.ID, `{"base": "`+test.base+`"}`); err != nil {
					t.Fatal(err)
				}
				accepted, err := d.accepted(t.Context(), Assignment{Job: test.job})
				if err != nil || (len(accepted) == 1) != test.want {
					t.Errorf("accepted %+v, %v", accepted, err)
				}
			})
		})
	}
}

// An acceptance runs nothing: no limit refuses it, and none counts it.
func TestAcceptIsNoRun(t *testing.T) {
	t.Parallel()
	desksOfBoth(t, func(t *testing.T, d *desk) {
		t.Helper()
		d.config.Limits.RunsPerDay, d.config.Limits.CostUSDPerPR = 2, 10
		d.earlier(t, store.Run{ID: "first", Repo: "acme/sums", RepoID: 5, CostUSD: 10.20}, report.Report{Verdict: report.Partial, Outcome: report.Completed})
		for i := range job.CoolDownRuns {
			j := accepts(int64(i + 1))
			d.enqueue(t, j)
			if err := d.Work(t.Context(), j); err != nil || d.state(t, j) != "finished PASS" {
				t.Fatalf("acceptance %d: error %v, run is %q, the host was asked %q", i, err, d.state(t, j), d.notes)
			}
			d.earlier(t, store.Run{ID: fmt.Sprint("again", i), Repo: "acme/sums", RepoID: 5, Trigger: store.Acceptance, Created: d.now.Add(time.Second)}, report.Report{Verdict: report.Partial, Outcome: report.Completed})
		}
		d.config.Limits.CostUSDPerPR = 20
		j := asked(event.VerbVerify, 9)
		d.enqueue(t, j)
		if err := d.Work(t.Context(), j); err != nil || d.state(t, j) != "finished PASS" {
			t.Errorf("a run after them: error %v, run is %q, the host was asked %q", err, d.state(t, j), d.notes)
		}
	})
}

// Runs are those of the repository, whatever it is called, and not those of another that had its name: of these
// nothing is taken, and nothing counts.
func TestRunsOfTheRepository(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		of  store.Run
		our bool
	}{
		"another had the name": {store.Run{ID: "r", Repo: "acme/sums", RepoID: 6, CostUSD: 2}, false},
		"it had another name":  {store.Run{ID: "r", Repo: "acme/products", RepoID: 5, CostUSD: 2}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			desksOfBoth(t, func(t *testing.T, d *desk) {
				t.Helper()
				d.earlier(t, test.of, report.Report{
					Verdict: report.Partial, Outcome: report.Completed, Accepted: []report.Acceptance{{By: "bob", At: "2026-01-01T00:00:00Z"}},
				})
				j := pushed()
				j.Trust = job.Trusted
				previous, err := d.previous(t.Context(), Assignment{Job: j})
				if err != nil || (previous != "") != test.our {
					t.Errorf("the last run is %q, %v", previous, err)
				}
				accepted, err := d.accepted(t.Context(), Assignment{Job: j})
				if err != nil || (len(accepted) == 1) != test.our {
					t.Errorf("accepted %+v, %v", accepted, err)
				}
				if _, ok, err := d.recorded(t.Context(), host{d}, j); err != nil || ok != test.our {
					t.Errorf("a recorded run: %v, %v", ok, err)
				}
				usage, err := d.usage(t.Context(), j)
				if err != nil || (usage.RunsToday == 1) != test.our || (usage.CostUSD == 2) != test.our {
					t.Errorf("usage %+v, %v", usage, err)
				}
			})
		})
	}
}

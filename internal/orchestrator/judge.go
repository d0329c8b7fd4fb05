package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/sorted"
)

// judgement holds what agents claim against the log, runs what they say fails again,
// and collects what the report says of them. Helpers that were asked for and could not
// work count. With noRerun nothing is run again, and nothing is any more when ctx has ended:
// what was seen until then counts.
func (w *work) judgement(ctx context.Context, helpers []agent.Result, noRerun bool) (*Judgement, error) {
	j := &Judgement{}
	w.until = reproduce.Share(ctx, w.now(), reproduce.ShareOfFailing)
	w.within = reproduce.Share(ctx, w.now(), reproduce.ShareInAll)
	held := reproduce.Share(ctx, w.now(), reproduce.ShareOfHeld)
	for _, res := range helpers {
		out, why := string(res.Outcome), reason(res)
		if res.Outcome == agent.Completed {
			if res.Submitted == nil || res.Status == agent.StatusCompleted {
				continue
			}
			summary, _, _ := strings.Cut(strings.TrimSpace(res.Text), "\n")
			out, why = "", fmt.Sprintf("its result says %s: %s", res.Status, summary)
		}
		if w.agents.asked(res.Agent) {
			j.Agents = append(j.Agents, report.AgentOutcome{Agent: res.Agent, Outcome: out, Cause: why})
		} else {
			j.NotCovered = append(j.NotCovered, fmt.Sprintf("what agent %s would have found: it did not complete: %s", res.Agent, why))
		}
	}
	for _, rec := range inOrder(w.runner.List()) {
		j.add(rec.Result)
	}
	if w.planner != nil {
		j.add(*w.planner)
	}
	for _, res := range j.Results {
		if res.Truncated != "" {
			j.NotCovered = append(j.NotCovered, fmt.Sprintf("what agent %s was not shown: %s", res.Agent, res.Truncated))
		}
	}
	for _, helps := range []bool{false, true} { // time for running again goes first to those that owe a verdict
		for _, res := range j.Results {
			if Helps(res.Agent) != helps {
				continue
			}
			if err := w.judged(ctx, j, res, noRerun, held); err != nil {
				return nil, err
			}
		}
	}
	j.Usage, j.CostUSD, j.CostOK = w.runner.Budget.Used()
	return j, nil
}

// judged adds what one agent's reply comes to.
func (w *work) judged(ctx context.Context, j *Judgement, res agent.Result, noRerun bool, held time.Time) error {
	out, err := w.outcome(ctx, res, noRerun, held)
	if err != nil {
		return err
	}
	if !out.Helper || Counts(out) {
		j.Agents = append(j.Agents, out)
	}
	j.Findings = append(j.Findings, Audit{}.Findings(res, out)...)
	return nil
}

// inOrder puts records in the order in which their work began. Those that a
// coordinator started side by side are sorted by what they are, so that the same
// run has them in the same order each time.
func inOrder(newest []agent.Record) []agent.Record {
	all := slices.Clone(newest)
	slices.Reverse(all)
	var added []agent.Record
	for _, rec := range all {
		if rec.Parent != "" {
			added = append(added, rec)
		}
	}
	sorted.By(added, func(a, b agent.Record) int {
		return cmp.Or(strings.Compare(a.Agent, b.Agent), strings.Compare(a.Prompt, b.Prompt))
	})
	for i, rec := range all {
		if rec.Parent != "" {
			all[i], added = added[0], added[1:]
		}
	}
	return all
}

// add adds what an agent came to and what it was refused.
func (j *Judgement) add(res agent.Result) {
	j.Results = append(j.Results, res)
	j.Denied = append(j.Denied, Denials([]agent.Result{res})...)
}

// reason words why an agent did not complete.
func reason(res agent.Result) string {
	if res.Err != nil {
		return Cause(res.Err)
	}
	return res.Reason
}

// outcome is what one agent's reply comes to.
func (w *work) outcome(ctx context.Context, res agent.Result, noRerun bool, held time.Time) (report.AgentOutcome, error) {
	a := Audit{Dir: w.dir.Path, Journal: w.dir.Journal, Tree: w.sides.Head.OID, Records: w.dir.Evidence.Records()}
	out, claims, err := a.Outcome(res)
	if err != nil || noRerun {
		return out, err
	}
	for i := range out.Checks {
		k := &out.Checks[i]
		if k.Result != report.ResultFail || k.Support != report.Supported || w.after(w.until) || ctx.Err() != nil {
			continue
		}
		var found reproduce.Finding
		in, err := w.inTime(ctx, w.within, func(ctx context.Context) (err error) {
			found, err = w.reproduce(ctx, res, claims[i])
			return err
		})
		if err != nil {
			return out, fmt.Errorf("run check %q again: %w", k.Title, err)
		}
		if !in {
			continue
		}
		k.Reproduction, k.Oracle = found.Reproduction, found.Oracle
	}
	return out, w.sample(ctx, res, claims, out.Checks, held)
}

// reproduce runs the command of a failing check again, in fresh copies of both
// prepared snapshots and with the agent's scratch files, and says what that shows.
func (w *work) reproduce(ctx context.Context, res agent.Result, c Claim) (reproduce.Finding, error) {
	none := reproduce.Finding{Reproduction: report.NotRun}
	o, ok, err := w.original(ctx, res, c.Audited)
	if !ok || err != nil {
		return none, err
	}
	head, err := w.sides.Again(ctx, o, w.sides.Head, reproduce.OnHead)
	if err != nil {
		return none, err
	}
	var left []string
	return w.judge.Classify(reproduce.Trial{
		Claim: c.AgentCheck, First: o.Record, Head: head,
		OnBase: func() (base evidence.Record, err error) {
			base, left, err = w.sides.AgainOnBase(ctx, o)
			return base, err
		},
		More: func(n int) (pair reproduce.Pair, in bool, err error) {
			in, err = w.inTime(ctx, w.within, func(ctx context.Context) (err error) {
				if pair.Head, err = w.sides.Again(ctx, o, w.sides.Head, reproduce.Round(reproduce.OnHead, n)); err == nil {
					pair.Base, err = w.sides.Again(ctx, o, w.sides.Base, reproduce.Round(reproduce.OnBase, n))
				}
				return err
			})
			if err == nil && !in {
				err = w.dir.Journal.Append(KindCut, reproduce.Round(head.ID, n), true)
			}
			return pair, in, err
		},
		Grounds: func(base evidence.Record) (reproduce.Grounds, error) {
			return journal.Once(w.dir.Journal, KindGrounds, head.ID, func() (reproduce.Grounds, error) {
				subject := w.sides.Subject(w.judge, o, c.AgentCheck, head, base)
				subject.LeftOut = left
				return reproduce.Ground(ctx, w.mirror, w.source.Change, subject)
			})
		},
	})
}

// KindGrounds entries of the journal, with the id of a record as key, are what the
// trees of both sides say of the check that was run again by it. They are stored: do
// not change the name.
const KindGrounds = "grounds"

// original is the recorded command that a check rests on. There is none where the
// command was not executed, or its agent had no worktree.
func (w *work) original(ctx context.Context, res agent.Result, a evidence.Audited) (o reproduce.Original, ok bool, err error) {
	if len(a.Records) == 0 {
		return o, false, nil
	}
	rec, ok := w.dir.Evidence.Record(a.Records[len(a.Records)-1])
	if !ok || !rec.Executed {
		return o, false, nil
	}
	ws, err := w.workspaceOf(ctx, res)
	if err != nil || ws.Tree == nil {
		return o, false, err
	}
	return reproduce.Original{Record: rec, Roots: rundir.RootsOf(w.dir.Journal, rec), Workspace: ws.Roots, Past: ws.Past}, true, nil
}

// sampleMost is how many passing checks of an agent are run again.
const sampleMost = 3

// sample runs some of an agent's passing checks again on the head, those that
// attack first: a check that held once and not again holds up no PASS. It ends at until.
func (w *work) sample(ctx context.Context, res agent.Result, claims []Claim, checks []report.JudgedCheck, until time.Time) error {
	var order []int
	for i, k := range checks {
		if k.Result == report.ResultPass && k.Support == report.Supported && len(claims[i].Audited.Records) > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(checks[a]) - rank(checks[b]) })
	for _, i := range order[:min(len(order), sampleMost)] {
		if w.after(until) {
			break
		}
		o, ok, err := w.original(ctx, res, claims[i].Audited)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		in, err := w.inTime(ctx, w.until, func(ctx context.Context) error {
			now, err := w.sides.Again(ctx, o, w.sides.Head, reproduce.Sample)
			if err == nil {
				checks[i].Reproduction = w.judge.Sampled(o.Record, now)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("run check %q again: %w", checks[i].Title, err)
		}
		if !in {
			break
		}
	}
	return nil
}

// KindCut entries of the journal, with the id of a record as key, are commands that were run
// again when the time for that ended, so that they show nothing; or, with what [reproduce.Round]
// makes of the id, that there was no time for that round. They are stored: do not change the
// name.
const KindCut = "cut"

// inTime has fn run commands again until a time, if there is one, or until ctx ends. It reports
// whether fn had come to its end by then: what did not was not run again, which the journal
// says of its records.
func (w *work) inTime(ctx context.Context, until time.Time, fn func(context.Context) error) (bool, error) {
	within := ctx
	if !until.IsZero() {
		var cancel context.CancelFunc
		within, cancel = context.WithDeadline(ctx, until)
		defer cancel()
	}
	before := len(w.dir.Evidence.Records())
	err := fn(within)
	if err == nil || within.Err() == nil {
		return err == nil, err
	}
	for _, r := range w.dir.Evidence.Records()[before:] {
		if r.Agent != reproduce.Host || !r.Executed {
			continue
		}
		if err := w.dir.Journal.Append(KindCut, r.ID, true); err != nil {
			return false, err
		}
	}
	return false, nil
}

// rank puts attacks first.
func rank(k report.JudgedCheck) int {
	if k.Adversarial {
		return 0
	}
	return 1
}

// after says whether a time is over; a zero one never is.
func (w *work) after(until time.Time) bool { return !until.IsZero() && w.now().After(until) }

// workspaceOf is what an agent worked with. One that had ended before the run was
// continued is given it again.
func (w *work) workspaceOf(ctx context.Context, res agent.Result) (*Workspace, error) {
	if ws := w.workspace(res.ID); ws != nil {
		return ws, nil
	}
	spec, _ := w.runner.Find(res.Agent)
	again, err := w.provision(ctx, spec, agent.Record{ID: res.ID})
	if err != nil {
		return nil, err
	}
	return w.workspace(res.ID), again.Close(ctx)
}

func (w *work) workspace(id string) *Workspace {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.workspaces[id]
}

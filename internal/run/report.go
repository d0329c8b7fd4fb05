package run

import (
	"context"
	"errors"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/conclude"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/orchestrator"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/rundir"
)

// Found is what the stages of a run found.
type Found struct {
	Gate          *gate.Result            // nil: the gate came to no result
	Failure       error                   // and why
	Previous      *reproduce.Previous     // what became of the last run's checks; nil: there were none
	Judged        *orchestrator.Judgement // nil: no agent judged
	AgentsFailure error                   // why not
}

// FoundIn reads what the stages of a run left in its journal; those that were not
// finished left nothing.
func FoundIn(j *journal.Journal) Found {
	var f Found
	f.Gate, _ = rundir.Lookup[*gate.Result](j, "stage", "gate")
	f.Previous, _ = rundir.Lookup[*reproduce.Previous](j, "stage", "previous")
	f.Judged, _ = rundir.Lookup[*orchestrator.Judgement](j, "stage", "agents")
	return f
}

// Input is what the report of a run is made from. cause is why the run was ended; nil:
// it was not.
func (f Found) Input(b rundir.Begun, j *journal.Journal, records []evidence.Record, outcome report.Outcome, cause error) conclude.Input {
	in := conclude.Input{
		Header: b.Header(records), Outcome: outcome, Gate: f.Gate, Accepted: b.Settings.Accepted, Hidden: b.Source.Hidden,
		Cause: cause, Failure: f.Failure,
	}
	if p := f.Previous; p != nil {
		in.Previous = &conclude.Previous{Notes: p.Notes}
		if p.RunID != "" {
			in.Previous.Last = &report.Previous{RunID: p.RunID, HeadSHA: p.Head, Verdict: p.Verdict, Checks: p.Checks}
		}
	}
	if b.Settings.Model {
		failure := ""
		switch {
		case f.AgentsFailure != nil && outcome == report.Errored:
			failure = orchestrator.Cause(f.AgentsFailure)
		case f.AgentsFailure != nil:
			failure = f.AgentsFailure.Error()
		}
		in.Agents = orchestrator.Conclusion(j, f.Judged, failure)
	}
	return in
}

// report is the last stage: it makes the report of what the stages found. stop is the
// context whose end may have broken the run off.
func (p *prepared) report(stop context.Context, f Found) (*report.Report, error) {
	return stage(context.WithoutCancel(stop), p.begun.progress, "report", func(context.Context) (*report.Report, error) {
		return reportOf(stop, p.begun.dir, p.begun.recorded(p.source), f, p.begun.finish(p.runner))
	})
}

// A finish adds to a report how long the run took.
type finish func(*report.Report)

func (b *begun) finish(r *Runner) finish {
	return func(rep *report.Report) {
		rep.Timings.Stages = b.progress.stages
		rep.Timings.DurationMS = r.Now().Sub(b.began).Milliseconds()
	}
}

// reportOf makes the report, and writes the transcripts.
func reportOf(stop context.Context, dir *rundir.Dir, b rundir.Begun, f Found, end finish) (*report.Report, error) {
	how := outcome(stop, errors.Join(f.Failure, f.AgentsFailure))
	if how == report.Completed && b.Settings.Refused() != "" {
		how = report.Refused
	}
	rep := conclude.Report(f.Input(b, dir.Journal, dir.Evidence.Records(), how, context.Cause(stop)))
	notes, err := dir.WriteTranscripts(rep.Subagents)
	if err != nil {
		return nil, err
	}
	rep.Notes = append(rep.Notes, notes...)
	end(rep)
	return rep, nil
}

// outcome says how the run ended.
func outcome(stop context.Context, failure error) report.Outcome {
	var limit *timeLimit
	switch cause := context.Cause(stop); {
	case errors.As(cause, &limit) && failure != nil:
		return report.TimedOut
	case cause != nil && failure != nil:
		return report.Cancelled
	case failure != nil:
		return report.Errored
	default:
		return report.Completed
	}
}

// first shows what the decisive part of the gate came to, while the run goes on.
func (p *prepared) first(result gate.Result) {
	b := p.begun
	b.estimates.reached(firstVerdict, p.runner.Now())
	begun := b.recorded(p.source)
	header := begun.Header(b.dir.Evidence.Records())
	header.Phase, header.Interim = report.PhaseFirst, true
	rep := conclude.Report(conclude.Input{Header: header, Outcome: report.Completed, Gate: &result, Accepted: b.settings.Accepted, Hidden: p.source.Hidden})
	b.finish(p.runner)(rep)
	b.progress.note(agent.Event{Type: agent.EventNote, Text: "so far: " + rep.Title})
	if p.runner.First != nil {
		p.runner.First(rep)
	}
}

// seal writes the report and ends the run. config are the sums of the files of its
// configuration.
func (b *begun) seal(rep *report.Report, config map[string]string) error {
	return seal(b.dir, b.progress, rep, config)
}

func seal(dir *rundir.Dir, p *progress, rep *report.Report, config map[string]string) error {
	rep.ReportDir = dir.Path
	if err := dir.WriteReport(rep, config); err != nil {
		return err
	}
	p.note(agent.Event{Type: agent.EventRunDone, Text: string(rep.Verdict), Reason: string(rep.Outcome)})
	if err := p.failed(); err != nil {
		return err
	}
	return dir.Seal()
}

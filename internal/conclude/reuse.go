package conclude

import (
	"fmt"
	"slices"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/report"
)

// Reused is the report of a run that ran nothing, because the last run verified the
// same files. The last run's verdict, checks and findings become its own; header
// is what does not depend on them, and dir the folder of the run directory in which
// the last run is kept.
func Reused(header, last *report.Report, dir string) *report.Report {
	rep := adopt(header, last, dir)
	rep.Notes = append(rep.Notes, fmt.Sprintf("nothing was run: run %s verified the same files at %s, and its verdict, checks and findings are taken over; what carries them is in %s/",
		last.RunID, change.Short(last.HeadSHA), dir))
	return rep
}

// Accepted is the report of a run that ran nothing and concludes the last run of the
// same commit again, with what people accepted. In is what the last run found, with
// all acceptances.
func Accepted(header, last *report.Report, dir string, in Input) *report.Report {
	rep := adopt(header, last, dir)
	again := Report(in)
	rep.Verdict, rep.Reasons, rep.Accepted = again.Verdict, again.Reasons, again.Accepted
	note := fmt.Sprintf("nothing was run: run %s verified this commit, and its verdict is concluded again with what was accepted; what carries it is in %s/", last.RunID, dir)
	if len(again.Accepted) == 0 {
		note = fmt.Sprintf("nothing was run: run %s of this commit gives up nothing that a person could accept", last.RunID)
	}
	rep.Notes = append(rep.Notes, note)
	rep.Title = rep.MakeTitle()
	return rep
}

// adopt gives a report what another run found.
func adopt(header, last *report.Report, dir string) *report.Report {
	rep := *header
	rep.Notes = slices.Clone(header.Notes)
	rep.Outcome, rep.Verdict, rep.Reasons, rep.Checks, rep.Findings = report.Completed, last.Verdict, last.Reasons, last.Checks, last.Findings
	rep.NotCovered, rep.Denied, rep.Tests, rep.Model = last.NotCovered, last.Denied, last.Tests, last.Model
	rep.Expectations, rep.Accepted, rep.Statistics, rep.Believed = last.Expectations, last.Accepted, last.Statistics, last.Believed
	rep.Behaviour = last.Behaviour
	rep.Executed, rep.Unprobed = last.Executed, last.Unprobed
	rep.Title, rep.Phase = last.Title, last.Phase
	rep.Versions.Toolchains = last.Versions.Toolchains
	rep.Subagents = slices.Clone(last.Subagents)
	for i := range rep.Subagents {
		rep.Subagents[i].Transcript = dir + "/" + rep.Subagents[i].Transcript
	}
	return &rep
}

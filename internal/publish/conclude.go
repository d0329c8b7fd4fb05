package publish

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/report"
)

// An Ending says how a run ended, beside its verdict. The zero Ending is a run that
// came to its own end.
type Ending struct {
	Kind   EndKind
	By     string // Superseded: the head that there is now, empty where it is not known
	Into   string // Superseded: the branch that the pull request goes into now, where that is another; untrusted
	Claims bool   // the report was made by a job that is not trusted: it is never a success
	Why    error  // Normal, without a report: what ended it; nil: it is not said
}

// An EndKind is a way in which a run ends.
type EndKind string

// The ways in which a run ends. The strings are stored: do not change them.
const (
	Normal     EndKind = ""
	Superseded EndKind = "superseded" // the head moved, or the pull request goes into another branch
	Refused    EndKind = "refused"    // execution was required and not permitted here
	Stopped    EndKind = "stopped"    // someone stopped it, or the machine did
	Removed    EndKind = "removed"    // GitHub did not let it see the repository any more
)

// of adds to e what rep says itself.
func (e Ending) of(rep *report.Report) Ending {
	switch {
	case e.Kind != Normal:
	case rep.Outcome == report.Cancelled:
		e.Kind = Stopped
	case rep.Outcome == report.Refused:
		e.Kind = Refused
	}
	return e
}

// An ending is all that is known of an end when it is posted.
type ending struct {
	Ending
	rep               *report.Report
	head              string // the pull request's head now, empty where it is not known
	base              string // the branch it goes into, empty where it is not known
	other             int    // pull request with the same head, for which no success is said; 0: none
	conclusion, title string
}

// unfinished is the report of a run that did not come to one.
func unfinished(t Target, e Ending) *report.Report {
	rep := &report.Report{
		Schema: report.Schema, RunID: t.RunID, Repo: t.Repo.String(), PR: t.Number, HeadSHA: t.HeadSHA,
		Verdict: report.Error, Outcome: report.Errored, Reasons: []string{"the run ended before it had anything to report"},
	}
	switch e.Kind {
	case Normal:
		if e.Why != nil {
			rep.Reasons[0] += ": " + e.Why.Error()
		}
	case Refused:
		rep.Outcome, rep.Reasons = report.Refused, []string{"nothing was executed: that is not permitted here"}
	case Stopped, Removed, Superseded:
		rep.Outcome = report.Cancelled
	}
	return rep
}

// The conclusions of a check run that ycbot uses.
const (
	success        = "success"
	failure        = "failure"
	neutral        = "neutral"
	cancelled      = "cancelled"
	skipped        = "skipped"
	actionRequired = "action_required"
)

// What makes a check run fail; see [Conclusion].
const (
	failOnAuto    = "auto"
	failOnPartial = "partial"
	failOnNever   = "never"
)

const titleLimit = 140

// Conclusion is how the check run ends, and its title: plain text on one line. A nil
// rep is a run without a verdict. failOn is that of the configuration: with "partial"
// a PARTIAL is a failure, with "never" neither PARTIAL nor FAIL is one. For "auto" the
// base branch decides between neutral, which is returned, and action_required, as
// GitHub lets neutral satisfy a required check; [Publisher.Finish] asks it.
//
// A PASS that is only claimed counts as PARTIAL. Where execution was required and
// refused, it is a failure whatever failOn is.
func Conclusion(rep *report.Report, e Ending, failOn string) (conclusion, title string) {
	if rep == nil {
		rep = unfinished(Target{}, e)
	}
	e = e.of(rep)
	why := func(prefix string) string { return report.Line(prefix+rep.Headline(titleLimit), titleLimit) }
	switch e.Kind {
	case Superseded:
		switch {
		case e.Into != "":
			return cancelled, "superseded: it goes into another branch now"
		case isHex(e.By):
			return cancelled, "superseded by " + short(e.By)
		}
		return cancelled, "superseded"
	case Stopped:
		return cancelled, "stopped"
	case Removed:
		return cancelled, "stopped: ycbot lost access to the repository"
	case Refused:
		if rep.Verdict == report.Fail {
			return failure, why("FAIL: ")
		}
		return failure, why("not executed: ")
	}
	claimed := ""
	if e.Claims {
		claimed = " claimed by a job that is not trusted"
	}
	switch rep.Verdict {
	case report.Pass:
		if e.Claims {
			return undecided(failOn), "PASS" + claimed
		}
		return success, why("PASS: ")
	case report.Fail:
		if failOn == failOnNever {
			return neutral, why("FAIL" + claimed + ": ")
		}
		return failure, why("FAIL" + claimed + ": ")
	case report.Partial:
		return undecided(failOn), why("PARTIAL" + claimed + ": ")
	}
	return failure, couldNotVerify
}

// VerdictOf is the verdict that a completed check run of ours shows; ERROR where it shows
// none, or where its conclusion and its title do not agree. Only a success is a PASS.
func VerdictOf(r github.CheckRun) report.Verdict {
	if r.Status != completed || r.Output == nil {
		return report.Error
	}
	undecided := slices.Contains([]string{neutral, actionRequired, failure}, r.Conclusion)
	title := func(begin string) bool { return strings.HasPrefix(r.Output.Title, begin) }
	switch {
	case r.Conclusion == success && title("PASS"):
		return report.Pass
	case title("FAIL") && (r.Conclusion == failure || r.Conclusion == neutral):
		return report.Fail
	case undecided && (title("PARTIAL") || title("PASS") || title("not executed")):
		return report.Partial
	}
	return report.Error
}

// couldNotVerify is the title of a check run without a verdict.
const couldNotVerify = "could not verify"

// undecided is how the check run of a PARTIAL ends.
func undecided(failOn string) string {
	if failOn == failOnPartial {
		return failure
	}
	return neutral
}

// shown is rep as people read it: what is only claimed to be a PASS is not headed as one.
func shown(rep *report.Report, e Ending) *report.Report {
	if !e.Claims || rep.Verdict != report.Pass {
		return rep
	}
	claim := *rep
	claim.Verdict, claim.Title = report.Partial, ""
	claim.Reasons = append([]string{"the PASS is an unverified claim of a job that is not trusted"}, rep.Reasons...)
	return &claim
}

// headed is a report's Markdown, in which a run that was ended from outside before it
// had a verdict is not headed as a fault of its own.
func headed(text string, e ending) string {
	word := "stopped"
	switch e.Kind {
	case Superseded:
		word = "superseded"
	case Stopped, Removed:
	default:
		return text
	}
	line, rest, _ := strings.Cut(text, "\n")
	_, commit, ok := strings.Cut(line, " · ")
	if e.rep.Verdict != report.Error || !ok || !strings.HasPrefix(line, "## ") {
		return text
	}
	return "## ⏹️ ycbot: " + word + " · " + commit + "\n" + rest
}

// hold makes e action_required where it is neutral under "auto", and the branch that
// the change goes into requires the check or does not show whether it does.
func (p *Publisher) hold(ctx context.Context, t Target, e *ending) error {
	if e.conclusion != neutral || p.FailOn != failOnAuto && p.FailOn != "" || !p.Check {
		return nil
	}
	branch := cmp.Or(e.base, t.Base)
	if branch == "" {
		e.conclusion = actionRequired
		return nil
	}
	required, err := p.GitHub.RequiresCheck(ctx, t.Repo, branch, CheckName)
	if ctx.Err() != nil {
		return err
	}
	if err != nil && p.Log != nil {
		p.Log.InfoContext(ctx, "it cannot be read whether the check is required, so that it is taken as required", "branch", branch, "error", err)
	}
	if required || err != nil {
		e.conclusion = actionRequired
	}
	return nil
}

// finalStatus is e as a commit status. It has no neutral state, and what was not
// verified is never a success.
func finalStatus(e ending, commentURL, detailsURL string) github.Status {
	s := github.Status{Context: CheckName, State: "error", Description: report.Line(e.title, titleLimit-1), TargetURL: commentURL}
	switch {
	case e.conclusion == success:
		s.State = "success"
	case e.conclusion == failure && e.rep.Verdict == report.Fail:
		s.State = "failure"
	}
	if s.TargetURL == "" {
		s.TargetURL = detailsURL
	}
	return s
}

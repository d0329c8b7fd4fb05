package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sorted"
)

const (
	// checkLimit is how many characters GitHub takes in a summary and in a text. They
	// are counted in bytes here, which is safe however GitHub counts them.
	checkLimit = 65_535
	// checkRoom is what of it is planned with: names of secrets are longer than secrets were.
	checkRoom = 60_000
	// progressEvery is how often progress is shown.
	progressEvery = 15 * time.Second
)

// Identifiers of the buttons, as the event names them.
const (
	ButtonVerify = "verify"
	ButtonStop   = "stop"
)

const (
	queued     = "queued"
	inProgress = "in_progress"
	completed  = "completed"
)

func checkKey(t Target) string { return fmt.Sprintf("check/%s@%s/%s", t.Repo, t.HeadSHA, t.Job) }

// checkKeyAfter is the key of a check run that has to be newer than one; 0: than none.
func checkKeyAfter(t Target, id int64) string {
	if id == 0 {
		return checkKey(t)
	}
	return fmt.Sprintf("%s/after/%d", checkKey(t), id)
}

// beginCheck makes sure that there is a check run of t that is in progress, also where
// it said that t waits, or the same work was done before and is asked for again.
func (p *Publisher) beginCheck(ctx context.Context, t Target) error {
	j := p.job(t)
	j.mu.Lock()
	defer j.mu.Unlock()
	run, err := p.makeCheck(ctx, t, checkKey(t), 0, p.newCheck(t))
	if err != nil {
		return err
	}
	j.check, j.done, j.last = run.ID, run.Status == completed, p.Now()
	if run.Status == inProgress {
		return nil
	}
	again := p.newCheck(t)
	_, err = p.GitHub.UpdateCheckRun(ctx, t.Repo, github.CheckRun{
		ID: run.ID, Name: CheckName, Status: inProgress, DetailsURL: p.DetailsURL, Output: again.Output, Actions: again.Actions,
	})
	if err == nil {
		j.done = false
	}
	return err
}

// makeCheck returns the check run of t, which it creates like fresh where there is none
// but not, or only one that a success for another branch covers.
func (p *Publisher) makeCheck(ctx context.Context, t Target, key string, not int64, fresh github.CheckRun) (github.CheckRun, error) {
	run := github.CheckRun{Status: fresh.Status}
	look := func(ctx context.Context) (string, error) {
		own, others, err := p.runsOf(ctx, t)
		own = after(own, coveredBy(t, t.Base, slices.Concat(own, others)...))
		i := slices.IndexFunc(own, func(r github.CheckRun) bool { return r.ID != not })
		if err != nil || i < 0 {
			return "", err
		}
		run = own[i]
		return strconv.FormatInt(run.ID, 10), nil
	}
	create := func(ctx context.Context) (string, error) {
		made, err := p.GitHub.CreateCheckRun(ctx, t.Repo, fresh)
		return strconv.FormatInt(made.ID, 10), err
	}
	ref, err := p.Ledger.Ensure(ctx, key, Effect{look, create, p.GitHub.Pause})
	if err != nil {
		return run, err
	}
	if run.ID, err = strconv.ParseInt(ref, 10, 64); err != nil {
		return run, fmt.Errorf("%s: %w", key, err)
	}
	return run, nil
}

func (p *Publisher) newCheck(t Target) github.CheckRun {
	of := ""
	if t.Number != 0 {
		of = fmt.Sprintf(" for pull request %d", t.Number)
	}
	run := github.CheckRun{
		Name: CheckName, HeadSHA: t.HeadSHA, ExternalID: t.Job, Status: inProgress, Started: p.Now(), DetailsURL: p.DetailsURL,
		Output: &github.Output{Title: "verifying", Summary: "Verifying `" + short(t.HeadSHA) + "`" + of + "."},
	}
	if p.App {
		run.Actions = []github.Button{{Label: "Stop", Description: "Stop this run", Identifier: ButtonStop}}
	}
	return run
}

// runsOf returns the check runs of t that may be ours, and those of other jobs on the
// same commit; newest first, as GitHub shows and requires the newest.
func (p *Publisher) runsOf(ctx context.Context, t Target) (own, others []github.CheckRun, err error) {
	all, err := p.GitHub.CheckRuns(ctx, t.Repo, t.HeadSHA, CheckName)
	if err != nil {
		return nil, nil, err
	}
	sorted.By(all, func(a, b github.CheckRun) int { return cmp.Compare(b.ID, a.ID) })
	for _, r := range all {
		switch {
		case p.AppID != 0 && r.AppID != p.AppID || r.Name != CheckName:
		case r.ExternalID == t.Job:
			own = append(own, r)
		default:
			others = append(others, r)
		}
	}
	return own, others, nil
}

// Progress shows how far a run is: at most every 15 s and never after its end; else
// the text is dropped. Text of others in it is made inert.
func (p *Publisher) Progress(ctx context.Context, t Target, text string) error {
	if !p.Check {
		return nil
	}
	j := p.job(t)
	if !j.mu.TryLock() { // being written
		return nil
	}
	defer j.mu.Unlock()
	now := p.Now()
	if j.check == 0 || j.done || now.Sub(j.last) < progressEvery {
		return nil
	}
	j.last = now
	text = p.Redact.String(text)
	_, err := p.GitHub.UpdateCheckRun(ctx, t.Repo, github.CheckRun{
		ID: j.check, Name: CheckName, Status: inProgress, DetailsURL: p.DetailsURL,
		Output: &github.Output{Title: report.Line(text, titleLimit), Summary: report.InertMarkdown(text, 2000)},
	})
	return wrap("progress", t, p.dropRefused("check run", err))
}

// First shows what the decisive part of a run came to, while it goes on: in the comment,
// and in the check run, which stays in progress, or the commit status, which stays
// pending. Only a FAIL, which nothing can better, completes them. A result of a head that
// is no longer the newest is not shown.
func (p *Publisher) First(ctx context.Context, t Target, rep *report.Report) error {
	rep = Clean(p.Redact, rep)
	end := ending{rep: rep}
	if err := p.compareHead(ctx, t, &end); err != nil || end.Kind == Superseded {
		return wrap("first verdict", t, err)
	}
	end.conclusion, end.title = Conclusion(rep, end.Ending, p.FailOn)
	url := ""
	if t.Number != 0 && p.Comment != Off {
		var err error
		if url, err = p.postResult(ctx, t, end); err != nil && !refused(err) {
			return wrap("first verdict", t, err)
		}
	}
	if p.Status {
		if err := p.dropRefused("status", p.setStatus(ctx, t, p.firstStatus(end, url))); err != nil {
			return wrap("first verdict", t, err)
		}
	}
	if !p.Check {
		return nil
	}
	if rep.Verdict == report.Fail {
		end.title = p.Redact.String(end.title)
		_, _, err := p.finishCheck(ctx, t, end, url)
		return wrap("first verdict", t, p.dropRefused("check run", err))
	}
	end.title = p.Redact.String(soFar + end.title)
	j := p.job(t)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.check == 0 || j.done {
		return nil
	}
	j.last = p.Now()
	out := p.output(t, end, url)
	out.Annotations = nil // GitHub appends them, and the end has them
	_, err := p.GitHub.UpdateCheckRun(ctx, t.Repo, github.CheckRun{
		ID: j.check, Name: CheckName, Status: inProgress, DetailsURL: p.DetailsURL, Output: &out,
	})
	return wrap("first verdict", t, p.dropRefused("check run", err))
}

// finishCheck completes the check run of t, and returns its address and what could
// not be said.
func (p *Publisher) finishCheck(ctx context.Context, t Target, e ending, commentURL string) (string, []string, error) {
	j := p.job(t)
	j.mu.Lock()
	defer j.mu.Unlock()
	own, others, err := p.runsOf(ctx, t)
	if err != nil {
		return "", nil, err
	}
	now := t
	now.Base = cmp.Or(e.base, t.Base)
	covered := coveredBy(now, now.Base, slices.Concat(own, others)...)
	if e.Claims && slices.ContainsFunc(after(others, covered), verified) {
		return "", []string{"check run: this commit was verified, and claims do not count against that"}, nil
	}
	var run github.CheckRun
	switch mine := after(own, covered); {
	case len(mine) > 0:
		run = mine[0]
	case j.check > covered: // the list is late
		run = github.CheckRun{ID: j.check, Status: inProgress}
	default:
		if run, err = p.makeCheck(ctx, now, checkKeyAfter(t, covered), 0, p.newCheck(t)); err != nil {
			return "", nil, err
		}
		j.check = run.ID
	}
	url, said, err := p.complete(ctx, t, run, p.output(t, e, commentURL), e)
	if refused(err) && p.AppID == 0 {
		// Another App's, with the same job: this commit gets one of ours.
		if run, err = p.makeCheck(ctx, t, checkKey(t)+"/own", run.ID, p.newCheck(t)); err != nil {
			return "", nil, err
		}
		url, said, err = p.complete(ctx, t, run, p.output(t, e, commentURL), e)
	}
	if err != nil {
		return url, said, err
	}
	j.done = true
	p.forget(t)
	return url, said, p.closeExtra(ctx, t, run, own)
}

// verified reports whether a check run says more than claims may overrule.
func verified(r github.CheckRun) bool {
	return r.Status == completed && !slices.Contains([]string{neutral, cancelled, skipped, actionRequired}, r.Conclusion)
}

// closeExtra ends the check runs that another process made for the same job at the
// same time: none may stay unfinished.
func (p *Publisher) closeExtra(ctx context.Context, t Target, run github.CheckRun, own []github.CheckRun) error {
	for _, r := range own {
		if r.ID == run.ID || r.Status == completed {
			continue
		}
		_, err := p.GitHub.UpdateCheckRun(ctx, t.Repo, github.CheckRun{
			ID: r.ID, Name: CheckName, Status: completed, Conclusion: cancelled, Completed: p.Now(),
			Output: &github.Output{Title: "made twice", Summary: "The result is in the other check run of this commit."},
		})
		if err != nil && !refused(err) {
			return err
		}
	}
	return nil
}

// complete is completeOnce, which is tried again where no one knows what came of it. The
// client does that itself where nothing is appended.
func (p *Publisher) complete(ctx context.Context, t Target, run github.CheckRun, out github.Output, e ending) (string, []string, error) {
	for try := 1; ; try++ {
		url, said, err := p.completeOnce(ctx, t, run, out, e)
		until, away := github.IsAway(err)
		if !away || !until.IsZero() || len(out.Annotations) == 0 || try == tries || p.GitHub.Pause(ctx, try) != nil {
			return url, said, err
		}
	}
}

// completeOnce sends the annotations and then, with the last of them, the end. What is
// there already is not sent again, as GitHub appends. It must get to the end whatever
// GitHub dislikes in the output.
func (p *Publisher) completeOnce(ctx context.Context, t Target, run github.CheckRun, out github.Output, e ending) (string, []string, error) {
	var said []string
	notes, err := p.missing(ctx, t, run, out.Annotations)
	if err != nil {
		return "", nil, err
	}
	out.Annotations = nil
	for len(notes) > annotationBatch {
		part := out
		part.Annotations, notes = notes[:annotationBatch], notes[annotationBatch:]
		// A run that was completed before stays so while it gets them.
		up := github.CheckRun{ID: run.ID, Name: CheckName, Status: run.Status, Conclusion: run.Conclusion, Output: &part}
		if _, err := p.GitHub.UpdateCheckRun(ctx, t.Repo, up); github.IsValidation(err) {
			said, notes = append(said, left("annotations", err)), nil
		} else if err != nil {
			return "", said, err
		}
	}
	out.Annotations = notes
	end := github.CheckRun{
		ID: run.ID, Name: CheckName, Status: completed, Conclusion: e.conclusion, Completed: p.Now(), DetailsURL: p.DetailsURL, Output: &out,
	}
	if p.App {
		end.Actions = []github.Button{{Label: "Verify again", Description: "Verify this commit once more", Identifier: ButtonVerify}}
	}
	done, err := p.GitHub.UpdateCheckRun(ctx, t.Repo, end)
	if github.IsValidation(err) && len(notes) > 0 {
		said = append(said, left("annotations", err))
		out.Annotations = nil
		done, err = p.GitHub.UpdateCheckRun(ctx, t.Repo, end)
	}
	if github.IsValidation(err) {
		said = append(said, left("check run's text", err))
		end.Output = &github.Output{Title: out.Title, Summary: strings.TrimSpace(forPull(t, e) + "\n\nThe report could not be shown here.")}
		done, err = p.GitHub.UpdateCheckRun(ctx, t.Repo, end)
	}
	return done.HTMLURL, said, err
}

// missing returns those of notes that run does not have.
func (p *Publisher) missing(ctx context.Context, t Target, run github.CheckRun, notes []github.Annotation) ([]github.Annotation, error) {
	if len(notes) == 0 {
		return nil, nil
	}
	there, err := p.GitHub.Annotations(ctx, t.Repo, run.ID)
	if err != nil && !errors.Is(err, github.ErrCut) {
		return nil, err
	}
	seen := map[github.Annotation]bool{}
	bare := func(a github.Annotation) github.Annotation {
		a.RawDetails = ""
		a.Title, a.Message = strings.TrimSpace(a.Title), strings.TrimSpace(a.Message)
		return a
	}
	for _, a := range there {
		seen[bare(a)] = true
	}
	return slices.DeleteFunc(slices.Clone(notes), func(a github.Annotation) bool { return seen[bare(a)] }), nil
}

// output is what the check run shows in the end.
func (p *Publisher) output(t Target, e ending, commentURL string) github.Output {
	var summary []string
	for _, s := range []string{forPull(t, e), notice(t, e)} {
		if s != "" {
			summary = append(summary, s)
		}
	}
	summary = append(summary, "**"+report.InertMarkdown(p.Redact.String(e.rep.Headline(500)), 1000)+"**",
		report.InertMarkdown(p.Redact.String(report.Summary(e.rep)), 2000))
	var links []string
	for _, l := range []string{report.Link("Comment", commentURL), p.footer(), digest(t.Digest)} {
		if l != "" {
			links = append(links, l)
		}
	}
	text := headed(p.linked(e.rep).MarkdownWithin(checkRoom, checkRoom), e)
	if s := strings.Join(links, " · "); s != "" {
		summary = append(summary, s)
		text += "\n" + s + "\n"
	}
	if len(text) > checkLimit {
		text = pointer(e)
	}
	out := github.Output{Title: p.Redact.String(checkTitle(e)), Summary: strings.Join(summary, "\n\n"), Text: text}
	if p.Annotations {
		out.Annotations = annotations(e.rep, t.Files, p.Redact)
	}
	return out
}

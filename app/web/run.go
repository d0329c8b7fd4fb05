package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
	"github.com/ycbot/ycbot/internal/transcript"
)

const (
	eventsFile   = "events.jsonl"
	evidenceFile = "evidence.jsonl"
	reportFile   = "report.json"
	shownChecks  = 20  // that fail, with what they saw
	shownRows    = 300 // other checks
	shownFinds   = 30  // findings
	shownTests   = 20  // tests of one outcome
)

// A runPage is the page of a run, and what it needs to be kept up to date.
type runPage struct {
	Base     string
	Server   string // of GitHub
	Now      time.Time
	Run      store.Run
	Report   *report.Report // nil: there is none yet
	Progress progress
	Evidence []*proof
	Files    []store.FileInfo
	Notice   string
	Lost     []string // files of the run that cannot be read any more
	CSRF     string   // empty: nothing can be asked for
	Press    string   // of the buttons on this page

	db                 *store.DB
	eventsAt, proofsAt int64 // how much of both logs is in here
	outputs            int   // bytes of outputs on the page
	lines              func(store.Line)
	lost               func(name string, err error) // is called once for each of Lost
}

// Running reports whether there is more to come.
func (p *runPage) Running() bool { return p.Run.State == store.Running }

// Tokens is how many were used so far.
func (p *runPage) Tokens() int64 {
	if p.Run.Tokens > 0 {
		return p.Run.Tokens
	}
	var n int64
	for _, a := range p.Progress.Agents {
		n += int64(a.Input + a.Output)
	}
	return n
}

// Cost is what was paid so far, where all prices are known.
func (p *runPage) Cost() *float64 {
	if p.Report != nil {
		return p.Report.Usage.CostUSD
	}
	if p.Run.CostUSD > 0 {
		return &p.Run.CostUSD
	}
	var sum float64
	for _, a := range p.Progress.Agents {
		if a.Done && a.CostUSD == nil {
			return nil
		}
		if a.CostUSD != nil {
			sum += *a.CostUSD
		}
	}
	return &sum
}

// Paid says what was paid so far. What an agent costs is known when it ends.
func (p *runPage) Paid() string {
	cost := p.Cost()
	works := slices.ContainsFunc(p.Progress.Agents, func(a *agentCard) bool { return !a.Done && a.Input+a.Output > 0 })
	switch {
	case !p.Running() || cost == nil || !works:
		return money(cost)
	case *cost == 0:
		return "not known yet"
	}
	return money(cost) + " so far"
}

// Failing are the checks that a reader wants to see first.
func (p *runPage) Failing() []report.Check { return p.checks(true, shownChecks) }

// Others are the other checks.
func (p *runPage) Others() []report.Check { return p.checks(false, shownRows) }

func (p *runPage) checks(failing bool, limit int) []report.Check {
	var out []report.Check
	if p.Report != nil {
		for _, c := range p.Report.Checks {
			if against(c) == failing {
				out = append(out, c)
			}
		}
	}
	return out[:min(len(out), limit)]
}

// against reports whether a check counts against the change.
func against(c report.Check) bool {
	return c.Result == report.ResultFail && c.Reproduction != report.PreExisting && !c.Informs()
}

// Findings are those that the page shows.
func (p *runPage) Findings() []report.Finding {
	if p.Report == nil {
		return nil
	}
	return p.Report.Findings[:min(len(p.Report.Findings), shownFinds)]
}

// MoreFindings is how many it does not show.
func (p *runPage) MoreFindings() int {
	if p.Report == nil {
		return 0
	}
	return len(p.Report.Findings) - len(p.Findings())
}

// MoreChecks is how many checks it does not show.
func (p *runPage) MoreChecks() int {
	if p.Report == nil {
		return 0
	}
	return len(p.Report.Checks) - len(p.Failing()) - len(p.Others())
}

// A testList is tests of one outcome.
type testList struct {
	Words string
	Bad   bool
	Tests []string
	More  int
}

// Count is how many there are.
func (l testList) Count() int { return len(l.Tests) + l.More }

// Tests are the tests that did not just pass, which have a history.
func (p *runPage) Tests() []testList {
	if p.Report == nil || p.Report.Tests == nil {
		return nil
	}
	t := p.Report.Tests
	var out []testList
	for _, l := range []testList{
		{Words: "fail and pass on the base", Bad: true, Tests: t.Regressed},
		{Words: "fail and do not run on the base", Bad: true, Tests: t.NewFailing},
		{Words: "flaky", Tests: t.Flaky},
		{Words: "failed before", Tests: t.PreExisting},
		{Words: "fixed", Tests: t.Fixed},
	} {
		if n := len(l.Tests); n > shownTests {
			l.Tests, l.More = l.Tests[:shownTests], n-shownTests
		}
		if len(l.Tests) > 0 {
			out = append(out, l)
		}
	}
	return out
}

// Acceptable reports whether there is something that a person can accept: expectations
// that were given up, and not accepted yet, in a run that came to its end. A broken test
// cannot be accepted.
func (p *runPage) Acceptable() bool {
	if p.Run.State != store.Finished || p.Report == nil || p.Report.Outcome != report.Completed || p.Report.Expectations == nil {
		return false
	}
	e := p.Report.Expectations
	for _, a := range p.Report.Accepted {
		if a.Digest == e.Digest() {
			return false
		}
	}
	return slices.ContainsFunc(e.Classes(), func(c report.GivenUp) bool { return c.Name != "regressed" })
}

// Given are the expectations that no longer hold, some of each class.
func (p *runPage) Given() []report.GivenUp {
	if p.Report == nil || p.Report.Expectations == nil {
		return nil
	}
	out := p.Report.Expectations.Classes()
	for i := range out {
		out[i].Tests = out[i].Tests[:min(len(out[i].Tests), shownTests)]
	}
	return out
}

// Title is what the run is about.
func (p *runPage) Title() string {
	if p.Run.Number != 0 {
		return p.Run.Repo + " #" + strconv.Itoa(p.Run.Number)
	}
	return p.Run.Repo
}

// Word is the verdict, or what there is in its place.
func (p *runPage) Word() string { return word(p.Run) }

// advance takes in what is new in the store. The row is read first: when it says that the
// run is over, all that the run wrote is there.
func (p *runPage) advance(ctx context.Context) error {
	var err error
	if p.Run, err = p.db.Run(ctx, p.Run.ID); err != nil {
		return err
	}
	p.eventsAt, err = p.each(ctx, eventsFile, p.eventsAt, func(l store.Line) error {
		var e transcript.Event
		if err := json.Unmarshal(l.Body, &e); err != nil {
			return fmt.Errorf("%s at %d: %w", eventsFile, l.Start, err)
		}
		p.Progress.add(e)
		if p.lines != nil {
			p.lines(l)
		}
		return nil
	})
	if err := p.without(eventsFile, err); err != nil {
		return err
	}
	if err := p.without(evidenceFile, p.readProofs(ctx)); err != nil {
		return err
	}
	if p.Files, err = p.db.Files(ctx, p.Run.ID); err != nil {
		return err
	}
	if p.Report != nil && !p.Running() {
		return nil
	}
	body, err := p.db.File(ctx, p.Run.ID, reportFile)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err := p.without(reportFile, err); err != nil {
		return err
	}
	// One of another version is a file like others.
	if rep, err := report.Parse(body); err == nil {
		p.Report = rep
	}
	return nil
}

// without is err, unless that says that a file of the run is lost: the page does without it, and says so.
func (p *runPage) without(name string, err error) error {
	if !store.IsLost(err) {
		return err
	}
	if !slices.Contains(p.Lost, name) {
		p.Lost = append(p.Lost, name)
		p.lost(name, err)
	}
	return nil
}

// loses logs what a page of a run does without.
func (s *Site) loses(ctx context.Context, run store.Run) func(string, error) {
	return func(name string, err error) {
		s.Log.ErrorContext(ctx, "what a run produced is lost", "run", run.ID, "file", name, "error", err)
	}
}

// each reads the lines of a log from an offset on, and returns where they end.
func (p *runPage) each(ctx context.Context, file string, from int64, take func(store.Line) error) (int64, error) {
	return p.db.EachLine(ctx, p.Run.ID, file, from, take)
}

// open makes the page of a run as it is now.
func (s *Site) open(ctx context.Context, run store.Run, v *viewer) (*runPage, error) {
	p := &runPage{Base: s.base, Server: s.Server, Now: s.Now(), Run: run, db: s.DB, lost: s.loses(ctx, run)}
	if v.writes(run) && run.Number != 0 {
		p.CSRF, p.Press = s.cookies.token(v.session), nonce()
	}
	return p, p.advance(ctx)
}

// show is the page of a run.
func (s *Site) show(w http.ResponseWriter, r *http.Request, v *viewer, run store.Run) error {
	p, err := s.open(r.Context(), run, v)
	if err != nil {
		return err
	}
	p.Notice = asked(r.URL.Query().Get("asked"))
	return s.render(w, r, v, http.StatusOK, "run.html", p.Word()+" · "+p.Title(), p)
}

// press does what a button says.
func (s *Site) press(w http.ResponseWriter, r *http.Request, v *viewer, run store.Run) error {
	b, request := Button(r.PathValue("button")), r.PostFormValue("press")
	switch {
	case b != Verify && b != Stop && b != Accept:
		return errNotFound
	case !v.writes(run):
		return &httpError{http.StatusForbidden, "This needs permission to write to the repository."}
	case run.Number == 0 || len(request) < 20 || len(request) > 100:
		return &httpError{http.StatusBadRequest, "This cannot be asked for."}
	}
	press := Press{Button: b, Who: v.person(), Request: strconv.FormatInt(v.session.UserID, 10) + ":" + request, Reason: r.PostFormValue("reason")}
	if err := s.Press(r.Context(), run, press); err != nil {
		s.Log.WarnContext(r.Context(), "button ignored", "run", run.ID, "button", b, "error", err)
		return &httpError{http.StatusConflict, "It could not be asked for. Comment " + b.comment(run) + " on the pull request instead."}
	}
	next := s.base + "/runs/" + url.PathEscape(run.ID) + "?asked=stop"
	if b != Stop {
		next = fmt.Sprintf("%s/repos/%d/pulls/%d?asked=%s", s.base, run.RepoID, run.Number, b)
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
	return nil
}

// A transcriptPage is what one agent did.
type transcriptPage struct {
	Run   store.Run
	Agent string
	Title string
	Cut   int64 // bytes that are before it
	Body  template.HTML
}

// shownTranscript is how much of a transcript is shown, in bytes before it is rendered.
const shownTranscript = 256 << 10

// transcript shows what an agent did, as far as it has come.
func (s *Site) transcript(w http.ResponseWriter, r *http.Request, v *viewer, run store.Run) error {
	id := r.PathValue("agent")
	var mine []transcript.Event
	p := &runPage{Run: run, db: s.DB}
	_, err := p.each(r.Context(), eventsFile, 0, func(l store.Line) error {
		var e transcript.Event
		if err := json.Unmarshal(l.Body, &e); err != nil {
			return fmt.Errorf("%s at %d: %w", eventsFile, l.Start, err)
		}
		if e.ID == id {
			mine = append(mine, e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(mine) == 0 || id == "" {
		return errNotFound
	}
	text := transcript.Markdown(mine, id)
	data := transcriptPage{Run: run, Agent: id, Title: mine[0].Agent}
	if len(text) > shownTranscript { // its end, from a turn on where there is one
		at := len(text) - shownTranscript
		if i := strings.Index(text[at:], "\n## "); i >= 0 {
			at += i + 1
		}
		data.Cut, text = int64(at), strings.ToValidUTF8(text[at:], "")
	}
	data.Body, err = markdown(text)
	if err != nil {
		return fmt.Errorf("transcript of %s: %w", id, err)
	}
	return s.render(w, r, v, http.StatusOK, "transcript.html", mine[0].Agent+" · "+run.Repo, data)
}

// markdown renders what strangers had a hand in. HTML in it is left out, and so are
// addresses that a browser would execute.
func markdown(s string) (template.HTML, error) {
	var b bytes.Buffer
	err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert([]byte(strings.Join(report.Command(s), "\n")), &b)
	var out strings.Builder
	for i, part := range strings.Split(b.String(), "<pre>") { // which text has escaped
		if i > 0 {
			fmt.Fprintf(&out, `<pre tabindex="0" role="region" aria-label="Text %d">`, i)
		}
		out.WriteString(part)
	}
	return template.HTML(out.String()), err //nolint:gosec // see above
}

// base is the last part of a path.
func base(name string) string { return path.Base(name) }

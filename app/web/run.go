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

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
	"github.com/ycbot/ycbot/internal/transcript"
)

const (
	eventsFile   = "events.jsonl"
	evidenceFile = "evidence.jsonl"
	reportFile   = "report.json"
	shownOutput  = 6 << 10 // of an output that is shown; all of it is in its file
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
	CSRF     string // empty: nothing can be asked for
	Press    string // of the buttons on this page

	db                 *store.DB
	eventsAt, proofsAt int64 // how much of both logs is in here
	lines              func(store.Line)
}

// A proof is one execution, and the end of what it wrote.
type proof struct {
	evidence.Record
	Out, Err text
}

// A text is the end of an output.
type text struct {
	Lines []string
	Cut   int64 // bytes that are before it
	Name  string
	URL   string // of all of it
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
func (p *runPage) Failing() []report.Check { return p.checks(true) }

// Others are the other checks.
func (p *runPage) Others() []report.Check { return p.checks(false) }

func (p *runPage) checks(failing bool) []report.Check {
	var out []report.Check
	if p.Report != nil {
		for _, c := range p.Report.Checks {
			if (c.Result == report.ResultFail && c.Reproduction != report.PreExisting && !c.Advises()) == failing {
				out = append(out, c)
			}
		}
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
	if err != nil {
		return err
	}
	if err := p.readProofs(ctx); err != nil {
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
	if err != nil {
		return err
	}
	// One of another version is a file like others.
	if rep, err := report.Parse(body); err == nil {
		p.Report = rep
	}
	return nil
}

// each reads the lines of a log from an offset on, and returns where they end.
func (p *runPage) each(ctx context.Context, file string, from int64, take func(store.Line) error) (int64, error) {
	return p.db.EachLine(ctx, p.Run.ID, file, from, take)
}

// readProofs reads what was executed since, with its outputs.
func (p *runPage) readProofs(ctx context.Context) (err error) {
	known := len(p.Evidence)
	p.proofsAt, err = p.each(ctx, evidenceFile, p.proofsAt, func(l store.Line) error {
		e := &proof{}
		if err := json.Unmarshal(l.Body, &e.Record); err != nil {
			return fmt.Errorf("%s at %d: %w", evidenceFile, l.Start, err)
		}
		p.Evidence = append(p.Evidence, e)
		return nil
	})
	fresh := p.Evidence[known:]
	if err != nil || len(fresh) == 0 {
		return err
	}
	prefix := "spill/"
	if len(fresh) == 1 {
		prefix += fresh[0].ID + "."
	}
	tails, err := p.db.Tails(ctx, p.Run.ID, prefix, shownOutput)
	if err != nil {
		return err
	}
	byName := map[string]store.Tail{}
	for _, t := range tails {
		byName[t.Name] = t
	}
	for _, e := range fresh {
		e.Out, e.Err = p.shown(byName[e.Stdout.Spill]), p.shown(byName[e.Stderr.Spill])
	}
	return nil
}

// shown makes the end of an output readable.
func (p *runPage) shown(t store.Tail) text {
	out := text{Name: t.Name, Cut: t.Size - int64(len(t.End)), URL: p.Base + "/runs/" + url.PathEscape(p.Run.ID) + "/files/" + (&url.URL{Path: t.Name}).EscapedPath()}
	end := t.End
	if out.Cut > 0 { // from a line on, where there is one
		if i := bytes.IndexByte(end, '\n'); i >= 0 {
			out.Cut, end = out.Cut+int64(i)+1, end[i+1:]
		}
	}
	out.Lines = report.Output(string(end))
	return out
}

// open makes the page of a run as it is now.
func (s *Site) open(ctx context.Context, run store.Run, v *viewer) (*runPage, error) {
	p := &runPage{Base: s.base, Server: s.Server, Now: s.Now(), Run: run, db: s.DB}
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
	case b != Verify && b != Stop:
		return errNotFound
	case !v.writes(run):
		return &httpError{http.StatusForbidden, "This needs permission to write to the repository."}
	case run.Number == 0 || len(request) < 20 || len(request) > 100:
		return &httpError{http.StatusBadRequest, "This cannot be asked for."}
	}
	if err := s.Press(r.Context(), run, b, v.person(), strconv.FormatInt(v.session.UserID, 10)+":"+request); err != nil {
		s.Log.WarnContext(r.Context(), "button does nothing", "run", run.ID, "button", b, "error", err)
		return &httpError{http.StatusConflict, "It could not be asked for. Comment /verify on the pull request instead."}
	}
	next := s.base + "/runs/" + url.PathEscape(run.ID) + "?asked=stop"
	if b == Verify {
		next = s.base + "/runs?" + url.Values{"repo": {run.Repo}, "number": {strconv.Itoa(run.Number)}, "asked": {"verify"}}.Encode()
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
	return nil
}

// A transcriptPage is what one agent did.
type transcriptPage struct {
	Run   store.Run
	Agent string
	Title string
	Body  template.HTML
}

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
	body, err := markdown(transcript.Markdown(mine, id))
	if err != nil {
		return fmt.Errorf("transcript of %s: %w", id, err)
	}
	data := transcriptPage{Run: run, Agent: id, Title: mine[0].Agent, Body: body}
	return s.render(w, r, v, http.StatusOK, "transcript.html", mine[0].Agent+" · "+run.Repo, data)
}

// markdown renders what strangers had a hand in. HTML in it is left out, and so are
// addresses that a browser would execute.
func markdown(s string) (template.HTML, error) {
	var b bytes.Buffer
	err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert([]byte(strings.Join(report.Command(s), "\n")), &b)
	return template.HTML(b.String()), err //nolint:gosec // see above
}

// base is the last part of a path.
func base(name string) string { return path.Base(name) }

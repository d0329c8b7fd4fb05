package web

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
)

const (
	pagePulls = 20 // runs of a pull request on a page, each with its report
	maxDelta  = 8  // of what came or went, that is shown of a run
)

// A pullPage is what the runs of a pull request said, one after the other.
type pullPage struct {
	Now    time.Time
	Server string
	RepoID int64
	Repo   string
	Number int
	Title  string
	Runs   []chapter // the newest first
	Older  template.URL
	First  bool // it is the first page
	Notice string
}

// A chapter is one run of a pull request, and what it has that the one before has not.
type chapter struct {
	store.Run
	Was      *store.Run // the run before it that came to a verdict; nil: there is none
	Came     delta      // in this run and not in the one before
	Went     delta      // the other way round
	Compared bool       // both have a report
	Lost     bool       // its report cannot be read any more
}

// A delta is what one of two reports has more than the other.
type delta struct {
	Tests, Checks, Findings []string
	More                    int // that are left out
}

// Any reports whether there is something.
func (d delta) Any() bool { return len(d.Tests)+len(d.Checks)+len(d.Findings) > 0 }

// Moved reports whether the verdict is another one.
func (c chapter) Moved() bool { return c.Was != nil && word(*c.Was) != word(c.Run) }

// Newest is the run that counts: the last one.
func (p *pullPage) Newest() store.Run { return p.Runs[0].Run }

// ofRepo is page for what belongs to a repository whose runs the viewer may see. What is
// not there and what may not be seen are answered alike.
func (s *Site) ofRepo(h func(http.ResponseWriter, *http.Request, *viewer, store.Run) error) http.Handler {
	return s.page(func(w http.ResponseWriter, r *http.Request, v *viewer) error {
		id, err := strconv.ParseInt(r.PathValue("repo"), 10, 64)
		if err != nil || id <= 0 {
			return errNotFound
		}
		runs, err := s.DB.Runs(r.Context(), store.RunFilter{RepoIDs: []int64{id}, Limit: 1})
		if err != nil {
			return err
		}
		if len(runs) > 0 && !v.reads(runs[0]) {
			if err := s.seeAgain(r.Context(), v, runs[0]); err != nil {
				return err
			}
		}
		switch {
		case len(runs) > 0 && v.reads(runs[0]):
			return h(w, r, v, runs[0])
		case v.partial:
			return errAccess
		}
		return errNotFound
	})
}

// pull is the page of a pull request. Newest is the newest run of its repository.
func (s *Site) pull(w http.ResponseWriter, r *http.Request, v *viewer, newest store.Run) error {
	number, err := strconv.Atoi(r.PathValue("number"))
	if err != nil || number <= 0 {
		return errNotFound
	}
	f := store.RunFilter{RepoIDs: []int64{newest.RepoID}, Number: number, Limit: pagePulls + 1}
	p := pullPage{Now: s.Now(), Server: s.Server, RepoID: newest.RepoID, Repo: newest.Repo, Number: number, First: true, Notice: asked(r.URL.Query().Get("asked"))}
	if before := r.URL.Query().Get("before"); before != "" {
		p.First = false
		if f.Before, f.BeforeID, err = cursor(before); err != nil {
			return err
		}
	}
	runs, err := s.DB.Runs(r.Context(), f)
	if err != nil {
		return err
	}
	if len(runs) == 0 && p.Notice == "" {
		return errNotFound
	}
	if p.Runs, err = s.chapters(r.Context(), runs); err != nil {
		return err
	}
	if len(runs) > pagePulls {
		p.Runs = p.Runs[:pagePulls]
		p.Older = template.URL(url.Values{"before": {after(runs[pagePulls-1])}}.Encode()) //nolint:gosec // it was escaped
	}
	for _, run := range runs {
		if p.Title == "" {
			p.Title = run.Title
		}
	}
	return s.render(w, r, v, http.StatusOK, "pull.html", p.Repo+" #"+strconv.Itoa(number), &p)
}

// chapters compares each run with the one before it that came to a verdict.
func (s *Site) chapters(ctx context.Context, runs []store.Run) ([]chapter, error) {
	out := make([]chapter, len(runs))
	var was *store.Run
	var old *report.Report
	for i, run := range slices.Backward(runs) {
		out[i] = chapter{Run: run, Was: was}
		if run.Verdict == "" || run.State != store.Finished {
			continue
		}
		rep, err := s.report(ctx, run)
		if store.IsLost(err) {
			s.loses(ctx, run)(reportFile, err)
			out[i].Lost, err = true, nil
		}
		if err != nil {
			return nil, err
		}
		if rep != nil && old != nil {
			out[i].Compared = true
			out[i].Came, out[i].Went = compare(rep, old), compare(old, rep)
		}
		was, old = &run, rep
	}
	return out, nil
}

// report is that of a run; nil where there is none that this version reads.
func (s *Site) report(ctx context.Context, run store.Run) (*report.Report, error) {
	body, err := s.DB.File(ctx, run.ID, reportFile)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil //nolint:nilnil // see above
	}
	if err != nil {
		return nil, err
	}
	rep, err := report.Parse(body)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // of another version
	}
	return rep, nil
}

// compare is what one report has more than another.
func compare(rep, other *report.Report) delta {
	var d delta
	for _, l := range []struct {
		to  *[]string
		all func(*report.Report) []string
	}{{&d.Tests, failingTests}, {&d.Checks, failingChecks}, {&d.Findings, findings}} {
		had := map[string]bool{}
		for _, name := range l.all(other) {
			had[name] = true
		}
		for _, name := range l.all(rep) {
			if had[name] {
				continue
			}
			had[name] = true
			if len(*l.to) == maxDelta {
				d.More++
				continue
			}
			*l.to = append(*l.to, name)
		}
	}
	return d
}

// failingTests are those that the change breaks.
func failingTests(rep *report.Report) []string {
	if rep.Tests == nil {
		return nil
	}
	return slices.Concat(rep.Tests.Regressed, rep.Tests.NewFailing)
}

// failingChecks are those that count against the change, but for those that are about its tests.
func failingChecks(rep *report.Report) []string {
	var out []string
	for _, c := range rep.Checks {
		if against(c) && !slices.Contains(failingTests(rep), c.Test) {
			out = append(out, c.Title)
		}
	}
	return out
}

func findings(rep *report.Report) []string {
	var out []string
	for _, f := range rep.Findings {
		name := f.Title
		if f.Path != "" { // not the line, which moves
			name += " (" + f.Path + ")"
		}
		out = append(out, name)
	}
	return out
}

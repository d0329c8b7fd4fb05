package web

import (
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
)

// pageRuns is how many runs a page of the list has.
const pageRuns = 50

// A listPage is the list of runs.
type listPage struct {
	Now      time.Time
	Runs     []store.Run
	Filter   listFilter
	Verdicts []report.Verdict
	States   []store.RunState
	Older    template.URL // query of the next page; empty: there is none
	First    template.URL // query of the first page; empty: this is it
	Notice   string
}

type listFilter struct {
	Repo, Verdict, State string
	Number               int
}

func (f listFilter) query() url.Values {
	q := url.Values{}
	for key, value := range map[string]string{"repo": f.Repo, "verdict": f.Verdict, "state": f.State} {
		if value != "" {
			q.Set(key, value)
		}
	}
	if f.Number != 0 {
		q.Set("number", strconv.Itoa(f.Number))
	}
	return q
}

func verdicts() []report.Verdict {
	return []report.Verdict{report.Pass, report.Fail, report.Partial, report.Error}
}

func states() []store.RunState {
	return []store.RunState{store.Running, store.Finished, store.Failed, store.Superseded, store.Stopped, store.Skipped}
}

// readFilter reads what is asked for; what is no word of ours selects nothing special.
func readFilter(q url.Values) listFilter {
	f := listFilter{Repo: strings.TrimSpace(q.Get("repo"))}
	if v := q.Get("verdict"); slices.Contains(verdicts(), report.Verdict(v)) {
		f.Verdict = v
	}
	if st := q.Get("state"); slices.Contains(states(), store.RunState(st)) {
		f.State = st
	}
	if n, err := strconv.Atoi(q.Get("number")); err == nil && n > 0 {
		f.Number = n
	}
	return f
}

// list shows the runs that the viewer may see, the newest first.
func (s *Site) list(w http.ResponseWriter, r *http.Request, v *viewer) error {
	q := r.URL.Query()
	p := listPage{Now: s.Now(), Filter: readFilter(q), Verdicts: verdicts(), States: states(), Notice: asked(q.Get("asked"))}
	f := store.RunFilter{
		Repo: p.Filter.Repo, Number: p.Filter.Number, Verdict: p.Filter.Verdict, State: store.RunState(p.Filter.State),
		RepoIDs: []int64{}, Limit: pageRuns + 1,
	}
	for id := range v.repos {
		f.RepoIDs = append(f.RepoIDs, id)
	}
	if at, id, ok := strings.Cut(q.Get("before"), "."); ok {
		micros, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return errNotFound
		}
		f.Before, f.BeforeID = store.FromMicros(micros), id
		p.First = template.URL(p.Filter.query().Encode()) //nolint:gosec // it was escaped
	}
	if v.partial && p.Notice == "" {
		p.Notice = "GitHub does not answer for some repositories: their runs are not shown now."
	}
	runs, err := s.DB.Runs(r.Context(), f)
	if err != nil {
		return err
	}
	if len(runs) > pageRuns {
		runs = runs[:pageRuns]
		last := runs[pageRuns-1]
		older := p.Filter.query()
		older.Set("before", strconv.FormatInt(store.Micros(last.Created), 10)+"."+last.ID)
		p.Older = template.URL(older.Encode()) //nolint:gosec // it was escaped
	}
	p.Runs = runs
	return s.render(w, r, v, http.StatusOK, "list.html", "Runs", p)
}

// asked says what a press of a button came to.
func asked(what string) string {
	switch Button(what) {
	case Verify:
		return "Asked for. Until the run begins it is in the queue; then it is listed here."
	case Stop:
		return "The run is told to stop."
	}
	return ""
}

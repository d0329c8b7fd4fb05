package web

import (
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/store"
)

// pageRuns is how many runs a page of the list has.
const pageRuns = 50

// A listPage is the list of runs.
type listPage struct {
	Now    time.Time
	Runs   []store.Run
	Search search
	Older  template.URL // query of the next page; empty: there is none
	First  template.URL // query of the first page; empty: this is it
	Notice string
}

// list shows the runs that the viewer may see and looks for, the newest first.
func (s *Site) list(w http.ResponseWriter, r *http.Request, v *viewer) error {
	q := r.URL.Query()
	p := listPage{Now: s.Now(), Search: parseSearch(written(q)), Notice: asked(q.Get("asked"))}
	f, err := s.resolve(r.Context(), v, &p.Search)
	if err != nil {
		return err
	}
	f.Limit = pageRuns + 1
	same := url.Values{}
	if p.Search.Text != "" {
		same.Set("q", p.Search.Text)
	}
	if q.Get("before") != "" {
		if f.Before, f.BeforeID, err = cursor(q.Get("before")); err != nil {
			return err
		}
		p.First = template.URL(same.Encode()) //nolint:gosec // it was escaped
	}
	if p.Notice == "" {
		p.Notice = p.Search.mistake()
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
		same.Set("before", after(runs[pageRuns-1]))
		p.Older = template.URL(same.Encode()) //nolint:gosec // it was escaped
	}
	p.Runs = runs
	return s.render(w, r, v, http.StatusOK, "list.html", "Runs", p)
}

// after names the place in a list of runs that follows one.
func after(last store.Run) string {
	return strconv.FormatInt(store.Micros(last.Created), 10) + "." + last.ID
}

func cursor(s string) (time.Time, string, error) {
	at, id, _ := strings.Cut(s, ".")
	micros, err := strconv.ParseInt(at, 10, 64)
	if err != nil || micros <= 0 {
		return time.Time{}, "", errNotFound
	}
	return store.FromMicros(micros), id, nil
}

// asked says what a press of a button came to.
func asked(what string) string {
	switch Button(what) {
	case Verify:
		return "Asked for. Until the run begins it is in the queue; then it is listed here."
	case Stop:
		return "The run is asked to stop."
	case Accept:
		return "Accepted. The verdict is concluded again without running anything; the new run is listed here."
	}
	return ""
}

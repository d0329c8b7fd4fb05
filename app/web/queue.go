package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/store"
)

// queueShown is how many of those that wait the page has.
const queueShown = 100

// A queuePage is what is at work and what waits.
type queuePage struct {
	Base    string
	Now     time.Time
	Server  string
	Working []queued
	Waiting []queued
	Length  int // how many wait, also those that the viewer may not see
	Notice  string
}

// A queued is a job that is at work or waits.
type queued struct {
	queue.Place
	Repo, HeadSHA         string
	Number                int
	Title, Author, Person string // of the pull request, and who asked; empty: not known
	Run                   string // its id; empty: it has not begun
}

// queue shows what the viewer may see of what is at work and what waits.
func (s *Site) queue(w http.ResponseWriter, r *http.Request, v *viewer) error {
	p, err := s.line(r.Context(), v)
	if err != nil {
		return err
	}
	return s.render(w, r, v, http.StatusOK, "queue.html", "Queue", p)
}

// line is what the viewer may see of what is at work and what waits.
func (s *Site) line(ctx context.Context, v *viewer) (*queuePage, error) {
	line, err := s.Queue.Line(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.seeQueue(ctx, v, line); err != nil {
		return nil, err
	}
	p := &queuePage{Base: s.base, Now: s.Now(), Server: s.Server, Length: line.Length}
	if v.partial {
		p.Notice = "GitHub does not answer for some repositories: what is theirs is not shown now."
	}
	working, waiting := v.visible(line.Working), v.visible(line.Waiting)
	waiting = waiting[:min(len(waiting), queueShown)]
	var ids []string
	for _, place := range slices.Concat(working, waiting) {
		ids = append(ids, place.ID)
	}
	jobs, err := s.Queue.Jobs(ctx, ids)
	if err != nil {
		return nil, err
	}
	runs, err := s.runsOf(ctx, v, len(working) > 0)
	if err != nil {
		return nil, err
	}
	for _, place := range working {
		p.Working = append(p.Working, describe(place, jobs[place.ID], runs[place.ID]))
	}
	for _, place := range waiting {
		p.Waiting = append(p.Waiting, describe(place, jobs[place.ID], store.Run{}))
	}
	for _, list := range [][]queued{p.Working, p.Waiting} {
		for i := range list {
			if err := s.title(ctx, &list[i]); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// A queueBody is the queue for programs. Keys are added, and none is renamed.
type queueBody struct {
	Schema  string       `json:"schema"` // "ycbot.queue/v1"
	At      time.Time    `json:"at"`
	Length  int          `json:"length"`  // jobs that wait, also those that are not listed
	Partial bool         `json:"partial"` // GitHub did not answer for some repositories
	Working []queuedBody `json:"working"`
	Waiting []queuedBody `json:"waiting"`
}

type queuedBody struct {
	Job      string    `json:"job"`
	Run      string    `json:"run"`      // empty: it has not begun
	Position int       `json:"position"` // 1 is the next; 0: at work
	Repo     string    `json:"repo"`
	RepoID   int64     `json:"repo_id"`
	PR       int       `json:"pr"` // 0: no pull request
	HeadSHA  string    `json:"head_sha"`
	Title    string    `json:"title"` // untrusted
	Author   string    `json:"author"`
	AskedBy  string    `json:"asked_by"` // empty: it came by itself
	Since    time.Time `json:"since"`    // when it began to wait, or to work
	Why      string    `json:"why"`      // for what it waits, for people
}

// queueJSON is the queue for programs.
func (s *Site) queueJSON(w http.ResponseWriter, r *http.Request, v *viewer) error {
	p, err := s.line(r.Context(), v)
	if err != nil {
		return err
	}
	out := queueBody{Schema: "ycbot.queue/v1", At: p.Now.UTC(), Length: p.Length, Partial: v.partial, Working: bodies(p.Working), Waiting: bodies(p.Waiting)}
	body, err := json.Marshal(out)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(body, '\n')) // the client may be gone
	return nil
}

func bodies(list []queued) []queuedBody {
	out := []queuedBody{}
	for _, q := range list {
		out = append(out, queuedBody{
			Job: q.ID, Run: q.Run, Position: q.Position, Repo: q.Repo, RepoID: q.RepoID, PR: q.Number, HeadSHA: q.HeadSHA, Title: q.Title,
			Author: q.Author, AskedBy: q.Person, Since: q.Since.UTC(), Why: q.Why,
		})
	}
	return out
}

// queueEvents sends the queue again each time that it has changed, as [Site.events] does
// with panels.
func (s *Site) queueEvents(w http.ResponseWriter, r *http.Request, v *viewer) error {
	send, release, err := s.stream(w, r, v)
	if err != nil {
		return err
	}
	defer release()
	look, beat := time.NewTicker(lookAgain), time.NewTicker(s.beat)
	defer look.Stop()
	defer beat.Stop()
	ctx, sent := r.Context(), ""
	for first := true; ; first = false {
		p, err := s.line(ctx, v)
		if err == nil && first {
			err = send.begin()
		}
		if err != nil && first {
			return err
		}
		var out bytes.Buffer
		if err == nil {
			err = s.queuePanel(&out, p, &sent)
		}
		if err == nil && out.Len() > 0 {
			err = send.send(out.Bytes())
		}
		if err != nil { // the client comes again
			if ctx.Err() == nil {
				s.Log.WarnContext(ctx, "queue cannot be watched any more", "error", err)
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.End:
			return nil
		case <-send.over:
			return nil
		case <-beat.C:
			if err := send.send([]byte(": still here\n\n")); err != nil {
				return nil //nolint:nilerr // the client is gone
			}
			if err := s.see(ctx, v); err != nil { // GitHub may have changed its mind
				return nil //nolint:nilerr // the client comes again and is asked who it is
			}
		case <-look.C:
		}
	}
}

// queuePanel writes the queue as an event, unless all of it but the time is as it was sent.
func (s *Site) queuePanel(out *bytes.Buffer, p *queuePage, sent *string) error {
	is, err := json.Marshal([]any{bodies(p.Working), bodies(p.Waiting), p.Length, p.Notice})
	if err != nil || string(is) == *sent {
		return err
	}
	*sent = string(is)
	var html bytes.Buffer
	if err := s.pages.ExecuteTemplate(&html, "panel-line", p); err != nil {
		return fmt.Errorf("part panel-line: %w", err)
	}
	write(out, "put", map[string]string{"id": "line", "html": html.String()})
	return nil
}

// seeQueue asks about what v may not see by answers that are older than what is in line:
// the repositories may be as new.
func (s *Site) seeQueue(ctx context.Context, v *viewer, line queue.Line) error {
	var installations []int64
	var since time.Time
	for _, place := range slices.Concat(line.Working, line.Waiting) {
		if _, ok := v.repos[place.RepoID]; ok || place.Installation == 0 {
			continue
		}
		installations = append(installations, place.Installation)
		if place.Since.After(since) {
			since = place.Since
		}
	}
	if len(installations) == 0 || v.partial {
		return nil
	}
	slices.Sort(installations)
	return s.seeSince(ctx, v, slices.Compact(installations), since, nil)
}

func (v *viewer) visible(places []queue.Place) []queue.Place {
	return slices.DeleteFunc(slices.Clone(places), func(p queue.Place) bool { return !v.reads(store.Run{RepoID: p.RepoID}) })
}

// runsOf are the runs that go on and the viewer may see, by their jobs.
func (s *Site) runsOf(ctx context.Context, v *viewer, wanted bool) (map[string]store.Run, error) {
	out := map[string]store.Run{}
	if !wanted {
		return out, nil
	}
	f := store.RunFilter{State: store.Running, RepoIDs: []int64{}, Limit: 1000}
	for id := range v.repos {
		f.RepoIDs = append(f.RepoIDs, id)
	}
	runs, err := s.DB.Runs(ctx, f)
	for _, r := range runs {
		out[r.Job] = r
	}
	return out, err
}

func describe(p queue.Place, j job.Job, r store.Run) queued {
	q := queued{Place: p, Repo: j.Repo.FullName(), Number: j.Number, HeadSHA: j.HeadSHA, Run: r.ID, Title: r.Title}
	if r.HeadSHA != "" {
		q.HeadSHA = r.HeadSHA
	}
	if j.Text != nil {
		q.Title, q.Author = j.Text.Title, j.Text.Author
	}
	if j.Trigger == job.TriggerMergeGroup {
		q.Title = "merge queue"
		if n := job.QueuedPull(j.Ref); n != 0 {
			q.Title += ", up to #" + strconv.Itoa(n)
		}
	}
	if j.Asked() && j.Actor.Login != q.Author {
		q.Person = j.Actor.Login
	}
	return q
}

// title takes the title from the last run of the same pull request where the event has none.
func (s *Site) title(ctx context.Context, q *queued) error {
	if q.Title != "" || q.Number == 0 {
		return nil
	}
	runs, err := s.DB.Runs(ctx, store.RunFilter{RepoIDs: []int64{q.RepoID}, Number: q.Number, Limit: 5})
	for _, r := range runs {
		if q.Title == "" {
			q.Title = r.Title
		}
	}
	return err
}

// Link is the page of the run, or else that of what waits at GitHub.
func (q queued) Link(base, server string) string {
	switch {
	case q.Run != "":
		return base + "/runs/" + q.Run
	case q.Number != 0:
		return server + "/" + q.Repo + "/pull/" + strconv.Itoa(q.Number)
	}
	return server + "/" + q.Repo + "/commit/" + q.HeadSHA
}

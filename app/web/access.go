package web

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"github.com/ycbot/ycbot/internal/store"
)

const (
	accessTime = time.Minute      // how long an answer of GitHub's about access counts
	emptyTime  = 5 * time.Second  // the same of one that names no repository: there may soon be one
	askTime    = 20 * time.Second // how long a page waits for GitHub to say what a person who logged in may see
	publicTime = 5 * time.Second  // how long it waits to learn what is public
	listTime   = time.Minute      // how long GitHub may take, for thousands of repositories, when no page waits any more
	publicAsks = 8                // installations that are asked about at once
)

// A viewer is who looks at a page, and what may be seen.
type viewer struct {
	session *session       // nil: not logged in
	repos   map[int64]bool // that may be read, by number; true: and written to
	partial bool           // GitHub did not answer for some installations
}

func (v *viewer) reads(run store.Run) bool {
	_, ok := v.repos[run.RepoID]
	return ok && run.RepoID != 0
}

func (v *viewer) writes(run store.Run) bool {
	return v.session != nil && v.reads(run) && v.repos[run.RepoID]
}

func (v *viewer) person() Person { return Person{ID: v.session.UserID, Login: v.session.Login} }

// access remembers for a short time what GitHub said. What failed is not remembered.
type access struct {
	asking singleflight.Group
	mu     sync.Mutex
	known  map[[sha256.Size]byte]answer // by what was asked, which may hold a token

	installations []int64
	listed        time.Time // when the installations were
}

type answer struct {
	at    time.Time // when it was asked for
	took  time.Duration
	repos map[int64]bool
	none  bool // and there will be none soon
}

func (a answer) holds(now time.Time) bool {
	life := accessTime
	if len(a.repos) == 0 && !a.none {
		life = emptyTime
	}
	return now.Sub(a.at) < max(life, 2*a.took) // else one that took long would never hold
}

// get returns an answer that holds and was asked for after since.
func (a *access) get(what string, since, now time.Time) (map[int64]bool, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	have, ok := a.known[sha256.Sum256([]byte(what))]
	return have.repos, ok && have.holds(now) && have.at.After(since)
}

func (a *access) put(what string, said answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known = map[[sha256.Size]byte]answer{}
	}
	for key, have := range a.known {
		if !have.holds(said.at) {
			delete(a.known, key)
		}
	}
	a.known[sha256.Sum256([]byte(what))] = said
}

func (a *access) forget(token string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.known, sha256.Sum256([]byte(ofToken(token))))
}

func ofToken(token string) string { return "token " + token }

// see finds out what v may see now, whatever it was before: what everybody may, and what GitHub says
// that the person may. [ErrToken]: the session has ended.
func (s *Site) see(ctx context.Context, v *viewer) error {
	v.repos, v.partial = nil, false
	if v.session != nil && !s.Now().Before(v.session.Expires) {
		return ErrToken
	}
	installations, err := s.installations(ctx)
	if err != nil {
		return err
	}
	return s.seeSince(ctx, v, installations, time.Time{})
}

// seeAgain asks about a run that v may not see by answers older than the run: the
// repository may be as new.
func (s *Site) seeAgain(ctx context.Context, v *viewer, run store.Run) error {
	var installations []int64
	if run.Installation != 0 {
		installations = append(installations, run.Installation)
	}
	return s.seeSince(ctx, v, installations, run.Created)
}

// seeSince adds to what v may see what answers say that were asked for after since.
func (s *Site) seeSince(ctx context.Context, v *viewer, installations []int64, since time.Time) error {
	public := s.public(ctx, v, installations, since)
	if v.repos == nil {
		v.repos = map[int64]bool{}
	}
	for id := range public {
		if _, known := v.repos[id]; !known {
			v.repos[id] = false // to write takes more
		}
	}
	if v.session == nil {
		return nil
	}
	token := v.session.Token
	own, err := s.ask(ctx, ofToken(token), since, askTime, func(ctx context.Context) ([]Repository, error) { return s.GitHub.Readable(ctx, token) })
	switch {
	case errors.Is(err, ErrToken):
		return err
	case err != nil:
		s.Log.WarnContext(ctx, "GitHub does not say who may see what", "error", err)
		return errAccess
	}
	for id, write := range own {
		v.repos[id] = write
	}
	return nil
}

// errAccess is the answer while GitHub does not say what a viewer may see.
var errAccess = &httpError{http.StatusServiceUnavailable, "GitHub does not say what you may see. Try again in a while."}

// ask asks GitHub unless it was asked a moment ago, and after since. People who want the same
// at the same time share the answer, so it does not end with the request of the first. What GitHub does not
// say within the time that a page can wait is there for one that comes later.
func (s *Site) ask(ctx context.Context, what string, since time.Time, within time.Duration, how func(context.Context) ([]Repository, error)) (map[int64]bool, error) {
	if repos, ok := s.access.get(what, since, s.Now()); ok {
		return repos, nil
	}
	asked := s.access.asking.DoChan(what, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listTime)
		defer cancel()
		at := s.Now()
		list, err := how(ctx)
		none := errors.Is(err, ErrUninstalled)
		if err != nil && !none {
			return nil, err
		}
		repos := map[int64]bool{}
		for _, r := range list {
			repos[r.ID] = r.Write
		}
		s.access.put(what, answer{at, s.Now().Sub(at), repos, none})
		return repos, nil
	})
	wait := time.NewTimer(within)
	defer wait.Stop()
	select {
	case r := <-asked:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(map[int64]bool), nil
	case <-wait.C:
		s.access.asking.Forget(what) // who comes next does not wait for this one, which may hang
		return nil, fmt.Errorf("no answer within %v: %w", within, context.DeadlineExceeded)
	}
}

// installations are those that have runs.
func (s *Site) installations(ctx context.Context) ([]int64, error) {
	a := &s.access
	a.mu.Lock()
	ids, fresh := a.installations, s.Now().Sub(a.listed) < emptyTime
	a.mu.Unlock()
	if fresh && len(ids) > 0 {
		return ids, nil
	}
	ids, err := s.DB.Installations(ctx)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.installations, a.listed = ids, s.Now()
	return ids, nil
}

// public lists what anyone may read of some installations. One that does not answer has
// nothing this time, and is asked again the next.
func (s *Site) public(ctx context.Context, v *viewer, installations []int64, since time.Time) map[int64]bool {
	var mu sync.Mutex
	out := map[int64]bool{}
	var group errgroup.Group
	group.SetLimit(publicAsks)
	for _, id := range installations {
		group.Go(func() error {
			repos, err := s.ask(ctx, fmt.Sprint("public ", id), since, publicTime, func(ctx context.Context) ([]Repository, error) { return s.GitHub.Public(ctx, id) })
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				v.partial = true
				s.Log.WarnContext(ctx, "public repositories of an installation are not known: their runs are not shown to strangers", "installation", id, "error", err)
			}
			for repo := range repos {
				out[repo] = false
			}
			return nil
		})
	}
	_ = group.Wait() // none fails
	return out
}

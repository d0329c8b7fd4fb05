package web

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/ycbot/ycbot/internal/store"
)

const (
	accessTime = time.Minute      // how long an answer of GitHub's about access counts
	askTime    = 20 * time.Second // how long GitHub may take
)

// A viewer is who looks at a page, and what may be seen.
type viewer struct {
	session *session       // nil: not logged in
	repos   map[int64]bool // that may be read, by number; true: and written to
}

func (v *viewer) reads(run store.Run) bool {
	_, ok := v.repos[run.RepoID]
	return ok && run.RepoID != 0
}

func (v *viewer) writes(run store.Run) bool {
	return v.session != nil && v.reads(run) && v.repos[run.RepoID]
}

func (v *viewer) person() Person { return Person{ID: v.session.UserID, Login: v.session.Login} }

// access remembers for a short time what GitHub said.
type access struct {
	asking singleflight.Group
	mu     sync.Mutex
	known  map[[sha256.Size]byte]answer // by token; that of nobody is what is public
}

type answer struct {
	at    time.Time
	repos map[int64]bool
}

func (a *access) get(token string, now time.Time) (map[int64]bool, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	have, ok := a.known[sha256.Sum256([]byte(token))]
	return have.repos, ok && now.Sub(have.at) < accessTime
}

func (a *access) put(token string, repos map[int64]bool, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known = map[[sha256.Size]byte]answer{}
	}
	for key, have := range a.known {
		if now.Sub(have.at) >= accessTime {
			delete(a.known, key)
		}
	}
	a.known[sha256.Sum256([]byte(token))] = answer{at: now, repos: repos}
}

func (a *access) forget(token string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.known, sha256.Sum256([]byte(token)))
}

// see finds out what v may see: what everybody may, and what GitHub says that the person may.
func (s *Site) see(ctx context.Context, v *viewer) error {
	public, err := s.ask(ctx, "", s.public)
	if err != nil {
		return err
	}
	v.repos = public
	if v.session == nil {
		return nil
	}
	token := v.session.Token
	own, err := s.ask(ctx, token, func(ctx context.Context) ([]Repository, error) { return s.GitHub.Readable(ctx, token) })
	if err != nil {
		return err
	}
	v.repos = map[int64]bool{}
	for id := range public {
		v.repos[id] = false
	}
	for id, write := range own {
		v.repos[id] = write
	}
	return nil
}

// ask asks GitHub unless it was asked a moment ago. People who want the same at the same
// time share the answer, so it does not end with the request of the first.
func (s *Site) ask(ctx context.Context, token string, how func(context.Context) ([]Repository, error)) (map[int64]bool, error) {
	if repos, ok := s.access.get(token, s.Now()); ok {
		return repos, nil
	}
	repos, err, _ := s.access.asking.Do(token, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
		defer cancel()
		list, err := how(ctx)
		if err != nil {
			return nil, err
		}
		repos := map[int64]bool{}
		for _, r := range list {
			repos[r.ID] = r.Write
		}
		s.access.put(token, repos, s.Now())
		return repos, nil
	})
	switch {
	case errors.Is(err, ErrToken):
		return nil, err
	case err != nil:
		s.Log.WarnContext(ctx, "GitHub does not say who may see what", "error", err)
		return nil, &httpError{http.StatusServiceUnavailable, "GitHub does not say what you may see. Try again in a while."}
	}
	return repos.(map[int64]bool), nil
}

// public lists what everybody may read. An installation that does not answer, such as
// one that is gone, has nothing.
func (s *Site) public(ctx context.Context) ([]Repository, error) {
	installations, err := s.DB.Installations(ctx)
	if err != nil {
		return nil, err
	}
	var out []Repository
	for _, id := range installations {
		repos, err := s.GitHub.Public(ctx, id)
		if err != nil {
			s.Log.WarnContext(ctx, "public repositories of an installation are not known: their runs are not shown to strangers", "installation", id, "error", err)
			continue
		}
		for _, r := range repos {
			out = append(out, Repository{ID: r.ID})
		}
	}
	return out, nil
}

package web

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"github.com/ycbot/ycbot/internal/store"
)

const (
	accessTime = time.Minute      // how long an answer of GitHub's about access counts
	emptyTime  = 5 * time.Second  // the same of one that names no repository: there may soon be one
	askTime    = 5 * time.Second  // how long a page waits for all that GitHub is to say of who may see what
	awayTime   = 10 * time.Second // how long no page waits for what did not come within that
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
	known  map[[sha256.Size]byte]answer    // by what was asked, which may hold a token
	away   map[[sha256.Size]byte]time.Time // when a page waited for it in vain, which is no answer

	installations []int64
	listed        time.Time // when the installations were
}

type answer struct {
	at    time.Time // when it was asked for
	took  time.Duration
	these map[int64]bool // numbers
	none  bool           // and there will be none soon
}

func (a answer) holds(now time.Time) bool {
	life := accessTime
	if len(a.these) == 0 && !a.none {
		life = emptyTime
	}
	return now.Sub(a.at) < max(life, 2*a.took) // else one that took long would never hold
}

// get returns an answer that holds and was asked for after since.
func (a *access) get(what string, since, now time.Time) (map[int64]bool, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	have, ok := a.known[sha256.Sum256([]byte(what))]
	return have.these, ok && have.holds(now) && have.at.After(since)
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
	key := sha256.Sum256([]byte(what))
	if a.known[key].at.After(said.at) { // that one hung, and another was asked for since
		return
	}
	a.known[key] = said
}

// isAway reports whether a page waited a moment ago for what did not come.
func (a *access) isAway(what string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, ok := a.away[sha256.Sum256([]byte(what))]
	return ok && now.Sub(at) < awayTime
}

func (a *access) setAway(what string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.away == nil {
		a.away = map[[sha256.Size]byte]time.Time{}
	}
	maps.DeleteFunc(a.away, func(_ [sha256.Size]byte, at time.Time) bool { return now.Sub(at) >= awayTime })
	a.away[sha256.Sum256([]byte(what))] = now
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
	return s.seeSince(ctx, v, installations, time.Time{}, s.others)
}

// others is what anyone may read of the installations of the App that are not known by their runs: one that was made
// again has none yet, and those of its repositories.
func (s *Site) others(ctx context.Context, known []int64) (public map[int64]bool, whole bool) {
	all, err := s.ask(ctx, "installations", time.Time{}, func(ctx context.Context) (map[int64]bool, error) {
		list, err := s.GitHub.Installations(ctx)
		out := map[int64]bool{}
		for _, id := range list {
			out[id] = true
		}
		return out, err
	})
	if err != nil {
		s.Log.WarnContext(ctx, "installations of the App are not known: those that have runs count", "error", err)
		return nil, false
	}
	var other []int64
	for id := range all {
		if !slices.Contains(known, id) {
			other = append(other, id)
		}
	}
	return s.public(ctx, other, time.Time{})
}

// seeAgain asks about a run that v may not see by answers older than the run: the
// repository may be as new. While GitHub does not answer all, it is not asked again: that would take longer for a run that
// exists than for one that does not.
func (s *Site) seeAgain(ctx context.Context, v *viewer, run store.Run) error {
	if v.partial {
		return nil
	}
	var installations []int64
	if run.Installation != 0 {
		installations = append(installations, run.Installation)
	}
	return s.seeSince(ctx, v, installations, run.Created, nil)
}

// seeSince adds to what v may see what answers say that were asked for after since, and what others finds of installations
// that are not among these; nil: nothing. All is asked for at once.
func (s *Site) seeSince(ctx context.Context, v *viewer, installations []int64, since time.Time, others func(context.Context, []int64) (map[int64]bool, bool)) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	var own, more map[int64]bool
	var err error
	var asking sync.WaitGroup
	allOthers := true
	if v.session != nil {
		token := v.session.Token
		asking.Go(func() {
			own, err = s.ask(ctx, ofToken(token), since, func(ctx context.Context) (map[int64]bool, error) { return numbers(s.GitHub.Readable(ctx, token)) })
		})
	}
	if others != nil {
		asking.Go(func() { more, allOthers = others(ctx, installations) })
	}
	public, whole := s.public(ctx, installations, since)
	asking.Wait()
	v.partial = v.partial || !whole || !allOthers
	if v.repos == nil {
		v.repos = map[int64]bool{}
	}
	for _, of := range []map[int64]bool{public, more} {
		for id := range of {
			if _, known := v.repos[id]; !known {
				v.repos[id] = false // to write takes more
			}
		}
	}
	switch {
	case errors.Is(err, ErrToken):
		return err
	case err != nil:
		s.Log.WarnContext(ctx, "GitHub does not say who may see what", "error", err)
		return errAccess
	}
	maps.Copy(v.repos, own)
	return nil
}

// errAccess is the answer while GitHub does not say what a viewer may see.
var errAccess = &httpError{http.StatusServiceUnavailable, "GitHub does not say what you may see. Try again later."}

// numbers are those of a list.
func numbers(list []Repository, err error) (map[int64]bool, error) {
	out := map[int64]bool{}
	for _, r := range list {
		out[r.ID] = r.Write
	}
	return out, err
}

// errAway says that GitHub did not answer in time.
var errAway = errors.New("GitHub does not answer")

// ask asks GitHub for numbers unless it was asked a moment ago, and after since. People who want the same
// at the same time share the answer, so it does not end with the request of the first. What GitHub does not
// say until ctx ends is there for a page that comes later; those of the next moments do not wait for it.
func (s *Site) ask(ctx context.Context, what string, since time.Time, how func(context.Context) (map[int64]bool, error)) (map[int64]bool, error) {
	if these, ok := s.access.get(what, since, s.Now()); ok {
		return these, nil
	}
	if ctx.Err() != nil || s.access.isAway(what, s.Now()) {
		return nil, errAway
	}
	asked := s.access.asking.DoChan(what, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listTime)
		defer cancel()
		at := s.Now()
		these, err := how(ctx)
		none := errors.Is(err, ErrUninstalled)
		if err != nil && !none {
			return nil, err
		}
		s.access.put(what, answer{at, s.Now().Sub(at), these, none})
		return these, nil
	})
	select {
	case r := <-asked:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(map[int64]bool), nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			s.access.asking.Forget(what) // who comes later does not wait for this one, which may hang
			s.access.setAway(what, s.Now())
		}
		return nil, fmt.Errorf("%w: %w", errAway, ctx.Err())
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
// nothing this time, and is asked again later: the list is not whole then.
func (s *Site) public(ctx context.Context, installations []int64, since time.Time) (out map[int64]bool, whole bool) {
	var mu sync.Mutex
	out, whole = map[int64]bool{}, true
	var group errgroup.Group
	group.SetLimit(publicAsks)
	for _, id := range installations {
		group.Go(func() error {
			repos, err := s.ask(ctx, fmt.Sprint("public ", id), since, func(ctx context.Context) (map[int64]bool, error) { return numbers(s.GitHub.Public(ctx, id)) })
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				whole = false
				s.Log.WarnContext(ctx, "public repositories of an installation are not known: their runs are not shown to strangers", "installation", id, "error", err)
			}
			for repo := range repos {
				out[repo] = false
			}
			return nil
		})
	}
	_ = group.Wait() // none fails
	return out, whole
}

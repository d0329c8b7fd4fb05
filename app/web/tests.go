package web

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/store"
)

const (
	testsShown  = 200      // tests of a repository
	testRuns    = 100      // runs that the history of a test looks at
	basesShown  = 10       // results of bases that it looks at
	basesBytes  = 32 << 20 // of them, unpacked
	testsAtOnce = 2        // histories that are read at the same time
)

// A testsPage lists the tests of a repository that failed or flaked.
type testsPage struct {
	Now    time.Time
	RepoID int64
	Repo   string
	Tests  []store.TestSummary
}

// A testPage is the history of one test.
type testPage struct {
	testsPage
	Name                 string
	Failed, Flaky, Other int       // of the runs that were looked at
	Runs                 []episode // the newest first
	Bases                []gate.Known
	Flips                []store.Flake
}

// An episode is a run that said something of the test, or several in a row that did not.
type episode struct {
	store.TestRun
	Quiet int // runs; 0: it is one that did
}

// tests lists the tests of a repository that failed or flaked, or has the history of one.
func (s *Site) tests(w http.ResponseWriter, r *http.Request, v *viewer, newest store.Run) error {
	p := testsPage{Now: s.Now(), RepoID: newest.RepoID, Repo: newest.Repo}
	if name := r.URL.Query().Get("name"); name != "" {
		return s.test(w, r, v, testPage{testsPage: p, Name: name})
	}
	var err error
	if p.Tests, err = s.DB.Tests(r.Context(), p.RepoID, testsShown); err != nil {
		return err
	}
	return s.render(w, r, v, http.StatusOK, "tests.html", "Tests · "+p.Repo, p)
}

func (s *Site) test(w http.ResponseWriter, r *http.Request, v *viewer, p testPage) error {
	select { // results of bases can be large
	case s.histories <- struct{}{}:
		defer func() { <-s.histories }()
	case <-r.Context().Done():
		return r.Context().Err()
	}
	runs, err := s.DB.TestRuns(r.Context(), p.RepoID, p.Name, testRuns)
	if err != nil {
		return err
	}
	p.add(runs)
	if err := s.known(r.Context(), &p); err != nil {
		return err
	}
	if p.Failed+p.Flaky+len(p.Bases) == 0 && p.Other == len(runs) {
		return errNotFound
	}
	return s.render(w, r, v, http.StatusOK, "test.html", p.Name, &p)
}

// add takes in runs, the newest first.
func (p *testPage) add(runs []store.TestRun) {
	for _, run := range runs {
		switch {
		case run.Outcome.Fails():
			p.Failed++
		case run.Outcome == store.Flaky:
			p.Flaky++
		case run.Outcome == "":
			p.Other++
			if n := len(p.Runs); n > 0 && p.Runs[n-1].Quiet > 0 {
				p.Runs[n-1].Quiet++
				continue
			}
			p.Runs = append(p.Runs, episode{TestRun: run, Quiet: 1})
			continue
		}
		p.Runs = append(p.Runs, episode{TestRun: run})
	}
}

// Counted is how many runs were looked at.
func (p *testPage) Counted() int {
	n := 0
	for _, e := range p.Runs {
		n += max(1, e.Quiet)
	}
	return n
}

// known reads what bases and the record of flaky tests say.
func (s *Site) known(ctx context.Context, p *testPage) error {
	repo := strconv.FormatInt(p.RepoID, 10) // which is what runs keep them under
	bases, flakes := s.DB.BaseResults(repo), s.DB.Flakes(repo)
	keys, err := bases.Keys(ctx, basesShown)
	if err != nil {
		return err
	}
	left, looked := basesBytes, map[string]bool{}
	for _, key := range keys {
		body, err := bases.Load(ctx, key)
		if err != nil {
			return err
		}
		if left -= len(body); left < 0 {
			break
		}
		known, err := gate.ReadKnown(body, p.Name)
		if err != nil {
			continue // of another version
		}
		p.Bases = append(p.Bases, known...)
		for _, k := range known {
			if looked[k.Key()] {
				continue
			}
			looked[k.Key()] = true
			flips, err := flakes.Of(ctx, k.Key())
			if err != nil {
				return err
			}
			p.Flips = append(p.Flips, flips...)
		}
	}
	return nil
}

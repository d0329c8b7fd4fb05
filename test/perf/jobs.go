package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/queue"
	"github.com/ycbot/ycbot/internal/store"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
	storetest "github.com/ycbot/ycbot/internal/testing/postgres"
)

// held is a repository whose test, while a file is there, says that it runs and then does
// not end; the reader of the pipe sees it begin, and end.
type held struct{ hold, pipe string }

func newHeld(in string) (held, error) {
	dir, err := os.MkdirTemp(in, "held-")
	if err != nil {
		return held{}, err
	}
	h := held{filepath.Join(dir, "hold"), filepath.Join(dir, "pipe")}
	if err := syscall.Mkfifo(h.pipe, 0o600); err != nil {
		return h, err
	}
	return h, os.WriteFile(h.hold, nil, 0o600)
}

func (h held) files() map[string]string {
	return map[string]string{
		".github/ycbot.yml": "version: 1\ncommands: {setup: [], build: [], test: [sh test.sh], lint: []}\nlimits: {runs_per_day: 100000}\n",
		"test.sh":           "if test -e " + h.hold + "; then exec 3>" + h.pipe + "; echo up >&3; sleep 600; fi\n",
	}
}

// begun waits until the test runs, and returns the pipe, which ends with the test.
func (h held) begun() (*os.File, error) {
	pipe, err := os.Open(h.pipe) // when the test opens it
	if err != nil {
		return nil, err
	}
	_, err = pipe.Read(make([]byte, 10))
	return pipe, err
}

// crashed measures when a job runs again whose worker was killed.
func crashed(ctx context.Context, l *lab) ([]figure, error) {
	h, err := newHeld(l.dir)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(l.dir, "operator.yml")
	if err := os.WriteFile(config, []byte("version: 1\nlimits: {timeout: 30m, runs_per_day: 100000}\n"), 0o600); err != nil {
		return nil, err
	}
	var out []figure
	err = onBoth(ctx, l, h.files(), func(s *site, place string) error {
		s.env = []string{"YCBOT_CONFIG=" + config}
		worker, err := s.apart()
		if err != nil {
			return err
		}
		pipe, err := s.hold(h, s.pull(1))
		if err != nil {
			return err
		}
		defer func() { pipe.Close() }()
		var times []time.Duration
		for range l.rounds {
			var peer *exec.Cmd
			if s.database != "" {
				if peer, err = s.work(); err != nil {
					return err
				}
			}
			killed := time.Now()
			s.kill(worker)
			if worker = peer; peer == nil {
				go func() { worker, err = s.serve() }() // meanwhile the job is begun
			}
			at, late := s.asked()
			if late != nil {
				return errors.Join(late, err)
			}
			times = append(times, at.Sub(killed))
			again, err := h.begun()
			if err != nil {
				return err
			}
			pipe.Close()
			pipe = again
		}
		t, goal, how := median(times), time.Second, "the process is started again at once, and that is in it"
		if s.database != "" {
			goal, how = 2*time.Second, "another worker is there"
		}
		out = append(out, figure{
			"14", "kill -9 of a worker until its job runs again, " + place, fmt.Sprintf("≤ %.0f s", goal.Seconds()), fmt.Sprintf("%.0f ms", ms(t)), t <= goal,
			"time limit of a run 30 min; until the job first asks GitHub; " + how,
		})
		return nil
	})
	return out, err
}

// hold delivers a pull request and waits until its test runs.
func (s *site) hold(h held, n int) (*os.File, error) {
	if err := s.deliver("pull_request", s.pack(s.hub.PullEvent(s.repo, n, "synchronize", "alice", ""))); err != nil {
		return nil, err
	}
	return h.begun()
}

// superseding measures how soon a new head ends the run of the old one: in the same process
// until the context of its work is cancelled, and with the App's processes until what the
// run has started is dead, which is later.
func superseding(ctx context.Context, l *lab) ([]figure, error) {
	h, err := newHeld(l.dir)
	if err != nil {
		return nil, err
	}
	var out []figure
	add := func(where string, times []time.Duration, goal time.Duration, how string) {
		t := median(times)
		out = append(out, figure{
			"15", "new head until the old run is cancelled, " + where, fmt.Sprintf("≤ %.0f ms", ms(goal)), fmt.Sprintf("%.1f ms", ms(t)), t <= goal, how,
		})
	}
	const dead = "from sending the webhook until the command of the old run is dead"
	err = onBoth(ctx, l, h.files(), func(s *site, place string) error {
		n := s.pull(1)
		contexts, err := s.cancelled(10 * l.rounds)
		if err != nil {
			return err
		}
		// With one worker the next run begins, and opens the pipe, when the old one has ended.
		server, err := s.serve("--workers", "1")
		if err != nil {
			return err
		}
		times, err := s.pushes(h, n, l.rounds)
		if err != nil {
			return err
		}
		add(place+", same process", contexts, 10*time.Millisecond,
			fmt.Sprintf("from storing the job until the context of the old one is cancelled; %s %.1f ms", dead, ms(median(times))))
		if s.database == "" {
			return nil
		}
		s.kill(server)
		if _, err := s.apart("--workers", "1"); err != nil {
			return err
		}
		if times, err = s.pushes(h, n, l.rounds); err != nil {
			return err
		}
		add(place+", other process", times, time.Second, dead)
		return nil
	})
	return out, err
}

// cancelled measures, with a queue in this process, how long it is from storing a job for
// a new head until the context of the old one's work is cancelled.
func (s *site) cancelled(n int) (times []time.Duration, err error) {
	db, err := store.Open(s.ctx, store.Options{URL: s.database, Path: filepath.Join(s.TempDir(), "queue.db"), Now: time.Now})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := queue.Migrate(s.ctx, db); err != nil {
		return nil, err
	}
	q, err := queue.New(db, queue.Options{Workers: 1, Drain: time.Second})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(s.ctx)
	ended, up, down := make(chan error, 1), make(chan struct{}), make(chan time.Time)
	go func() {
		ended <- q.Run(ctx, func(ctx context.Context, j job.Job) error {
			if j.HeadSHA == "last" {
				return nil
			}
			up <- struct{}{}
			<-ctx.Done()
			down <- time.Now()
			return nil
		})
	}()
	defer func() { stop(); err = errors.Join(err, <-ended) }()
	for i := range n + 1 {
		j := job.Job{Repo: event.Repo{ID: 1}, Number: 1, HeadSHA: fmt.Sprint("head ", i), Installation: 1}
		if i == n {
			j.HeadSHA = "last"
		}
		j.ID = j.Identity()
		began := time.Now()
		if _, err := q.Enqueue(s.ctx, j); err != nil {
			return nil, err
		}
		if i > 0 {
			times = append(times, (<-down).Sub(began))
		}
		if i < n {
			<-up
		}
	}
	return times, nil
}

// pushes has runs held, and pushes each time.
func (s *site) pushes(h held, n, rounds int) ([]time.Duration, error) {
	push := func() post {
		s.hub.Push(s.repo, githubtest.Commit{Branch: "change-1", Message: "more", Files: map[string]string{"more": fmt.Sprint(s.sent.Load())}})
		return s.pack(s.hub.PullEvent(s.repo, n, "synchronize", "alice", ""))
	}
	if err := s.deliver("pull_request", push()); err != nil {
		return nil, err
	}
	var times []time.Duration
	for range rounds {
		pipe, err := h.begun()
		if err != nil {
			return nil, err
		}
		next := push()
		began := time.Now()
		if err := s.deliver("pull_request", next); err != nil {
			return nil, err
		}
		_, _ = pipe.Read(make([]byte, 1)) // it ends
		times = append(times, time.Since(began))
		pipe.Close()
	}
	pipe, err := h.begun()
	if err == nil {
		pipe.Close()
	}
	return times, err
}

// pickup measures how soon work begins on a job that was stored when nothing else is done.
func pickup(ctx context.Context, l *lab) ([]figure, error) {
	var out []figure
	err := onBoth(ctx, l, nothingToDo(), func(s *site, place string) error {
		goal, where := 50*time.Millisecond, place
		if s.database != "" {
			goal, where = 10*time.Millisecond, place+", other process"
		}
		if _, err := s.apart(); err != nil {
			return err
		}
		n := s.pull(1)
		event := s.event(n)
		var times []time.Duration
		for i := range 10 * l.rounds {
			p := s.pack(event(n, fmt.Sprintf("%040x", i+1)))
			answered := make(chan time.Time, 1)
			var failed error
			go func() {
				failed = s.deliver("pull_request", p)
				answered <- time.Now()
			}()
			begun, err := s.asked() // it may be before the answer was read
			stored := <-answered
			if err = errors.Join(err, failed, s.idle(time.Minute)); err != nil {
				return err
			}
			times = append(times, max(begun.Sub(stored), 0))
		}
		slices.Sort(times)
		t := median(times)
		out = append(out, figure{
			"16", "stored until work starts, " + where, fmt.Sprintf("≤ %.0f ms", ms(goal)), fmt.Sprintf("%.1f ms", ms(t)), t <= goal,
			fmt.Sprintf("from the webhook's answer until the job first asks GitHub; p90 %.1f ms of %d", ms(times[len(times)*9/10]), len(times)),
		})
		return nil
	})
	return out, err
}

// scaling compares two workers with one.
func scaling(ctx context.Context, l *lab) ([]figure, error) {
	files := map[string]string{
		".github/ycbot.yml": "version: 1\ncommands: {setup: [], build: [], test: [sh test.sh], lint: []}\nlimits: {runs_per_day: 100000}\npublish: {comment: off}\n",
		"test.sh":           "sleep 1\n",
	}
	var times []time.Duration
	err := onStage(ctx, l.dir, func(st *stage) error {
		s := newSite(st, l, files)
		var server storetest.Server
		st.Cleanup(server.Stop)
		config := filepath.Join(l.dir, "scaling.yml")
		if err := os.WriteFile(config, []byte("version: 1\nlimits: {runs_per_day: 100000}\n"), 0o600); err != nil {
			return err
		}
		s.env = []string{"YCBOT_CONFIG=" + config}
		var posts []post
		for i := range l.queued {
			posts = append(posts, s.pack(s.hub.PullEvent(s.repo, s.pull(i+1), "opened", "alice", "")))
		}
		for workers := 1; workers <= 2; workers++ {
			s.database = server.Database(st)
			took, err := s.through(posts, workers)
			if err != nil {
				return err
			}
			times = append(times, took)
		}
		return nil
	})
	if errors.Is(err, errMissing) {
		l.logf("%v", err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ratio := float64(times[0]) / float64(times[1])
	return []figure{{
		"18", fmt.Sprintf("%d verifications, two workers against one", l.queued), "≥ 1.9 ×", fmt.Sprintf("%.2f ×", ratio), ratio >= 1.9,
		fmt.Sprintf("PostgreSQL, a process each; tests that wait for 1 s instead of computing, as two workers have only the processors of one here; %.0f s against %.0f s", times[1].Seconds(), times[0].Seconds()),
	}}, nil
}

// through has workers do all that is posted.
func (s *site) through(posts []post, workers int) (time.Duration, error) {
	server, err := s.serve("--no-work")
	if err != nil {
		return 0, err
	}
	defer s.kill(server)
	if _, err := s.storm(posts); err != nil {
		return 0, err
	}
	began := time.Now()
	for range workers {
		w, err := s.work("--workers", "1", "--per-repo", "0")
		if err != nil {
			return 0, err
		}
		defer s.kill(w)
	}
	err = s.idle(time.Hour)
	took := time.Since(began)
	// Who was measured must have verified.
	if done := strings.Count(fmt.Sprint(s.concluded()), "success"); err == nil && done != len(posts) {
		err = fmt.Errorf("%d of %d were verified", done, len(posts))
	}
	return took, err
}

// concluded are the conclusions of the newest check run of each commit.
func (s *site) concluded() []string {
	newest := map[string]string{}
	for _, c := range s.hub.CheckRuns(s.repo) {
		newest[c.HeadSHA] = c.Conclusion
	}
	var out []string
	for _, conclusion := range newest {
		out = append(out, conclusion)
	}
	return out
}

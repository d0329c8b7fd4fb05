package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ycbot/ycbot/internal/github"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
	storetest "github.com/ycbot/ycbot/internal/testing/postgres"
)

const hookSecret = "a secret of the webhook's"

// A site is a stand-in of GitHub with a repository in which the App is installed, and
// the processes of the App that serve it.
type site struct {
	*stage
	l        *lab
	hub      *githubtest.Server
	app      *githubtest.App
	repo     github.Repo
	api      *httptest.Server
	database string // empty: SQLite
	data     string
	hook     string // address of the webhook
	client   *http.Client
	sent     atomic.Int64

	delay atomic.Int64           // of each answer of GitHub, in nanoseconds
	hang  atomic.Bool            // GitHub does not answer at all
	calls chan time.Time         // when GitHub was asked something, as long as someone listens
	env   []string               // further settings
	procs map[*exec.Cmd]struct{} // that run
}

// onBoth measures on SQLite, and on PostgreSQL where this machine has it.
func onBoth(ctx context.Context, l *lab, files map[string]string, f func(s *site, place string) error) error {
	for _, place := range []string{"SQLite", "PostgreSQL"} {
		err := onStage(ctx, l.dir, func(st *stage) error {
			s := newSite(st, l, files)
			if place == "PostgreSQL" {
				s.database = storetest.Postgres(st)
			}
			return f(s, place)
		})
		if errors.Is(err, errMissing) {
			l.logf("%s: %v", place, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
	}
	return nil
}

func newSite(st *stage, l *lab, files map[string]string) *site {
	s := &site{
		stage: st, l: l, hub: githubtest.New(st), data: st.TempDir(), calls: make(chan time.Time), procs: map[*exec.Cmd]struct{}{},
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, MaxConnsPerHost: 64}},
	}
	s.hub.AddUser("alice", 11, "User")
	s.repo = s.hub.AddRepo("acme", "sums").Repo
	s.hub.SetPermission(s.repo, "alice", "write")
	s.hub.Push(s.repo, githubtest.Commit{Branch: "main", Message: "base", Files: files})
	s.app = s.hub.AddApp(77, "ycbot")
	s.hub.Install(s.app, map[string]string{"contents": "read", "checks": "write", "pull_requests": "write", "issues": "write"}, s.repo)
	s.api = httptest.NewServer(s)
	st.Cleanup(s.api.Close)
	st.Cleanup(func() {
		s.hang.Store(false)
		for cmd := range s.procs {
			s.kill(cmd)
		}
	})
	return s
}

// ServeHTTP is GitHub, as far away as the measurement wants it.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, "/app/hook/"):
		_, _ = io.WriteString(w, "[]")
		return
	case !strings.Contains(r.URL.Path, ".git/"):
		select {
		case s.calls <- time.Now():
		default:
		}
	}
	for wait := time.Duration(s.delay.Load()); wait > 0 || s.hang.Load(); wait = 0 {
		select {
		case <-time.After(max(wait, 10*time.Millisecond)):
		case <-r.Context().Done():
			return
		}
	}
	s.hub.ServeHTTP(w, r)
}

// start starts a process of the App, and waits until it says word in its log.
func (s *site) start(word string, args ...string) (cmd *exec.Cmd, said map[string]any, err error) {
	log := filepath.Join(s.TempDir(), "log")
	out, err := os.Create(log)
	if err != nil {
		return nil, nil, err
	}
	defer out.Close()
	cmd = exec.Command(s.l.binary, append([]string{"app"}, args...)...) //nolint:noctx // it is killed
	cmd.Stderr = out
	cmd.Env = append(append([]string{}, s.l.env...), "YCBOT_APP_ID=77", "YCBOT_APP_PRIVATE_KEY="+string(s.app.Key), "YCBOT_WEBHOOK_SECRET="+hookSecret,
		"YCBOT_GITHUB_URL="+s.api.URL, "GITHUB_SERVER_URL="+s.hub.URL, "DATABASE_URL="+s.database, "OPENAI_API_KEY=")
	cmd.Env = append(cmd.Env, s.env...)
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	s.procs[cmd] = struct{}{}
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(log)
		if err != nil {
			return nil, nil, err
		}
		for line := range bytes.Lines(text) {
			if json.Unmarshal(line, &said) == nil && said["msg"] == word {
				return cmd, said, nil
			}
		}
	}
	text, _ := os.ReadFile(log)
	return nil, nil, fmt.Errorf("ycbot app %s does not say %q:\n%s", strings.Join(args, " "), word, text)
}

// serve starts a server.
func (s *site) serve(args ...string) (*exec.Cmd, error) {
	cmd, said, err := s.start("listening", append([]string{"serve", "--sandbox", "none", "--addr", "127.0.0.1:0", "--data", s.data, "--drain", "100ms"}, args...)...)
	if err == nil {
		s.hook = fmt.Sprintf("http://%v", said["addr"])
	}
	return cmd, err
}

// work starts a worker on a machine of its own.
func (s *site) work(args ...string) (*exec.Cmd, error) {
	cmd, _, err := s.start("working", append([]string{"work", "--sandbox", "none", "--data", s.TempDir(), "--drain", "100ms"}, args...)...)
	return cmd, err
}

// apart starts a server, and where the database allows it a worker beside it.
func (s *site) apart(args ...string) (worker *exec.Cmd, err error) {
	if s.database == "" {
		return s.serve(args...)
	}
	if _, err := s.serve("--no-work"); err != nil {
		return nil, err
	}
	return s.work(args...)
}

// kill ends a process as a crash does.
func (s *site) kill(cmd *exec.Cmd) {
	delete(s.procs, cmd)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// A post is a delivery that is ready to be sent.
type post struct {
	id, signature string
	body          []byte
}

func (s *site) pack(body []byte) post {
	return post{fmt.Sprint("delivery-", s.sent.Add(1)), githubtest.Signature(hookSecret, body), body}
}

// deliver sends it, and wants it to be stored.
func (s *site) deliver(event string, p post) error {
	r, err := http.NewRequestWithContext(s.ctx, http.MethodPost, s.hook+"/webhook", bytes.NewReader(p.body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-GitHub-Event", event)
	r.Header.Set("X-GitHub-Delivery", p.id)
	r.Header.Set("X-Hub-Signature-256", p.signature)
	resp, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusAccepted {
		return fmt.Errorf("a delivery is answered with %d", resp.StatusCode)
	}
	return nil
}

// pull opens a pull request that adds a file.
func (s *site) pull(n int) int {
	branch := fmt.Sprint("change-", n)
	s.hub.Push(s.repo, githubtest.Commit{Branch: branch, Message: branch, Files: map[string]string{branch: "x\n"}})
	return s.hub.OpenPull(s.repo, githubtest.Pull{Title: branch, Author: "alice", Head: branch})
}

// jobs asks the server how many there are that are not over.
func (s *site) jobs() (n float64, err error) {
	var text bytes.Buffer
	if err := s.get("/metrics", &text); err != nil {
		return 0, err
	}
	for line := range strings.Lines(text.String()) {
		if value, ok := strings.CutPrefix(line, "ycbot_queue_jobs{"); ok {
			var of float64
			_, value, _ = strings.Cut(value, "} ")
			if _, err := fmt.Sscan(value, &of); err != nil {
				return 0, err
			}
			n += of
		}
	}
	return n, nil
}

// get reads a page of the server's.
func (s *site) get(path string, into io.Writer) error {
	r, err := http.NewRequestWithContext(s.ctx, http.MethodGet, s.hook+path, nil)
	if err != nil {
		return err
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(into, resp.Body)
	return err
}

// idle waits until all is done.
func (s *site) idle(within time.Duration) error {
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		switch n, err := s.jobs(); {
		case err != nil:
			return err
		case n == 0:
			return nil
		case time.Since(began) > within:
			return fmt.Errorf("%v jobs are not done after %v", n, within)
		}
	}
}

// asked waits until GitHub is asked something.
func (s *site) asked() (time.Time, error) {
	select {
	case at := <-s.calls:
		return at, nil
	case <-time.After(2 * time.Minute):
		return time.Time{}, errors.New("no job asks GitHub anything")
	}
}

package host

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/app"
	"github.com/ycbot/ycbot/app/web"
	"github.com/ycbot/ycbot/internal/event"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/store"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
)

// A token is given back though what it was made for is cut short, as by the end of the
// process, and at once while a change is executed.
func TestTokenOfACutCall(t *testing.T) {
	t.Parallel()
	server, repo := githubtest.New(t), github.Repo{Owner: "acme", Name: "sums"}
	server.AddUser("alice", 11, "User")
	server.AddRepo(repo.Owner, repo.Name)
	a := server.AddApp(7, "ycbot")
	id := server.Install(a, map[string]string{"pull_requests": "write"}, repo)
	mint := func() (*github.Client, error) {
		return github.New(github.Options{
			BaseURL: server.URL, Now: server.Now,
			App: &github.App{ID: 7, Key: a.Key, Installation: id, Repository: repo.Name, May: commenting()},
		})
	}
	server.Push(repo, githubtest.Commit{Branch: "topic", Message: "Add a", Files: map[string]string{"a.txt": "a\n"}})
	n := server.OpenPull(repo, githubtest.Pull{Title: "A", Author: "alice", Head: "topic"})
	comments := &commenter{log: slog.New(slog.DiscardHandler), mint: mint}
	ctx, cut := context.WithCancel(t.Context())
	made, err := comments.CreateComment(ctx, repo, n, "hello")
	if err != nil {
		t.Fatal(err)
	}
	comments.executing(true)
	cut()
	comments.giveBack(ctx)
	if uses := server.TokenUses(); len(uses) != 1 || !uses[0].Revoked {
		t.Errorf("tokens: %+v", uses)
	}
	// While the change is executed, each comment has a token for itself alone.
	for range 2 {
		if _, err := comments.EditComment(t.Context(), repo, made.ID, "it goes on"); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(server.TokenUses(), func(u githubtest.TokenUse) bool { return !u.Revoked }) {
			t.Errorf("tokens: %+v", server.TokenUses())
		}
	}
}

// A GitHub that does not answer holds a process that is asked to end for seconds, not for as
// long as a request may take.
func TestEndWithoutGitHub(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(arrived); <-release }))
	t.Cleanup(func() { close(release); server.Close() })
	ctx, end := context.WithCancel(t.Context())
	s := &service{atEnd: func(f func()) func() bool { return context.AfterFunc(ctx, f) }}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	asked, waited := make(chan error, 1), make(chan error, 1)
	go func() {
		resp, err := hasty{http.DefaultTransport, s.atEnd}.RoundTrip(r)
		if err == nil {
			err = resp.Body.Close()
		}
		asked <- err
	}()
	go func() { waited <- s.wait(t.Context(), time.Hour) }()
	<-arrived
	end()
	began := time.Now()
	for _, c := range []chan error{asked, waited} {
		select {
		case err := <-c:
			if !errors.Is(err, errEnding) {
				t.Errorf("error %v, want %v", err, errEnding)
			}
		case <-time.After(10 * lastWait):
			t.Fatalf("it goes on after %v", time.Since(began))
		}
	}
}

// An installation that is gone or suspended is known as that, and a token is asked for once. That the
// App's key is wrong is another matter.
func TestPublicOfNoInstallation(t *testing.T) {
	t.Parallel()
	server, repo := githubtest.New(t), github.Repo{Owner: "acme", Name: "sums"}
	server.AddUser("alice", 11, "User")
	server.AddRepo(repo.Owner, repo.Name)
	a, b := server.AddApp(7, "ycbot"), server.AddApp(8, "other")
	may := map[string]string{"contents": "read"}
	installed, gone, suspended := server.Install(a, may, repo), server.Install(a, may, repo), server.Install(a, may, repo)
	server.Uninstall(gone)
	server.Suspend(suspended, true)
	asks := func(key []byte, installation int64) (n int, err error) {
		s := &service{
			o: &Options{ID: 7, Key: key, GitHubURL: server.URL}, m: machine.Machine{Client: &http.Client{Transport: http.DefaultTransport}, Now: server.Now},
			log: slog.New(slog.DiscardHandler), atEnd: func(func()) func() bool { return func() bool { return true } },
		}
		before := len(server.Calls())
		_, err = webHub{s}.Public(t.Context(), installation)
		time.Sleep(200 * time.Millisecond) // a token is given back beside the page
		for _, c := range server.Calls()[before:] {
			if strings.HasSuffix(c.Path, "/access_tokens") {
				n++
			}
		}
		return n, err
	}
	for name, id := range map[string]int64{"gone": gone, "suspended": suspended} {
		if n, err := asks(a.Key, id); n != 1 || !errors.Is(err, web.ErrUninstalled) {
			t.Errorf("%s: %d requests for a token, %v", name, n, err)
		}
	}
	if n, err := asks(a.Key, installed); n != 1 || err != nil {
		t.Errorf("installed: %d requests for a token, %v", n, err)
	}
	if _, err := asks(b.Key, installed); err == nil || errors.Is(err, web.ErrUninstalled) {
		t.Errorf("with a wrong key: %v", err)
	}
}

// What is posted of a repository that was renamed meanwhile arrives, in the comment and the check run that there
// are, whichever of its names a job has.
func TestRenamed(t *testing.T) {
	t.Parallel()
	server, repo := githubtest.New(t), github.Repo{Owner: "acme", Name: "sums"}
	server.AddUser("alice", 11, "User")
	made := server.AddRepo(repo.Owner, repo.Name)
	a := server.AddApp(7, "ycbot")
	id := server.Install(a, map[string]string{"checks": "write", "contents": "read", "issues": "write", "pull_requests": "write"}, repo)
	head := server.Push(repo, githubtest.Commit{Branch: "topic", Message: "Add a", Files: map[string]string{"a.txt": "a\n"}})
	n := server.OpenPull(repo, githubtest.Pull{Title: "A", Author: "alice", Head: "topic"})
	db, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "ycbot.db"), Now: time.Now})
	if err == nil {
		err = db.Migrate(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := &service{
		o: &Options{ID: 7, Key: a.Key, GitHubURL: server.URL}, m: machine.Machine{Client: &http.Client{Transport: http.DefaultTransport}, Now: time.Now, Log: slog.New(slog.DiscardHandler)},
		db: db, log: slog.New(slog.DiscardHandler), atEnd: func(func()) func() bool { return func() bool { return true } },
	}
	dir := t.TempDir()
	do := func(run string, name github.Repo, what func(h app.Host, a app.Assignment) error) {
		t.Helper()
		j := job.Job{
			ID: "job of " + run, Verb: event.VerbVerify, Trigger: job.TriggerPullRequest, Repo: event.Repo{ID: made.ID, Owner: name.Owner, Name: name.Name},
			Number: n, HeadSHA: head, Installation: id,
		}
		h, err := s.host(t.Context(), j)
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close(t.Context())
		if err := what(h, app.Assignment{Job: j, Run: run, Dir: filepath.Join(dir, run)}); err != nil {
			t.Errorf("%s: %v", run, err)
		}
	}
	begin := func(h app.Host, a app.Assignment) error {
		_, _, err := h.Learn(t.Context(), a.Job)
		return errors.Join(err, h.Begin(t.Context(), a))
	}
	finish := func(h app.Host, a app.Assignment) error {
		_, err := h.Finish(t.Context(), a, &report.Report{Schema: report.Schema, Verdict: report.Pass, Outcome: report.Completed, HeadSHA: head}, app.Ending{})
		return err
	}
	both := func(h app.Host, a app.Assignment) error { return errors.Join(begin(h, a), finish(h, a)) }
	do("first", repo, both)
	do("in between", repo, begin)
	now := server.Rename(repo, "products")
	do("in between", repo, finish)
	do("by the old name", repo, both)
	do("by the new name", now, both)
	if comments := server.Comments(now, n); len(comments) != 1 || !strings.HasPrefix(comments[0].Body, "<!-- ycbot:v1 acme/products#") {
		t.Errorf("comments: %+v", comments)
	}
	runs := server.CheckRuns(now)
	for _, r := range runs {
		if r.Status != "completed" || r.Conclusion != "success" {
			t.Errorf("the check run of %s is %s %s", r.ExternalID, r.Status, r.Conclusion)
		}
	}
	if len(runs) != 4 {
		t.Errorf("%d check runs", len(runs))
	}

	server.SetPublic(server.AddRepo(repo.Owner, repo.Name).Repo) // another one has the name
	server.Push(repo, githubtest.Commit{Branch: "topic", Message: "Add a", Files: map[string]string{"a.txt": "a\n"}})
	server.OpenPull(repo, githubtest.Pull{Title: "A", Author: "alice", Head: "topic"})
	do("of another", repo, func(h app.Host, a app.Assignment) error {
		var permanent *app.Permanent
		if _, _, err := h.Learn(t.Context(), a.Job); !errors.As(err, &permanent) {
			t.Errorf("the pull request of a repository that has the name now: %v", err)
		}
		return nil
	})
}

// An attempt that fails after its begin was shown leaves nothing behind when its host is closed.
func TestCloseAfterBegin(t *testing.T) { //nolint:paralleltest // it counts goroutines
	server, repo := githubtest.New(t), github.Repo{Owner: "acme", Name: "sums"}
	server.AddUser("alice", 11, "User")
	made := server.AddRepo(repo.Owner, repo.Name)
	a := server.AddApp(7, "ycbot")
	id := server.Install(a, map[string]string{"checks": "write", "contents": "read", "issues": "write", "pull_requests": "write"}, repo)
	head := server.Push(repo, githubtest.Commit{Branch: "topic", Message: "Add a", Files: map[string]string{"a.txt": "a\n"}})
	n := server.OpenPull(repo, githubtest.Pull{Title: "A", Author: "alice", Head: "topic"})
	db, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "ycbot.db"), Now: time.Now})
	if err == nil {
		err = db.Migrate(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	transport := &http.Transport{DisableKeepAlives: true}
	s := &service{
		o: &Options{ID: 7, Key: a.Key, GitHubURL: server.URL}, m: machine.Machine{Client: &http.Client{Transport: transport}, Now: time.Now, Log: slog.New(slog.DiscardHandler)},
		db: db, log: slog.New(slog.DiscardHandler), atEnd: func(func()) func() bool { return func() bool { return true } },
	}
	j := job.Job{ID: "job", Repo: event.Repo{ID: made.ID, Owner: repo.Owner, Name: repo.Name}, Number: n, HeadSHA: head, Installation: id}
	attempt := func() {
		h, err := s.host(t.Context(), j)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Begin(t.Context(), app.Assignment{Job: j, Run: "run", Dir: filepath.Join(t.TempDir(), "run")}); err != nil {
			t.Fatal(err)
		}
		h.Close(t.Context())
	}
	shows := func() int {
		stacks := make([]byte, 4<<20)
		return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "pullrun.(*Poster).show(")
	}
	for range 20 {
		attempt()
	}
	if n := shows(); n != 0 {
		t.Errorf("%d attempts go on", n)
	}
}

// A repository is found by its number: after a rename, also where another has its old name, and by the installation that
// there is now. What the App may not see is found by none.
func TestInstalledNow(t *testing.T) {
	t.Parallel()
	server, repo := githubtest.New(t), github.Repo{Owner: "acme", Name: "sums"}
	number := server.AddRepo(repo.Owner, repo.Name).ID
	a := server.AddApp(7, "ycbot")
	old := server.Install(a, map[string]string{"contents": "read"}, repo)
	s := &service{
		o: &Options{ID: 7, Key: a.Key, GitHubURL: server.URL}, m: machine.Machine{Client: &http.Client{Transport: http.DefaultTransport}, Now: server.Now}, log: slog.New(slog.DiscardHandler),
		atEnd: func(func()) func() bool { return func() bool { return true } },
	}
	stored := event.Repo{ID: number, Owner: repo.Owner, Name: repo.Name}
	want := func(what, name string, installation int64) {
		t.Helper()
		now, got, err := s.installed(t.Context(), stored)
		if err != nil || got != installation || now.ID != number || now.FullName() != "acme/"+name {
			t.Errorf("%s: %+v by %d, %v; want %s by %d", what, now, got, err, name, installation)
		}
	}
	want("as it was", "sums", old)
	renamed := server.Rename(repo, "products")
	want("renamed", "products", old)
	server.AddRepo(repo.Owner, repo.Name)
	server.SetInstalled(old, renamed, repo)
	want("another has the name", "products", old)
	server.Uninstall(old)
	want("uninstalled", "sums", 0)
	id := server.Install(a, map[string]string{"contents": "read"}, renamed)
	want("installed again", "products", id)
	server.SetInstalled(id, repo)
	want("only another that has the name", "sums", 0)
	if slices.ContainsFunc(server.TokenUses(), func(u githubtest.TokenUse) bool { return !u.Revoked }) {
		t.Errorf("tokens: %+v", server.TokenUses())
	}
	all, err := webHub{s}.Installations(t.Context())
	server.Suspend(id, true)
	none, err2 := webHub{s}.Installations(t.Context())
	if err != nil || err2 != nil || !slices.Equal(all, []int64{id}) || len(none) != 0 {
		t.Errorf("installations %d %v, suspended %d %v", all, err, none, err2)
	}
}

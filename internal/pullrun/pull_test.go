package pullrun

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/rundir"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
	"github.com/ycbot/ycbot/internal/usage"
)

// finder has a repository on a GitHub, and a machine on which a person asks for its pull requests.
func finder(t *testing.T) (*githubtest.Server, github.Repo, machine.Machine) {
	t.Helper()
	s := githubtest.New(t)
	repo := github.Repo{Owner: "acme", Name: "sums"}
	s.AddRepo(repo.Owner, repo.Name)
	for i, login := range []string{"alice", "release-bot"} {
		s.AddUser(login, int64(i+1), "User")
		s.SetPermission(repo, login, "write")
	}
	s.AddUser("robot", 9, "Bot")
	s.SetPermission(repo, "robot", "write")
	s.Push(repo, githubtest.Commit{Branch: "main", Message: "base", Files: map[string]string{"a": "1\n", ".github/ycbot.yml": "version: 1\nmachines: [release-bot]\n"}})
	s.Push(repo, githubtest.Commit{Branch: "work", Message: "work", Files: map[string]string{"a": "2\n", ".github/ycbot.yml": "version: 1\n"}})
	return s, repo, machine.Machine{
		Env: []string{"YCBOT_HOME=" + t.TempDir(), "GITHUB_API_URL=" + s.URL, "GH_TOKEN=" + s.Token("alice", nil, "personal")},
		Now: s.Now, Client: &http.Client{}, Log: slog.New(slog.DiscardHandler),
	}
}

// A machine's change is one also where a person asks for its run by hand, by the
// configuration at the base, or by that which holds in its place.
func TestFindMachines(t *testing.T) {
	t.Parallel()
	s, repo, m := finder(t)
	for _, tt := range []struct {
		author string
		named  string // configuration in place of the base's
		own    string // the user's
		want   bool
	}{
		{author: "alice"},
		{author: "release-bot", want: true},
		{author: "robot", want: true},
		{author: "release-bot", named: "version: 1\n"},
		{author: "alice", named: "version: 1\nmachines: [Alice]\n", want: true},
		{author: "alice", named: "version: 1\n", own: "version: 1\nmachines: [alice]\n", want: true},
	} {
		m := m
		if tt.own != "" {
			home := t.TempDir()
			if err := os.WriteFile(filepath.Join(home, "config.yml"), []byte(tt.own), 0o600); err != nil {
				t.Fatal(err)
			}
			m.Env = append(m.Env, "YCBOT_HOME="+home)
		}
		r := Request{Number: s.OpenPull(repo, githubtest.Pull{Title: "Work", Author: tt.author, Head: "work"}), Repo: repo.String()}
		if tt.named != "" {
			r.Config = &run.ConfigFile{Name: "my.yml", Data: []byte(tt.named)}
		}
		h, j, err := Find(t.Context(), m, r)
		if err != nil {
			t.Fatal(err)
		}
		if rj := h.Pin(run.Job{}, j, ""); j.Machine != tt.want || rj.Machine != tt.want {
			t.Errorf("%+v: the job says %v, the run %v", tt, j.Machine, rj.Machine)
		}
	}
}

// The repository that is asked about is origin's, on the host that it is on, or the one that
// was named.
func TestPullRepo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		origin, api, named string
		want               string // "": it is refused
	}{
		{origin: "git@github.com:acme/widget.git", want: "acme/widget"},
		{origin: "git@gitlab.com:acme/widget.git"},
		{origin: "git@gitlab.com:acme/widget.git", named: "acme/widget", want: "acme/widget"},
		{origin: "git@ghe.corp:team/app.git"},
		{origin: "git@ghe.corp:team/app.git", api: "https://ghe.corp/api/v3", want: "team/app"},
		{origin: "work:acme/widget.git"},
		{origin: "/srv/git/widget"},
	} {
		dir := t.TempDir()
		for _, args := range [][]string{{"init", "-q"}, {"remote", "add", "origin", tt.origin}} {
			cmd := exec.Command("git", args...)
			cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent"}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %q: %v\n%s", args, err, out)
			}
		}
		m := machine.Machine{Env: []string{"PATH=" + os.Getenv("PATH"), "GITHUB_API_URL=" + tt.api}, Log: slog.New(slog.DiscardHandler)}
		repo, err := pullRepo(t.Context(), m, Request{Number: 7, Repo: tt.named, Dir: dir})
		var wrong *usage.Error
		switch {
		case tt.want == "" && (!errors.As(err, &wrong) || !strings.Contains(err.Error(), "--repo OWNER/NAME")):
			t.Errorf("%+v: %v, %v", tt, repo, err)
		case tt.want != "" && (err != nil || repo.String() != tt.want):
			t.Errorf("%+v: %v, %v", tt, repo, err)
		}
	}
}

// A run that fails before it begins is posted as that, whatever lies in its folder.
func TestAnotherRunIsNotPosted(t *testing.T) {
	t.Parallel()
	s, repo, m := finder(t)
	n := s.OpenPull(repo, githubtest.Pull{Title: "Work", Author: "alice", Head: "work"})
	h, j, err := Find(t.Context(), m, Request{Number: n, Repo: repo.String()})
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	d, err := rundir.Create(out, rundir.Identity{Run: "earlier"}, rundir.Options{Now: s.Now})
	if err != nil {
		t.Fatal(err)
	}
	rep := &report.Report{Schema: report.Schema, RunID: "earlier", Trigger: "cli", Trust: "local", Phase: report.PhaseEnd, Verdict: report.Pass, Outcome: report.Completed, Title: "PASS: of another change", HeadSHA: j.HeadSHA}
	if err := errors.Join(d.WriteReport(rep, nil), d.Seal(), d.Close()); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("the configuration is wrong")
	_, err = RunAndPost(t.Context(), m, h, h.Pin(run.Job{Out: out}, j, ""), func(context.Context, run.Job, func(*report.Report)) (*report.Report, error) { return nil, failure })
	if !errors.Is(err, failure) {
		t.Errorf("error %v", err)
	}
	comments, statuses := s.Comments(repo, n), s.Statuses(repo, j.HeadSHA)
	if len(statuses) == 0 || len(comments) != 1 {
		t.Fatalf("comments %+v, statuses %+v", comments, statuses)
	}
	for _, st := range statuses {
		if st.State == "success" || strings.Contains(st.Description, "another change") {
			t.Errorf("posted %+v", st)
		}
	}
	if body := comments[0].Body; strings.Contains(body, "another change") || !strings.Contains(body, failure.Error()) {
		t.Errorf("posted %s", body)
	}
}

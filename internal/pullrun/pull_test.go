package pullrun

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/run"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
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

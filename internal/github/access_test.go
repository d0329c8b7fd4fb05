package github_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/github"
)

// GitHub says what a person's token may do; of a job's token GitHub does not say.
func TestAccess(t *testing.T) {
	t.Parallel()
	s, _ := world(t)
	s.AddUser("bob", 12, "User")
	s.SetPermission(widgets, "bob", "read")
	for token, want := range map[string]string{
		s.Token("alice", nil, "personal"): "write", s.Token("bob", nil, "personal"): "read", s.Token("", writer(), "actions"): "",
	} {
		c, _ := client(t, s, token)
		got, err := c.Access(t.Context(), widgets)
		if err != nil || got.Role != want {
			t.Errorf("%+v, %v; want role %q", got, err, want)
		}
	}
	s.AddUser("mallory", 13, "User")
	c, _ := client(t, s, s.Token("mallory", nil, "personal"))
	if _, err := c.Access(t.Context(), widgets); !github.IsNotFound(err) {
		t.Errorf("a repository that cannot be seen: %v", err)
	}
	if _, err := c.AppInfo(t.Context()); err == nil {
		t.Error("a token has settings of an App")
	}
}

// The settings of an App are those that GitHub shows.
func TestAppInfo(t *testing.T) {
	t.Parallel()
	s, _ := world(t)
	app := s.AddApp(7, "ycbot")
	s.Ask(app, map[string]string{"checks": "write", "contents": "read"}, []string{"pull_request"})
	c, err := github.New(github.Options{BaseURL: s.URL, Now: s.Now, App: &github.App{ID: 7, Key: app.Key}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.AppInfo(t.Context())
	want := github.AppInfo{Slug: "ycbot", Permissions: app.Permissions, Events: app.Events}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

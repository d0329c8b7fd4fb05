package github

import (
	"strings"
	"testing"
)

// A repository is one of the GitHub that is asked, or it is another's.
func TestServes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		api, server, host string
		want              bool
	}{
		{host: "github.com", want: true},
		{host: "GitHub.com", want: true},
		{host: "ssh.github.com", want: true},
		{host: "gitlab.com"},
		{host: "work"}, // of ~/.ssh/config
		{host: "ghe.corp"},
		{host: "ghe.corp", server: "https://ghe.corp"},
		{api: "https://api.github.com/", host: "github.com", want: true},
		{api: "https://ghe.corp/api/v3", host: "ghe.corp", want: true},
		{api: "https://ghe.corp:8443/api/v3/", host: "ghe.corp", want: true},
		{api: "https://ghe.corp/api/v3", host: "github.com"},
		{api: "https://api.octo.ghe.com", host: "octo.ghe.com", want: true},
		{api: "https://api.octo.ghe.com", host: "github.com"},
		{api: "https://proxy.corp/github", server: "https://ghe.corp", host: "ghe.corp", want: true},
	} {
		getenv := func(name string) string {
			return map[string]string{"GITHUB_API_URL": tt.api, "GITHUB_SERVER_URL": tt.server}[name]
		}
		if got := Serves(getenv, tt.host); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// A refusal says what a person with a token can do about it, and stays the refusal that it was.
func TestAdvised(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		401: "401 no: GITHUB_TOKEN is not valid or has expired: set another one, as GITHUB_TOKEN=$(gh auth token)",
		403: "403 no: give the token access to the repository",
		404: "404 no: there is no x, or the token may not read it: compare the name, and give the token access to the repository",
		422: "422 no",
		502: "502 no: check the network, a proxy, and GITHUB_API_URL, or try again later",
	} {
		err := Advised(&Error{Status: status, Message: "no"}, "there is no x")
		if err.Error() != want || !hasStatus(err, status) {
			t.Errorf("got %q, want %q", err, want)
		}
	}
	if _, err := baseURL("http://[::1"); err == nil || !strings.Contains(err.Error(), "GITHUB_API_URL") {
		t.Errorf("a broken address: %v", err)
	}
}

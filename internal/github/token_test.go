package github

import "testing"

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

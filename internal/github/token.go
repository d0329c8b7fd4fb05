package github

import (
	"cmp"
	"errors"
	"net/url"
	"strings"
)

// TokenOf is the token that the environment has for GitHub.
func TokenOf(getenv func(string) string) (string, error) {
	if t := cmp.Or(getenv("GITHUB_TOKEN"), getenv("GH_TOKEN")); t != "" {
		return t, nil
	}
	return "", errors.New("no token for GitHub: set GITHUB_TOKEN, for example GITHUB_TOKEN=$(gh auth token)")
}

// ServerOf is where people and git find the GitHub whose API is at api, without a slash at
// the end. named is its address where the environment has one, and else "".
func ServerOf(api, named string) string {
	if named != "" {
		return strings.TrimRight(named, "/")
	}
	api = strings.TrimRight(api, "/")
	if host, ok := strings.CutSuffix(api, "/api/v3"); ok {
		return host
	}
	if host, ok := strings.CutPrefix(api, "https://api."); ok && !strings.Contains(host, "/") {
		return "https://" + host // of github.com, and of companies at ghe.com
	}
	return "https://github.com"
}

// Serves reports whether a repository whose git URL names this host is one of the GitHub
// whose API the environment names.
func Serves(getenv func(string) string, host string) bool {
	api, named := getenv("GITHUB_API_URL"), getenv("GITHUB_SERVER_URL")
	if api == "" { // then it is github.com's, whatever the other says
		named = ""
	}
	u, err := url.Parse(ServerOf(api, named))
	return err == nil && strings.TrimPrefix(strings.ToLower(host), "ssh.") == strings.ToLower(u.Hostname())
}

package github

import (
	"cmp"
	"errors"
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
	if host, ok := strings.CutSuffix(strings.TrimRight(api, "/"), "/api/v3"); ok {
		return host
	}
	return "https://github.com"
}

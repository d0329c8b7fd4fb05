package github

import (
	"cmp"
	"errors"
)

// TokenOf is the token that the environment has for GitHub.
func TokenOf(getenv func(string) string) (string, error) {
	if t := cmp.Or(getenv("GITHUB_TOKEN"), getenv("GH_TOKEN")); t != "" {
		return t, nil
	}
	return "", errors.New("no token for GitHub: set GITHUB_TOKEN, for example GITHUB_TOKEN=$(gh auth token)")
}

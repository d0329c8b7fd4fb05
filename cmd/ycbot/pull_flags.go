package main

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/usage"
)

// A pullRef is a flag that names a pull request: by its number, as #N, or by its address, which
// also says in which repository it is.
type pullRef struct {
	number int
	repo   string // OWNER/NAME of its address; empty: a number alone was given
	host   string // of its address
}

func (r *pullRef) String() string {
	if r.number == 0 {
		return ""
	}
	return strconv.Itoa(r.number)
}
func (r *pullRef) Type() string { return "N" }

func (r *pullRef) Set(s string) error {
	var ref pullRef
	number := strings.TrimPrefix(s, "#")
	if host, path, ok := addressOf(s); ok {
		parts := strings.Split(path, "/")
		if len(parts) < 4 || parts[2] != "pull" {
			return errors.New("want the address of a pull request, as https://HOST/OWNER/NAME/pull/N")
		}
		ref.host, ref.repo, number = host, parts[0]+"/"+parts[1], parts[3]
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		return errors.New("want the number of a pull request or its address")
	}
	ref.number = n
	*r = ref
	return nil
}

// addressOf is the host and path of a web address; false for what is none.
func addressOf(s string) (host, path string, ok bool) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", "", false
	}
	return u.Host, strings.Trim(u.Path, "/"), true
}

// repoNamed is the OWNER/NAME that --repo gives, also as the address of the repository.
func repoNamed(getenv func(string) string, s string) (string, error) {
	host, path, ok := addressOf(s)
	if !ok {
		return s, nil
	}
	if err := served(getenv, "--repo", host); err != nil {
		return "", err
	}
	return strings.TrimSuffix(path, ".git"), nil
}

// served refuses the address of a host that is not the one whose API is asked: a pull request
// of the same name there is another one.
func served(getenv func(string) string, flag, host string) error {
	if github.Serves(getenv, host) {
		return nil
	}
	return usage.Errorf("%s is on %s, and GITHUB_API_URL names the API of another host: have it name the API of that host, as https://%s/api/v3", flag, host, host)
}

// pullFlags checks the flags that speak of pull requests, and completes the repository.
func (o *runOptions) pullFlags(getenv func(string) string) (err error) {
	switch {
	case o.pull && o.pr.number <= 0:
		return usage.Errorf("--pr %d: want the number of a pull request", o.pr.number)
	case !o.pull && o.repo != "":
		return usage.Errorf("--repo says where a pull request is: give --pr N too")
	case !o.pull && o.publish:
		return usage.Errorf("--publish posts on a pull request: give --pr N too")
	case o.pull && (o.base != "" || o.dirty):
		return usage.Errorf("--pr takes base and head from the pull request: leave --base and --dirty out")
	}
	if o.repo, err = repoNamed(getenv, o.repo); err != nil || o.pr.repo == "" {
		return err
	}
	if err := served(getenv, "--pr", o.pr.host); err != nil {
		return err
	}
	if o.repo != "" && !strings.EqualFold(o.repo, o.pr.repo) {
		return usage.Errorf("--pr is of %s, and --repo names %s: leave --repo out", o.pr.repo, o.repo)
	}
	o.repo = o.pr.repo
	return nil
}

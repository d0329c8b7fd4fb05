package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// An operator's file has lists of repositories beside what a repository's has; a
// repository's own may not have them.
func TestParseOperator(t *testing.T) {
	t.Parallel()
	const file = "version: 1\nlimits: {runs_per_day: 3}\nrepositories:\n  allow: [acme/*, '*/api-?']\n  deny: [acme/sandbox-*]\n"
	o, err := ParseOperator("ycbot.yml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if o.Config.Limits.RunsPerDay != 3 {
		t.Errorf("limits %+v", o.Config.Limits)
	}
	for name, want := range map[string]bool{
		"acme/sums": true, "ACME/Sums": true, "acme/sandbox-1": false, "Acme/Sandbox-x": false, "other/api-1": true, "other/api-12": false, "other/sums": false,
		"acme": false, "acme/a/b": false, "acmeother/sums": false,
	} {
		if got := o.Repositories.Allows(name); got != want {
			t.Errorf("%s is allowed: %v", name, got)
		}
	}
	if o, err := ParseOperator("ycbot.yml", []byte("version: 1\n")); err != nil || !o.Repositories.Allows("any/one") {
		t.Errorf("without lists: %v", err)
	}
	for text, want := range map[string]string{
		"repositories: {allow: [acme]}":    "want OWNER/NAME",
		"repositories: {deny: [a/b/c]}":    "want OWNER/NAME",
		"repositories: {allow: ['a/[']}":   "not a pattern",
		"repositories: {allowed: [a/b]}":   "did you mean",
		"repositories: {allow: a/b}":       "want a list",
		"repositories: {allow: ['!a/b']}":  "cannot be negated",
		"repository: {allow: ['acme/*']}":  "unknown key",
		"publish: {check: false, x: true}": "unknown key",
	} {
		if _, err := ParseOperator("ycbot.yml", []byte("version: 1\n"+text+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	const forcing = "version: 1\nlimits: {timeout: 30m}\nforce:\n  fail_on: fail\n  limits: {timeout: 10m}\n  machines: [bot]\n  network: {allow: []}\n"
	if o, err = ParseOperator("ycbot.yml", []byte(forcing)); err != nil {
		t.Fatal(err)
	}
	theirs, err := o.Config.With("theirs", []byte("version: 1\nfail_on: never\nexpectations: strict\nlimits: {timeout: 5m, tokens: 7}\nnetwork: {allow: ['db:5432']}\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := o.Force.Over(theirs)
	if got.FailOn != "fail" || got.Expectations != "strict" || got.Limits.Timeout != 5*time.Minute || got.Limits.Tokens != 7 || len(got.Network.Allow) != 0 || !got.Machine("bot") {
		t.Errorf("forced: %+v", got)
	}
	if theirs.FailOn != "never" || len(theirs.Network.Allow) != 1 {
		t.Errorf("what it lies over was changed: %+v", theirs)
	}
	if none := (*Force)(nil); none.Over(theirs) != theirs {
		t.Error("nothing is forced, and something changed")
	}
	if d := cmp.Diff([]string{"fail_on", "limits", "machines", "network"}, o.Force.Keys); d != "" {
		t.Error(d)
	}
	for text, want := range map[string]string{
		"force: {fail_on: maybe}":    "force.fail_on",
		"force: {failon: fail}":      "did you mean",
		"force: [a]":                 "want keys with values",
		"force: {repositories: {}}":  "only from the operator",
		"force: {limits: {cost: 1}}": "force.limits",
	} {
		if _, err := ParseOperator("ycbot.yml", []byte("version: 1\n"+text+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := Parse("ycbot.yml", []byte("version: 1\nforce: {fail_on: fail}\n")); err == nil || !strings.Contains(err.Error(), "only from the operator") {
		t.Errorf("a repository forces: %v", err)
	}
	if _, err := Parse("ycbot.yml", []byte(file)); err == nil || !strings.Contains(err.Error(), "only from the operator") {
		t.Errorf("a repository's own file with lists: %v", err)
	}
}

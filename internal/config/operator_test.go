package config

import (
	"strings"
	"testing"
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
	if _, err := Parse("ycbot.yml", []byte(file)); err == nil || !strings.Contains(err.Error(), "only from the operator") {
		t.Errorf("a repository's own file with lists: %v", err)
	}
}

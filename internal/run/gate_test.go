package run

import (
	"testing"

	"github.com/ycbot/ycbot/internal/gate/compare"
)

// TestPromisesNoChange: titles that say that nothing behaves otherwise.
func TestPromisesNoChange(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]bool{
		"refactor: split the parser": true, "docs(api): words": true, "Refactored the parser": true, "no functional change": true,
		"NFC: tidy": true, "chore(deps): raise x": true, "Rename Foo to Bar": true,
		"fix: round up": false, "refactor!: drop the old names": false, "Add a parser": false, "Documents are parsed": false, "": false,
	} {
		if got := promisesNoChange(title) != ""; got != want {
			t.Errorf("%q: %v, want %v", title, got, want)
		}
	}
}

// TestExpectations: what given-up expectations come to, and the words for why.
func TestExpectations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		configured compare.Policy
		job        Job
		title      string
		want       compare.Policy
		why        string
	}{
		{"", Job{Trust: "local"}, "round up", compare.Report, ""},
		{"", Job{Trust: "local"}, "cart: clean up tests", compare.Acknowledge, `the title promises no change of behaviour ("clean up")`},
		{"report", Job{Trust: "local"}, "cart: clean up tests", compare.Report, ""},
		{"", Job{Trust: untrusted}, "round up", compare.Acknowledge, "the head is untrusted"},
		{"report", Job{Trust: "trusted", Machine: true}, "round up", compare.Acknowledge, "its author is a machine"},
		{"strict", Job{Trust: untrusted}, "round up", compare.Strict, `the configuration has "expectations: strict"`},
		{"acknowledge", Job{Trust: "local"}, "round up", compare.Acknowledge, `the configuration has "expectations: acknowledge"`},
	} {
		if got, why := expectations(tt.configured, tt.job, tt.title); got != tt.want || why != tt.why {
			t.Errorf("%+v: %s, %q", tt, got, why)
		}
	}
}

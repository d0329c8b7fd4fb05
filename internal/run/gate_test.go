package run

import "testing"

// TestPromisesNoChange: titles that say that nothing behaves otherwise.
func TestPromisesNoChange(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]bool{
		"refactor: split the parser": true, "docs(api): words": true, "Refactored the parser": true, "no functional change": true,
		"NFC: tidy": true, "chore(deps): raise x": true, "Rename Foo to Bar": true,
		"fix: round up": false, "refactor!: drop the old names": false, "Add a parser": false, "Documents are parsed": false, "": false,
	} {
		if got := promisesNoChange(title); got != want {
			t.Errorf("%q: %v, want %v", title, got, want)
		}
	}
}

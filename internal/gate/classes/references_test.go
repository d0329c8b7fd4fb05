package classes

import "testing"

// TestNamesSetup holds which files settings name as loaded before tests.
func TestNamesSetup(t *testing.T) {
	t.Parallel()
	const mocha = `{"scripts": {"test": "mocha --require test/support/env --reporter spec --check-leaks test/", "ci": "nyc npm test"}}`
	for name, want := range map[string]bool{"test/support/env.js": true, "test/test.js": false, "test/index.js": false} {
		if got := NamesSetup(mocha, name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !NamesSetup(`{"jest": {"setupFiles": ["./test/index.js"]}}`, "test/index.js") {
		t.Error("a file called index is not found by its folder")
	}
}

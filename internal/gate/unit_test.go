package gate

import (
	"slices"
	"testing"
)

// sameStrings compares two lists; nil is an empty one.
func sameStrings(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

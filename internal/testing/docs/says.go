package docstest

import (
	"os"
	"strings"
	"testing"
)

// Says fails where a page does not have a text, whatever lines it stands on, or where what
// the text says does not hold.
func Says(tb testing.TB, page string, texts map[string]bool) {
	tb.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		tb.Fatal(err)
	}
	said := strings.Join(strings.Fields(string(data)), " ")
	for text, holds := range texts {
		if !strings.Contains(said, text) {
			tb.Errorf("%s does not say %q", page, text)
		}
		if !holds {
			tb.Errorf("%s says %q, which is not so", page, text)
		}
	}
}

package rust

import (
	"strings"
	"testing"
)

// TestWithoutItself holds that a package's tests do not get it with other features than others.
func TestWithoutItself(t *testing.T) {
	t.Parallel()
	head := "[package]\nname = \"shop\"\n\n[dev-dependencies]\nshop = { path = \".\", features = [\"exact\"] }\nother = { path = \"../other\" }\n"
	got, err := withoutItself([]byte("[package]\nname = \"shop\"\n"), []byte(head))
	if err != nil || strings.Contains(string(got), "exact") || !strings.Contains(string(got), "other") {
		t.Errorf("%s %v", got, err)
	}
	if got, err := withoutItself([]byte(head), []byte(head)); err != nil || string(got) != head {
		t.Errorf("of both sides: %s %v", got, err)
	}
}

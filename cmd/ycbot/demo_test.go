package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The demo takes away what an earlier one made, and nothing else.
func TestDemoFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "demo-repository")
	for range 2 {
		if err := demoFolder(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "sales.go")); err == nil {
			t.Error("of the earlier demo there is a file")
		}
		write(t, filepath.Join(dir, "sales.go"), "package sales\n")
	}
	if err := os.Remove(filepath.Join(dir, demoMark)); err != nil {
		t.Fatal(err)
	}
	if err := demoFolder(dir); err == nil || !strings.Contains(err.Error(), "was not made by a demo") {
		t.Errorf("another's folder: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "sales.go")); err != nil {
		t.Errorf("another's folder: %v", err)
	}
}

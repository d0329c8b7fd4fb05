package git

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNewWithoutGit(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	if _, err := New("git", []string{"PATH=" + t.TempDir()}, log); !errors.Is(err, ErrNoGit) {
		t.Errorf("no git in PATH: %v, want ErrNoGit", err)
	}
	old := filepath.Join(t.TempDir(), "git")
	if err := os.WriteFile(old, []byte("#!/bin/sh\necho git version 2.17.1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := New(old, nil, log); !errors.Is(err, ErrNoGit) || !strings.Contains(err.Error(), "2.36") {
		t.Errorf("old git: %v, want ErrNoGit that names the version needed", err)
	}
}

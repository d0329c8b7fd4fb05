package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestToolchains holds that commands of a change may read installations that the
// search path leads to, and neither the home folder nor one that it lies in.
func TestToolchains(t *testing.T) {
	t.Parallel()
	top := "/var/tmp"
	if err := os.MkdirAll(top, 0o700); err != nil {
		t.Skip(err)
	}
	top, err := os.MkdirTemp(top, "ycbot-") //nolint:usetesting // commands have a /tmp of their own
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	home := filepath.Join(top, "home", "ann")
	for _, dir := range []string{"opt/node/bin", "bin", "home/bin", "home/ann/bin", "home/ann/.local/bin", "home/ann/.cargo/bin", "home/ann/sdk/bin", "home/ann/scripts"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ search, want string }{
		{"opt/node/bin", "opt/node"},
		{"bin", "bin"}, // top has the home folder in it
		{"home/bin", "home/bin"},
		{"home/ann/bin", "home/ann/bin"},
		{"home/ann/.local/bin", "home/ann/.local/bin"},
		{"home/ann/.cargo/bin", "home/ann/.cargo/bin"},
		{"home/ann/sdk/bin", "home/ann/sdk"},
		{"home/ann/scripts", "home/ann/scripts"},
		{"gone/bin", ""},
	} {
		var want []string
		if c.want != "" {
			want = []string{filepath.Join(top, c.want)}
		}
		if got := toolchains("/usr/bin:"+filepath.Join(top, c.search), home, nil); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.search, got, want)
		}
	}
	if got := toolchains("/bin:relative/bin", "", nil); got != nil {
		t.Errorf("%q", got)
	}
}

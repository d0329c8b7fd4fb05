package rust

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// What rustup has is found in its folders, by the names that it gives them.
func TestLacksRust(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for _, name := range []string{"stable-x86_64-unknown-linux-gnu", "1.80.0-x86_64-unknown-linux-gnu", "own"} {
		if err := os.MkdirAll(filepath.Join(home, ".rustup", "toolchains", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tools := &ecosystem.Toolchains{Env: []string{"HOME=" + home}}
	for file, want := range map[string]bool{
		"[toolchain]\nchannel = \"1.94.0\"\n":  true,
		"[toolchain]\nchannel = \"1.80.0\"\n":  false,
		"[toolchain]\nchannel = \"1.8\"\n":     true,
		"stable\n":                             false,
		"own\n":                                false,
		"nightly-2023-01-01\n":                 true,
		"[toolchain]\npath = \"tools/rust\"\n": false,
		"":                                     false,
	} {
		if got := LacksToolchain(tools, []byte(file)); got != want {
			t.Errorf("%q: %v", file, got)
		}
	}
	none := &ecosystem.Toolchains{Env: []string{"HOME=" + t.TempDir()}}
	if LacksToolchain(none, []byte("1.94.0\n")) {
		t.Error("there is no rustup")
	}
}

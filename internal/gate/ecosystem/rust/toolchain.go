package rust

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// rustChannel is the toolchain that a file asks for, in TOML or alone
// (https://rust-lang.github.io/rustup/overrides.html#the-toolchain-file).
var rustChannel = pattern.New(`(?m)^\s*channel\s*=\s*"([\w.-]+)"|^\s*([\w.-]+)\s*$`)

// AsksForToolchain says whether a file is one that asks rustup for a toolchain.
func AsksForToolchain(name string) bool {
	return slices.Contains([]string{"rust-toolchain", "rust-toolchain.toml"}, path.Base(name))
}

// LacksToolchain says whether rustup has not installed the toolchain that such a file asks for. It
// looks at the folders of rustup alone: what is printed in the tree is in the change's hands.
func LacksToolchain(t *ecosystem.Toolchains, file []byte) bool {
	m := rustChannel.FindStringSubmatch(string(file))
	if m == nil {
		return false
	}
	home := cmp.Or(t.Getenv("RUSTUP_HOME"), filepath.Join(t.Getenv("HOME"), ".rustup"))
	installed, err := os.ReadDir(filepath.Join(home, "toolchains"))
	channel := m[1] + m[2]
	return err == nil && !slices.ContainsFunc(installed, func(e os.DirEntry) bool {
		return e.Name() == channel || strings.HasPrefix(e.Name(), channel+"-")
	})
}

package rust

import (
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/testing/trees"
)

// A test that must fail is planted where its runner finds it and under the name by which
// that reports it.
func TestPlant(t *testing.T) {
	t.Parallel()
	cargo := cargoTests(ecosystem.Command{Unit: "."}, "cargo test")
	trees.Plant(t, New(), map[string]string{
		"member/src/lib.rs":   "pub fn add() {}\n",
		"member/tests/all.rs": "#[test]\nfn adds() {}\n",
	}, []trees.Planting{
		{Command: cargo, Passing: "src/lib.rs", At: "member/src/lib.rs", Pkg: "src/lib.rs", Has: "pub fn add() {}\n\n#[cfg(test)]\nmod qz {", Run: "cargo test --lib"},
		{Command: cargo, Passing: "tests/all.rs", At: "member/tests/all.rs", Pkg: "tests/all.rs", Has: "fn adds() {}\n\n#[cfg(test)]\nmod qz {", Run: "cargo test --test all"},
	})
}

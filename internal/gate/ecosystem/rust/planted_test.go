package rust

import (
	"strings"
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
		"member/tests/cli.rs": "fn main() {}\n",
	}, []trees.Planting{
		{Command: cargo, Passing: "member/src/lib.rs", At: "member/src/lib.rs", Pkg: "member/src/lib.rs", Has: "pub fn add() {}\n\n#[cfg(test)]\nmod qz {", Run: "cargo test --lib 2>&1"},
		{Command: cargo, Passing: "member/tests/all.rs", At: "member/tests/all.rs", Pkg: "member/tests/all.rs", Has: "fn adds() {}\n\n#[cfg(test)]\nmod qz {", Run: "cargo test --test all 2>&1"},
		{Command: cargo, Passing: "member/tests/cli.rs"},
	})
}

// Members of a workspace have programs of one name: one option stands for all of them.
func TestCargoTargets(t *testing.T) {
	t.Parallel()
	for want, pkgs := range map[string][]string{
		" --lib --test all": {"a/src/lib.rs", "src/lib.rs", "a/tests/all.rs", "b/tests/all.rs"},
		" --bins":           {"src/main.rs"},
		"":                  {"src/lib.rs", "vat"},
	} {
		if got := cargoTargets(pkgs); got != want {
			t.Errorf("%q: %q, want %q", pkgs, got, want)
		}
	}
}

// What the programs of tests are made of is asked before they run, but for a call that says what
// cargo prints.
func TestCargoNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"cargo test --workspace -- --test-threads=1": "cargo test --workspace --no-run --message-format=json-render-diagnostics 2>/dev/null | command -p grep -F '\"executable\":\"'",
		"cargo test --message-format short":          "",
	} {
		if got := strings.Join(cargoNames(text), ""); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

package rust

import (
	"slices"
	"testing"

	"github.com/ycbot/ycbot/internal/testing/trees"
)

// A manifest that is broken is still one of a project: else a change could make its tests
// vanish where they would fail.
func TestBrokenManifests(t *testing.T) {
	t.Parallel()
	good := "[package]\nname = \"x\"\n[target.'cfg(unix)'.dependencies]\nnear = { path = \"../near\" }\n"
	for name, text := range map[string]string{"good": good, "broken": good + "name = = 3\n"} {
		projects := findRustProjects(trees.Survey(t, map[string]string{"a/Cargo.toml": text, "a/src/lib.rs": "", "near/Cargo.toml": "[package]\nname = \"near\"\n"}, t.Output()))
		if len(projects) != 2 {
			t.Errorf("%s: %d projects", name, len(projects))
		}
		if name == "good" && !slices.Contains(projects[0].Uses, "near") {
			t.Errorf("uses %q", projects[0].Uses)
		}
	}
}

package rust

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestFeatured holds which features of Cargo a project's own commands test it with.
func TestFeatured(t *testing.T) {
	t.Parallel()
	manifest := "[package]\nname = 'x'\n[features]\nfull = []\n"
	for _, tt := range []struct{ name, manifest, text, want string }{
		{".github/workflows/ci.yml", manifest, "run: cargo test --all-features\n", "--all-features"},
		{"Makefile", manifest, "test:\n\tcargo nextest run --features full\n", "--features full"},
		{"Makefile", manifest, "test:\n\tcargo test\n", ""},
		{"Makefile", "[package]\nname = 'x'\n", "test:\n\tcargo test --all-features\n", ""},
	} {
		p := ecosystem.Project{Dir: "."}
		featured(&p, trees.Survey(t, map[string]string{"Cargo.toml": tt.manifest, tt.name: tt.text}, t.Output()))
		if said := strings.Join(p.Notes, ""); (tt.want == "") != (said == "") || !strings.Contains(said, tt.want) {
			t.Errorf("%s: %q: %q, want %q", tt.name, tt.text, said, tt.want)
		}
	}
}

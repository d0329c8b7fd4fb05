package sides

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestDataOfTests: what a test command names and no source does is data of the tests, but for a product in a
// language that nothing here knows: to put that back would say of what the change breaks that it holds.
func TestDataOfTests(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, source string // what is asked for, and another file of the base
		want         bool
	}{
		{"src/prog.xyz", "README", false},
		{"src/prog.xyz", "tests/other.sh", false},
		{"src/prog.xyz", "src/tool.py", true},
		{"tests/prog.xyz", "README", true},
	} {
		test := "grep -q ok " + tt.name + "\n"
		r := &Reader{Base: &workspace.Tree{Dir: t.TempDir()}, Plans: map[results.Side]*Plan{results.Base: {Files: []string{tt.source, tt.name, "tests/t.sh"}}}}
		for name, text := range map[string]string{tt.source: "", "tests/t.sh": test, tt.name: "ok\n"} {
			at := filepath.Join(r.Base.Dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		both := map[string]classes.Versions{tt.name: {Base: []byte("ok\n"), Head: []byte("no\n")}}
		if got := r.data(both, []steeringText{{dir: ".", text: test}})(tt.name); got != tt.want {
			t.Errorf("%s beside %s: %v", tt.name, tt.source, got)
		}
	}
}

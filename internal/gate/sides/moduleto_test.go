package sides

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestModuleTo: a test of Rust whose file is gone is the only one of its name, new on the head, whose module has the
// same text.
func TestModuleTo(t *testing.T) {
	t.Parallel()
	const inline = "pub fn add() {}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        add();\n    }\n}\n"
	const own = "use super::*;\n\n#[test]\nfn adds() {\n    add();\n}\n"
	const declares = "pub fn add() {}\n\n#[cfg(test)]\nmod tests;\n"
	for name, tt := range map[string]struct {
		head map[string]string
		want string
	}{
		"a file of its own":        {map[string]string{"crates/a/src/lib.rs": declares, "crates/a/src/tests.rs": own}, "crates/a/src/lib.rs"},
		"another crate":            {map[string]string{"crates/a/src/lib.rs": "//! Sums.\n" + inline}, "crates/a/src/lib.rs"},
		"its file is there":        {map[string]string{"src/lib.rs": declares, "src/tests.rs": own, "crates/a/src/lib.rs": inline}, ""},
		"what it asks for as well": {map[string]string{"crates/a/src/lib.rs": declares, "crates/a/src/tests.rs": own + "\nfn add() {}\n"}, ""},
		"two of them":              {map[string]string{"crates/a/src/lib.rs": inline, "crates/b/src/lib.rs": inline}, ""},
	} {
		r := &Reader{
			Base: &workspace.Tree{Dir: t.TempDir()}, Head: &workspace.Tree{Dir: t.TempDir()},
			Plans:  map[results.Side]*Plan{results.Base: {Files: []string{"src/lib.rs"}}, results.Head: {}},
			Suites: map[results.Side]results.Suite{results.Base: {}, results.Head: {}},
		}
		r.Texts = map[string]classes.Versions{"src/lib.rs": {Base: []byte(inline)}}
		id := results.ID{Unit: ".", Package: "src/lib.rs", Test: "tests::adds"}
		r.Suites[results.Base][id] = results.Test{Status: results.Passed, Eco: "Rust"}
		all := map[string]string{filepath.Join(r.Base.Dir, "src/lib.rs"): inline}
		for file, text := range tt.head {
			all[filepath.Join(r.Head.Dir, file)] = text
			r.Texts[file] = classes.Versions{Base: r.Texts[file].Base, Head: []byte(text)}
			r.Plans[results.Head].Files = append(r.Plans[results.Head].Files, file)
			if strings.HasSuffix(file, "lib.rs") {
				r.Suites[results.Head][results.ID{Unit: ".", Package: file, Test: "tests::adds"}] = results.Test{Status: results.Passed, Eco: "Rust"}
			}
		}
		slices.Sort(r.Plans[results.Head].Files)
		for at, text := range all {
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		to, ok := r.moduleTo(id)
		if ok != (tt.want != "") || ok && to.Package != tt.want {
			t.Errorf("%s: %v, %v", name, to, ok)
		}
		if r.MovedAsItIs(id) != ok {
			t.Errorf("%s: it moved as it is: %v", name, !ok)
		}
	}
}

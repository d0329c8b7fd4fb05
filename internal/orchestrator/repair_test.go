package orchestrator

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A reply that does not count as its author means it is objected to, and one whose checks
// cannot be read hears that.
func TestObjections(t *testing.T) {
	t.Parallel()
	dir, err := rundir.Create(t.TempDir(), rundir.Identity{Run: "run1"}, rundir.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	w := &work{dir: dir, sides: &reproduce.Sides{Head: &workspace.Tree{OID: "head"}}}
	if _, _, err := dir.Evidence.Run(t.Context(), quick{}, evidence.Execution{Agent: Verification, Task: "v1", Tree: "head", Command: "sh probe", Root: dir.Path}); err != nil {
		t.Fatal(err)
	}
	const (
		check = "### Check: zero [adversarial]\n**Command run:** `sh probe`\n**Evidence:** E1\n**Result: PASS**\n"
		none  = "no check was read"
	)
	for _, tt := range []struct{ name, reply, want string }{
		{"a PASS that counts", check + "\nVERDICT: PASS", ""},
		{"a PARTIAL", "I could not run it.\n\nVERDICT: PARTIAL", ""},
		{"checks in a table", "| Check | Command | Result |\n|---|---|---|\n| zero | `sh probe` | PASS |\n\nVERDICT: PASS", none},
		{"labels of another language", "### Prüfung: null\n**Befehl:** `sh probe`\n**Ergebnis: BESTANDEN**\n\nVERDICT: PASS", none},
		{"nothing but the verdict", "VERDICT: FAIL", none},
		{"no verdict and no check", "All is well.", none},
		{"checks that say nothing", "### Check: zero\n**Result: SKIP**\n\nVERDICT: PASS", "marked as [adversarial]: 1 check was read"},
		{"no attack", strings.Replace(check, " [adversarial]", "", 1) + "\nVERDICT: PASS", "no check is marked as [adversarial]"},
		{"a FAIL that shows none", check + check + "\nVERDICT: FAIL", "2 checks were read"},
	} {
		got := strings.Join(w.objections(Verification, "v1", tt.reply), "\n")
		if !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

package recheck

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
)

// TestFailureInALog holds that a failure that the log reports of the head is missing
// from a result of PASS unless the gate has listed it, and that what it explained by the
// base has failed on the base.
func TestFailureInALog(t *testing.T) {
	t.Parallel()
	inner := gate.Case{ID: gate.ID{Unit: ".", Package: "m", Test: "TestA"}, Evidence: []string{"E1", "E2"}}
	const fails = `{"Action":"output","Package":"m","Test":"TestA","Output":"--- FAIL: TestA (0.00s)\n"}
{"Action":"fail","Package":"m","Test":"TestA"}
{"Action":"pass","Package":"m"}
`
	for what, tt := range map[string]struct {
		base     string
		phantoms []gate.Case
		command  string
		want     string
	}{
		"not listed":                      {"", nil, "go test -json ./...", "E2 has a failure of m TestA"},
		"explained":                       {fails, []gate.Case{inner}, "go test -json ./...", ""},
		"explained, and it does not fail": {"", []gate.Case{inner}, "go test -json ./...", "is said to fail on the base"},
		"of another runner":               {`{"ok":false,"name":"TestA"}`, []gate.Case{inner}, "node --test", ""},
		"of jest":                         {`{"success":false}`, []gate.Case{inner}, "jest --json", ""},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := Checked{dir: t.TempDir()}
			records := map[string]evidence.Record{}
			for id, text := range map[string]string{"E1": tt.base, "E2": fails} {
				name := filepath.Join("spill", id)
				if err := os.MkdirAll(filepath.Join(c.dir, "spill"), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				sum := sha256.Sum256([]byte(text))
				records[id] = evidence.Record{Command: tt.command, Stdout: evidence.Output{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(text)), Spill: name}}
			}
			c.found(&gate.Result{
				Verdict: gate.Pass, Phantoms: tt.phantoms,
				Steps: []gate.Step{{Stage: gate.StageTest, Side: gate.Base, Unit: ".", Evidence: "E1", PerTest: true}, {Stage: gate.StageTest, Side: gate.Head, Unit: ".", Evidence: "E2", PerTest: true}},
			}, records)
			got := strings.Join(c.Problems, "; ")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Findings are read in the forms that agents write them in; what stands in fences is none.
func TestParseAgentFindings(t *testing.T) {
	t.Parallel()
	reply := `Summary.

### Finding: the total is wrong for refunds
**Severity:** error
**Where:** pkg/sum.go:12
**Command run:**
` + "```bash\ngo run . -- -5\n```" + `
**Output observed:** ` + "`-5`" + `
**Evidence:** E7
It forgets the sign.
**Patch hint:**
` + "```diff\n-a\n+b\n### Finding: not one\n```" + `

### Check: something else
**Result: FAIL**

**[high] tokens are logged**: ` + "`log/http.go:3`" + `
Any caller can read them.
1. [low] a comment is outdated: docs/x.md
- warning: no test for empty input (cmd/main.go:44)
- error: unclear
- **Critical:** the key is in the log
  **Location:** ` + "`log/key.go:7`" + `
- High: 12 of 14

` + "```\n- error: quoted\n```" + `

VERDICT: PASS
`
	type short struct {
		Severity, Title, Path string
		Line                  int
		Text, Patch, Command  string
	}
	var got []short
	for _, f := range ParseAgentFindings(reply) {
		s := short{string(f.Severity), f.Title, f.Path, f.Line, "", f.Patch, ""}
		if f.Claim != nil {
			s.Command = strings.Join(f.Claim.Commands, " ") + " " + strings.Join(f.Claim.EvidenceIDs, " ")
			if f.Claim.Result != ResultFail || !strings.Contains(f.Text, "It forgets the sign.") {
				t.Errorf("%+v", f)
			}
		}
		got = append(got, s)
	}
	want := []short{
		{"error", "the total is wrong for refunds", "pkg/sum.go", 12, "", "-a\n+b\n### Finding: not one", "go run . -- -5 E7"},
		{"error", "tokens are logged", "log/http.go", 3, "", "", ""},
		{"info", "a comment is outdated: docs/x.md", "", 0, "", "", ""},
		{"warning", "no test for empty input", "cmd/main.go", 44, "", "", ""},
		{"error", "unclear", "", 0, "", "", ""},
		{"error", "the key is in the log", "log/key.go", 7, "", "", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"### Finding: x\n**Where:** /etc/passwd:1", "### Finding: x\n**Where:** ../up.go", "### Finding: x\n**Where:** everywhere"} {
		if f := ParseAgentFindings(bad); len(f) != 1 || f[0].Path != "" {
			t.Errorf("%q: %+v", bad, f)
		}
	}
	if n := len(ParseAgentFindings(strings.Repeat("- error: many\n", 50))); n != findingsMost {
		t.Errorf("%d findings are taken", n)
	}
}

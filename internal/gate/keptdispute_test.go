package gate

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// TestDisputedInOneSelection holds that tests of the base that fail over the change are run
// again on the base in the selection in which they failed, and among the others of their package
// only where they need these.
func TestDisputedInOneSelection(t *testing.T) {
	variants.Only(t) // rounds of tests that disagree
	t.Parallel()
	const before = "package m\n\nimport \"testing\"\n\nvar ready bool\n\nfunc TestFirst(t *testing.T) { ready = true }\n\n"
	for name, tt := range map[string]struct {
		test  string // of TestDouble, with %s in place of what it wants
		alone bool
	}{
		"by itself":     {"func TestDouble(t *testing.T) {\n\tif Double(2) != %s {\n\t\tt.Fatal()\n\t}\n}\n", true},
		"needs another": {"func TestDouble(t *testing.T) {\n\tif !ready || Double(2) != %s {\n\t\tt.Fatal()\n\t}\n}\n", false},
	} {
		variants.Run(t, name, !tt.alone, func(t *testing.T) {
			t.Parallel()
			res := newWorld(t).run(t, &scenario{
				input: map[string][]string{"until": {"first"}},
				base: map[string][]byte{
					"go.mod":    []byte("module m\n\ngo 1.21\n"),
					"a.go":      []byte("package m\n\nfunc Double(n int) int { return n + n }\n"),
					"a_test.go": []byte(before + strings.ReplaceAll(tt.test, "%s", "4")),
				},
				head: map[string][]byte{
					"a.go":      []byte("package m\n\nfunc Double(n int) int { return n + n + 1 }\n"),
					"a_test.go": []byte(before + strings.ReplaceAll(tt.test, "%s", "5")),
				},
			})
			if res.Expectations == nil || len(res.Expectations.Changed) != 1 {
				t.Errorf("%v", res.Expectations)
			}
			all, narrow := 0, 0
			for _, s := range ecosystem.Steps(res.Steps).Of(StageRerun, Base) {
				all++
				if strings.Contains(s.Command, "-run=^(TestDouble)$") {
					narrow++
				}
			}
			if all < 2 || tt.alone && narrow != all || !tt.alone && narrow != 1 {
				t.Errorf("of %d runs on the base %d were of the test alone", all, narrow)
			}
		})
	}
}

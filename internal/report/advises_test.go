package report

import (
	"strings"
	"testing"
)

// What mutation found is no failure of the change: a report that passes has no
// section of failures, counts it apart, and says in a line what it found.
func TestMutationAdvises(t *testing.T) {
	t.Parallel()
	r := &Report{Verdict: Pass, Outcome: Completed, Trigger: "cli", Trust: "local", Checks: []Check{
		{ID: "C1", Title: "test: make test", Kind: KindTest, Result: ResultPass, Support: Supported},
		{ID: "C2", Title: "mutation of the changed lines", Kind: KindMutation, Result: ResultFail, Support: Supported, Reproduction: NotRun, Actual: "of 3 mutants the tests noticed 2"},
	}}
	for name, text := range map[string]string{"text": r.Text(TextOptions{Width: 100}), "markdown": r.Markdown()} {
		for _, want := range []string{"2 checks: 1 passed, 0 failed, 1 for information", "of 3 mutants the tests noticed 2"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, text)
			}
		}
		for _, lacks := range []string{"Failed", "**FAIL**"} {
			if strings.Contains(text, lacks) {
				t.Errorf("%s: %q in\n%s", name, lacks, text)
			}
		}
	}
	sarif, err := r.SARIF()
	if err != nil || strings.Contains(string(sarif), "mutation of the changed lines") {
		t.Errorf("SARIF has it as a failure, beside its findings: %v", err)
	}
}

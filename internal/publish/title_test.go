package publish

import (
	"testing"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/report"
)

// The title of a check run is short: the verdict and the gravest remark.
func TestCheckTitle(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ title, of, want string }{
		{"PASS: it builds", "PASS", "PASS: it builds"},
		{"PASS: it builds", "PASS · 2 changed lines untested · 41 of 41 old expectations hold", "PASS · 2 changed lines untested"},
		{"so far PASS: it builds", "PASS · 41 of 41 old expectations hold (probes not run)", "so far PASS · 41 of 41 old expectations hold"},
		{"PASS: it builds (probes not run)", "PASS (probes not run)", "PASS: it builds (probes not run)"},
		{"PASS: it builds", "PASS · 41 of 41 old expectations hold (probes not run)", "PASS · 41 of 41 old expectations hold (probes not run)"},
		{"PASS: it builds, 1249 tests pass, 1 test fails without the change (probes not run)", "PASS (probes not run)", "PASS: it builds, 1249 tests pass (probes not run)"},
		{"PASS claimed by a job that is not trusted", "PASS · 2 changed lines untested", "PASS claimed by a job that is not trusted"},
		{"FAIL: 1 test passes on base and fails with the change", "FAIL", "FAIL: 1 test passes on base and fails with the change"},
		{"PASS: it builds, 1249 tests pass and nothing regressed, 12 probes held", "PASS", "PASS: it builds, 1249 tests pass and nothing regressed"},
		{"FAIL: pkg/sub TestOfSomethingWithAVeryLongNameIndeed passes without this change and fails with it", "FAIL", "FAIL: pkg/sub TestOfSomethingWithAVeryLongNameIndeed passes…"},
	} {
		got := checkTitle(ending{title: x.title, rep: &report.Report{Title: x.of}})
		if got != x.want || utf8.RuneCountInString(got) > checkTitleLimit {
			t.Errorf("%q with %q is %q, want %q", x.title, x.of, got, x.want)
		}
	}
}

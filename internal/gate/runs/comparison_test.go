package runs

import (
	"testing"

	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/testing/suites"
)

// TestCompare holds how two runs are distinguished, before anything is run again.
func TestCompare(t *testing.T) {
	t.Parallel()
	s := func(lines ...string) []string { return lines }
	for _, tt := range []struct {
		what       string
		base, head []string
		want       string
	}{
		{"the same", s("pass m", "pass m TestA"), s("pass m", "pass m TestA"), ""},
		{"regressed", s("pass m", "pass m TestA"), s("pass m", "fail m TestA"), "regressed m TestA"},
		{"a package that fails outside of its tests", s("pass m"), s("fail m"), "regressed m"},
		{"new_failing and failing", s("pass m"), s("pass m", "fail m TestA"), "new_failing m TestA"},
		{"skipped before", s("pass m", "skip m TestA"), s("pass m", "fail m TestA"), "new_failing m TestA"},
		{"new_failing package", s(), s("pass n", "fail n TestA"), "new_failing n TestA"},
		{"pre-existing", s("pass m", "fail m TestA"), s("pass m", "fail m TestA"), "pre_existing m TestA"},
		{"a twin before an old failure shifts it", s("pass m", "fail m w", "pass m w[2]"), s("pass m", "pass m w", "fail m w[2]", "pass m w[3]"), "pre_existing m w[2]"},
		{"the first twin before an old failure", s("pass m", "fail m w"), s("pass m", "pass m w", "fail m w[2]"), "pre_existing m w[2]"},
		{"one twin less", s("pass m", "pass m w", "fail m w[2]"), s("pass m", "fail m w"), "pre_existing m w; removed m w[2]"},
		{"more twins, and more that fail", s("pass m", "fail m w", "pass m w[2]"), s("pass m", "fail m w", "fail m w[2]", "pass m w[3]"), "regressed m w[2]; pre_existing m w"},
		{"as many twins: another one fails", s("pass m", "fail m w", "pass m w[2]"), s("pass m", "pass m w", "fail m w[2]"), "regressed m w[2]; fixed m w"},
		{"rows of a table are no twins", s("pass m", "fail m w[2]"), s("pass m", "fail m w[3]"), "new_failing m w[3]; removed m w[2]"},
		{"fixed", s("pass m", "fail m TestA"), s("pass m", "pass m TestA"), "fixed m TestA"},
		{"no longer skipped", s("pass m", "skip m TestA"), s("pass m", "pass m TestA"), "fixed m TestA"},
		{"a package whose tests were all skipped is no test", s("skip m"), s("pass m"), ""},
		{"a package that compiles again", s("fail!# m"), s("pass m", "pass m TestA"), "fixed m"},
		{"did not run before and passes: not fixed", s("pass! m", "fail m TestP", "not_run m TestA"), s("pass m", "fail m TestP", "pass m TestA"), "pre_existing m TestP"},
		{"removed", s("pass m", "pass m TestA"), s("pass m"), "removed m TestA"},
		{"removed with its package", s("pass m", "pass m TestA"), s(), "removed m TestA"},
		{"a failing test that is removed", s("pass m", "fail m TestA"), s("pass m"), "removed m TestA"},
		{"newly skipped", s("pass m", "pass m TestA"), s("pass m", "skip m TestA"), "skipped m TestA"},
		{
			"a panic on the head takes others along", s("pass m", "pass m TestA", "pass m TestB", "pass m TestC", "skip m TestD"), s("pass! m", "fail m TestA", "not_run m TestB"),
			"regressed m TestA; not_run m TestB; not_run m TestC",
		},
		{"the head does not compile", s("pass m", "pass m TestA"), s("fail!# m"), "regressed m; not_run m TestA"},
		{"a package that exits early with success", s("pass m", "pass m TestA"), s("pass! m"), "not_run m TestA"},
		{"base did not compile: unknown", s("fail!# m"), s("pass m", "fail m TestA"), "fixed m; unknown m TestA"},
		{"base panicked before: unknown", s("pass! m", "fail m TestP"), s("pass m", "fail m TestP", "fail m TestA"), "pre_existing m TestP; unknown m TestA"},
		{"base was cut off in the package: unknown", s("not_run! m", "not_run m TestA"), s("fail m", "fail m TestA"), "unknown m; unknown m TestA"},
		{"base was cut off before the package: unknown", s("not_run! go test ./...:", "pass n"), s("pass m", "pass n", "fail m TestA", "fail n TestB"), "new_failing n TestB; unknown m TestA"},
		{"the go command refused base: unknown", s("fail! go test ./...:"), s("pass m", "fail m TestA"), "unknown m TestA"},
		{"the go command refuses the head", s("pass m", "pass m TestA"), s("fail! go test ./...:"), "new_failing go test ./...; not_run m TestA"},
		{"the go command refuses both", s("fail! go test ./...:"), s("fail! go test ./...:"), "pre_existing go test ./..."},
		{
			"an old failure under its package's new name", s("pass m", "fail m TestA", "pass m TestB"), s("pass n", "fail n TestA", "fail n TestB"),
			"new_failing n TestB; pre_existing n TestA; removed m TestA; removed m TestB",
		},
		{"the same name in another package that was there", s("pass m", "pass n", "fail m TestA"), s("pass n", "fail n TestA"), "new_failing n TestA; removed m TestA"},
		{"commands", s("pass a:", "fail b:", "pass c:"), s("fail a:", "fail b:", "pass c:"), "regressed a; pre_existing b"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			if got := suites.Show(t, Compare(suites.Of(tt.base...), suites.Of(tt.head...), nil)); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestLeaves holds that a failure is counted once, for the innermost test.
func TestLeaves(t *testing.T) {
	t.Parallel()
	c := Comparison{Regressed: results.Leaves(suites.Cases("m TestA", "m TestA/x", "m TestA/x/y", "m TestAB", "n TestA", "m", "n TestB/z"))}
	if got, want := suites.Show(t, c), "regressed m TestA/x/y; regressed m TestAB; regressed n TestA; regressed m; regressed n TestB/z"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

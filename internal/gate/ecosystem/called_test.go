package ecosystem

import (
	"slices"
	"testing"
)

// TestCalledIn holds which files a recipe runs, which steer tests, and which it only
// reads or writes, which do not.
func TestCalledIn(t *testing.T) {
	t.Parallel()
	for recipe, want := range map[string][]string{
		"\tcp double.sh calc\n\t@sh test/double.sh calc":            {"cp", "sh", "test/double.sh"},
		"-./run.sh double.sh":                                       {"./run.sh"},
		"bash -e ./scripts/check.sh && CI=1 python3 -m tools.check": {"bash", "./scripts/check.sh", "python3", "tools.check"},
		"for t in a.sh b.sh; do sh $$t || exit 1; done":             {"a.sh", "b.sh", "sh", "$t", "exit"},
		"cd sub \\\n\t&& $(SHELL) run.sh":                           {"cd", "${SHELL}"},
		"sh -c 'tools/all.sh lib.sh'":                               {"sh", "tools/all.sh"},
		"if test -e x.sh; then timeout 10 bats one.bats; fi":        {"test", "timeout", "bats", "one.bats"},
		"out=$(cat lib.sh) env A=1 ./t.sh":                          {"env", "./t.sh", "cat"},
		"sh 'unterminated lib.sh":                                   {"sh", "unterminated", "lib.sh"},
	} {
		got := CalledIn(recipe)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", recipe, got, want)
		}
	}
}

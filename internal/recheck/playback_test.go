package recheck

import "testing"

// A recorded command is found again inside the script that asked its runner for
// results, and only there.
func TestWraps(t *testing.T) {
	t.Parallel()
	script := "RESULTS=$(mktemp)\n( python -m pytest --junitxml=\"$RESULTS\"\n) >&2\nstatus=$?\nexit $status"
	for recorded, want := range map[string]bool{
		`python -m pytest --junitxml="$RESULTS"`: true, "python -m pytest": false, "exit $status": true, "status": false, "": false,
	} {
		if got := wraps(script, recorded); got != want {
			t.Errorf("%q: %t, want %t", recorded, got, want)
		}
	}
}

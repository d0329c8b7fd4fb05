package evidence

import "testing"

// A writer that ends because its reader had enough is no failure; what a pipe hides
// is none either way.
func TestSIGPIPE(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		command string
		exit    int
		want    int
	}{
		{"go test ./... | head -n 5", 141, 0},
		{"cd pkg && make 2>&1 | head", 141, 0},
		{"set -e; make | grep -q ok", 141, 0},
		{"{ make | sed 3q; }", 141, 0},
		{"cat log | sort | head -n 1", 141, 0},
		{"make | head", 1, 1},
		{"make | tail", 141, 141},
		{"exit 141", 141, 141},
		{"make | head; exit 141", 141, 141},
		{"go test ./... | tee log | head", 141, 141},
		{"make || make | head", 141, 141},
	} {
		if got := (Record{Command: tc.command, Exit: tc.exit}).Status(); got != tc.want {
			t.Errorf("%s with exit %d: status %d, want %d", tc.command, tc.exit, got, tc.want)
		}
	}
	if got := (Record{Command: "make | head", Exit: 141, TimedOut: true}).Status(); got == 0 {
		t.Error("a command that ran out of time ended well")
	}
}

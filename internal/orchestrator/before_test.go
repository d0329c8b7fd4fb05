package orchestrator

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/evidence"
)

// TestBefore: what an agent's command found is written out: the files that it wrote for it,
// and the processes beside it; what another agent wrote, or what is not named, is not.
func TestBefore(t *testing.T) {
	t.Parallel()
	roots := &evidence.Roots{Tree: "/w/tree", Temp: "/w/tmp"}
	ran := func(id, task, command string, beside ...evidence.Beside) evidence.Record {
		return evidence.Record{ID: id, Task: task, Command: command, Executed: true, Beside: beside, Roots: roots}
	}
	server := evidence.Beside{Command: "node app.js", Port: 4001}
	for _, tt := range []struct {
		what    string
		records []evidence.Record
		want    string
	}{
		{"nothing", []evidence.Record{ran("E9", "a", "go run .")}, ""},
		{"a server", []evidence.Record{ran("E9", "a", "curl :$PORT", server)}, "export PORT=4001\nnode app.js &"},
		{
			"a server of several lines, in its folder",
			[]evidence.Record{ran("E9", "a", "curl :$PORT", evidence.Beside{Command: "cd /w/tree/web\nnode app.js", Port: 7})},
			"export PORT=7\n(\ncd ./web\nnode app.js\n) &",
		},
		{
			"scratch files",
			[]evidence.Record{ran("E1", "a", "ls"), ran("E2", "a", "cat >$TMPDIR/probe.sh <<'EOF'\nexit 1\nEOF"), ran("E9", "a", "sh $TMPDIR/probe.sh")},
			"export TMPDIR=$(mktemp -d)\ncat >$TMPDIR/probe.sh <<'EOF'\nexit 1\nEOF",
		},
		{
			"a scratch file by its whole name",
			[]evidence.Record{ran("E2", "a", "echo 1 > \"/w/tmp/probe.sh\""), ran("E9", "a", "sh /w/tmp/probe.sh")},
			"export TMPDIR=$(mktemp -d)\necho 1 > \"$TMPDIR/probe.sh\"",
		},
		{"a file of the tree", []evidence.Record{ran("E2", "a", "echo 1 > zz_probe.sh"), ran("E9", "a", "sh zz_probe.sh")}, "echo 1 > zz_probe.sh"},
		{"a name within another", []evidence.Record{ran("E2", "a", "ls > s"), ran("E9", "a", "sh zz_probe.sh")}, ""},
		{"of another agent", []evidence.Record{ran("E2", "b", "echo 1 > zz_probe.sh"), ran("E9", "a", "sh zz_probe.sh")}, ""},
		{"written afterwards", []evidence.Record{ran("E9", "a", "sh zz_probe.sh"), ran("E10", "a", "echo 1 > zz_probe.sh")}, ""},
		{"no file", []evidence.Record{ran("E2", "a", "ls 2>&1 >/dev/null"), ran("E9", "a", "cat /dev/null 2>&1")}, ""},
		{"read only", []evidence.Record{ran("E2", "a", "cat < a.txt"), ran("E9", "a", "cat a.txt")}, ""},
		{"too long", []evidence.Record{ran("E2", "a", "echo "+strings.Repeat("x", mostBefore)+" > p.sh"), ran("E9", "a", "sh p.sh")}, ""},
	} {
		got := Audit{Records: tt.records}.before(evidence.Audited{Records: []string{"E9"}}, nil)
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
	if got := (Audit{}).before(evidence.Audited{Records: []string{"E9"}}, nil) + (Audit{}).before(evidence.Audited{}, nil); got != "" {
		t.Errorf("%q without a record", got)
	}
}

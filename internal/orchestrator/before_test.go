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
		{"a number", []evidence.Record{ran("E2", "a", "ls > 2"), ran("E9", "a", "head -n 2 x")}, ""},
		{"added to a file", []evidence.Record{ran("E2", "a", "echo 1 >> p.sh"), ran("E9", "a", "sh p.sh")}, "echo 1 >> p.sh"},
		{"over a file", []evidence.Record{ran("E2", "a", "echo 1 >| p.sh"), ran("E9", "a", "sh p.sh")}, "echo 1 >| p.sh"},
		{"both streams", []evidence.Record{ran("E2", "a", "echo 1 &> p.sh"), ran("E9", "a", "sh p.sh")}, "echo 1 &> p.sh"},
		{"a file of the server", []evidence.Record{ran("E2", "a", "echo 1 > app.js"), ran("E9", "a", "curl :$PORT", server)}, "echo 1 > app.js\nexport PORT=4001\nnode app.js &"},
		{"refused", []evidence.Record{{ID: "E2", Task: "a", Command: "echo 1 > p.sh", Roots: roots}, ran("E9", "a", "sh p.sh")}, ""},
		{"held", []evidence.Record{{ID: "E2", Task: "a", Command: "serve > p.sh", Executed: true, Held: true, Roots: roots}, ran("E9", "a", "sh p.sh")}, ""},
		{"read only", []evidence.Record{ran("E2", "a", "cat < a.txt"), ran("E9", "a", "cat a.txt")}, ""},
		{"too long", []evidence.Record{ran("E2", "a", "echo "+strings.Repeat("x", mostBefore)+" > p.sh"), ran("E9", "a", "sh p.sh")}, ""},
	} {
		got := Audit{Records: tt.records}.before(evidence.Audited{Records: []string{"E9"}}, nil)
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
	two := Audit{Records: []evidence.Record{ran("E1", "a", "echo 1 > p.sh"), ran("E2", "a", "echo 2 > out"), ran("E9", "a", "cat out")}}
	for _, tt := range []struct {
		what     string
		records  []string
		commands []string
		want     string
	}{
		{"a command of the check itself", []string{"E2", "E9"}, nil, ""},
		{"a file that only the check's own words name", []string{"E9"}, []string{"sh p.sh > out"}, "echo 1 > p.sh\necho 2 > out"},
	} {
		if got := two.before(evidence.Audited{Records: tt.records}, tt.commands); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, got, tt.want)
		}
	}
	if got := (Audit{}).before(evidence.Audited{Records: []string{"E9"}}, nil) + (Audit{}).before(evidence.Audited{}, nil); got != "" {
		t.Errorf("%q without a record", got)
	}
}

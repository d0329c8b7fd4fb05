package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/testing/variants"
)

const heldServer = `import socketserver, sys, threading
plus = 0
class Answer(socketserver.StreamRequestHandler):
    def handle(self):
        a, b = map(int, self.rfile.readline().split())
        self.wfile.write(b"%d\n" % (a + b + plus))
socketserver.TCPServer.allow_reuse_address = True
s = socketserver.ThreadingTCPServer(("127.0.0.1", int(sys.argv[1])), Answer)
threading.Thread(target=s.serve_forever, daemon=True).start()
print("ready", flush=True)
for line in sys.stdin:
    plus = int(line)
    print("now", plus, flush=True)
`

const heldScript = `
-- verification --
> start_process {"command": "python3 server.py $PORT", "wait_text": "ready"}
---
> process_output {"id": "p1", "input": "5\n", "wait_text": "now 5"}
---
> run_bash {"command": "sh ask.sh 2 3"}
> run_bash {"command": "test \"$(sh ask.sh -2 3)\" = 6"}
---
> stop_process {"id": "p1"}
---
### Check: adds what it was given
**Command run:** ` + "`sh ask.sh 2 3`" + `
**Output observed:**
` + "```\n{{output 1}}\n```" + `
**Result: PASS**

### Check: below zero [adversarial]
**Command run:** ` + "`test \"$(sh ask.sh -2 3)\" = 6`" + `
**Output observed:**
` + "```\n{{output 2}}\n```" + `
exit={{exit 2}}
**Result: FAIL**

VERDICT: FAIL
`

// What an agent holds when the run is killed is held again when it goes on, with the same port
// and given the same input, whether the call that started it was answered or not.
func TestKilledWhileHolding(t *testing.T) {
	variants.Only(t) // each case is a run that is killed and goes on; TestKilledRunGoesOn has one
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3")
	}
	base := map[string]string{
		".github/ycbot.yml": "version: 1\ncommands: {test: ['true']}\n", "server.py": heldServer,
		"ask.sh": "exec bash -c 'exec 3<>/dev/tcp/127.0.0.1/$PORT; echo $0 $1 >&3; cat <&3' $1 $2\n",
	}
	head := map[string]string{"server.py": strings.Replace(heldServer, "a + b + plus", "abs(a) + b + plus", 1)}
	run := func(t *testing.T) *killed {
		t.Helper()
		return newKilledOf(t, base, head, heldScript)
	}
	calm := run(t)
	calm.run(t, 0)
	intact(t, calm.out)
	want := calm.concluded(t)
	if bytes.Count(want, []byte("introduced")) != 2 {
		t.Fatalf("the undisturbed run came to something else:\n%s", want)
	}
	for name, when := range map[string]struct {
		kind string
		n    int
	}{"unanswered": {"held", 1}, "answered": {"tool", 1}, "input unanswered": {"held", 2}, "after input": {"tool", 2}, "asked": {"tool", 3}, "stopped": {"held", 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t)
			r.until(t, func() bool { return r.kept(t, when.kind) >= when.n })
			r.run(t, 0)
			if diff := cmp.Diff(string(want), string(r.concluded(t))); diff != "" {
				t.Errorf("not what an undisturbed run comes to (-calm +killed):\n%s", diff)
			}
			intact(t, r.out)
			r.clean(t)
		})
	}
}

// kept counts the entries of a kind in the journal.
func (r *killed) kept(t *testing.T, kind string) int {
	t.Helper()
	n := 0
	for _, line := range r.lines(t, "journal.jsonl") {
		var e struct{ Kind string }
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if e.Kind == kind {
			n++
		}
	}
	return n
}

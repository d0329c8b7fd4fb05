package evidence

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/testing/spent"
)

// A ran is one record of a made-up log, with what it printed.
type ran struct {
	command        string
	exit           int
	stdout, stderr string
	change         func(*Record)
}

func refused(r *Record) { r.Executed, r.Exit = false, -1 }

func onBase(r *Record) { r.Tree = "base" }

func argv(words ...string) func(*Record) {
	return func(r *Record) { r.Command, r.Argv = "", words }
}

// auditor makes a log of E1, E2, … and an Auditor over it.
func auditor(log []ran) Auditor {
	outputs := map[string][2]string{}
	a := Auditor{Tree: "head", Elsewhere: []string{"/prepared/base", "$YCBOT_BASE"}}
	for i, l := range log {
		r := Record{ID: fmt.Sprintf("E%d", i+1), Agent: "verification", Command: l.command, Exit: l.exit, Executed: true, Tree: "head"}
		if l.change != nil {
			l.change(&r)
		}
		outputs[r.ID] = [2]string{l.stdout, l.stderr}
		a.Log = append(a.Log, r)
	}
	a.Output = func(r Record) ([]byte, []byte, error) {
		return []byte(outputs[r.ID][0]), []byte(outputs[r.ID][1]), nil
	}
	return a
}

// A claim is written as an agent would write it.
type claim struct {
	title, command, output, result, extra string
}

func (c claim) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Check: %s\n", c.title)
	if c.command != "" {
		fmt.Fprintf(&b, "**Command run:**\n```bash\n%s\n```\n", c.command)
	}
	if c.output != "" {
		fmt.Fprintf(&b, "**Output observed:**\n```\n%s\n```\n", c.output)
	}
	fmt.Fprintf(&b, "%s\n**Result: %s**\n", c.extra, c.result)
	return b.String()
}

const (
	okLine   = "ok  \tpkg/sum\t0.012s\n"
	failText = "--- FAIL: TestSum (0.00s)\n    sum_test.go:9: got 4, want 3\nFAIL\nFAIL\tpkg/sum\t0.010s\n"
)

func long(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of the output\n", i)
	}
	return b.String()
}

// Claims against logs: the first group is real work in other words, which must
// not be lost; the second shows less than it claims; the third is made up.
func TestAudit(t *testing.T) {
	t.Parallel()
	suite := []ran{{command: "go test ./...", stdout: okLine}}
	broken := []ran{{command: "go test ./...", exit: 1, stdout: failText, stderr: "exit status 1\n"}}
	const both = `go vet ./...; echo "vet=$?"; go test ./... | tail -1; echo "test=$?"`
	tool := []ran{{command: "./tool -n -5", exit: 2, stderr: "error: n must be positive\n"}}
	for _, tt := range []struct {
		name   string
		log    []ran
		claim  claim
		want   report.Support
		reason string
	}{
		// Real work.
		{"verbatim", suite, claim{command: "go test ./...", output: okLine}, report.Supported, ""},
		{"blanks folded", suite, claim{command: "go  test   ./...", output: "ok pkg/sum 0.012s"}, report.Supported, ""},
		{"prompt", suite, claim{command: "$ go test ./...", output: okLine}, report.Supported, ""},
		{"cd in the claim", suite, claim{command: "cd /src/tree && go test ./...", output: okLine}, report.Supported, ""},
		{"cd in the log", []ran{{command: "cd sub && go test ./...", stdout: okLine}}, claim{command: "go test ./...", output: okLine}, report.Supported, ""},
		{"cd on a line of its own", []ran{{command: "cd sub\ngo test ./...", stdout: okLine}}, claim{command: "go test ./...", output: okLine}, report.Supported, ""},
		{"stderr joined in the log", []ran{{command: "go test ./... 2>&1", stdout: okLine}}, claim{command: "go test ./...", output: okLine}, report.Supported, ""},
		{"tail in the log", []ran{{command: "go test ./... 2>&1 | tail -5", stdout: okLine}}, claim{command: "go test ./...", output: okLine}, report.Supported, ""},
		{"all of it in the claim", suite, claim{command: "cd /w && go test ./... 2>&1 | tail -n 20", output: okLine}, report.Supported, ""},
		{"other quotes", []ran{{command: `grep -c 'a b' f`, stdout: "3\n"}}, claim{command: `grep -c "a b" f`, output: "3"}, report.Supported, ""},
		{"continued line", []ran{{command: "go test -run TestSum ./...", stdout: okLine}}, claim{command: "go test \\\n  -run TestSum ./...", output: okLine}, report.Supported, ""},
		{"comment in the script", []ran{{command: "# the suite\ngo test ./...", stdout: okLine}}, claim{command: "go test ./...", output: okLine}, report.Supported, ""},
		{"harmless variable", []ran{{command: "NO_COLOR=1 go test ./...", stdout: okLine}}, claim{command: "go test ./...", output: okLine}, report.Supported, ""},
		{"set -euo pipefail", []ran{{command: "set -euo pipefail\ngo test ./...", stdout: okLine}}, claim{command: "go test ./...", output: okLine}, report.Supported, ""},
		{"argv of the gate", []ran{{exit: 0, stdout: okLine, change: argv("go", "test", "./...")}}, claim{command: "go test ./...", output: okLine}, report.Supported, ""},
		{"argv of a shell", []ran{{stdout: okLine, change: argv("bash", "-o", "pipefail", "-c", "go test ./...")}}, claim{command: "go test ./...", output: okLine}, report.Supported, ""},
		{"colours in the log", []ran{{command: "npm test", stdout: "\x1b[32m✓\x1b[0m adds \x1b[2m(3 ms)\x1b[0m\n"}}, claim{command: "npm test", output: "✓ adds (3 ms)"}, report.Supported, ""},
		{"hidden characters as the model saw them", []ran{{command: "cat f", stdout: "a\u202eb\xff\n"}}, claim{command: "cat f", output: "a<U+202E>b\ufffd"}, report.Supported, ""},
		{"carriage returns in the log", []ran{{command: "npm test", stdout: "ok 1\r\nok 2\r\n"}}, claim{command: "npm test", output: "ok 1\nok 2"}, report.Supported, ""},
		{"the answer's header", suite, claim{command: "go test ./...", output: "[E1] exit=0 duration=1.2s\n--- stdout ---\n" + okLine + "--- stderr ---"}, report.Supported, ""},
		{"the exit in words", suite, claim{command: "go test ./...", output: okLine + "exit code: 0"}, report.Supported, ""},
		{"trimmed middle", []ran{{command: "make", stdout: long(40)}}, claim{command: "make", output: "line 0 of the output\n...\nline 39 of the output"}, report.Supported, ""},
		{"trimmed with our own mark", []ran{{command: "make", stdout: long(40)}}, claim{command: "make", output: "line 0 of the output\n[… 812 bytes left out …]\nline 39 of the output"}, report.Supported, ""},
		{"trimmed with words", []ran{{command: "make", stdout: long(40)}}, claim{command: "make", output: "line 0 of the output\n(37 lines omitted)\nline 39 of the output"}, report.Supported, ""},
		{"a line cut in a word", []ran{{command: "make", stdout: "compiling the very long name of it\n"}}, claim{command: "make", output: "compiling the ver…"}, report.Supported, ""},
		{"lines left out unmarked", []ran{{command: "make", stdout: long(9)}}, claim{command: "make", output: "line 2 of the output\nline 7 of the output"}, report.Supported, ""},
		{"stderr quoted first", []ran{{command: "t", stdout: "out\n", stderr: "warn\n"}}, claim{command: "t", output: "warn\nout"}, report.Supported, ""},
		{"dots that are the program's", []ran{{command: "t", stdout: "matched ./... here\n"}}, claim{command: "t", output: "matched ./... here"}, report.Supported, ""},
		{"the command echoed in the quote", suite, claim{command: "go test ./...", output: "$ go test ./...\n" + okLine}, report.Supported, ""},
		{"nothing was printed", []ran{{command: "go vet ./..."}}, claim{command: "go vet ./...", output: "(no output)"}, report.Supported, ""},
		{"nothing was printed, exit quoted", []ran{{command: "go vet ./..."}}, claim{command: "go vet ./...", output: "[E1] exit=0 duration=0.3s\n(no output)"}, report.Supported, ""},
		{"a failure with its exit", broken, claim{command: "go test ./...", output: failText + "exit=1", result: "FAIL"}, report.Supported, ""},
		{"a failure the program names", broken, claim{command: "go test ./...", output: "FAIL\texit status 1", result: "FAIL", extra: "**Evidence:** E1"}, report.Absent, "quoted output"},
		{"a failure of the output alone", []ran{{command: "./sum 1 2", stdout: "4\n"}}, claim{command: "./sum 1 2", output: "4", result: "FAIL"}, report.Supported, ""},
		{"a refusal that is meant", tool, claim{title: "rejects negative n", command: "./tool -n -5", output: "[E1] exit=2 duration=0.0s\nerror: n must be positive"}, report.Supported, ""},
		{"a refusal with its exit in the title", tool, claim{title: "must fail with exit code 2", command: "./tool -n -5", output: "error: n must be positive"}, report.Supported, ""},
		{"a mutant that tests find", []ran{{command: "! go test ./...", stdout: failText}}, claim{title: "the tests must fail on the mutant", command: "! go test ./...", extra: "**Evidence:** E1"}, report.Supported, ""},
		{"tests that fail as they should", broken, claim{title: "the new test fails on the base", command: "go test ./...", output: "[E1] exit=1 duration=1s\n" + failText}, report.Supported, ""},
		{"a failure as expected", broken, claim{title: "mutant", command: "go test ./...", output: "[E1] exit=1 duration=1s\n" + failText, extra: "**Expected:** exit 1. **Actual:** exit 1, as expected"}, report.Supported, ""},
		{"quotes of arguments differ", []ran{{command: `go test -run 'A|B' ./... && echo "x; y"`, stdout: "x; y\n"}}, claim{command: `go test -run "A|B" ./... && echo 'x; y'`, output: "x; y"}, report.Supported, ""},
		{"the exit echoed by the command", []ran{{command: `./tool -n -5; echo "exit=$?"`, stdout: "exit=2\n", stderr: "error: n\n"}}, claim{title: "rejects negative n", command: `./tool -n -5; echo "exit=$?"`, output: "error: n\nexit=2"}, report.Supported, ""},
		{"each exit echoed by the command", []ran{{command: both, stdout: "vet=0\n" + okLine + "test=0\n"}}, claim{command: both, output: "vet=0\n" + okLine + "test=0"}, report.Supported, ""},
		{"each exit echoed, one as it should be", []ran{{command: "./t -5; echo exit=$?; ./t 1; echo exit=$?", stdout: "exit=2\n3\nexit=0\n"}}, claim{title: "rejects -5", command: "./t -5; echo exit=$?; ./t 1; echo exit=$?", output: "exit=2\n3\nexit=0"}, report.Supported, ""},
		{"what the shell finds", []ran{{command: `echo *.go`, stdout: "a.go\n"}}, claim{command: `echo *.go`, output: "a.go"}, report.Supported, ""},
		{"what a file says", []ran{{command: "printf '%s' \"$(<VERSION)\"", stdout: "2"}}, claim{command: "printf '%s' \"$(<VERSION)\"", output: "2"}, report.Supported, ""},
		{"a file that is there", []ran{{command: "test -f dist/app"}}, claim{command: "test -f dist/app", output: "(no output)"}, report.Supported, ""},
		{"cited, command shortened", []ran{{command: "python3 - <<'EOF'\nimport sum\nprint(sum.add(1, 2))\nEOF", stdout: "3\n"}}, claim{command: "python3 - <<'EOF'\n...\nEOF", output: "3", extra: "**Evidence:** E1"}, report.Supported, ""},
		{"cited, no command", suite, claim{output: okLine, extra: "**Evidence:** E1"}, report.Supported, ""},
		{"cited, no output", suite, claim{command: "go test ./...", extra: "**Evidence:** E1"}, report.Supported, ""},
		{"a wrong id beside a real command", suite, claim{command: "go test ./...", output: okLine, extra: "**Evidence:** E9"}, report.Supported, ""},
		{"two commands of a block ran one by one", []ran{{command: "go vet ./..."}, {command: "go test ./...", stdout: okLine}}, claim{command: "go vet ./...\ngo test ./...", output: okLine}, report.Supported, ""},
		{"two prompts", []ran{{command: "go vet ./..."}, {command: "go test ./...", stdout: okLine}}, claim{command: "$ go vet ./...\n$ go test ./...", output: okLine}, report.Supported, ""},
		{"fixed on the second try", []ran{{command: "sh probe.sh", exit: 2, stderr: "syntax error\n"}, {command: "sh probe.sh", stdout: "held\n"}}, claim{command: "sh probe.sh", output: "held"}, report.Supported, ""},
		{"a pipe under pipefail", []ran{{command: "go test ./... | cat", stdout: okLine}}, claim{command: "go test ./... | cat", output: okLine}, report.Supported, ""},
		{"&& echo masks nothing", []ran{{command: "go vet ./... && echo clean", stdout: "clean\n"}}, claim{command: "go vet ./... && echo clean", output: "clean"}, report.Supported, ""},
		{"|| exit masks nothing", []ran{{command: "for i in 1 2; do go test ./... || exit 1; done", stdout: okLine}}, claim{command: "for i in 1 2; do go test ./... || exit 1; done", output: okLine}, report.Supported, ""},
		{"a server and its client", []ran{{command: "./srv & sleep 1; curl -s localhost:1; kill %1", stdout: "hello\n"}}, claim{command: "./srv & sleep 1; curl -s localhost:1; kill %1", output: "hello"}, report.Supported, ""},
		{"looking before testing", []ran{{command: "ls; go test ./...", stdout: "a.go\n" + okLine}}, claim{command: "ls; go test ./...", output: okLine}, report.Supported, ""},
		{"a condition that ends the command", []ran{{command: "if go run ./cmd/pay 0; then echo BUG; exit 1; else echo rejected; fi", stdout: "rejected\n"}}, claim{command: "if go run ./cmd/pay 0; then echo BUG; exit 1; else echo rejected; fi", output: "rejected"}, report.Supported, ""},
		{"a failure in a condition", []ran{{command: "if go test ./...; then echo BUG; fi; go vet ./...", exit: 1, stdout: "BUG\n"}}, claim{command: "if go test ./...; then echo BUG; fi; go vet ./...", output: "BUG", result: "FAIL"}, report.Supported, ""},
		{"a failure before the last line", []ran{{command: "go build -o $TMPDIR/app ./cmd/app\n$TMPDIR/app 0", exit: 1, stdout: "paid\n"}}, claim{command: "go build -o $TMPDIR/app ./cmd/app\n$TMPDIR/app 0", output: "paid", result: "FAIL"}, report.Supported, ""},
		{"a failure that quotes and cites nothing", tool, claim{command: "./tool -n -5", result: "FAIL"}, report.Supported, ""},
		{"a failure in words of its own", broken, claim{command: "go test ./...", result: "FAIL", extra: "**Output observed:** the sum is one too high"}, report.Supported, ""},

		// Less than is claimed.
		{"a failure that the log does not show, and that quotes nothing", suite, claim{command: "go test ./...", result: "FAIL"}, report.Related, "no output is quoted"},
		{"a failure of the first command alone", append(slices.Clone(broken), ran{command: "go vet ./...", stdout: "clean\n"}), claim{command: "$ go test ./...\n$ go vet ./...", result: "FAIL"}, report.Related, "no output is quoted"},
		{"a failure with an output that was never printed", broken, claim{command: "go test ./...", output: "panic: oops", result: "FAIL"}, report.Absent, "quoted output"},
		{"a failure that the command hides", []ran{{command: "go test ./... || true", stdout: failText}}, claim{command: "go test ./... || true", output: "FAIL", result: "FAIL"}, report.Related, "hides its exit"},
		{"failing tests turned round", []ran{{command: "! go test ./...", stdout: failText}}, claim{command: "! go test ./...", extra: "**Evidence:** E1"}, report.Related, "passes where its tests fail"},
		{"a failure beside what is expected", broken, claim{title: "tests pass", command: "go test ./...", output: "[E1] exit=1 duration=1s\n" + failText, extra: "**Expected:** all tests pass"}, report.Related, "ended with exit 1"},
		{"tests that fail for invalid input", broken, claim{title: "invalid input is handled", command: "go test ./...", output: "[E1] exit=1 duration=1s\n" + failText}, report.Related, "ended with exit 1"},
		{"each exit echoed, one of them a failure", []ran{{command: both, stdout: "vet=1\n" + okLine + "test=0\n"}}, claim{command: both, output: "vet=1\n" + okLine + "test=0"}, report.Related, "ended with exit 1"},
		{"each exit echoed, one not quoted", []ran{{command: both, stdout: "vet=1\n" + okLine + "test=0\n"}}, claim{command: both, output: okLine + "test=0"}, report.Related, "hides its exit"},
		{"each exit echoed, and more of them than there are", []ran{{command: both, stdout: "vet=0\nvet=1\n" + okLine + "test=0\n"}}, claim{command: both, output: "vet=0\n" + okLine + "test=0"}, report.Related, "hides its exit"},
		{"an exit echoed behind something else", []ran{{command: "go test ./...; ls; echo exit=$?", stdout: "a.go\nexit=0\n"}}, claim{command: "go test ./...; ls; echo exit=$?", output: "a.go\nexit=0"}, report.Related, "hides its exit"},
		{"an attack that runs nothing", []ran{{command: "true"}}, claim{title: "overflow [adversarial]", command: "true", output: "(no output)"}, report.Related, "runs nothing"},
		{"an attack that is only described", []ran{{command: `echo "fuzzed: no crash"; printf '%s\n' done`, stdout: "fuzzed: no crash\ndone\n"}}, claim{title: "fuzz [adversarial]", command: `echo "fuzzed: no crash"; printf '%s\n' done`, output: "fuzzed: no crash"}, report.Related, "runs nothing"},
		{"a text that is printed from the script", []ran{{command: "cat <<'E'\nok pkg/sum 0.012s\nE", stdout: "ok pkg/sum 0.012s\n"}}, claim{title: "fuzz [adversarial]", command: "cat <<'E'\nok pkg/sum 0.012s\nE", output: "ok pkg/sum 0.012s"}, report.Related, "runs nothing"},
		{"|| true", []ran{{command: "go test ./... || true", stdout: failText}}, claim{command: "go test ./... || true", output: "FAIL"}, report.Related, "hides its exit"},
		{"; true", []ran{{command: "go test ./...; true", stdout: okLine}}, claim{command: "go test ./...; true", output: okLine}, report.Related, "hides its exit"},
		{"|| echo", []ran{{command: "go test ./... || echo failed", stdout: okLine}}, claim{command: "go test ./... || echo failed", output: okLine}, report.Related, "hides its exit"},
		{"&& || echo", []ran{{command: "go test ./... && echo PASS || echo FAIL", stdout: "PASS\n"}}, claim{command: "go test ./... && echo PASS || echo FAIL", output: "PASS"}, report.Related, "hides its exit"},
		{"; echo done", []ran{{command: "go test ./...; echo done", stdout: "done\n"}}, claim{command: "go test ./...; echo done", output: "done"}, report.Related, "hides its exit"},
		{"the exit echoed and not quoted", []ran{{command: "go test ./...; echo $?", stdout: "FAIL\n1\n"}}, claim{command: "go test ./...; echo $?", output: "FAIL"}, report.Related, "hides its exit"},
		{"the exit echoed and bad", []ran{{command: "go test ./...; echo $?", stdout: "FAIL\n1\n"}}, claim{command: "go test ./...; echo $?", output: "FAIL\n1"}, report.Related, "exit 1"},
		{"set +e", []ran{{command: "set +e\ngo test ./...\nls", stdout: "a.go\n"}}, claim{command: "set +e\ngo test ./...\nls", output: "a.go"}, report.Related, "what follows go"},
		{"set +o pipefail", []ran{{command: "set +o pipefail; go test ./... | cat", stdout: okLine}}, claim{command: "set +o pipefail; go test ./... | cat", output: okLine}, report.Related, "pipefail"},
		{"a gate's pipe without pipefail", []ran{{stdout: okLine, change: argv("bash", "-c", "go test ./... | cat")}}, claim{command: "go test ./... | cat", output: okLine}, report.Related, "pipefail"},
		{"a test before another command", []ran{{command: "go test ./...; go vet ./...", stdout: okLine}}, claim{command: "go test ./...; go vet ./...", output: okLine}, report.Related, "decides the exit"},
		{"a test in the background", []ran{{command: "go test ./... &", stdout: okLine}}, claim{command: "go test ./... &", output: okLine}, report.Related, "background"},
		{"a test as a condition", []ran{{command: "if go test ./...; then echo good; else echo bad; fi", stdout: "good\n"}}, claim{command: "if go test ./...; then echo good; else echo bad; fi", output: "good"}, report.Related, "condition"},
		{"a loop that forgets", []ran{{command: "for i in 1 2; do go test ./...; done", stdout: okLine}}, claim{command: "for i in 1 2; do go test ./...; done", output: okLine}, report.Related, "last round"},
		{"echo around a test", []ran{{command: `echo "$(go test ./...)"`, stdout: okLine}}, claim{command: `echo "$(go test ./...)"`, output: okLine}, report.Related, "echo"},
		{"masked though claimed bare", []ran{{command: "go test ./... || true", stdout: okLine}}, claim{command: "go test ./...", output: okLine}, report.Related, ""},
		{"a part of what ran", []ran{{command: "go build ./... && go test ./...", stdout: okLine}}, claim{command: "go test ./...", output: okLine}, report.Related, "part"},
		{"a filter left out", []ran{{command: "go test ./... | grep -v FAIL", stdout: okLine}}, claim{command: "go test ./...", output: okLine}, report.Related, "part"},
		{"a setting left out", []ran{{command: "GOFLAGS=-run=None go test ./...", stdout: okLine}}, claim{command: "go test ./...", output: okLine}, report.Related, "part"},
		{"another exit", broken, claim{command: "go test ./...", output: "[E1] exit=0 duration=1s\n--- stdout ---\nFAIL", result: "FAIL"}, report.Related, "exit 1, not 0"},
		{"a PASS on a failure", broken, claim{title: "suite", command: "go test ./...", output: "FAIL"}, report.Related, "does not say that it should"},
		{"a PASS on a failure with its exit only", broken, claim{title: "suite", command: "go test ./...", output: "[E1] exit=1\nFAIL"}, report.Related, "does not say that it should"},
		{"a PASS on a failure that is meant, its exit not said", tool, claim{title: "rejects negative n", command: "./tool -n -5", output: "error: n must be positive"}, report.Related, "does not say that it should"},
		{"a PASS on an unexpected failure", broken, claim{title: "suite", command: "go test ./...", output: "[E1] exit=1\nFAIL", extra: "**Expected vs Actual:** the failure was not expected"}, report.Related, "does not say that it should"},
		{"a PASS on a timeout", []ran{{command: "go test ./...", exit: 137, stdout: okLine, change: func(r *Record) { r.TimedOut = true }}}, claim{title: "expected to fail with exit 137", command: "go test ./...", output: okLine}, report.Related, "time limit"},
		{"a PASS on a limit", []ran{{command: "go test ./...", exit: 137, stdout: okLine, change: func(r *Record) { r.Limit = "memory" }}}, claim{title: "expected to fail with exit 137", command: "go test ./...", output: "[E1] exit=137 duration=1.0s limit=memory signal=SIGKILL\n" + okLine}, report.Related, "limit of memory"},
		{"an early lucky run", []ran{{command: "go test ./...", stdout: okLine}, {command: "go test ./...", exit: 1, stdout: failText}}, claim{command: "go test ./...", output: okLine, extra: "**Evidence:** E1"}, report.Related, "later"},
		{"a cited run of the base", []ran{{command: "go test ./...", stdout: okLine, change: onBase}}, claim{command: "go test ./...", output: okLine, extra: "**Evidence:** E1"}, report.Related, "another tree"},
		{"described, not quoted", suite, claim{command: "go test ./...", extra: "**Output observed:** every test of the suite passes"}, report.Related, "described"},
		{"nothing quoted, nothing cited", suite, claim{command: "go test ./..."}, report.Related, "no output is quoted"},
		{"stderr left out", []ran{{command: "go vet ./...", stderr: "# pkg\n"}}, claim{command: "go vet ./...", output: "(no output)"}, report.Related, "stderr"},

		// Made up.
		{"never ran", suite, claim{command: "go test -race ./...", output: okLine}, report.Absent, "not in the log"},
		{"another folder's tests", suite, claim{command: "go test ./internal/...", output: okLine}, report.Absent, "not in the log"},
		{"a word more", []ran{{command: "go test ./pkg", stdout: okLine}}, claim{command: "go test ./pkg2", output: okLine}, report.Absent, "not in the log"},
		{"an id that is not in the log", suite, claim{output: okLine, extra: "**Evidence:** E7"}, report.Absent, "E7"},
		{"an id of another command", suite, claim{command: "npm test", output: okLine, extra: "**Evidence:** E1"}, report.Absent, "another command"},
		{"refused", []ran{{command: "sudo make test", change: refused}}, claim{command: "sudo make test", output: okLine}, report.Absent, "refused"},
		{"refused and cited", []ran{{command: "sudo make test", change: refused}}, claim{output: okLine, extra: "**Evidence:** E1"}, report.Absent, "refused"},
		{"printed, not run", []ran{{command: `echo "go test ./... ok"`, stdout: "go test ./... ok\n"}}, claim{command: "go test ./...", output: "ok"}, report.Absent, "not in the log"},
		{"printed as it would look", []ran{{command: `echo "go test ./..."; echo "ok pkg/sum 0.012s"`, stdout: "go test ./...\nok pkg/sum 0.012s\n"}}, claim{command: "go test ./...", output: okLine}, report.Absent, "not in the log"},
		{"printed between quotes", []ran{{command: `echo "ok pkg/sum 0.012s&&go test ./..."`, stdout: "ok pkg/sum 0.012s&&go test ./...\n"}}, claim{command: "echo ok pkg/sum 0.012s && go test ./...", output: "ok pkg/sum 0.012s", extra: "**Evidence:** E1"}, report.Absent, "another command"},
		{"printed, not substituted", []ran{{command: `echo '$(go run ./cmd)' 3`, stdout: "$(go run ./cmd) 3\n"}}, claim{command: `echo "$(go run ./cmd)" 3`, output: "3", extra: "**Evidence:** E1"}, report.Absent, "another command"},
		{"printed between quotes, cut", []ran{{command: `echo "ok pkg/sum 0.012s; cd x; go test ./..."`, stdout: "ok pkg/sum 0.012s; cd x; go test ./...\n"}}, claim{command: "echo ok pkg/sum 0.012s; … go test ./...", output: "ok pkg/sum 0.012s", extra: "**Evidence:** E1"}, report.Absent, "another command"},
		{"printed between quotes, in a text that is no command", []ran{{command: `echo "ok pkg/sum 0.012s&&go test ./..."`, stdout: "ok pkg/sum 0.012s&&go test ./...\n"}}, claim{command: `echo ok pkg/sum 0.012s&&go test ./..."`, output: "ok pkg/sum 0.012s", extra: "**Evidence:** E1"}, report.Absent, "another command"},
		{"an old log shown", []ran{{command: "cat test.log", stdout: okLine}}, claim{command: "go test ./...", output: okLine, extra: "**Evidence:** E1"}, report.Absent, "another command"},
		{"a command in a comment", []ran{{command: "true # go test ./...", stdout: okLine}}, claim{command: "go test ./...", output: okLine}, report.Absent, "not in the log"},
		{"a command in a here-document", []ran{{command: "cat <<'E'\ngo test ./...\nE", stdout: "go test ./...\n"}}, claim{command: "go test ./...", output: "go test ./..."}, report.Absent, "not in the log"},
		{"the base's run", []ran{{command: "cd /prepared/base && go test ./...", stdout: okLine}}, claim{command: "go test ./...", output: okLine}, report.Absent, "not in the log"},
		{"the base's run by variable", []ran{{command: `cd "$YCBOT_BASE" && go test ./...`, stdout: okLine}}, claim{command: "go test ./...", output: okLine}, report.Absent, "not in the log"},
		{"the base's record", []ran{{command: "go test ./...", stdout: okLine, change: onBase}}, claim{command: "go test ./...", output: okLine}, report.Absent, "not in the log"},
		{"altered output", broken, claim{command: "go test ./...", output: okLine, result: "PASS"}, report.Absent, "quoted output"},
		{"an altered number", []ran{{command: "pytest", stdout: "11 passed, 1 failed\n"}}, claim{command: "pytest", output: "11 passed, 0 failed"}, report.Absent, "quoted output"},
		{"the end of a number", []ran{{command: "pytest", exit: 1, stdout: "10 failed\n"}}, claim{command: "pytest", output: "0 failed", result: "FAIL"}, report.Absent, "quoted output"},
		{"the start of a number", []ran{{command: "bench", stdout: "took 1.25 s\n"}}, claim{command: "bench", output: "took 1"}, report.Absent, "quoted output"},
		{"ok out of not ok", []ran{{command: "prove", stdout: "not ok 1 - adds\n"}}, claim{command: "prove", output: "ok 1 - adds"}, report.Absent, "quoted output"},
		{"a word's beginning", []ran{{command: "t", stdout: "successless\n"}}, claim{command: "t", output: "success"}, report.Absent, "quoted output"},
		{"a word's end", []ran{{command: "t", stdout: "unsuccessful\n"}}, claim{command: "t", output: "successful"}, report.Absent, "quoted output"},
		{"one line of many altered", []ran{{command: "make", stdout: long(9)}}, claim{command: "make", output: "line 0 of the output\nall tests pass\nline 8 of the output"}, report.Absent, "all tests pass"},
		{"lines turned round", []ran{{command: "make", stdout: long(9)}}, claim{command: "make", output: "line 8 of the output\nline 0 of the output"}, report.Absent, "order"},
		{"an altered end behind a cut", []ran{{command: "make", stdout: long(9)}}, claim{command: "make", output: "line 0 of the output\n...\nBUILD SUCCESSFUL"}, report.Absent, "BUILD"},
		{"silence that was none", broken, claim{command: "go test ./...", output: "(no output)"}, report.Absent, "nothing was printed"},
		{"one of two never ran", suite, claim{command: "$ go test ./...\n$ npm test", output: okLine}, report.Absent, "npm test"},
		{"an empty log", nil, claim{command: "go test ./...", output: okLine}, report.Absent, "not in the log"},
		{"a cut command that was not cited", []ran{{command: "python3 - <<'EOF'\nprint(3)\nEOF", stdout: "3\n"}}, claim{command: "python3 - <<'EOF'\n...\nEOF", output: "3"}, report.Absent, "not in the log"},
		{"a cut command that begins elsewhere", []ran{{command: "cat notes; python3 - <<'EOF'\nprint(3)\nEOF", stdout: "3\n"}}, claim{command: "python3 - <<'EOF'\n...\nEOF", output: "3", extra: "**Evidence:** E1"}, report.Absent, "another command"},
		{"a command that is all cut", suite, claim{command: "go ... ./...", output: okLine, extra: "**Evidence:** E1"}, report.Absent, "another command"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.claim.result == "" {
				tt.claim.result = "PASS"
			}
			if tt.claim.title == "" {
				tt.claim.title = "it holds"
			}
			checks := report.ParseAgentReport(tt.claim.text()).Checks
			if len(checks) != 1 {
				t.Fatalf("%d checks in\n%s", len(checks), tt.claim.text())
			}
			got, err := auditor(tt.log).Audit(checks)
			if err != nil {
				t.Fatal(err)
			}
			if got[0].Support != tt.want {
				t.Fatalf("%+v, want %s\n%+v", got[0], tt.want, checks[0])
			}
			if !strings.Contains(got[0].Reason, tt.reason) || (tt.want == report.Supported) != (got[0].Reason == "") {
				t.Errorf("reason %q, want %q", got[0].Reason, tt.reason)
			}
			if (tt.want != report.Absent) != (len(got[0].Records) > 0) && tt.want != report.Absent {
				t.Errorf("records %q for %s", got[0].Records, got[0].Support)
			}
		})
	}
}

// The same words in another folder are another command.
func TestAuditFolders(t *testing.T) {
	t.Parallel()
	in := func(cwd string) func(*Record) { return func(r *Record) { r.Cwd = cwd } }
	units := []ran{{command: "npm test", stdout: "api ok\n", change: in("api")}, {command: "npm test", exit: 1, stdout: "web broken\n", change: in("web")}}
	cds := []ran{{command: "cd api && npm test", stdout: "api ok\n"}, {command: "cd web && npm test", exit: 1, stdout: "web broken\n"}}
	fixed := []ran{{command: "pytest -q", exit: 1, stdout: "1 failed\n"}, {command: "cd $TMPDIR/fixed && pytest -q", stdout: "1 passed\n"}}
	for _, tt := range []struct {
		name  string
		log   []ran
		claim claim
		want  report.Support
	}{
		{"a unit by its record", units, claim{command: "npm test", output: "api ok", extra: "**Evidence:** E1"}, report.Supported},
		{"a unit by its folder", units, claim{command: "cd api && npm test", output: "api ok"}, report.Supported},
		{"the other one", units, claim{command: "cd web && npm test", output: "api ok"}, report.Absent},
		{"a folder of the command", cds, claim{command: "cd api && npm test", output: "api ok"}, report.Supported},
		{"by the tree's path", cds, claim{command: "cd /w/tree/api\nnpm test", output: "api ok"}, report.Supported},
		{"a folder within another", []ran{{command: "cd web && npm test", stdout: "ok\n"}}, claim{command: "cd api && npm test", output: "ok", extra: "**Evidence:** E1"}, report.Absent},
		{"a copy that the agent repaired", fixed[1:], claim{command: "pytest -q", output: "1 passed"}, report.Absent},
		{"that copy, cited", fixed[1:], claim{command: "pytest -q", output: "1 passed", extra: "**Evidence:** E1"}, report.Absent},
		{"that copy by its name", fixed, claim{command: "cd $TMPDIR/fixed && pytest -q", output: "1 passed"}, report.Supported},
		{"a copy that the agent damaged", []ran{{command: "go test ./...", stdout: okLine}, {command: "cd $TMPDIR/damaged && go test ./...", exit: 1}}, claim{command: "go test ./...", output: okLine}, report.Supported},
		{"the root in other words", []ran{{command: "cd /w/tree && go test ./...", stdout: okLine}, {command: "cd . && go test ./...", exit: 1}}, claim{command: "go test ./...", output: okLine, extra: "**Evidence:** E1"}, report.Related},
	} {
		tt.claim.title, tt.claim.result = "it holds", "PASS"
		a := auditor(tt.log)
		a.Trees = []string{"/w/tree"}
		got, err := a.Audit(report.ParseAgentReport(tt.claim.text()).Checks)
		if err != nil || got[0].Support != tt.want {
			t.Errorf("%s: %+v %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

// A masked exit is distinguished from other shortcomings, for the report.
func TestAuditMasked(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"go test ./... || true":             true,
		"go test ./... || :":                true,
		"(go test ./...) || echo no":        true,
		"go test ./... || exit 0":           true,
		"bash -c 'go test ./...; true'":     true,
		"go test ./... || { echo x; }":      true,
		"go test ./... && ls || true":       true,
		"x=$(go test ./...); echo \"$x\"":   true,
		"go test ./... | cat || true":       true,
		"go test ./... > log; cat log":      true,
		"go test ./...":                     false,
		"go test ./... | tail -3":           false,
		"cd x; go test ./...":               false,
		"mkdir -p o; go build -o o ./...":   false,
		"set -e; go build ./...; ls":        false,
		"go test ./... || { ls; exit 1; }":  false,
		"curl -s localhost; echo":           false,
		"test -f x || exit 1; go vet ./...": false,

		"go test ./... || exit 1; echo ok":                                         false,
		"go test ./... || true || exit 1; echo ok":                                 true,
		"if go test ./...; then echo good; else echo bad; exit 1; fi":              false,
		"if go test ./...; then echo good; else exit 1; fi; echo done":             false,
		"if ./a; then exit 1; elif go vet ./...; then go test ./... || true; fi":   true,
		"if go test ./...; then exit 0; fi":                                        true,
		"(if go test ./...; then exit 1; fi); echo done":                           true,
		`out=$(go run ./cmd 1 2); [ "$out" = 3 ] || { echo "BUG: $out"; exit 1; }`: false,
		`out=$(go run ./cmd 1 2); [ "$out" = 3 ]`:                                  false,
		`out=$(go run ./cmd 1 2); if echo "$out" | grep -q paid; then exit 1; fi`:  false,
		`out=$(go run ./cmd 1 2); echo "$out"`:                                     true,
		`out=$(go run ./cmd 1 2); [ "$other" = 3 ]`:                                true,
		`out=$(go test ./...); echo "$out" | grep -q ok`:                           true,
		"go test ./... >log; rc=$?; cat log; exit $rc":                             false,
		"go test ./... >log; rc=$?; cat log":                                       true,
		`for i in 1 2; do go test ./... || { echo "round $i"; exit 1; }; done`:     false,
		"for i in 1 2; do if ! go test ./...; then exit 1; fi; done; echo held":    false,
		"for i in 1 2; do go test ./... || break; done":                            true,
		"go run ./cmd 0 && { echo BUG; exit 1; }; echo rejected":                   false,
		"go build -o $TMPDIR/app ./cmd/app\n$TMPDIR/app 0":                         false,
		"go build -o $TMPDIR/app ./cmd/app\n./run.sh":                              true,
		"timeout 60 go build -o app ./cmd/app; ./app 0":                            false,
		"eslint -o report.txt src; grep -c warning report.txt":                     true,
		`(cd "$YCBOT_BASE" && go test ./x); echo "base: exit $?"; go test ./x`:     false,
		`(cd "$YCBOT_BASE"; cd x && go test . | tail -3) || true; go test ./x`:     false,
		`pytest -q && (cd "$YCBOT_BASE" && pytest -q); echo done`:                  true,
		`(cd "$YCBOT_BASE" && pytest -q; cd "$OLDPWD" && pytest -q); echo done`:    true,

		`pytest -q; rc=$?; if [ $rc -ne 0 ]; then echo "tests failed: $rc"; fi`:                true,
		`pytest -q; rc=$?; if [ $rc -ne 0 ]; then echo "failed: $rc"; exit $rc; fi; echo held`: false,
		`pytest -q; rc=$?; if [ $rc -ne 0 ]; then [ $rc = 5 ] || exit 1; echo "no tests"; fi`:  false,
		`pytest -q; rc=$?; if [ $rc = 0 ]; then echo held; else echo failed; false; fi`:        false,
		`pytest -q; rc=$?; case $rc in 0) ;; *) echo "tests failed: $rc";; esac`:               true,
		`pytest -q; rc=$?; case $rc in 0) echo held;; *) echo "failed: $rc"; exit $rc;; esac`:  false,
		`pytest -q; rc=$?; for n in 1 2; do echo "$n: $rc"; done`:                              true,
		`pytest -q; rc=$?; export RC=$rc`:                                                      true,
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			if got := maskOf(Record{Command: command}); (got != "") != want {
				t.Errorf("maskOf(%q) = %q, want masked %v", command, got, want)
			}
		})
	}
	if maskOf(Record{Command: strings.Repeat("(", 1<<20) + "go test ./..."}) == "" {
		t.Error("a command that is too deep to be read masks nothing")
	}
}

// Ways to hide how a test ended that shells have, and honest commands that look like them.
func TestAuditHidden(t *testing.T) {
	t.Parallel()
	for want, commands := range map[bool][]string{
		true: {
			"trap 'exit 0' EXIT; go test ./...",
			"trap 'exit 0' ERR\ngo test ./...",
			`trap "exit 0" EXIT; pytest -q`,
			"go() { echo ok; }; go test ./...",
			"pytest() { :; }\npytest -q",
			"t() { go test ./... || true; }; t",
			"t() { go test ./...; true; }\nt",
			"t() { python3 probe.py; true; }; t",
			"shopt -s expand_aliases\nalias go='echo ok #'\ngo test ./...",
			"shopt -s expand_aliases\nalias pytest=true\npytest -q",
			"python3 probe.py; exec true",
			"python3 probe.py; 'true'",
			`python3 probe.py; \true`,
			"python3 probe.py; command true",
			"python3 probe.py; builtin :",
			"python3 probe.py; /usr/bin/true",
			"python3 probe.py; env true",
			"python3 probe.py; [ 1 = 1 ]",
			"python3 probe.py; [[ 1 ]]",
			"python3 probe.py; (( 1 ))",
			"python3 probe.py; ! false",
			"python3 probe.py; bash -c true",
			"python3 probe.py; eval true",
			"cat <(go test ./...)",
			"grep ok <(go test ./... 2>&1)",
			`cat <<< "$(go test ./...)"`,
			"cat <<EOF\n$(go test ./...)\nEOF",
			`test -n "$(go test ./...)"`,
			`[[ $(go test ./...) ]]`,
			`while read -r l; do echo "$l"; done < <(go test ./...)`,
			"coproc go test ./...",
			"go test ./... & wait",
			"pytest -q & sleep 20; wait",
			"pytest -q & sleep 20; echo done",
			"shopt -uo pipefail; go test ./... | cat",
			"set '+o' pipefail; go test ./... | cat",
			"builtin set +o pipefail; go test ./... | cat",
			"bash -c 'go test ./... | tail -3'",
			"timeout 60 bash -c 'go test ./... | tail -3'",
			"timeout 60 bash -c 'go test ./...; true'",
			"env X=1 sh -c 'go test ./... || true'",
			"bash <<'E'\ngo test ./... || true\nE",
			"bash <<'E'\ngo test ./... | tail -3\nE",
			"bash <<< 'go test ./... || true'",
			"echo 'go test ./... || true' | bash",
			"eval 'go test ./... || true'",
			`eval "go test ./...; true"`,
			"script -qc 'go test ./...' /dev/null",
			"script -q -c 'pytest -q' /dev/null",
			`find . -name '*_test.py' -exec pytest {} \;`,
			"case 1 in 1) go test ./... || true;; esac",
			"time (go test ./... || true)",
			"time { go test ./...; true; }",
			"export OUT=$(go test ./...)",
			"x=$(go test ./... || true)",
			"go test ./... || git status",
			"go test ./... || grep -c FAIL log",
			"go test ./... || go version",
			"{ go test ./... || true; } | tail",
			"(go test ./...; exit 0)",
			"(go test ./...); (exit 0)",
			"go test ./... ; (exit 0)",
			"go test ./... && true || true",
			"true || go test ./...",
			"false && go test ./... ; true",
			"nohup go test ./... &",
			"if true; then go test ./... || true; fi",
			"if ! go test ./...; then :; fi",
			"go test ./... 2>&1 | grep -v FAIL || true",
			"set +e; go test ./...; exit 0",
			"X=1; go test ./... || X=2",
			"go test ./... ; [ $? -le 1 ]",
			"go test ./...; test $? -lt 5",
			"go test ./...; rc=$?; exit 0",
			"go test ./...; rc=$?; exit $((rc*0))",
			"npm test --silent || npm run report",
			"npm test ; npm run report",
			"npx jest || :",
			"go test ./... -run TestNone; true",
			"python -m pytest -q || python -c 'pass'",
			"exec 3>&1; go test ./... || true",
			"{ go test ./...; echo $? >rc; } | tail; true",
			"make -k test; true",
			"cargo test --no-fail-fast || true",
			"dash -c 'go test ./... || true'",
			"zsh -c 'go test ./... || true'",
			"go test ./... >/dev/null 2>&1 || echo",
			"set -e\ngo test ./... || true\necho done",
			"set -e; go test ./... && echo ok; echo done",
			"set -e\n! go run ./cmd 0\necho rejected",
			"go test ./... | tee log | tail -3; [ 0 -eq 0 ]",
			"go test ./... ; echo exit=$? ; exit $?",
			"fail=0; go test ./a || fail=1; exit 0",
			"fail=0; go test ./a || fail=0; exit $fail",
			"fail=0; go test ./a; go test ./b || fail=1; exit $fail",
			"f() { go test ./... || return 0; }; f",
			"f() { go test ./...; return 0; }; f",
			"f() ( go test ./... | tail; true ); f",
			"cleanup() { exit 0; }; trap cleanup EXIT; pytest",
			"x() { pytest -q; }; x; echo ok",
			"npx --yes jest || true",
			"timeout -k 5 60 pytest -q || true",
			"printf 'pytest\ntrue' | bash",
			"pytest & pid=$!; sleep 5; kill -0 $pid || true",
			"until pytest -q; do sleep 1; break; done",
			"select x in a; do pytest; break; done",
			"bash -c 'pytest; exit 0' ",
			"bash -ec 'pytest | tail -3'",
			"sh -c 'pytest || :'",
			"(set +e; pytest; true)",
			"set -e; set +e; pytest; ls",
			"set +e; pytest\nls",
			"set -e\nls\nset +e\npytest\necho held",
			"set -e; f() { set +e; pytest; ls; }; f; echo held",
			"{ pytest; } || { true; }",
		},
		false: {
			"trap 'kill $pid' EXIT; ./srv & pid=$!; curl -fs localhost:1",
			"trap 'rm -rf \"$d\"' EXIT; go test ./...",
			"trap 'rc=$?; kill $pid; exit $rc' EXIT; go test ./...",
			`probe() { out=$(go run . "$1"); [ "$out" = "$2" ] || { echo BUG; exit 1; }; }; probe 1 2; probe 3 4`,
			"fail() { echo \"$1\"; exit 1; }\ngo test ./... || fail bad",
			"die() { echo \"$*\" >&2; exit 1; }\nout=$(go run ./cmd 1) || die crash\n[ \"$out\" = 3 ] || die \"got $out\"",
			"run() { timeout 20 go run ./cmd \"$@\"; }\nrun 1 2\nrun 0 && exit 1\nrun 3",
			"check() { if ! \"$@\"; then echo FAIL: \"$@\"; exit 1; fi; }\ncheck go vet ./...\ncheck go test ./...",
			"time go test ./...",
			"diff <(go run . a) <(go run . b)",
			`[ "$(go run ./cmd 1 2)" = 3 ]`,
			`[[ $(go run ./cmd 1 2) == 3 ]]`,
			`test "$(python3 x.py)" = 3`,
			"go test ./... & pid=$!; wait $pid",
			"npm run dev & sleep 2; curl -fs localhost:3000",
			"go run ./cmd/srv & sleep 2; curl -fs localhost:3000 | grep -q ok",
			"bash -c 'go test ./...'",
			"bash -o pipefail -c 'go test ./... | tail -3'",
			"timeout 60 bash -c 'set -o pipefail; go test ./... | tail'",
			"bash <<'E'\nset -e\ngo test ./...\nE",
			"eval 'go test ./...'",
			"script -qec 'go test ./...' /dev/null",
			"pytest -q || python3 -m pytest -q",
			"pytest -q || exit $?",
			"pytest -q || { tail log; exit 1; }",
			"case $X in a) go test ./a;; *) go test ./...;; esac",
			`find . -name '*_test.py' -exec pytest {} +`,
			"! go run ./cmd --amount 0",
			"! ./tool -n -5",
			"go run ./cmd 0; [ $? -eq 2 ]",
			"go run ./cmd 0; test $? -ne 0",
			"go run ./cmd 0 2>err; rc=$?; grep -q 'must be' err && [ $rc -eq 2 ]",
			"cat > x.py <<'E'\nprint(1)\nE\npython3 x.py",
			"python3 - <<'E'\nassert 1\nE",
			"mkdir -p $TMPDIR/x && cd $TMPDIR/x && go test ./...",
			"cp -r $YCBOT_SCRATCH/head x; cd x; go test ./...",
			"git diff --stat; go test ./...",
			"node -e 'process.exit(0)'",
			"go version; go test ./...",
			"which pytest; pytest -q",
			"python3 --version; python3 -m pytest -q",
			"npm ci; npm test",
			"curl -s localhost:1 > out; grep -q ok out",
			"xargs -n1 go vet < list",
			"for f in a b; do go run . $f || exit 1; done",
			"set -e\nfor f in a b; do go test ./$f; done",
			"set -e; for f in a b; do pytest $f; done; echo held",
			"set -euo pipefail\nfor i in 1 2 3; do go test -count=1 ./...; done\necho done",
			"set -e; out=$(go run ./cmd 0 2>&1) && { echo BUG; exit 1; }; echo \"$out\" | grep -q must",
			"out=$(go run ./cmd 0 2>&1) || rc=$?; [ \"$rc\" = 2 ]",
			"rc=0; out=$(go run ./cmd 0 2>&1) || rc=$?; echo \"$out\"; [ \"$rc\" -eq 2 ]",
			"set -e; ./srv & sleep 1; curl -fs localhost:1; kill %1",
			"./srv & PID=$!; trap 'kill $PID' EXIT; for i in 1 2 3; do curl -fs localhost:1 && break; sleep 1; done; curl -fs localhost:1/x | grep -q ok",
			"cd sub && python3 -m pytest -q -k 'a or b' 2>&1 | tail -20",
			"git status --short; cat x.go",
			"git show HEAD:x.go | head; echo; grep -n foo x.go",
			"grep -n foo a.go; grep -n bar b.go",
			"python3 - <<'E' && echo ok\nimport x\nassert x.f(1) == 2\nE",
			"node --test 2>&1 | grep -E '^# (pass|fail)'",
			"npm test -- --run x 2>&1 | tail -n 30",
			"env -u HOME go test ./...",
			"CGO_ENABLED=0 go test -count=3 ./...",
			"make build && ./bin/app --help | head -3",
			"docker build . || exit 1",
			"assert_eq() { [ \"$1\" = \"$2\" ] || { echo \"want $2 got $1\"; exit 1; }; }\nassert_eq \"$(./t 1)\" 1\nassert_eq \"$(./t 2)\" 2\necho all good",
			"go vet ./... && go test ./... || exit 1",
			"if ! go test ./...; then echo broken; exit 1; fi",
			"if go run ./cmd 0; then exit 1; else echo ok; fi",
			"git stash list; go test ./...",
			"pytest -q; exit",
			"pytest -q; exit $?",
			"pytest -q; [ $? -eq 0 ]",
			"pytest -q 2>&1 | tee log; test ${PIPESTATUS[0]} -eq 0",
			"go build -o app . && (./app & sleep 1; curl -fs localhost:1)",
			"go build -o app . && { ./app & sleep 1; curl -fs localhost:1 | grep -q x; rc=$?; kill %1; exit $rc; }",
			"command -v pytest && pytest -q",
			"./gen.sh; git diff --stat",
			"set +e; go test ./...; rc=$?; set -e; exit $rc",
			"set +e\n./tool 0\nrc=$?\nset -e\n[ $rc -eq 2 ]",
			"set -euo pipefail\ngo build -o app .\nset +e\n./app 0\nrc=$?\nset -e\n[ $rc -eq 2 ]\necho held",
			"./srv & sleep 1; curl -fs localhost:1; kill %1; wait",
			"cd web && npm run dev > dev.log 2>&1 & sleep 3; curl -fs localhost:3000 | grep -q title",
			"go test -run TestX ./... 2>&1 | grep -E 'PASS|FAIL|ok'",
			"diff <(./old 1) <(./new 1) && echo same",
			"cat > main_test.go <<'E'\npackage x\nfunc f() { exec(`true`) }\nE\ngo test ./...",
			"python3 - <<'E'\nimport subprocess\nr = subprocess.run(['pytest', '-q'])\nassert r.returncode == 0\nE",
			"seq 5 | xargs -I{} go test ./...",
			"fail=0; for i in 1 2; do go test ./... || fail=1; done; exit $fail",
			"rc=0; go test ./a || rc=1; go test ./b || rc=1; exit $rc",
			"rc=0; pytest a || rc=$?; pytest b || rc=$?; [ $rc -eq 0 ]",
			"n=0; for i in 1 2 3; do pytest -q || n=$((n+1)); done; echo fails=$n; [ $n = 0 ]",
			"go test ./... && go vet ./... && echo ok",
			"go test ./... 2>&1 | tail -5; exit ${PIPESTATUS[0]}",
		},
	} {
		for _, command := range commands {
			if why := maskOf(Record{Command: command}); (why != "") != want {
				t.Errorf("maskOf(%q) = %q, want masked %v", command, why, want)
			}
		}
	}
	nested := "go test ./..."
	for i := range 200 {
		nested = fmt.Sprintf("bash <<E%d\n%s\nE%d", i, nested, i)
	}
	for _, hostile := range []string{
		nested, strings.Repeat("{ ", 400) + "go test ./..." + strings.Repeat(" || x=1; ls; }", 400),
		"set -e; " + strings.Repeat("{ if a; then b; fi; ", 200) + "go test ./..." + strings.Repeat("; ls; }", 200),
		strings.Repeat("a || ", 5000) + "go test ./...", strings.Repeat("bash -c 'a' && ", 2000) + "go test ./...",
		"f() { " + strings.Repeat("echo a; ", 100) + "}; " + strings.Repeat("f || f || f; ", 8000) + "go test ./...",
	} {
		if took := spent.On(t, func() { maskOf(Record{Command: hostile}) }); took > time.Second {
			t.Errorf("%.40q is read for %s", hostile, took)
		}
	}
	if got := maskOf(Record{Command: nested}); got != "scripts within scripts are too deep to be read" {
		t.Errorf("of 200 scripts within one another the innermost is hidden by %q", got)
	}
	if maskOf(Record{Command: "f() { true; }; " + strings.Repeat("g() { f; f; }; f() { g; g; }; ", 300) + "f; go test ./..."}) != "" {
		t.Error("functions that call one another hide the exit code of what follows them")
	}
}

// Only the agent's own records answer for a command that it does not cite.
func TestAuditOwnRecords(t *testing.T) {
	t.Parallel()
	a := auditor([]ran{{command: "go test ./...", stdout: okLine, change: func(r *Record) { r.Agent = "gate" }}})
	a.Agent = "verification"
	checks := report.ParseAgentReport(claim{command: "go test ./...", output: okLine, result: "PASS"}.text()).Checks
	got, err := a.Audit(checks)
	if err != nil || got[0].Support != report.Absent || !strings.Contains(got[0].Reason, "was not run by this agent: E1 is another's") {
		t.Errorf("uncited record of the gate: %+v %v, want absent", got, err)
	}
	for _, change := range []func(*Auditor){
		func(a *Auditor) { a.Host = "gate" },
		func(a *Auditor) { a.Tree = "another" },
		func(a *Auditor) { a.Log = []Record{a.Log[0]}; a.Log[0].Executed = false },
	} {
		b := a
		change(&b)
		if got, err = b.Audit(checks); err != nil || !strings.HasSuffix(got[0].Reason, " is not in the log") {
			t.Errorf("%+v %v, want that it is not in the log", got, err)
		}
	}
	checks[0].EvidenceIDs = []string{"E1"}
	if got, err = a.Audit(checks); err != nil || got[0].Support != report.Supported {
		t.Errorf("cited record of the gate: %+v %v, want supported", got, err)
	}
}

// What a check says of a cited output in words that were not printed is not shown as printed.
func TestAuditDescribed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		output, rest string
		exit         int
		want         string
	}{
		{"all 412 tests passed", "**Evidence:** E1\n**Result: PASS**", 0, "ok pkg/sum 0.012s"},
		{"a test fails", "**Result: FAIL**", 1, "ok pkg/sum 0.012s"},
		{"ok pkg/sum 0.012s", "**Evidence:** E1\n**Result: PASS**", 0, ""},
		{"`ok pkg/sum 0.012s`", "**Evidence:** E1\n**Result: PASS**", 0, ""},
	} {
		text := "### Check: the suite\n**Command run:** `go test ./...`\n**Output observed:** " + tt.output + "\n" + tt.rest + "\n"
		got, err := auditor([]ran{{command: "go test ./...", exit: tt.exit, stdout: okLine}}).Audit(report.ParseAgentReport(text).Checks)
		if err != nil || len(got) != 1 || got[0].Support != report.Supported || got[0].Printed != tt.want {
			t.Errorf("%q: %+v %v, want %q shown", tt.output, got, err, tt.want)
		}
	}
	// Where the description is all that there is, it does not stand on what was printed.
	text := "### Check: the suite\n**Command run:** `go test ./...`\n**Output observed:** all 412 tests passed\n**Result: PASS**\n"
	got, err := auditor([]ran{{command: "go test ./...", stdout: okLine}}).Audit(report.ParseAgentReport(text).Checks)
	if err != nil || len(got) != 1 || got[0].Support != report.Related || got[0].Printed != "" {
		t.Errorf("not cited: %+v %v", got, err)
	}
}

// An output that cannot be read is a fault of ours and never a verdict.
func TestAuditUnreadable(t *testing.T) {
	t.Parallel()
	a := auditor([]ran{{command: "ls"}})
	a.Output = func(Record) ([]byte, []byte, error) { return nil, nil, fmt.Errorf("spill gone") }
	_, err := a.Audit(report.ParseAgentReport(claim{command: "ls", output: "x", result: "PASS"}.text()).Checks)
	if err == nil || !strings.Contains(err.Error(), "E1") {
		t.Errorf("error %v, want one that names E1", err)
	}
}

// A long line that is made to be searched again and again is read in no time.
func TestAuditLongLine(t *testing.T) {
	t.Parallel()
	c := report.AgentCheck{Commands: []string{"t"}, Output: "ok then", Quoted: true, Result: report.ResultPass}
	got, err := auditor([]ran{{command: "t", stdout: strings.Repeat("not ok then ", 80_000)}}).Audit([]report.AgentCheck{c})
	if err != nil || got[0].Support != report.Absent {
		t.Errorf("%+v %v, want absent", got, err)
	}
}

// A long chain of commands is read in no time.
func TestAuditLongChain(t *testing.T) {
	t.Parallel()
	chain := strings.Repeat("true && ", 300) + "go test ./..."
	got, err := auditor([]ran{{command: chain, stdout: okLine}}).Audit(report.ParseAgentReport(claim{command: chain, output: okLine, result: "PASS"}.text()).Checks)
	if err != nil || got[0].Support != report.Supported {
		t.Errorf("%+v %v, want supported", got, err)
	}
}

// No reply and no command, however broken, ends the audit.
func FuzzAudit(f *testing.F) {
	f.Add("go test ./... | tail", "ok", "cd x && go test")
	f.Add("if x; then", "…", "()0")
	f.Add("$(", "[E1] exit=", "a && b || c; d &")
	f.Fuzz(func(t *testing.T, command, output, logged string) {
		a := auditor([]ran{{command: logged, stdout: output}})
		c := report.AgentCheck{Commands: []string{command}, Output: output, Quoted: true, Result: report.ResultPass}
		got, err := a.Audit([]report.AgentCheck{c})
		if err != nil || len(got) != 1 {
			t.Errorf("%v %v", got, err)
		}
	})
}

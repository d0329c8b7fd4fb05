package reproduce

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/evidence"
)

// A crash counts where the project's code crashed of itself. What a probe raises, and
// what the project raises on purpose at a probe that uses it wrongly, is none.
func TestCrashed(t *testing.T) {
	t.Parallel()
	files := []string{"app.py", "lib/calc.js", "pkg/sum.go", "src/lib.rs", "src/main/java/Sum.java", "sum.rb"}
	const at = "/x/worktrees/r/again/E7-head/"
	python := func(file, source, raised string) string {
		return "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\n  File \"" + file + "\", line 3, in f\n    " + source + "\n" + raised + "\n"
	}
	for _, tc := range []struct {
		name  string
		exit  int
		text  string
		probe bool
		cmd   string
		want  string // a part of the words; "" for no crash
	}{
		{"signal", 139, "", false, "./tool", "SIGSEGV"},
		{"an exit that is no signal of a crash", 137, "", false, "./tool", ""},
		{"python, in the project", 1, python(at+"app.py", "return 1/n", "ZeroDivisionError: division by zero"), true, "", "ZeroDivisionError in app.py"},
		{"python, in the probe", 1, "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nAssertionError\n", true, "", ""},
		{"python, in a probe's file", 1, python("/tmp/E7-head/probe.py", "assert f(2) == 5", "AssertionError"), true, "", ""},
		{"python, raised on purpose", 1, python(at+"app.py", `raise ValueError("n is negative")`, "ValueError: n is negative"), true, "", ""},
		{"python, a wrong type", 1, python(at+"app.py", "return a + 1", "TypeError: can only concatenate str"), true, "", ""},
		{"python, a program of the project", 1, "Traceback (most recent call last):\n  File \"" + at + "app.py\", line 9, in <module>\n    main()\nTypeError: x\n", false, "python app.py", "TypeError in app.py"},
		{"python, below a library", 1, python(at+"app.py", "json.loads(x)", "  File \"/usr/lib/python3.12/json/decoder.py\", line 1, in decode\n    raise E\njson.decoder.JSONDecodeError: Expecting value"), true, "", "JSONDecodeError in app.py"},
		{"pytest", 1, ">   return 1/n\nE   ZeroDivisionError: division by zero\n\napp.py:3: ZeroDivisionError\n", true, "", "ZeroDivisionError in app.py"},
		{"pytest, the probe's assertion", 1, "E   assert 6 == 7\n\ntest_probe.py:3: AssertionError\n", true, "", ""},
		{"go", 2, "panic: runtime error: index out of range [3]\n\ngoroutine 1 [running]:\nx/pkg.Sum(...)\n\t" + at + "pkg/sum.go:5 +0x1d\nmain.main()\n\t/tmp/p.go:3\n", true, "", "index out of range [3] in pkg/sum.go"},
		{"go, in a probe's test", 1, "--- FAIL: TestP (0.00s)\npanic: runtime error: nil map [recovered]\n\npanic({0x1, 0x2})\n\t/usr/local/go/src/runtime/panic.go:770 +0x1\nx/pkg.TestP(0xc0)\n\t" + at + "pkg/probe_test.go:9 +0x1\n", true, "", ""},
		{"go, on purpose", 2, "panic: n must be positive\n\ngoroutine 1 [running]:\nx/pkg.Sum(...)\n\t" + at + "pkg/sum.go:5 +0x1d\n", true, "", ""},
		{"go, on purpose, in a program of the project", 2, "panic: n must be positive\n\ngoroutine 1 [running]:\nx/pkg.Sum(...)\n\t" + at + "pkg/sum.go:5 +0x1d\n", false, "./tool", "panic: n must be positive in pkg/sum.go"},
		{"node", 1, at + "lib/calc.js:3\n  return x.y.z\n\nReferenceError: y is not defined\n    at f (" + at + "lib/calc.js:3:9)\n    at [eval]:1:1\n", true, "", "ReferenceError in lib/calc.js"},
		{"node, thrown on purpose", 1, at + "lib/calc.js:3\n  throw new Error('no')\n\nError: no\n    at f (" + at + "lib/calc.js:3:9)\n    at [eval]:1:1\n", true, "", ""},
		{"rust", 101, "thread 'main' panicked at src/lib.rs:3:5:\nattempt to divide by zero\n", true, "", "panic in src/lib.rs"},
		{"rust, a probe's assertion", 101, "thread 'probe' panicked at tests/probe.rs:3:5:\nassertion failed\n", true, "", ""},
		{"java", 1, "Exception in thread \"main\" java.lang.ArithmeticException: / by zero\n\tat Sum.div(Sum.java:3)\n", true, "", "ArithmeticException in src/main/java/Sum.java"},
		{"ruby", 1, "sum.rb:3:in `/': divided by 0 (ZeroDivisionError)\n", true, "", "ZeroDivisionError in sum.rb"},
		{"a server's error", 1, "HTTP/1.1 500 Internal Server Error\r\n", false, "curl -i localhost:80/x", "500 Internal Server Error"},
		{"a server's error, as a number", 1, "500\n", false, "curl -w '%{http_code}' localhost:80/x", "500"},
		{"a number", 1, "500\n", false, "./tool", ""},
		{"a method that is not implemented", 1, "HTTP/1.0 501 Unsupported method ('POST')\n", false, "curl -i localhost:80/x", ""},
		{"a client's error", 1, "HTTP/1.1 400 Bad Request\n", false, "curl -i localhost:80/x", ""},
		{"an exit and a message", 1, "usage: tool N\n", false, "./tool", ""},
	} {
		got := crashed(crash{record: evidence.Record{Exit: tc.exit}, text: tc.text, command: tc.cmd, grounds: Grounds{Probe: tc.probe, Files: files}})
		if (tc.want == "") != (got == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	for cmd, want := range map[string]bool{"./tool -n 3": true, "python -m http.server & sleep 100": false, "./server": false, "npm start": false, "while ! nc -z localhost 80; do :; done": false} {
		got := crashed(crash{record: evidence.Record{TimedOut: true}, command: cmd})
		if (got != "") != want {
			t.Errorf("%s that does not end: %q", cmd, got)
		}
	}
}

package evidence

import "testing"

// What differs from run to run makes no difference; what a program says does.
func TestComparable(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, a, b string
		same       bool
	}{
		{"durations", "took 1.5s, 20ms and 3µs", "took 9s, 4ms and 1ns", true},
		{"durations in words", "finished in 0.12 seconds", "finished in 3 seconds", true},
		{"long durations", "up 1h2m3.5s", "up 2m9s", true},
		{"times", "2026-01-02T03:04:05.678Z start at 03:04:05", "2026-11-20 23:59:59 start at 23:59:59", true},
		{"dates in words", "Date: Mon, 02 Jan 2006 15:04:05 GMT", "Date: Fri, 20 Nov 2026 14:00:00 GMT", true},
		{"addresses", "panic at 0xc000012345", "panic at 0xC0000ABCDE", true},
		{"temporary files", "wrote /tmp/TestX123/001/out.txt", "wrote /tmp/TestX999/001/out.txt", true},
		{"temporary files of macOS", "wrote /var/folders/ab/T/x", "wrote /private/var/folders/cd/T/y", true},
		{"worktrees", "at /home/a/.ycbot/projects/p/worktrees/r/head/x.go:3", "at /w/worktrees/q/base/x.go:3", true},
		{"ports", "listening on 127.0.0.1:43211, [::]:80, localhost:1", "listening on 127.0.0.1:9, [::]:9999, localhost:22", true},
		{"port in words", "on port 4312", "on port 9", true},
		{"processes", "pid 12 (PID=7), pid: 9", "pid 99999 (PID=8), pid: 1", true},
		{"goroutines", "goroutine 7 [running]:", "goroutine 42 [running]:", true},
		{"order of tests", "--- PASS: TestA (0.01s)\n--- FAIL: TestB (0.20s)\nPASS\n", "--- FAIL: TestB (0.00s)\n--- PASS: TestA (0.00s)\nPASS\n", true},
		{"order of TAP", "1..2\nok 1 - a\nnot ok 2 - b\n", "1..2\nnot ok 2 - b\nok 1 - a\n", true},
		{
			"order of go test -json", `{"Time":"x","Action":"output","Package":"p","Test":"TestA","Output":"hi\n"}` + "\n" +
				`{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.1}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestB","Elapsed":0.1}` + "\n",
			`{"Time":"y","Action":"pass","Package":"p","Test":"TestB","Elapsed":7}` + "\n" +
				`{"Action":"output","Package":"p","Test":"TestA","Output":"hi\n"}` + "\n" + `{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.2}` + "\n", true,
		},
		{"a call of a changed function", `calls: {"Name":"F","Detail":{"Text":"1","Micros":28}}`, `calls: {"Name":"F","Detail":{"Text":"1","Micros":3}}`, true},
		{"another answer of a changed function", `calls: {"Name":"F","Detail":{"Text":"1","Micros":3}}`, `calls: {"Name":"F","Detail":{"Text":"2","Micros":3}}`, false},
		{"JSON of node --test", `{"ok":true,"name":"a","ms":48.37,"error":""}`, `{"ok":true,"name":"a","ms":1.050777,"error":""}`, true},
		{"JSON of jest", `{"startTime":1763868000000,"perfStats":{"end":17,"runtime":3,"start":14},"duration":null,"title":"a"}`, `{"startTime":1763868099999,"perfStats":{"end":27,"runtime":13,"start":4},"duration":null,"title":"a"}`, true},
		{"JSON of rspec", `{"seed":12,"run_time":1.2e-05,"status":"passed"}`, `{"seed":7,"run_time":0.5,"status":"passed"}`, true},
		{"JUnit", `<testcase name="a" time="0.001" timestamp="x">`, `<testcase name="a" time="1.2" timestamp="y">`, true},
		{"TRX", `<UnitTestResult executionId="0f8fad5b-d9cb-469f-a165-70867728950e" testName="a" duration="00:00:01" outcome="Passed">`, `<UnitTestResult executionId="7c9e6679-7425-40de-944b-e07fc1f90ae7" testName="a" duration="00:00:02" outcome="Passed">`, true},
		{"TAP of node", "ok 1 - a\n  ---\n  duration_ms: 1.5\n", "ok 1 - a\n  ---\n  duration_ms: 22\n", true},

		{"Jest", "✓ adds (553 ms)\nTime:        0.296 s, estimated 1 s\n", "✓ adds (7 ms)\nTime:        1.5 s, estimated 2 s\n", true},
		{"Maven", "Tests run: 1, Failures: 0, Time elapsed: 0.819 s - in A", "Tests run: 1, Failures: 0, Time elapsed: 1,080.8 s - in A", true},
		{".NET", "Passed A [< 1 ms]\nPassed!  - Failed: 0, Passed: 1, Duration: 66 ms - x.dll", "Passed A [12 ms]\nPassed!  - Failed: 0, Passed: 1, Duration: 1 s - x.dll", true},
		{"Vite", "✓ built in 3.45 s", "✓ built in 900 ms", true},
		{"PHPUnit", "Time: 00:00.613, Memory: 6.00 MB", "Time: 00:01.743, Memory: 8.50 MB", true},
		{"benchmark.js", "a x 6,731 ops/sec ±1.02% (88 runs sampled)", "a x 84 ops/sec ±0.5% (91 runs sampled)", true},
		{"a benchmark of Go", "BenchmarkAdd-2   \t1000000\t      1023 ns/op", "BenchmarkAdd-2   \t 98000\t     51.2 ns/op", true},
		{"throughput", "copied at 12.5 MB/s", "copied at 9 MB/s", true},
		{"heap", "a.test.js (25 MB heap size)", "a.test.js (31.5 MB heap size)", true},
		{"seconds since 1970", `at 1795896718, "timestamp": 1795896718.25`, `at 1795896719, "timestamp": 1795897999.5`, true},
		{"milliseconds and nanoseconds since 1970", "1795896723539 1795896729755434216", "1795896725517 1795896731821211534", true},
		{"names of mktemp", "made tmp.UIpSuaBHoQ", "made tmp.aui7Tcq6Nq", true},
		{"Java objects", "java.lang.Object@3a843ca [I@1b6d3586", "java.lang.Object@b8865c8 [I@74a14482", true},
		{"seeds", "Random seed: 712947459\nRandomized with seed 19612\nRun options: --seed 5", "Random seed: 1\nRandomized with seed 2\nRun options: --seed 77", true},
		{"elapsed without a unit", "Elapsed time: 16667", "Elapsed time: 11116", true},

		{"a time that is a result", "Expected: 66 ms\nReceived: 66 ms", "Expected: 66 ms\nReceived: 67 ms", false},
		{"a limit of time", "time limit: 30 s", "time limit: 60 s", false},
		{"a size", "wrote 6.00 MB", "wrote 7.00 MB", false},
		{"a number of ten digits", "fib 46 = 1836311903", "fib 46 = 1836311902", false},
		{"another number of ten digits", "at 2147483647", "at 2147483648", false},
		{"a long number", "1036854775807 9223372036854775807", "1036854775808 9223372036854775806", false},
		{"what took a time", "adds (553 ms)", "divides (553 ms)", false},
		{"how many tests ran", "Tests run: 1, Time elapsed: 0.819 s", "Tests run: 2, Time elapsed: 0.819 s", false},
		{"another class", "Object@3a843ca", "String@3a843ca", false},
		{"an address of mail", "mail to abe@decade", "mail to abe@facade", false},
		{"a version", "left-pad@12345", "left-pad@12346", false},
		{"words like names of mktemp", "read tmp.properties", "read tmp.attributes", false},
		{"a short name after tmp", "read tmp.v1", "read tmp.v2", false},
		{"bytes of a benchmark of Go", "BenchmarkAdd-2 \t 1 \t 1023 ns/op \t 16 B/op", "BenchmarkAdd-2 \t 1 \t 1023 ns/op \t 32 B/op", false},
		{"a share", "covers 81.5% of statements", "covers 80.5% of statements", false},

		{"a result in JSON", `{"ok":true,"name":"a","ms":48.37}`, `{"ok":false,"name":"a","ms":48.37}`, false},
		{"a result in JUnit", `<testcase name="a" time="1"><failure/>`, `<testcase name="a" time="1"><skipped/>`, false},
		{"an id in HTML", `<p id="a">`, `<p id="b">`, false},
		{"an actual value in JSON", `{"actual":3,"ms":1}`, `{"actual":4,"ms":1}`, false},
		{"a number", "sum 5", "sum 6", false},
		{"a result of a test", "--- PASS: TestA (0.01s)\n", "--- FAIL: TestA (0.01s)\n", false},
		{"how often a test ran", "--- PASS: TestA (0.01s)\n--- PASS: TestA (0.01s)\n", "--- PASS: TestA (0.01s)\n", false},
		{"a result in go test -json", `{"Action":"pass","Package":"p","Test":"TestA"}` + "\n", `{"Action":"fail","Package":"p","Test":"TestA"}` + "\n", false},
		{"an output in go test -json", `{"Action":"output","Package":"p","Test":"TestA","Output":"2"}` + "\n", `{"Action":"output","Package":"p","Test":"TestA","Output":"3"}` + "\n", false},
		{"order of what is no test", "first\nsecond\n", "second\nfirst\n", false},
		{"a file beside a folder", "/tmp/a: denied", "/tmp/a: allowed", false},
		{"an exit", "exit status 1", "exit status 2", false},
	} {
		if got := Comparable(tc.a) == Comparable(tc.b); got != tc.same {
			t.Errorf("%s: same is %t\n%q\n%q", tc.name, got, Comparable(tc.a), Comparable(tc.b))
		}
	}
}

// A recorded command is the one that is given where only what the gate derives
// from time, folders and settings are others.
func TestSameWords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		recorded, given string
		same            bool
	}{
		{"go test -json -timeout=1m10s ./...", "go test -json -timeout=2m0s ./...", true},
		{"go test -json ./...", "go test -json -timeout=2m0s ./...", true},
		{"GOWORK=off go build ./...", "go build ./...", true},
		{"sh /a/worktrees/x/probe.sh", "sh /b/worktrees/y/probe.sh", true},
		{"go test ./...", "go test ./a", false},
		{"echo go build ./...", "go build ./...", false},
		{"sh a.sh", "sh b.sh", false},
		{"sh a.sh --seed 1", "sh a.sh --seed 2", false},
		{"date -d @1795896718", "date -d @1795896719", false},
	} {
		if got := SameWords(tc.recorded, tc.given); got != tc.same {
			t.Errorf("%q and %q: %t", tc.recorded, tc.given, got)
		}
	}
}

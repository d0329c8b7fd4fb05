package results

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An ended is a test of which a runner reports how it ended.
type ended struct {
	name   string
	status Status
}

// A format is one that a runner reports tests in.
type format struct {
	name    string
	collect func(string) Collector
	// One of each, with | between them, stands once at least in what reports a test, in every
	// spelling of the format.
	each string
	// write reports tests of one file; nil: by no writer here.
	write func([]ended) string
	// more is what adds to the output of a failed test without end, as a line.
	more string
}

func formats() []format {
	return []format{
		{"jest.json", Numbered(ParseJest), "{", writeJest, ""},
		{"vitest.json", Numbered(ParseJest), "{", writeJest, ""},
		{"mocha.json", Numbered(ParseMocha), "{", writeMocha, ""},
		{"node.jsonl", Numbered(ParseNodeTest), "{", writeNode, ""},
		{"unittest.jsonl", Documented(ParseUnittest), "{", writeLines, ""},
		{"minitest.jsonl", Numbered(ParseMinitest), "{", writeLines, ""},
		{"tape.tap", Grouped(ParseTAP), "ok", writeTAP, "  at x"},
		{"ava.tap", Grouped(ParseTAP), "ok", writeTAP, "  at x"},
		{"tap.tap", Grouped(ParseTAP), "ok", writeTAP, "  at x"},
		{"pytest.xml", Documented(ParsePytest), "testcase", writeJUnit, ""},
		{"surefire.xml", Grouped(ParseModules), "testcase", writeJUnit, ""},
		{"ctest.xml", Grouped(parseJUnit(byCTest)), "testcase", writeJUnit, ""},
		{"meson.xml", Grouped(ParseMeson), "testcase", writeJUnit, ""},
		{"phpunit.xml", Documented(parseJUnit(byPHPUnit)), "testcase", nil, ""},
		{"cargo.txt", Cargo, " ... |Running |Doc-tests |test failed", writeCargo, "x"},
		{"rspec.json", Numbered(ParseRSpec), "{", writeRSpec, ""},
		{"dotnet.trx", Grouped(ParseTRX), "UnitTestResult", writeTRX, ""},
		{"mix.txt", Text(ParseMix), "* ", writeMix, "  x"},
		{"go.jsonl", func(unit string) Collector { return newGoStream(unit) }, "{", writeGo, ""},
		{"go with counts", func(unit string) Collector { return NewLineCounts(newGoStream(unit)) }, "{", writeGo, ""},
	}
}

func sentence(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(out) + "\n"
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // to memory
	return b.String()
}

func count(tests []ended, s Status) int {
	n := 0
	for _, t := range tests {
		if t.status == s {
			n++
		}
	}
	return n
}

func writeJest(tests []ended) string {
	all := []any{}
	for _, t := range tests {
		all = append(all, map[string]any{"title": t.name, "status": map[Status]string{Passed: "passed", Failed: "failed", Skipped: "pending"}[t.status]})
	}
	return sentence(map[string]any{"numFailedTests": count(tests, Failed), "testResults": []any{map[string]any{"name": "f", "assertionResults": all}}})
}

func writeMocha(tests []ended) string {
	doc := map[string][]any{"tests": {}, "pending": {}, "failures": {}}
	for _, t := range tests {
		one := map[string]any{"fullTitle": t.name, "file": "f", "state": map[Status]string{Passed: "passed", Failed: "failed", Skipped: "pending"}[t.status]}
		doc["tests"] = append(doc["tests"], one)
		if list, ok := map[Status]string{Failed: "failures", Skipped: "pending"}[t.status]; ok {
			doc[list] = append(doc[list], one)
		}
	}
	return sentence(map[string]any{"stats": map[string]int{"failures": count(tests, Failed)}, "tests": doc["tests"], "pending": doc["pending"], "failures": doc["failures"]})
}

func writeNode(tests []ended) string {
	out := ""
	for _, t := range tests {
		out += sentence(map[string]any{"ok": t.status != Failed, "skip": t.status == Skipped, "name": t.name, "file": "f"})
	}
	return out + "{\"end\":true}\n"
}

func writeLines(tests []ended) string {
	out := ""
	for _, t := range tests {
		out += sentence(map[string]any{"status": t.status, "name": t.name, "file": "f"})
	}
	return out + "{\"end\":true}\n"
}

func writeTAP(tests []ended) string {
	out := "TAP version 13\n"
	for i, t := range tests {
		out += map[Status]string{Failed: "not "}[t.status] + fmt.Sprintf("ok %d - %s", i+1, t.name) + map[Status]string{Skipped: " # SKIP"}[t.status] + "\n"
	}
	return out + fmt.Sprintf("1..%d\n", len(tests))
}

func writeJUnit(tests []ended) string {
	out := `<?xml version="1.0"?><testsuites><testsuite name="f" failures="` + fmt.Sprint(count(tests, Failed)) + `">`
	for _, t := range tests {
		out += `<testcase classname="f" name="` + escaped(t.name) + `">` + map[Status]string{Failed: "<failure/>", Skipped: "<skipped/>"}[t.status] + `</testcase>`
	}
	return out + "</testsuite></testsuites>"
}

func writeCargo(tests []ended) string {
	out := fmt.Sprintf("     Running unittests src/lib.rs (target/debug/deps/m-0123456789abcdef)\n\nrunning %d tests\n", len(tests))
	for _, t := range tests {
		out += "test " + t.name + " ... " + map[Status]string{Passed: "ok", Failed: "FAILED", Skipped: "ignored"}[t.status] + "\n"
	}
	return out + fmt.Sprintf("\ntest result: FAILED. %d passed; %d failed; %d ignored; 0 measured\n", count(tests, Passed), count(tests, Failed), count(tests, Skipped))
}

func writeRSpec(tests []ended) string {
	all := []any{}
	for _, t := range tests {
		all = append(all, map[string]any{"file_path": "f", "full_description": t.name, "status": map[Status]string{Passed: "passed", Failed: "failed", Skipped: "pending"}[t.status]})
	}
	return sentence(map[string]any{"examples": all, "summary": map[string]int{"failure_count": count(tests, Failed)}})
}

func writeTRX(tests []ended) string {
	out := "<TestRun><Results>"
	for i, t := range tests {
		out += fmt.Sprintf(`<UnitTestResult testId="%d" testName="%s" outcome="%s"/>`, i, escaped(t.name), map[Status]string{Passed: "Passed", Failed: "Failed", Skipped: "NotExecuted"}[t.status])
	}
	return out + fmt.Sprintf(`</Results><ResultSummary><Counters failed="%d"/></ResultSummary></TestRun>`, count(tests, Failed))
}

func writeMix(tests []ended) string {
	out := "M [test/m_test.exs]\n"
	for i, t := range tests {
		out += "  * test " + t.name + map[Status]string{Passed: " (0.1ms)", Failed: " (0.1ms)", Skipped: " (skipped)"}[t.status] + " [L#1]\n"
		if t.status == Failed {
			out += fmt.Sprintf("\n  %d) test %s (M)\n     test/m_test.exs:1\n\n", i+1, t.name)
		}
	}
	return out + fmt.Sprintf("\nFinished in 0.1 seconds\n%d tests, %d failures\n", len(tests), count(tests, Failed))
}

func writeGo(tests []ended) string {
	out := ""
	for _, t := range tests {
		out += sentence(goEvent{Action: "output", Package: "f", Test: t.name, Output: "--- " + strings.ToUpper(string(t.status)) + ": " + t.name + "\n"})
		out += sentence(goEvent{Action: string(t.status), Package: "f", Test: t.name})
	}
	result, said := "pass", "PASS\n"
	if count(tests, Failed) > 0 {
		result, said = "fail", "FAIL\n"
	}
	return out + sentence(goEvent{Action: "output", Package: "f", Output: said}) + sentence(goEvent{Action: result, Package: "f"})
}

// read collects what comes in pieces of n bytes.
func read(t *testing.T, f format, data string, n int) (Suite, Collector) {
	t.Helper()
	c := f.collect("sub")
	for part := range slices.Chunk([]byte(data), n) {
		if got, err := c.Write(part); got != len(part) || err != nil {
			t.Fatalf("%s: Write of %d bytes: %d, %v", f.name, len(part), got, err)
		}
	}
	return c.Suite("E1", "/repo"), c
}

func failures(s Suite) map[ID]bool {
	out := map[ID]bool{}
	for id, t := range s {
		if t.Status == Failed {
			out[id] = true
		}
	}
	return out
}

// Whatever a runner's output is, its results are the same however it is split; they are of
// tests that are reported, and end in a known way; and a failure is not lost to what
// follows it.
func FuzzResults(f *testing.F) {
	all := formats()
	for i, one := range all {
		data, err := os.ReadFile(filepath.Join("testdata", "results", one.name))
		if err != nil && one.write == nil {
			f.Fatal(err)
		}
		if one.write != nil {
			f.Add(uint8(i), uint16(3), one.write([]ended{{"a", Passed}, {"b", Failed}, {"c", Skipped}}), "ok 3\n")
		}
		f.Add(uint8(i), uint16(7), string(data), one.more)
	}
	f.Fuzz(func(t *testing.T, which uint8, n uint16, data, trailer string) {
		one := all[int(which)%len(all)]
		whole, c := read(t, one, data, len(data)+1)
		why, much := c.Gap()
		pieces, d := read(t, one, data, int(n)+1)
		why2, much2 := d.Gap()
		if diff := cmp.Diff(whole, pieces); diff != "" || why != why2 || much != much2 || c.Rest() != d.Rest() || c.None() != d.None() {
			t.Errorf("%s: in pieces of %d bytes: %q, %q\n%s", one.name, n+1, why, why2, diff)
		}
		reported := 0
		for id, r := range whole {
			if rank(r.Status) < 0 {
				t.Errorf("%s: %v ended with %q", one.name, id, r.Status)
			}
			if id.Test != "" {
				reported++
			}
		}
		most := 0
		for each := range strings.SplitSeq(one.each, "|") {
			most += strings.Count(data, each)
		}
		if reported > most {
			t.Errorf("%s: %d tests, and at most %d are reported", one.name, reported, most)
		}
		later, c := read(t, one, data+"\n"+trailer, 1<<20)
		if why, _ := c.Gap(); why != "" {
			return // the command fails, or has not run its tests
		}
		for id := range failures(whole) {
			if id.Test == "" && later[id].Status == Passed && later[id].Ended == Failed {
				continue // explained by a test that fails
			}
			if later[id].Status != Failed {
				t.Errorf("%s: %v failed, and is %q when %q follows", one.name, id, later[id].Status, trailer)
			}
		}
	})
}

// What runners write is read back: each test with the worst way that it ended in, and no
// other test.
func FuzzWritten(f *testing.F) {
	f.Add("a\nb\nc\na", []byte{0, 1, 2, 1})
	f.Add("adds 1 # SKIP\nok ... ok\nx (1ms)\n- y\n<a&b>", []byte{1, 1, 1, 1, 1})
	f.Add("é \U0001F600\n--- FAIL: x\nnot ok", []byte{0, 0, 0})
	all := formats()
	f.Fuzz(func(t *testing.T, names string, ends []byte) {
		var tests []ended
		for i, name := range strings.Split(strings.ToValidUTF8(names, "?"), "\n") {
			name = strings.Join(strings.Fields(strings.Map(sayable, name)), " ")
			if name != "" && i < len(ends) {
				tests = append(tests, ended{name, []Status{Passed, Failed, Skipped}[ends[i]%3]})
			}
		}
		if len(tests) == 0 {
			return
		}
		for _, one := range all {
			if one.write == nil {
				continue
			}
			plain := strings.HasSuffix(one.name, ".txt") || strings.HasSuffix(one.name, ".tap") || strings.HasPrefix(one.name, "go")
			want, seen := map[string]Status{}, map[string]int{}
			for i, w := range tests {
				if plain { // these formats have no way to escape what is part of them
					tests[i].name = strings.Map(letter, w.name)
				}
				name := tests[i].name
				if seen[name]++; seen[name] > 1 && slices.Contains([]string{"jest.json", "vitest.json", "mocha.json", "node.jsonl", "rspec.json", "minitest.jsonl"}, one.name) {
					name = fmt.Sprintf("%s[%d]", name, seen[name])
				}
				if old, ok := want[name]; !ok || rank(w.status) > rank(old) {
					want[name] = w.status
				}
			}
			s, c := read(t, one, one.write(tests), 11)
			got := map[string]Status{}
			for id, r := range s {
				if id.Test != "" {
					got[strings.TrimPrefix(id.Test, map[string]string{"mix.txt": "test "}[one.name])] = r.Status
				}
			}
			if why, _ := c.Gap(); why != "" && (one.name != "mix.txt" || len(want) >= len(tests)) {
				t.Errorf("%s: %s", one.name, why)
			}
			for _, w := range tests { // of tests of one name, passed and skipped, a runner's last may count
				if w.status == Skipped && want[w.name] == Passed && got[w.name] == Skipped {
					want[w.name] = Skipped
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-written +read):\n%s\n%s", one.name, diff, one.write(tests))
			}
		}
	})
}

func sayable(r rune) rune {
	if r < ' ' || r == 0x7f || r == 0xfffe || r == 0xffff {
		return ' '
	}
	return r
}

func letter(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
		return r
	}
	return '_'
}

// A failure that is reported anywhere makes a test fail, or the results unusable; so does
// what ends before its end.
func TestFailuresAreKept(t *testing.T) {
	t.Parallel()
	byName := map[string]format{}
	for _, one := range formats() {
		byName[one.name] = one
	}
	for _, tt := range []struct{ what, name, data string }{
		{"results without names", "tape.tap", "1..2\nnot ok 1\nok 2\n"},
		{"after Bail out", "tape.tap", "1..1\nBail out!\nok 1\n"},
		{"a file that does not load, and one of its name", "unittest.jsonl", `{"file":"a","status":"fail"}` + "\n" + `{"file":"a","status":"pass"}` + "\n{\"end\":true}\n"},
		{"an unknown end", "unittest.jsonl", `{"file":"a","name":"b","status":"failed"}` + "\n{\"end\":true}\n"},
		{"an unknown end of minitest", "minitest.jsonl", `{"file":"a","name":"b","status":"error"}` + "\n{\"end\":true}\n"},
		{"a program that ended", "minitest.jsonl", `{"file":"a","name":"b","status":"pass"}` + "\n"},
		{"a program of cargo that ended", "cargo.txt", "     Running unittests src/lib.rs (target/debug/deps/m-0123456789abcdef)\nrunning 2 tests\ntest a ... ok\n"},
		{"the first of two that ended", "cargo.txt", "running 1 test\nrunning 1 test\ntest a ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored\n"},
		{"a line that a test has broken", "cargo.txt", "running 1 test\ntest a ... said\nFAILED\ntest result: FAILED. 0 passed; 1 failed; 0 ignored\n"},
		{"a failure of no known module", "mix.txt", "M [test/m_test.exs]\n  * test a (0.1ms) [L#1]\n\n  1) test b (N)\n\n2 tests, 1 failure\n"},
		{"skipped after it failed", "surefire.xml", `<testsuite><testcase classname="a" name="b"><failure/><skipped/></testcase></testsuite>`},
		{"inside of what is no suite", "surefire.xml", `<testsuite><group><testcase classname="a" name="b"><failure/></testcase></group></testsuite>`},
		{"outside of tests", "surefire.xml", `<testsuite><testcase classname="a" name="b"/><failure/></testsuite>`},
		{"after the tests of a file", "jest.json", `{"testResults":[{"name":"/repo/a.js","status":"failed","message":"afterAll","assertionResults":[{"title":"b","status":"passed"}]}]}`},
		{"counted alone", "rspec.json", `{"examples":[{"full_description":"a","file_path":"a.rb","status":"passed"}],"summary":{"failure_count":1}}`},
		{"outside of examples", "rspec.json", `{"examples":[{"full_description":"a","file_path":"a.rb","status":"passed"}],"summary":{"errors_outside_of_examples_count":1}}`},
		{"counted alone in TRX", "dotnet.trx", `<TestRun><Results><UnitTestResult testName="a" outcome="Passed"/></Results><ResultSummary><Counters failed="1"/></ResultSummary></TestRun>`},
		{"a last line without an end", "go.jsonl", `{"Action":"output","Package":"m","Test":"TestA","Output":"--- FAIL: TestA\n"}` + "\n" + `{"Action":"fail","Package":"m","Test":"TestA"}`},
		{"a last line among counts", "go with counts", `{"Action":"output","Package":"m","Test":"TestA","Output":"--- FAIL: TestA\n"}` + "\n" + `{"Action":"fail","Package":"m","Test":"TestA"}`},
	} {
		s, c := read(t, byName[tt.name], tt.data, 5)
		if why, _ := c.Gap(); why == "" && len(failures(s)) == 0 {
			t.Errorf("%s: %s, and nothing is wrong with it", tt.what, statuses(s))
		}
	}
}

// Groups of tests that no project has inside one another are refused: each takes the names
// of all tests in it.
func TestDeepGroups(t *testing.T) {
	t.Parallel()
	deep := ""
	for n := 100; n >= 0; n-- {
		deep += sentence(map[string]any{"ok": true, "name": "a", "file": "f", "nesting": n})
	}
	if _, err := ParseNodeTest([]byte(deep + "{\"end\":true}\n")); err == nil {
		t.Error("no error")
	}
}

// Reading results takes memory in proportion to them, however their lines are made: putting
// the output of a test together line by line would take the square.
func TestResultsTakeTheirSize(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector drops what is pooled, and so counts each use")
	}
	for _, one := range formats() {
		if one.more == "" {
			continue
		}
		head := one.write([]ended{{"a", Failed}})
		switch one.name {
		case "cargo.txt":
			head += "\n---- a stdout ----"
		case "mix.txt":
			head += "\n  1) test a (M)"
		}
		data := []byte(head + strings.Repeat("\n"+one.more, 5_000))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		read(t, one, string(data), 1<<20)
		runtime.ReadMemStats(&after)
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(200*len(data)); got > most {
			t.Errorf("%s: %d bytes for %d, at most %d", one.name, got, len(data), most)
		}
	}
}

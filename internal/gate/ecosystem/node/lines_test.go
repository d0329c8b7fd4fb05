package node

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestV8Lines holds which lines counts of V8 say to have run.
func TestV8Lines(t *testing.T) {
	t.Parallel()
	const src = "// 𝒰 in a comment\nexports.a = n => n + 1\n\nexports.b = n => {\n  if (n) {\n    return 1\n  }\n  return 2\n}\n"
	at := func(n int) int { return n + 1 } // the letter takes two units
	whole := v8Range{0, at(len([]rune(src))), 1}
	for _, tt := range []struct {
		what      string
		functions [][]v8Range
		want      map[int]bool
	}{
		{"called, one branch", [][]v8Range{{whole}, {{at(30), at(40), 2}}, {{at(54), at(101), 1}, {at(70), at(88), 0}}}, map[int]bool{2: true, 4: true, 5: true, 6: false, 8: true}},
		{"loaded alone", [][]v8Range{{whole}, {{at(30), at(40), 0}}, {{at(54), at(101), 0}}}, map[int]bool{2: false, 4: false, 5: false, 6: false, 8: false}},
		{"of another version", [][]v8Range{{{0, 4000, 1}}}, nil},
		{"of what it is compiled into", [][]v8Range{{{0, 90, 1}}, {{at(30), at(40), 2}}}, nil},
		{"of a part of the time", [][]v8Range{{{at(30), at(40), 2}}}, nil},
		{"nothing said", nil, nil},
	} {
		if diff := cmp.Diff(tt.want, v8Lines([]byte(src), tt.functions)); diff != "" {
			t.Errorf("%s\n-want +got\n%s", tt.what, diff)
		}
	}
	many := make([]v8Range, results.MaxPainted/100)
	for i := range many {
		many[i] = whole
	}
	if got := v8Lines([]byte(src), [][]v8Range{many}); got != nil {
		t.Errorf("counts that take too long to read: %v", got)
	}
}

// TestCountingNode holds how commands of Node.js are made to count.
func TestCountingNode(t *testing.T) {
	t.Parallel()
	q := ecosystem.Counting{Unit: ".", Files: []ecosystem.ChangedFile{{Path: "app/[id].tsx"}, {Path: "lib/calc.js"}}}
	const v8 = "export NODE_V8_COVERAGE=$COUNTS_DIR"
	for text, want := range map[string][]string{ // what is in the command, and with "!" what is not
		"node --test":                {v8, "node --test "},
		"mocha test":                 {v8, `"$RUNNER" --reporter "$REPORTER"`},
		"npx nyc --all mocha":        {v8, "!nyc"},
		"npx c8 node --test":         {v8, "!c8", "!npx"},
		"cross-env A=1 nyc mocha":    {v8, `cross-env A=1 "$RUNNER"`},
		"mocha -r ts-node/register":  {v8},
		"tsx --test":                 {v8},
		"ava":                        {v8},
		"tape test.js":               {v8},
		"tap":                        {v8, "TAP_DISABLE_COVERAGE=1"},
		"jest --maxWorkers 2":        {"!" + v8, ` --coverageDirectory="$COUNTS_DIR"`, `--collectCoverageFrom='**/calc.js'`, "**/?id?.tsx"},
		"react-scripts test":         {"!" + v8, ` --coverageDirectory="$COUNTS_DIR"`},
		"vitest run":                 {"!" + v8, ` --coverage.reportsDirectory="$COUNTS_DIR"`, "--coverage.include="},
		"npm test":                   {v8, "npm test"},
		"make test && echo done":     {v8, " pipefail "},
		"node test.js > results.txt": {v8},
	} {
		c, why := nodeLines().Command(ecosystem.CommandOf(results.StageTest, text, New()), q)
		if why != "" {
			t.Errorf("%s: %s", text, why)
		}
		// The filter has names of programs in it.
		script, _, _ := strings.Cut(ecosystem.ShellWords(c), results.CountsMark)
		for _, w := range want {
			if w, not := strings.CutPrefix(w, "!"); not == strings.Contains(script, w) {
				t.Errorf("%s: %q is there=%v in\n%s", text, w, not, script)
			}
		}
	}
}

// TestCountsBehindResults holds that counts are found behind results without an end of line,
// that results are passed on as they are, and that what tests print is no counts.
func TestCountsBehindResults(t *testing.T) {
	t.Parallel()
	const src = "exports.a = n => n + 1\n"
	const ran = `{"v8":"lib/a.js","functions":[[{"startOffset":0,"endOffset":23,"count":1}],[{"startOffset":12,"endOffset":22,"count":1}]]}` + "\n"
	const not = `{"v8":"lib/a.js","functions":[[{"startOffset":0,"endOffset":23,"count":1}],[{"startOffset":12,"endOffset":22,"count":0}]]}` + "\n"
	const mark, end = "\n" + results.CountsMark + "\n", `{"v8":"","sources":2}` + "\n"
	q := ecosystem.Counting{Unit: ".", Files: []ecosystem.ChangedFile{{Path: "lib/a.js", Src: []byte(src)}}}
	for _, tt := range []struct {
		what, out, passed string
		ran, knows        bool
		missed            string
	}{
		{"no end of line", `{"tests":[]}` + mark + ran + end, `{"tests":[]}` + "\n", true, true, ""},
		{"an end of line", "{}\n" + mark + ran + end, "{}\n", true, true, ""},
		{"empty lines", "a\n\n\nb\n\n" + mark + not + end, "a\n\n\nb\n\n", false, true, ""},
		{"counts that tests print", ran + "ok 1\n" + mark + not + end, ran + "ok 1\n", false, true, ""},
		{"a mark that tests print", mark + ran + end + "ok 1\n" + mark + not + end, "ok 1\n", false, true, ""},
		{"no mark", "{}\n" + ran + end, "{}\n" + ran + end, false, false, "its counts are missing or not complete"},
		{"no counts", "{}" + mark, "{}\n", false, false, "its counts are missing or not complete"},
		{"ended early", "{}" + mark + ran, "{}\n", true, true, "its counts are missing or not complete"},
		{"nothing loaded as it is", "{}" + mark + `{"v8":"","sources":0}`, "{}\n", false, false, "nothing of the project was counted by the runner, or its tests load none of it as it is"},
		{"compiled", "{}" + mark + strings.ReplaceAll(ran, `"endOffset":23`, `"endOffset":40`) + end, "{}\n", false, false, "lib/a.js is compiled before it runs, and the counts are of what was compiled"},
	} {
		for _, size := range []int{1, 7, len(tt.out)} {
			results := &textCollector{}
			c := nodeLines().Reader(results, q)
			for rest := tt.out; rest != ""; {
				n := min(size, len(rest))
				if _, err := c.Write([]byte(rest[:n])); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			c.Suite("", "")
			ran, _ := c.Line("lib/a.js", 1)
			if got := results.String(); got != tt.passed || ran != tt.ran || c.Knows["lib/a.js"] != tt.knows || c.Missed() != tt.missed {
				t.Errorf("%s: passed %q, ran %v, knows %v, missed %q", tt.what, got, ran, c.Knows["lib/a.js"], c.Missed())
			}
		}
	}
}

// A textCollector keeps what it is given.
type textCollector struct {
	results.Collector
	strings.Builder
}

func (c *textCollector) Write(p []byte) (int, error)        { return c.Builder.Write(p) }
func (c *textCollector) Suite(string, string) results.Suite { return nil }

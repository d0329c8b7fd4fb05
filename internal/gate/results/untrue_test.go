package results

import (
	"strings"
	"testing"
)

// TestUntrueResults holds that results that contradict themselves, or end before
// their run does, are no results of a whole run, and that a failure in them counts
// whatever else they say.
func TestUntrueResults(t *testing.T) {
	t.Parallel()
	const fails = `<testcase classname="c" name="a"><failure/></testcase>`
	const passes = `<testcase classname="c" name="a"/>`
	junit := Grouped(parseJUnit(byClass))
	for what, tt := range map[string]struct {
		collect func(string) Collector
		data    string
		want    string
		gap     string
	}{
		"JUnit: failed, then passed":       {junit, `<testsuite>` + fails + passes + `</testsuite>`, "c a fail; c pass", ""},
		"JUnit: passed, then failed":       {junit, `<testsuite>` + passes + `</testsuite><testsuite>` + fails + `</testsuite>`, "c a fail; c pass", ""},
		"JUnit: more counted":              {junit, `<testsuite failures="1">` + passes + `</testsuite>`, "c a pass; c pass", "they count 1 failures and report 0"},
		"JUnit: fewer counted":             {junit, `<testsuite failures="0">` + fails + `</testsuite>`, "c a fail; c pass", ""},
		"JUnit: none":                      {junit, `<testsuite/>`, "", NoTests},
		"pytest fails as a whole":          {Documented(ParsePytest), `<testsuite errors="1"><testcase classname="pytest" name="internal"><error message="internal error">x</error></testcase></testsuite>`, "", "pytest failed as a whole"},
		"pytest collects nothing":          {Documented(ParsePytest), `<testsuite errors="1"><testcase classname="" name="" file=""><error message="collection failure">x is deprecated</error></testcase></testsuite>`, "", "pytest failed as a whole: x is deprecated"},
		"PHPUnit ended it by a warning":    {junit, `<testsuite><testcase classname="c" name="a"><warning>no</warning></testcase><testcase classname="d" name="a"/></testsuite>`, "c a skip; c pass; d a pass; d pass", ""},
		"surefire ran it again":            {junit, `<testsuite><testcase classname="c" name="a"><flakyFailure/></testcase></testsuite>`, "c a pass^; c pass", ""},
		"jest: more counted":               {Numbered(ParseJest), `{"numFailedTests":1,"testResults":[{"name":"a","assertionResults":[{"title":"t","status":"passed","invocations":2}]}]}`, "a pass; a t pass^", "they count 1 failures and report 0"},
		"mocha: more counted":              {Numbered(ParseMocha), `{"stats":{"failures":2},"tests":[{"file":"a","fullTitle":"t","currentRetry":1}],"failures":[]}`, "a pass; a t pass^", "they count 2 failures and report 0"},
		"node: no end":                     {Numbered(ParseNodeTest), `{"ok":true,"name":"t","file":"a"}` + "\n", "a pass; a t pass", errEnded.Error()},
		"unittest: no end":                 {Documented(ParseUnittest), `{"file":"a","name":"t","status":"pass"}` + "\n", "a pass; a t pass", errEnded.Error()},
		"TAP: no plan":                     {Grouped(ParseTAP), "ok 1 - a\n", "TAP a pass; TAP pass", errEnded.Error()},
		"TAP: fewer than planned":          {Grouped(ParseTAP), "1..2\nok 1 - a\n", "TAP a pass; TAP pass", "2 results are planned and 1 are there"},
		"TAP: failed, then passed":         {Grouped(ParseTAP), "1..2\nnot ok 1 - a\nok 2 - a\n", "TAP a fail; TAP pass", ""},
		"TAP: a second plan":               {Grouped(ParseTAP), "1..2\nok 1 - a\n1..1\n", "TAP a pass; TAP pass", "2 results are planned"},
		"nothing, with success":            {Numbered(ParseJest), "", "", NoTests},
		"go test of packages without name": {func(unit string) Collector { return newGoStream(unit) }, "", "", NoTests},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c := tt.collect(".")
			if _, err := c.Write([]byte(tt.data)); err != nil {
				t.Fatal(err)
			}
			got := statuses(c.Suite("E1", ""))
			why, much := c.Gap()
			if got != tt.want || (why == "") != (tt.gap == "") || !strings.Contains(why, tt.gap) || much {
				t.Errorf("%s, gap %q; want %s, gap %q", got, why, tt.want, tt.gap)
			}
		})
	}
}

// TestRetried holds how runners say that a test passed only when they ran it again.
func TestRetried(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct {
		parse   func([]byte) ([]Outcome, error)
		data    string
		retried []string
	}{
		"jest":     {ParseJest, `{"testResults":[{"name":"a","assertionResults":[{"title":"t","status":"passed","invocations":2},{"title":"u","status":"passed","invocations":1}]}]}`, []string{"t"}},
		"vitest":   {ParseJest, `{"testResults":[{"name":"a","assertionResults":[{"title":"t","status":"passed","failureMessages":["expected 1 to be 2"]},{"title":"u","status":"passed","failureMessages":[]},{"title":"v","status":"failed","failureMessages":["no","no"]}]}]}`, []string{"t"}},
		"mocha":    {ParseMocha, `{"tests":[{"title":"t","fullTitle":"t","file":"a","currentRetry":1},{"title":"u","fullTitle":"u","file":"a","currentRetry":0}]}`, []string{"t"}},
		"surefire": {parseJUnit(byClass), `<testsuite><testcase classname="a" name="t"><flakyFailure message="no"/></testcase><testcase classname="a" name="u"/></testsuite>`, []string{"t"}},
		"pytest":   {ParsePytest, `<testsuite failures="1"><testcase classname="a" file="a.py" name="t"/><testcase classname="a" file="a.py" name="t"/><testcase classname="a" file="a.py" name="u"/><testcase classname="a" file="a.py" name="v"/><testcase classname="a" file="a.py" name="v"><failure message="no"/></testcase></testsuite>`, []string{"t"}},
		"pytest, an error when it was taken down": {ParsePytest, `<testsuite errors="1"><testcase classname="a" file="a.py" name="t"/><testcase classname="a" file="a.py" name="t"><error message="no"/></testcase></testsuite>`, nil},
		"rows of one name":                        {parseJUnit(byClass), `<testsuite><testcase classname="a" name="t"/><testcase classname="a" name="t"/></testsuite>`, nil},
	} {
		all, err := tt.parse([]byte(tt.data))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		var got []string
		for _, o := range all {
			if o.retried && o.status == Passed {
				got = append(got, o.name)
			}
		}
		sameStrings(t, what, got, tt.retried)
	}
}

// TestModulesOfOneClass holds that tests of two modules that have a class of one name are two
// tests, in the order of the modules, and that an instruction inside a report is none of ours.
func TestModulesOfOneClass(t *testing.T) {
	t.Parallel()
	report := func(module, inner string) string {
		return "<?module ./" + module + "/target/surefire-reports/TEST-x.CalcTest.xml?>\n<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"x.CalcTest\">" + inner + "</testsuite>\n"
	}
	pass, skip := `<testcase classname="x.CalcTest" name="adds"/>`, `<testcase classname="x.CalcTest" name="adds"><skipped/></testcase>`
	for data, want := range map[string]string{
		report("core", skip) + report("util", pass):                            "adds skip, adds[2] pass",
		report("core", pass) + report("util", skip):                            "adds pass, adds[2] skip",
		report("core", pass+pass):                                              "adds pass, adds pass",
		report("my--core", "<?module ./util/target/surefire-reports/a?>"+pass): "adds pass",
		report("core", pass+"<system-out><![CDATA[</testsuite><?module ./a/target/surefire-reports/a?>]]></system-out>") + report("core", pass): "adds pass, adds pass",
	} {
		all, err := ParseModules([]byte(data))
		var got []string
		for _, o := range all {
			got = append(got, o.name+" "+string(o.status))
		}
		if err != nil || strings.Join(got, ", ") != want {
			t.Errorf("%s\n%s: %v, want %s", data, strings.Join(got, ", "), err, want)
		}
	}
}

// TestMesonExpected holds that a test which Meson expects to fail has not passed.
func TestMesonExpected(t *testing.T) {
	t.Parallel()
	all, err := ParseMeson([]byte(`<testsuites tests="2"><testsuite name="shop"><testcase name="money --in cents" classname="shop"/><testcase name="cart" classname="shop"><system-err>` +
		"<![CDATA[<!-- expected: cart -->\n]]></system-err></testcase></testsuite></testsuites><!-- expected: money --in cents -->\n"))
	if err != nil || len(all) != 2 || all[0].status != Skipped || all[1].status != Passed {
		t.Errorf("%+v %v", all, err)
	}
}

// TestTwins holds that an old failure hides no other test of its name: twins have names of their
// own, in the order in which they stand, whatever the order in which they ran.
func TestTwins(t *testing.T) {
	t.Parallel()
	const cargo = "   Doc-tests m\n\nrunning 3 tests\ntest src/lib.rs - add (line 12) ... ok\ntest src/lib.rs - add (line 3) - compile ... FAILED\ntest src/lib.rs - sub (line 30) ... ok\n\nfailures:\n\n" +
		"---- src/lib.rs - add (line 3) stdout ----\nno\n\ntest result: FAILED. 2 passed; 1 failed; 0 ignored\n"
	const mix = "Shop.ATest [test/a_test.exs]\n  * test works (1.0ms) [L#3]\n\n  1) test works (Shop.ATest)\n     no\n\nShop.ATest.Inner [test/a_test.exs]\n  * test works (1.0ms) [L#9]\n\n" +
		"Shop.ATest.Other [test/a_test.exs]\n  * test works (1.0ms) [L#12]\n\n  2) test works (Shop.ATest.Other)\n     no\n\n3 tests, 2 failures\n"
	for what, tt := range map[string]struct {
		collect func(string) Collector
		data    string
		want    string
	}{
		"rspec": {Numbered(ParseRSpec), `{"examples":[
			{"id":"./a_spec.rb[1:10]","full_description":"w","file_path":"./a_spec.rb","status":"passed"},
			{"id":"./a_spec.rb[1:2:1]","full_description":"w","file_path":"./a_spec.rb","status":"failed"},
			{"id":"./b_spec.rb[1:1]","full_description":"w","file_path":"./shared.rb","status":"passed"},
			{"id":"./a_spec.rb[1:3]","full_description":"w","file_path":"./a_spec.rb","status":"pending"}]}`, "a_spec.rb pass; a_spec.rb w fail; a_spec.rb w[2] skip; a_spec.rb w[3] pass; b_spec.rb pass; b_spec.rb w pass"},
		"minitest": {Numbered(ParseMinitest), `{"file":"a.rb","name":"A#w","status":"pass","line":9}` + "\n" + `{"file":"a.rb","name":"A#w","status":"fail","line":3}` + "\n{\"end\":true}\n", "a.rb A#w fail; a.rb A#w[2] pass; a.rb pass"},
		"pest":     {Documented(ParsePHPUnit), `<testsuite><testcase name="it adds" file="tests/ATest.php::it adds" class="Tests\ATest" classname="Tests.ATest"/></testsuite>`, `tests/ATest.php Tests\ATest::it adds pass; tests/ATest.php pass`},
		"cargo":    {Cargo, cargo, "m pass; m src/lib.rs - add fail; m src/lib.rs - add[2] pass; m src/lib.rs - sub pass"},
		"mix":      {TextByFile(ParseMix), mix, "test/a_test.exs Shop.ATest.Inner > test works pass; test/a_test.exs Shop.ATest.Other > test works fail; test/a_test.exs pass; test/a_test.exs test works fail"},
	} {
		c := tt.collect(".")
		if _, err := c.Write([]byte(tt.data)); err != nil {
			t.Fatal(err)
		}
		got := statuses(c.Suite("E1", ""))
		if why, _ := c.Gap(); got != tt.want || why != "" {
			t.Errorf("%s: %s\nwant %s; gap %q", what, got, tt.want, why)
		}
	}
}

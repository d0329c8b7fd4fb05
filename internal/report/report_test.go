package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/change"
)

// TestExit holds the exit codes of "ycbot run".
func TestExit(t *testing.T) {
	t.Parallel()
	verdicts := []Verdict{Pass, Fail, Partial, Error, "", "pass"}
	for _, tt := range []struct {
		failOn string
		want   [6]int
	}{
		{"", [6]int{0, 1, 2, 3, 3, 3}},
		{"fail", [6]int{0, 1, 0, 3, 3, 3}},
		{"partial", [6]int{0, 1, 1, 3, 3, 3}},
		{"never", [6]int{0, 0, 0, 3, 3, 3}},
		{"something", [6]int{0, 1, 2, 3, 3, 3}},
	} {
		for i, v := range verdicts {
			for _, o := range []Outcome{Completed, TimedOut, Errored} {
				if got := Exit(v, tt.failOn, o); got != tt.want[i] {
					t.Errorf("Exit(%q, %q, %s) = %d, want %d", v, tt.failOn, o, got, tt.want[i])
				}
			}
			if got := Exit(v, tt.failOn, Cancelled); got != 130 {
				t.Errorf("Exit(%q, %q, cancelled) = %d, want 130", v, tt.failOn, got)
			}
		}
	}
}

// TestWorst holds the order FAIL > ERROR > PARTIAL > PASS.
func TestWorst(t *testing.T) {
	t.Parallel()
	order := []Verdict{Pass, Partial, Error, Fail}
	for i, a := range order {
		for j, b := range order {
			if got, want := Worst(a, b), order[max(i, j)]; got != want {
				t.Errorf("Worst(%s, %s) = %s, want %s", a, b, got, want)
			}
		}
	}
	if got := Worst(); got != Pass {
		t.Errorf("Worst() = %s", got)
	}
}

func TestFromChange(t *testing.T) {
	t.Parallel()
	var got Report
	got.FromChange(change.Change{
		Repo: "o/r", PR: 3, BaseSHA: "b", HeadSHA: "h", MergeBase: "m", Dirty: true, Title: "t",
		Files: []change.File{{Added: 2, Deleted: 1}, {Added: 3}},
	})
	want := Report{
		Repo: "o/r", PR: 3, BaseSHA: "b", HeadSHA: "h", MergeBase: "m", Dirty: true, Subject: "t",
		Changes: Changes{Files: 2, Added: 5, Deleted: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func minimal() *Report {
	return &Report{
		Schema: Schema, Verdict: Pass, Outcome: Completed, Trigger: "cli", Trust: "local",
		Checks:   []Check{{ID: "c", Kind: KindTest, Result: ResultPass}},
		Findings: []Finding{{Severity: SeverityInfo}},
		Tests:    &Tests{},
	}
}

// TestJSON: no list is null, the bytes are stable, Parse gives back what was
// written, and writing changes nothing of the report.
func TestJSON(t *testing.T) {
	t.Parallel()
	r, before := minimal(), minimal()
	first, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, r); diff != "" {
		t.Errorf("JSON changed the report:\n%s", diff)
	}
	var nulls []string
	for l := range strings.Lines(string(first)) {
		if strings.Contains(l, "null") {
			nulls = append(nulls, strings.TrimSpace(l))
		}
	}
	if diff := cmp.Diff([]string{`"cost_usd": null`}, nulls); diff != "" {
		t.Errorf("null (-want +got):\n%s", diff)
	}
	for _, list := range []string{"behaviour", "api", "accepted", "statistics", "denied"} {
		if !strings.Contains(string(first), `"`+list+`": []`) {
			t.Errorf("%s: missing where there is none", list)
		}
	}
	back, err := Parse(first)
	if err != nil {
		t.Fatal(err)
	}
	second, err := back.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(first), string(second)); diff != "" {
		t.Errorf("written again:\n%s", diff)
	}
	if !strings.HasSuffix(string(first), "}\n") {
		t.Error("no newline at the end")
	}
}

// TestJSONHidden: hidden and control characters are escaped in the file and whole
// in the value.
func TestJSONHidden(t *testing.T) {
	t.Parallel()
	r := minimal()
	r.Title = "a && b <c> \u202e \u009b \x7f \U000E0041 \ufe0f \ufffe \U0001ffff \ufdd0 ünïcode 漢"
	b, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	want := `"title": "a && b <c> \u202e \u009b \u007f \udb40\udc41 \ufe0f \ufffe \ud83f\udfff \ufdd0 ünïcode 漢"`
	if !strings.Contains(string(b), want) {
		t.Errorf("no %s in\n%s", want, b)
	}
	back, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if back.Title != r.Title {
		t.Errorf("title %q, want %q", back.Title, r.Title)
	}
}

// TestParseErrors: what is no report of this version is named.
func TestParseErrors(t *testing.T) {
	t.Parallel()
	good, err := minimal().JSON()
	if err != nil {
		t.Fatal(err)
	}
	edit := func(k string, v any) string {
		m := instance(t, good)
		m[k] = v
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, tt := range []struct{ name, in, want string }{
		{"empty", "", "unexpected end of JSON input"},
		{"no JSON", "PASS", "invalid character 'P'"},
		{"no object", "[]", "cannot unmarshal array"},
		{"no schema", "{}", `no schema: want "ycbot.report/v1"`},
		{"null", "null", `no schema: want "ycbot.report/v1"`},
		{"other schema", edit("schema", "ycbot.report/v2"), `schema "ycbot.report/v2": want "ycbot.report/v1"`},
		{"verdict", edit("verdict", "PASSED"), `verdict "PASSED": want PASS, FAIL, PARTIAL or ERROR`},
		{"no verdict", edit("verdict", ""), `verdict "": want`},
		{"outcome", edit("outcome", "done"), `outcome "done": want one of`},
		{"trigger", edit("trigger", "pushed"), `trigger "pushed": want one of`},
		{"unknown field", edit("colour", "red"), `unknown field "colour"`},
		{"type", edit("pr", "7"), "cannot unmarshal string"},
		{"more", string(good) + "{}", "invalid character '{' after top-level value"},
		{"check", edit("checks", []any{map[string]any{"id": "c7", "kind": "test", "result": "ok"}}), `checks[0] c7: result "ok": want one of ["PASS" "FAIL" "SKIP"]`},
		{"finding", edit("findings", []any{map[string]any{"severity": "bad"}}), `findings[0]: severity "bad"`},
	} {
		r, err := Parse([]byte(tt.in))
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "parse report: ") {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
		if r != nil {
			t.Errorf("%s: a report and an error", tt.name)
		}
	}
	if _, err := Parse(good); err != nil {
		t.Error(err)
	}
}

// TestModestDefaults: a check that does not say how it is supported is absent from
// the log, by any author.
func TestModestDefaults(t *testing.T) {
	t.Parallel()
	in := `{"schema": "ycbot.report/v1", "verdict": "PASS", "outcome": "completed", "trigger": "cli", "trust": "local",
		"checks": [{"id": "c", "kind": "test", "result": "PASS"}]}`
	r, err := Parse([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if c := r.Checks[0]; c.Support != Absent || c.Reproduction != NotRun || c.Evidence == nil {
		t.Errorf("check %+v", c)
	}
}

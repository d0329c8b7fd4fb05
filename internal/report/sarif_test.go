package report

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// sarifValidator is the schema of OASIS.
func sarifValidator(tb testing.TB) *jsonschema.Schema {
	tb.Helper()
	b, err := os.ReadFile("testdata/sarif-schema-2.1.0.json")
	if err != nil {
		tb.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		tb.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(sarifSchema, doc); err != nil {
		tb.Fatal(err)
	}
	s, err := c.Compile(sarifSchema)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// TestSARIFSchema: every report of testdata is a log that the schema takes, and the
// schema does look.
func TestSARIFSchema(t *testing.T) {
	t.Parallel()
	schema := sarifValidator(t)
	for _, name := range archives(t) {
		r := archived(t, name)
		b := must(r.SARIF())(t)
		checkSARIF(t, schema, r, b)
		for _, broken := range [][2]string{
			{`"level": "`, `"level": "very `},
			{`"uri": "`, `"uri": "% `},
			{`"executionSuccessful"`, `"success"`},
		} {
			bad := bytes.ReplaceAll(b, []byte(broken[0]), []byte(broken[1]))
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(bad))
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(b, []byte(broken[0])) && schema.Validate(doc) == nil {
				t.Errorf("%s: the schema takes %s", name, broken[1])
			}
		}
	}
}

// link matches a link of a SARIF message.
var link = regexp.MustCompile(`[^\\]\]\(`)

func checkSARIF(t *testing.T, schema *jsonschema.Schema, r *Report, b []byte) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("%v in\n%s", err, b)
	}
	if err := schema.Validate(doc); err != nil {
		t.Fatalf("%v in\n%s", err, b)
	}
	run := readSARIF(t, b)
	failing := 0
	for _, c := range r.Checks {
		if c.Result == ResultFail {
			failing++
		}
	}
	if got, want := len(run.Results), failing+len(r.Findings); got != want {
		t.Errorf("%d results, want %d", got, want)
	}
	prints := map[string]bool{}
	for _, res := range run.Results {
		if run.Tool.Driver.Rules[res.RuleIndex].ID != res.RuleID {
			t.Errorf("rule %d is not %s", res.RuleIndex, res.RuleID)
		}
		if len(res.Locations) != 1 {
			t.Fatalf("%d locations: GitHub wants one", len(res.Locations))
		}
		checkURI(t, res.Locations[0].Physical.Artifact.URI)
		if link.MatchString(res.Message.Text) || strings.IndexFunc(res.Message.Text, unprintable) >= 0 {
			t.Errorf("message %q", res.Message.Text)
		}
		p := res.PartialFingerprints["primaryLocationLineHash"]
		if prints[p] || p == "" {
			t.Errorf("fingerprint %q twice", p)
		}
		prints[p] = true
	}
}

// checkURI holds that a place is a file of the repository.
func checkURI(t *testing.T, s string) {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "" || u.Host != "" || u.RawQuery != "" || u.Fragment != "" ||
		u.Path == "" || path.IsAbs(u.Path) || path.Clean(u.Path) != u.Path || strings.HasPrefix(u.Path, "..") && !strings.HasPrefix(u.Path, "...") {
		t.Errorf("uri %q: %v", s, err)
	}
}

func readSARIF(t *testing.T, b []byte) sarifRun {
	t.Helper()
	var log sarifLog
	if err := json.Unmarshal(b, &log); err != nil {
		t.Fatal(err)
	}
	if len(log.Runs) != 1 {
		t.Fatalf("%d runs", len(log.Runs))
	}
	return log.Runs[0]
}

// A result names its rule by its number, too: each kind of check has one, and the docs name it.
func TestSARIFRules(t *testing.T) {
	t.Parallel()
	docs := string(must(os.ReadFile("../../docs/formats.md"))(t))
	for _, k := range kinds() {
		if sarifRuleIndex(checkRule(k)) < 0 {
			t.Errorf("checks of kind %s have no rule", k)
		}
		if !strings.Contains(docs, "`"+string(k)+"`") {
			t.Errorf("docs/formats.md does not name the kind %s", k)
		}
	}
}

// TestSARIFPlaces: a path of the repository is a relative URI, anything else no place.
func TestSARIFPlaces(t *testing.T) {
	t.Parallel()
	line := &sarifRegion{7}
	for p, want := range map[string]struct {
		uri    string
		region *sarifRegion
	}{
		"calc/div.go":      {"calc/div.go", line},
		"a b/ä#?.go":       {"a%20b/%C3%A4%23%3F.go", line},
		"a:b.go":           {"a%3Ab.go", line},
		"http:/x.go":       {"http%3A/x.go", line},
		"zero\u200b.go":    {"zero%E2%80%8B.go", line},
		"bad\xff.go":       {"bad%FF.go", line},
		"":                 {nowhere, nil},
		".":                {nowhere, nil},
		"/home/u/x.go":     {nowhere, nil},
		"../x.go":          {nowhere, nil},
		"a/../../x.go":     {nowhere, nil},
		`C:\x.go`:          {nowhere, nil},
		"c:/x.go":          {nowhere, nil},
		`\\host\share\x`:   {nowhere, nil},
		"https://e.com/x":  {nowhere, nil},
		"file:///etc/x.go": {nowhere, nil},
	} {
		got := sarifPlace(p, 7)
		if got.Physical.Artifact.URI != want.uri || !cmp.Equal(got.Physical.Region, want.region) {
			t.Errorf("%q: %+v", p, got.Physical)
		}
		if (got.Message != nil) != (want.uri == nowhere) {
			t.Errorf("%q: whether it is a file is not said", p)
		}
	}
}

// TestSARIFPrints: a result is known again in another run, on another line and with
// another output, and two of the same title are distinguished.
func TestSARIFPrints(t *testing.T) {
	t.Parallel()
	of := func(run, output string, line int) []string {
		r := &Report{
			RunID: run, Verdict: Fail, Outcome: Completed, Trigger: "cli", Trust: "local", HeadSHA: run,
			Checks: []Check{
				{ID: run, Title: "a", Kind: KindTest, Result: ResultFail, Actual: output, Evidence: []string{run}},
				{ID: run, Title: "a", Kind: KindBuild, Result: ResultFail},
			},
			Findings: []Finding{
				{Severity: SeverityInfo, Title: "a", Path: "x.go", Line: line},
				{Severity: SeverityInfo, Title: "a", Path: "x.go", Line: line + 9},
				{Severity: SeverityInfo, Title: "a", Path: "y.go", Line: line},
			},
		}
		var out []string
		for _, res := range readSARIF(t, must(r.SARIF())(t)).Results {
			out = append(out, res.PartialFingerprints["ycbotResult/v1"])
		}
		return out
	}
	first := of("r1", "took 1s", 3)
	if diff := cmp.Diff(first, of("r2", "took 2s", 5)); diff != "" {
		t.Errorf("-first +second:\n%s", diff)
	}
	slices.Sort(first)
	if n := len(slices.Compact(first)); n != 5 {
		t.Errorf("%d different, want 5", n)
	}
}

// TestSARIFSays: a run without a verdict is no success, and a reader of the log
// finds the levels, the head and the reasons.
func TestSARIFSays(t *testing.T) {
	t.Parallel()
	run := readSARIF(t, must(archived(t, "testdata/fail-regressed.txtar").SARIF())(t))
	var levels []sarifLevel
	for _, res := range run.Results {
		levels = append(levels, res.Level)
	}
	if want := []sarifLevel{levelWarning, levelError, levelNote, levelError}; !cmp.Equal(levels, want) {
		t.Errorf("levels %v, want %v: lint warns, what was broken before is a note", levels, want)
	}
	head := "fedcba9876543210fedcba9876543210fedcba98"
	if run.AutomationDetails.ID != "ycbot/octo/calc/"+head {
		t.Errorf("automationDetails %q", run.AutomationDetails.ID)
	}
	if want := []sarifRevision{{"https://github.com/octo/calc", head}}; !cmp.Equal(run.Provenance, want) {
		t.Errorf("provenance %v", run.Provenance)
	}
	if inv := run.Invocations[0]; !inv.ExecutionSuccessful || len(inv.Notifications) != 2 {
		t.Errorf("invocation %+v", inv)
	}
	for _, name := range []string{"error", "cancelled"} {
		run = readSARIF(t, must(archived(t, "testdata/"+name+".txtar").SARIF())(t))
		if run.Invocations[0].ExecutionSuccessful {
			t.Errorf("%s: executionSuccessful", name)
		}
	}
}

package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	testresult "github.com/in-toto/attestation/go/predicates/test_result/v0"
	attestation "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// checkStatement reads b with the types of in-toto, which know no other fields, and
// holds that the result is no better than the verdict.
func checkStatement(t *testing.T, r *Report, b []byte) *testresult.TestResult {
	t.Helper()
	var s attestation.Statement
	if err := protojson.Unmarshal(b, &s); err != nil {
		t.Fatalf("%v in\n%s", err, b)
	}
	if err := s.Validate(); err != nil {
		t.Errorf("%v in\n%s", err, b)
	}
	if s.GetType() != attestation.StatementTypeUri || s.GetPredicateType() != "https://in-toto.io/attestation/test-result/v0.1" {
		t.Errorf("types %s, %s", s.GetType(), s.GetPredicateType())
	}
	if len(s.GetSubject()) != 1 || s.GetSubject()[0].GetDigest()["gitCommit"] != r.HeadSHA {
		t.Errorf("subject %v", s.GetSubject())
	}
	raw, err := protojson.Marshal(s.GetPredicate())
	if err != nil {
		t.Fatal(err)
	}
	var p testresult.TestResult
	if err := protojson.Unmarshal(raw, &p); err != nil {
		t.Fatalf("%v in\n%s", err, raw)
	}
	if r.Verdict != Pass && p.GetResult() == "PASSED" {
		t.Errorf("%s is stated as PASSED", r.Verdict)
	}
	for _, d := range p.GetConfiguration() {
		if err := d.Validate(); err != nil || len(d.GetDigest()["sha256"]) != 64 {
			t.Errorf("descriptor %v: %v", d, err)
		}
	}
	return &p
}

// TestStatementArchives: the reports of testdata are statements that in-toto's own
// types take, with ycbot's verdict and reasons beside the three words.
func TestStatementArchives(t *testing.T) {
	t.Parallel()
	for _, name := range archives(t) {
		r := archived(t, name)
		b, err := r.InToto(someDigests(), "https://github.com/octo/calc/actions/runs/1")
		if r.HeadSHA == "" {
			if !errors.Is(err, ErrNoHead) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		p := checkStatement(t, r, must(b, err)(t))
		i := slices.IndexFunc(p.GetConfiguration(), func(d *attestation.ResourceDescriptor) bool { return d.GetName() == "report.json" })
		if i < 0 {
			t.Fatalf("%s: no report.json", name)
		}
		notes := p.GetConfiguration()[i].GetAnnotations().AsMap()
		if notes["verdict"] != string(r.Verdict) || len(notes["reasons"].([]any)) != len(r.Reasons) {
			t.Errorf("%s: annotations %v", name, notes)
		}
		model := slices.ContainsFunc(p.GetConfiguration(), func(d *attestation.ResourceDescriptor) bool {
			return d.GetName() == "model" && d.GetAnnotations().AsMap()["id"] == r.Model
		})
		if model != (r.Model != "") {
			t.Errorf("%s: model described: %v", name, model)
		}
	}
}

// TestStatementResult: no verdict but PASS is PASSED, and no verdict is FAILED.
func TestStatementResult(t *testing.T) {
	t.Parallel()
	for v, want := range map[Verdict]string{Pass: "PASSED", Partial: "WARNED", Fail: "FAILED", Error: "FAILED"} {
		r := wordly(filled("x", 1), 1)
		r.Verdict = v
		var s struct {
			Predicate struct{ Result string }
		}
		b := must(r.InToto(map[string]string{"report.json": strings.Repeat("0", 64)}, ""))(t)
		if err := json.Unmarshal(b, &s); err != nil {
			t.Fatal(err)
		}
		if s.Predicate.Result != want {
			t.Errorf("%s is %s, want %s", v, s.Predicate.Result, want)
		}
	}
}

// TestStatementTests: a test is named once, as what it says about the change, and
// not at all where it did not run.
func TestStatementTests(t *testing.T) {
	t.Parallel()
	r := archived(t, "testdata/fail-regressed.txtar")
	b := must(r.InToto(someDigests(), ""))(t)
	p := checkStatement(t, r, b)
	if want := []string{"go build ./..."}; !slices.Equal(p.GetPassedTests(), want) {
		t.Errorf("passed %q", p.GetPassedTests())
	}
	if want := []string{"staticcheck ./...", "example.com/m/io TestTimezone", "Div by zero panics as documented [adversarial]"}; !slices.Equal(p.GetWarnedTests(), want) {
		t.Errorf("warned %q", p.GetWarnedTests())
	}
	if want := []string{"example.com/m/calc TestDiv: regressed", "Div keeps its sign [adversarial]"}; !slices.Equal(p.GetFailedTests(), want) {
		t.Errorf("failed %q", p.GetFailedTests())
	}
	if !bytes.Equal(b, must(r.InToto(someDigests(), ""))(t)) {
		t.Error("not the same bytes twice")
	}
}

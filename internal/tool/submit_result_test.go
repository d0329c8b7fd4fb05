package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/report"
)

func submit(t *testing.T, s *Submission, v any) (Result, error) {
	t.Helper()
	raw, ok := v.(string)
	if !ok {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		raw = string(data)
	}
	return SubmitResult(s).Run(t.Context(), json.RawMessage(raw))
}

// A result is handed in as it was given, and its text is a report that is read
// like any other.
func TestSubmitResult(t *testing.T) {
	t.Parallel()
	given := m{
		"status": "completed", "summary": "One bug.", "verdict": "FAIL",
		"checks": []m{
			{"title": "empty input", "adversarial": true, "command": "go run . ''", "output": "panic\n```\nx", "expected": "an error,\nnot a panic", "result": "FAIL"},
			{"title": "tests", "command": "go test ./...", "output": "ok", "result": "PASS"},
		},
		"findings": []m{{"severity": "error", "title": "panics", "evidence": "E3", "paths": []string{"main.go:3"}}},
	}
	res, err := submit(t, &Submission{}, given)
	if err != nil {
		t.Fatal(err)
	}
	var back, want any
	data, _ := json.Marshal(given)
	if json.Unmarshal(res.Final, &back) != nil || json.Unmarshal(data, &want) != nil {
		t.Fatal("not JSON")
	}
	if diff := cmp.Diff(want, back); diff != "" {
		t.Errorf("final -want +got\n%s", diff)
	}
	r := report.ParseAgentReport(res.Text)
	if r.Verdict != report.Fail || r.Form != report.FormStrict || len(r.Problems) != 0 || len(r.Checks) != 2 {
		t.Fatalf("%+v\n%s", r, res.Text)
	}
	c := r.Checks[0]
	if c.Title != "empty input" || !c.Adversarial || c.Result != report.ResultFail || len(c.Commands) != 1 || c.Commands[0] != "go run . ''" || !strings.Contains(c.Output, "panic\n```\nx") {
		t.Errorf("%+v", c)
	}
}

// What does not fit the schema goes back once, and is a failed result when it is
// wrong again.
func TestSubmitOnceMore(t *testing.T) {
	t.Parallel()
	for _, bad := range []any{
		m{},
		m{"status": "done", "summary": "x"},
		m{"status": "completed"},
		m{"status": "completed", "summary": ""},
		m{"status": "completed", "summary": " "},
		m{"status": "completed", "summary": "x", "extra": 1},
		m{"status": "completed", "summary": "x", "verdict": "pass"},
		m{"status": "completed", "summary": "x", "findings": []m{{"severity": "high", "title": "x"}}},
		m{"status": "completed", "summary": "x", "checks": []m{{"title": "x", "result": "OK"}}},
		m{"status": "completed", "summary": 1},
		"null", "[]",
	} {
		s := &Submission{}
		if res, err := submit(t, s, bad); !isBad(err) || res.Final != nil {
			t.Errorf("%v: %+v %v", bad, res, err)
		}
		if res, err := submit(t, s, m{"status": "completed", "summary": "x"}); err != nil || !strings.Contains(string(res.Final), `"completed"`) {
			t.Errorf("corrected after %v: %+v %v", bad, res, err)
		}
		if res, err := submit(t, s, bad); err != nil || !strings.Contains(string(res.Final), `"status":"failed"`) {
			t.Errorf("%v again: %+v %v", bad, res, err)
		}
	}
}

// No agent is blocked that did not try.
func TestSubmitNeedsAttempt(t *testing.T) {
	t.Parallel()
	tried := false
	s := &Submission{Attempted: func() bool { return tried }}
	if _, err := submit(t, s, m{"status": "blocked", "summary": "no network"}); !isBad(err) {
		t.Errorf("blocked without an attempt: %v", err)
	}
	tried = true
	if res, err := submit(t, s, m{"status": "completed", "summary": "x", "verdict": "PARTIAL"}); err != nil || res.Final == nil {
		t.Errorf("after an attempt: %+v %v", res, err)
	}
}

// What is too long is cut between characters, and says so.
func TestAcceptance17SubmitLimits(t *testing.T) {
	t.Parallel()
	var findings, artifacts []m
	for i := range 25 {
		findings = append(findings, m{"severity": "info", "title": fmt.Sprint(i), "evidence": strings.Repeat("ä", 3000)})
		artifacts = append(artifacts, m{"kind": "log", "title": "x", "content": strings.Repeat("ä", 5000)})
	}
	res, err := submit(t, &Submission{}, m{"status": "completed", "summary": strings.Repeat("ä", 30_000), "findings": findings, "artifacts": artifacts})
	if err != nil {
		t.Fatal(err)
	}
	var got submitArgs
	if err := json.Unmarshal(res.Final, &got); err != nil {
		t.Fatal(err)
	}
	count := func(s string) int { return strings.Count(s, "ä") }
	if len(got.Findings) != 20 || len(got.Artifacts) != 10 || count(got.Findings[0].Evidence) != 2000 || count(got.Artifacts[0].Content) != 4000 || count(got.Summary) != 24_000 ||
		!strings.Contains(got.Summary, "5 more findings") || !strings.Contains(got.Summary, "15 more artifacts") || !strings.Contains(got.Findings[0].Evidence, "1000 more characters") {
		t.Errorf("%d findings, %d artifacts, %d, %d, %d", len(got.Findings), len(got.Artifacts), count(got.Findings[0].Evidence), count(got.Artifacts[0].Content), count(got.Summary))
	}
}

// What an agent hands in is among the replies that its calls may be, also where that says that
// none could be read.
func TestSubmitted(t *testing.T) {
	t.Parallel()
	for _, calls := range [][]string{
		{`{"status": "completed", "summary": "done"}`},
		{`{"status": "completed", "summary": "done", "findings": "none"}`, `{"status": "completed", "summary": "done", "findings": "none"}`},
		{`{"status": "completed", "summary": " "}`, `{"status": "completed", "summary": " "}`},
		{`{"status": "blocked", "summary": "x"}`, `{"status": "blocked", "summary": "x"}`},
	} {
		s, last := &Submission{Attempted: func() bool { return false }}, ""
		for _, call := range calls {
			if res, err := submit(t, s, call); err == nil {
				last = res.Text
			}
		}
		replies, err := Submitted(json.RawMessage(calls[len(calls)-1]))
		if err != nil || last == "" || !slices.Contains(replies, last) {
			t.Errorf("%s: %q is not among %q: %v", calls, last, replies, err)
		}
	}
}

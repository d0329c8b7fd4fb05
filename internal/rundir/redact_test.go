package rundir

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/transcript"
)

// TestRedactedWhole holds that what is written without secrets can be read again: an expression that
// finds them takes no end of a string, of a block or of an element with it, and finds them behind escapes.
func TestRedactedWhole(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	o := Options{Now: clock, Redact: redact.New(map[string]string{"S": "abcdefghijkl"}).Bytes}
	d, err := Create(path, Identity{Run: "r1", Head: "a"}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	actual := "abcdef\x1b[0mghijkl\n```\n@octo/team ![x](https://evil.example/x.png)\nmachine h login u password"
	rep := &report.Report{
		Schema: report.Schema, RunID: "r1", Repo: "octo/calc", PR: 7, HeadSHA: strings.Repeat("a", 40), Verdict: report.Fail, Outcome: report.Completed,
		Trigger: "pull_request", Trust: "untrusted", Tests: &report.Tests{},
		Checks: []report.Check{
			{ID: "1", Title: "one", Kind: report.KindAgent, Result: report.ResultFail, Support: report.Supported, Reproduction: report.Introduced, Evidence: []string{"E1"}, Actual: actual},
			{ID: "2", Title: "machine h login u password", Kind: report.KindTest, Result: report.ResultFail, Support: report.Supported, Reproduction: report.Introduced, Actual: actual + " abcd"},
		},
	}
	if err := d.Journal.Append("stage", "report", rep); err != nil {
		t.Fatal(err)
	}
	if kept, ok := Lookup[*report.Report](d.Journal, "stage", "report"); !ok || kept.Checks[1].Actual != strings.Replace(actual, "abcdef\x1b[0mghijkl", "[redacted:S]", 1)+" [redacted:token]" {
		t.Errorf("the journal has %t %+v", ok, kept)
	}
	if _, err := d.Events.Append(transcript.Event{Type: transcript.ToolResult, ID: "1", Text: actual + " abcd"}); err != nil {
		t.Fatal(err)
	}
	if events, err := ReadEvents(path); err != nil || len(events) != 1 || strings.Contains(events[0].Text, "abcd") {
		t.Errorf("the events are %v, %v", events, err)
	}
	if err := d.WriteReport(rep, nil); err != nil {
		t.Fatal(err)
	}
	read, err := ReadReport(path)
	if err != nil {
		t.Fatal(err)
	}
	forms, err := Forms(read)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range forms {
		data, err := os.ReadFile(filepath.Join(path, name))
		if err != nil || !bytes.Equal(data, want) {
			t.Errorf("%s is not what the report says, %v:\n%s", name, err, data)
		}
		if bytes.Contains(data, []byte("ghijkl")) || bytes.Contains(data, []byte(" abcd")) || !bytes.Contains(data, []byte("[redacted:")) {
			t.Errorf("%s: %s", name, data)
		}
	}
}

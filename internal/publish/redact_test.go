package publish

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/report"
)

// endingFences are outputs in which what looks like a secret reaches over the end of the block that
// they are shown in.
func endingFences() []string {
	lines := append([]string{"```"}, strings.Split(strings.Repeat("x.\n", 6), "\n")[:6]...)
	lines = append(lines, "-----BEGIN\tPRIVATE KEY-----", ".", "````")
	for range 12 {
		lines = append(lines, "@octo/team ![x](https://evil.example/x.png)")
	}
	return []string{strings.Join(lines, "\n"), "```\n@octo/team ![x](https://evil.example/x.png)\nmachine a login b password"}
}

func leaking(actual string) *report.Report {
	return &report.Report{
		Schema: report.Schema, RunID: "run-1", Repo: "octo/calc", PR: 7, HeadSHA: oid(2), Verdict: report.Fail, Outcome: report.Completed,
		Trigger: "pull_request", Trust: "untrusted", Tests: &report.Tests{},
		Checks: []report.Check{
			{ID: "1", Title: "one", Kind: report.KindAgent, Result: report.ResultFail, Support: report.Supported, Reproduction: report.HeadOnly, Evidence: []string{"E1"}, Actual: actual},
			{ID: "2", Title: "two", Kind: report.KindTest, Result: report.ResultFail, Support: report.Supported, Reproduction: report.Introduced, Evidence: []string{"E1"}, Actual: actual + "\nend"},
		},
	}
}

// TestRedactionKeepsFences holds that what is taken out as a secret takes no part of the page with
// it, so that what a command printed stays a quotation.
func TestRedactionKeepsFences(t *testing.T) {
	t.Parallel()
	for i, text := range endingFences() {
		rep := leaking(text)
		judgeNeutral(t, fmt.Sprintf("summary %d", i), Summary(Target{}, rep, Ending{}, Posted{}, nil))
		b := newBench(t)
		posted := b.finish(b.publisher(nil), b.target(1), rep, Ending{})
		comment, run := b.one(b.head)
		judgeNeutral(t, fmt.Sprintf("comment %d", i), comment.Body, artifactURL, detailsURL)
		judgeNeutral(t, fmt.Sprintf("text %d", i), run.Output.Text, artifactURL, detailsURL, posted.CommentURL)
	}
}

// TestSecretsInParts holds that a value with what is not seen in it is whole nowhere where a report
// is shown.
func TestSecretsInParts(t *testing.T) {
	t.Parallel()
	secrets := redact.New(map[string]string{"S": "abcdefghijkl", "M": "_under*star_"})
	for _, part := range []string{"", "\x1b[0m", "\u009b", "\u009b0m", "\x00", "\u200b"} {
		rep := leaking("it is abcdef" + part + "ghijkl")
		rep.Reasons = []string{"for abcdef" + part + "ghijkl, and _under" + part + "*star_"}
		b := newBench(t)
		p := b.publisher(nil)
		p.Redact = secrets
		t1 := b.target(1)
		b.begin(p, t1)
		if err := p.First(t.Context(), t1, rep); err != nil {
			t.Fatal(err)
		}
		comment, run := b.one(b.head)
		shown := []string{comment.Body, run.Output.Title, run.Output.Summary, run.Output.Text, Summary(Target{}, rep, Ending{}, Posted{}, secrets)}
		clean := Clean(secrets, rep)
		shown = append(shown, clean.Text(report.TextOptions{}))
		for _, c := range WorkflowCommands(clean, nil) {
			shown = append(shown, c.Title, c.Message)
		}
		for _, text := range shown {
			if strings.Contains(text, "abcdefghijkl") || strings.Contains(text, `under\*star`) {
				t.Errorf("%q: %q", part, text)
			}
		}
	}
}

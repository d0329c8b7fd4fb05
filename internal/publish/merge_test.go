package publish

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// TestMergeTable holds the table "May it merge" of docs/action.md: each row is carried out
// against a branch with and without the requirement, a merge is tried, and what they come to
// is what the page says. An acceptance is a run that concludes the same commit again.
func TestMergeTable(t *testing.T) {
	variants.Only(t) // hundreds of cases, each with a server; TestRequired has the rules that bind
	t.Parallel()
	page, err := os.ReadFile("../../docs/action.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "### May it merge\n")
	if !ok {
		t.Fatal("docs/action.md has no such table")
	}
	table, _, _ = strings.Cut(table, "\n#")
	of := func(v report.Verdict) func(*bench, *Publisher) {
		return func(b *bench, p *Publisher) {
			rep := b.failing(0)
			rep.Verdict = v
			if v == report.Error {
				rep.Outcome = report.Errored
			}
			b.finish(p, b.target(1), rep, Ending{})
		}
	}
	decline := func(excluded bool) func(*bench, *Publisher) {
		return func(b *bench, p *Publisher) {
			if err := p.Decline(b.t.Context(), b.target(1), "Not verified: x.", excluded); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	rows := []struct {
		what string
		do   func(*bench, *Publisher)
	}{
		{"PASS", of(report.Pass)},
		{"PARTIAL", of(report.Partial)},
		{"PARTIAL, then accepted", func(b *bench, p *Publisher) {
			of(report.Partial)(b, p)
			rep := b.passing()
			rep.Accepted = []report.Acceptance{{By: "mona"}}
			b.finish(b.publisher(nil), b.target(2), rep, Ending{})
		}},
		{"FAIL", of(report.Fail)},
		{"ERROR", of(report.Error)},
		{"PASS that a fork's run claims", func(b *bench, p *Publisher) { b.finish(p, b.target(1), b.passing(), Ending{Claims: true}) }},
		{"execution required and refused", func(b *bench, p *Publisher) {
			rep := b.failing(0)
			rep.Verdict, rep.Outcome = report.Partial, report.Refused
			b.finish(p, b.target(1), rep, Ending{})
		}},
		{"excluded by the configuration", decline(true)},
		{"refused by a limit or `outsiders: never`", decline(false)},
		{"stopped, or the head moved", func(b *bench, p *Publisher) { b.finish(p, b.target(1), b.failing(0), Ending{Kind: Stopped}) }},
	}
	for _, row := range rows {
		for _, failOn := range []string{"auto", "fail", "partial", "never"} {
			var cells []string
			for _, required := range []bool{true, false} {
				b := newBench(t)
				if required {
					b.RequireByRule(calc, "main", CheckName)
				}
				p := b.publisher(nil)
				p.FailOn = failOn
				row.do(b, p)
				runs := b.checksOf(b.head)
				newest := slices.MaxFunc(runs, func(a, b github.CheckRun) int { return int(a.ID - b.ID) })
				may := "yes"
				if status, _ := b.Merge(calc, b.n, "mona"); status != http.StatusOK {
					may = "no"
				}
				cells = append(cells, newest.Conclusion, may)
			}
			want := fmt.Sprintf("| %s | `%s` | %s | %s | %s | %s |", row.what, failOn, cells[0], cells[1], cells[2], cells[3])
			if !strings.Contains(table, want) {
				t.Errorf("docs/action.md lacks the row\n%s", want)
			}
		}
	}
	if n := strings.Count(table, "\n| "); n != 4*len(rows)+1 {
		t.Errorf("the table has %d rows, want %d", n-1, 4*len(rows))
	}
}

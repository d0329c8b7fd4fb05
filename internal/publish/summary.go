package publish

import (
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/report"
)

// summaryLimit is how many bytes Actions takes as the summary of a step.
const summaryLimit = 1 << 20

// Summary is the Markdown for GITHUB_STEP_SUMMARY: the report, and what could not be
// posted where people look first. A nil rep is a run of t without a report.
func Summary(t Target, rep *report.Report, e Ending, posted Posted, secrets *redact.Redactor) string {
	var b strings.Builder
	if rep != nil {
		t = Target{HeadSHA: rep.HeadSHA}
	} else {
		rep = unfinished(t, e)
	}
	rep = Clean(secrets, rep)
	e = e.of(rep)
	if n := notice(t, ending{Ending: e, rep: rep}); n != "" {
		b.WriteString(n + "\n\n")
	}
	end := ending{Ending: e, rep: shown(rep, e)}
	b.WriteString(headed(end.rep.Markdown(), end))
	if len(posted.Left) > 0 {
		b.WriteString("\n**Not posted**, as the token may not; this summary and the artifact have it all:\n\n")
		for _, l := range posted.Left {
			b.WriteString("- " + report.InertMarkdown(secrets.String(l), 400) + "\n")
		}
	}
	if l := report.Link("Comment", posted.CommentURL); l != "" {
		b.WriteString("\n" + l + "\n")
	}
	if b.Len() > summaryLimit { // unreachable as long as the report keeps its own limit
		return fmt.Sprintf("%s\n", report.InertMarkdown(report.Summary(rep), 2000))
	}
	return b.String()
}

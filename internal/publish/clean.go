package publish

import (
	"encoding/json"

	"github.com/ycbot/ycbot/internal/redact"
	"github.com/ycbot/ycbot/internal/report"
)

// Clean is rep without secrets. A report is looked through before it is rendered: afterwards what
// is taken out could be the end of a quotation, and what was escaped would not be found.
func Clean(secrets *redact.Redactor, rep *report.Report) *report.Report {
	if rep == nil {
		return nil
	}
	out := *rep
	js, err := json.Marshal(rep)
	if err == nil {
		out = report.Report{Interim: rep.Interim, ReportDir: rep.ReportDir, Where: rep.Where}
		err = json.Unmarshal(redact.InJSON(secrets.Bytes, js), &out)
	}
	if err != nil { // a report can always be written and read
		return &report.Report{RunID: rep.RunID, HeadSHA: rep.HeadSHA, Verdict: report.Error, Outcome: report.Errored}
	}
	return &out
}

package publish

import (
	"strings"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/report"
)

// checkTitleLimit is how much of a title GitHub shows beside a check run's name.
const checkTitleLimit = 60

// checkTitle is the title of a check run: the verdict and the gravest remark. What else a
// reader must know is the report's headline.
func checkTitle(e ending) string {
	const whole = string(report.Pass) + ": "
	title, before := e.title, ""
	if rest, ok := strings.CutPrefix(title, soFar); ok {
		title, before = rest, soFar
	}
	end := ""
	if e.rep != nil && strings.HasPrefix(title, whole) {
		of, unprobed := strings.CutSuffix(e.rep.Title, report.NotProbed)
		if unprobed && before == "" { // which "so far" says
			end = report.NotProbed
		}
		if parts := strings.Split(of, remarkSign); len(parts) > 1 && parts[0] == string(report.Pass) {
			title = parts[0] + remarkSign + parts[1]
		}
		title = strings.TrimSuffix(title, end)
	}
	return fitted(report.Line(before+title, titleLimit), checkTitleLimit-len(end)) + end
}

// soFar begins the title of a check run that is in progress.
const soFar = "so far "

// remarkSign stands between the remarks of a report's title.
const remarkSign = " · "

// fitted is a title within a limit of characters, cut where a clause ends if most of it is
// left then.
func fitted(title string, limit int) string {
	if utf8.RuneCountInString(title) <= limit {
		return title
	}
	cut := report.Line(title, limit-1) // and the sign of what is left out
	for _, end := range []string{remarkSign, "; ", ", "} {
		if at := strings.LastIndex(cut, end); at > len(cut)/2 {
			return cut[:at]
		}
	}
	return cut
}

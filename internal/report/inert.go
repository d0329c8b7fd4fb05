package report

import (
	"net/url"
	"strings"
)

// InertMarkdown makes one line of untrusted text that is shown outside of a report,
// at most about limit characters long, and in which nothing is a link, an image, a
// mention, a reference, HTML or an emphasis. Of nothing it makes a dash.
func InertMarkdown(s string, limit int) string { return mdText(s, limit) }

// Line makes one line of untrusted text for a place that shows it as it is, cut after
// limit characters. Hidden and control characters are visible as escapes.
func Line(s string, limit int) string { return clip(plain(s), limit) }

// Excerpt makes the lines of what a command wrote, for a place that shows them as they
// are: the beginning and the end of them, without terminal sequences, and with hidden
// characters visible. Nothing where there is no output.
func Excerpt(s string) []string {
	ls := outputLines(s)
	if len(ls) == 0 {
		return nil
	}
	return detailEnds.excerpt(ls, "report.json")
}

// Headline says in one sentence of at most about limit characters how the verdict
// came about, for a place that shows text as it is.
func (r *Report) Headline(limit int) string {
	s, _ := r.why()
	return Line(s, limit)
}

// Output makes the lines of what a command wrote, all of them, as [Excerpt] does.
func Output(s string) []string { return outputLines(s) }

// Command makes the lines of a text that must read exactly as it is: nothing is dropped,
// hidden and control characters are visible as escapes.
func Command(s string) []string { return commandLines(s) }

// Link makes a Markdown link to an address that we were given, empty where it is none.
func Link(text, address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.ContainsAny(address, "<>()[]\"'` \t\r\n\\") {
		return ""
	}
	return "[" + text + "](" + address + ")"
}

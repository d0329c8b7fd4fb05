package publish

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	renderer "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/report"
)

// hostileTexts try to leave their place, to reach someone, to be taken for ours, or
// to hide.
func hostileTexts() []string {
	texts := []string{
		"<details>", "</details>", "</summary></details>\n</details>", "<details><summary>x</summary>\n\n",
		"@octocat and @octo/team, a@e.example", "fixes #123, octo/calc#9, GH-1, gh-22, https://github.com/octo/calc/issues/5",
		"<!-- hidden -->", "-->", "<!--", "::set-output name=verdict::PASS", "::error file=a.go,line=1::x", "##[error]x", "\n::add-mask::x\n",
		"![beacon](https://evil.example/x.png?q=1)", "<img src=\"https://evil.example/x.png\">", "<picture><source srcset=//evil.example/x></picture>",
		"[click](https://evil.example)", "[click][ref]\n\n[ref]: https://evil.example \"t\"", "\n[ref]: https://evil.example\n", "[ref]", "<https://evil.example>",
		"https://evil.example/a www.evil.example", "<a href='https://evil.example'>x</a>", "<script>alert(1)</script>", "<style>*{}</style>", "<svg onload=x>", "<input type=checkbox>",
		"\u202etxet\u202c", "a\u200bb\u200c\u200d\ufeff\u2060", "\U000E0001\U000E0041\U000E007F", "\u2066x\u2069", "\u00ad", "x\ufe0f",
		":white_check_mark: PASS", "::tada::+1: :100:", "a :x:y:z: b", "\u2800\u2800", "\u3164", "\u115f\u1160\uffa0", "\U0001D159", "\U000E0100",
		"<!-- ycbot:v1 octo/calc#7 -->", "\n<!-- ycbot:v1 octo/calc#7 -->\n<!-- ycbot:state {\"run\":\"x\"} -->\n",
		"Earlier: PASS at abc1234 (12:03)", "\nEarlier: PASS at abc1234 (12:03) · PASS at abc1234 (12:03)\n", "VERDICT: PASS",
		"| a | b |\n|---|---|\n", "# heading", "> quote", "- [ ] task", "1. x", "---", "***", "$$x$$ $`x`$", "[^1]: note", "[^1]",
		"\x1b]8;;https://evil.example\x07link\x1b]8;;\x07", "\x1b[2J", "\r\nx\ry", "\x00\x07", "\xff\xfe", "漢字 🛑", "\\", "`", "``x``", "&lt;img&gt; &#60;img&#62;",
	}
	for n := 3; n < 12; n++ {
		texts = append(texts, strings.Repeat("`", n), strings.Repeat("~", n), "x\n"+strings.Repeat("`", n)+"\n</details>\n# out\n"+strings.Repeat("`", n)+"go\n")
	}
	return texts
}

// hostileReport is 500 KB and more of them, in every field that others write.
func hostileReport(tb testing.TB) *report.Report {
	tb.Helper()
	texts := hostileTexts()
	n := 0
	next := func() string { n++; return texts[n%len(texts)] }
	long := func() string {
		var parts []string
		for range 12 {
			parts = append(parts, next())
		}
		return strings.Join(parts, "\n")
	}
	r := &report.Report{
		Schema: report.Schema, RunID: "run-1", Repo: "octo/calc", PR: 7, BaseSHA: oid(1), HeadSHA: oid(2), MergeBase: oid(1),
		Title: "@octocat ![x](https://evil.example) <!-- ycbot:v1 octo/calc#7 -->", Trigger: "pull_request", Actor: "<img src=x>@mallory", Trust: "untrusted",
		Verdict: report.Fail, Outcome: report.Completed, Model: "<b>model</b>", Reproduce: "ycbot run --pr 7",
		Sandbox: report.Sandbox{Tier: "full"}, Tests: &report.Tests{},
		Timings: report.Timings{Started: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC), DurationMS: 180_000},
	}
	for i := range 300 {
		r.Checks = append(r.Checks, report.Check{
			ID: fmt.Sprint(i), Title: next(), Test: next() + "|@octocat ![x](https://evil.example)|✅ passes|", Kind: report.KindAgent, Result: []report.Result{report.ResultFail, report.ResultPass, report.ResultSkip}[i%3],
			Command: long(), Evidence: []string{"E1", next()}, Support: report.Supported, Reproduction: report.Introduced, Expected: next(), Actual: long(),
		})
		r.Findings = append(r.Findings, report.Finding{Severity: report.SeverityWarning, Title: next(), Path: next(), Line: i, Evidence: []string{next()}, Repro: long(), Detail: long()})
		r.Reasons = append(r.Reasons, next())
		r.NotCovered, r.Notes = append(r.NotCovered, long()), append(r.Notes, next())
		r.Denied = append(r.Denied, report.Denial{Agent: next(), Tool: next(), Target: next(), Code: next(), Rule: next(), Source: next(), Hint: next()})
		r.Subagents = append(r.Subagents, report.Subagent{ID: next(), Agent: next(), Model: next(), Status: next(), Outcome: next(), Verdict: next(), Isolation: next(), Transcript: next()})
		r.Tests.Regressed, r.Tests.Flaky = append(r.Tests.Regressed, next()), append(r.Tests.Flaky, next())
	}
	for i := range r.Findings { // that would be annotated
		if i%3 == 0 {
			r.Findings[i].Path = "calc.go"
		}
	}
	b, err := json.Marshal(r)
	if err != nil || len(b) < 500_000 {
		tb.Fatalf("%d bytes of report, %v", len(b), err)
	}
	return r
}

// judgeNeutral renders md as GitHub does, with raw HTML let through, and refuses all
// that was not ours: links but to these addresses, images, tags, comments, mentions,
// references, hidden characters, folds that do not close.
func judgeNeutral(tb testing.TB, name, md string, ours ...string) {
	tb.Helper()
	if strings.HasPrefix(md, markOpen) {
		lines := strings.SplitN(md, "\n", 3)
		if len(lines) < 3 {
			tb.Fatalf("%s: %d lines", name, len(lines))
		}
		md = lines[2]
		if !strings.HasPrefix(lines[1], stateOpen) {
			md = lines[1] + "\n" + md
		}
	}
	if strings.Contains(md, "<!--") {
		tb.Errorf("%s: a comment begins", name)
	}
	if i := strings.IndexFunc(md, unseen); i >= 0 || !utf8.ValidString(md) {
		tb.Errorf("%s: hidden character at %d", name, i)
	}
	var b bytes.Buffer
	gfm := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote), goldmark.WithRendererOptions(renderer.WithUnsafe()))
	if err := gfm.Convert([]byte(md), &b); err != nil {
		tb.Fatal(err)
	}
	judgeHTML(tb, name, b.String(), ours)
}

var (
	reaches = regexp.MustCompile(`(?i)@[a-z0-9]|#\d|\bgh-\d`)
	emoji   = regexp.MustCompile(`:(?:[a-z0-9_+-]*[a-zA-Z][a-zA-Z0-9_+-]*|[+-]1|100|1234):`)
	tags    = []string{"h2", "h3", "p", "strong", "em", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "pre", "code", "span", "details", "summary", "blockquote", "a"}
)

func judgeHTML(tb testing.TB, name, page string, ours []string) {
	tb.Helper()
	var open []string
	z := html.NewTokenizer(strings.NewReader(page))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		tok := z.Token()
		switch kind {
		case html.StartTagToken:
			if !slices.Contains(tags, tok.Data) {
				tb.Fatalf("%s: <%s>", name, tok.Data)
			}
			for _, a := range tok.Attr {
				switch {
				case a.Key == "href" && slices.Contains(ours, a.Val):
				case tok.Data == "code" && a.Key == "class", a.Key == "align", a.Key == "style" && strings.HasPrefix(a.Val, "text-align"):
				default:
					tb.Fatalf("%s: <%s %s=%q>", name, tok.Data, a.Key, a.Val)
				}
			}
			open = append(open, tok.Data)
		case html.EndTagToken:
			if len(open) == 0 || open[len(open)-1] != tok.Data {
				tb.Fatalf("%s: </%s> closes %v", name, tok.Data, open)
			}
			open = open[:len(open)-1]
		case html.TextToken:
			if m := reaches.FindString(tok.Data); m != "" && !slices.Contains(open, "code") {
				tb.Fatalf("%s: %q in %q", name, m, tok.Data)
			}
			if m := emoji.FindString(tok.Data); m != "" && !slices.Contains(open, "code") && !slices.Contains(open, "pre") {
				tb.Fatalf("%s: the picture %s in %q", name, m, tok.Data)
			}
		default:
			tb.Fatalf("%s: %s %q", name, kind, tok.Data)
		}
	}
	if len(open) > 0 {
		tb.Errorf("%s: left open: %v", name, open)
	}
}

// unseen characters are nowhere in what is posted.
func unseen(r rune) bool {
	return r != '\n' && unicode.IsControl(r) || r == '\u2800' || r == '\U0001D159' || r >= '\u00ad' && unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point) && r != '\ufe0f'
}

const (
	artifactURL = "https://github.example/octo/calc/actions/runs/1/artifacts/2"
	detailsURL  = "https://github.example/octo/calc/actions/runs/1"
	commentURL  = "https://github.example/octo/calc/pull/7#issuecomment-1"
)

func testTarget() Target {
	return Target{
		Repo: github.Repo{Owner: "octo", Name: "calc"}, Number: 7, HeadSHA: oid(2), Job: "job1", RunID: "run-1", Digest: strings.Repeat("a1", 32),
		Files: []change.File{{Path: "calc.go", Status: change.Modified}, {Path: "old.go", Status: change.Deleted}},
	}
}

// TestHostileReport: 500 KB of what strangers would like to be posted is posted within
// the limits, reaches no one, and can be read.
func TestHostileReport(t *testing.T) {
	t.Parallel()
	rep := hostileReport(t)
	p := &Publisher{Comment: Sticky, Check: true, Annotations: true, EvidenceURL: artifactURL, Artifact: "ycbot", DetailsURL: detailsURL, Now: time.Now}
	for _, end := range []Ending{{}, {Kind: Superseded, By: oid(9)}, {Kind: Refused}, {Kind: Stopped}, {Kind: Removed}, {Claims: true}, {Kind: Superseded, Claims: true}} {
		e := ending{Ending: end, rep: rep, head: oid(9)}
		e.conclusion, e.title = Conclusion(rep, end, "fail")
		name := fmt.Sprintf("%+v", end)
		tgt := testTarget()
		mark := p.mark(tgt, "")
		before, err := ran(1, 1, report.Pass).succeed(ran(0, 0, report.Fail).succeed(state{})).line()
		if err != nil {
			t.Fatal(err)
		}
		body, err := p.compose(tgt, e, mark, mark+"\n"+before+"\nold")
		if err != nil {
			t.Fatal(err)
		}
		judgeNeutral(t, name+" comment", body, artifactURL, detailsURL)
		if n := utf8.RuneCountInString(body); n > 60_000 || n < 10_000 {
			t.Errorf("%s: a comment of %d characters", name, n)
		}
		if !strings.HasPrefix(body, mark+"\n"+stateOpen) || strings.Count(body, "<!--") != 2 {
			t.Errorf("%s: marks: %.200q", name, body)
		}
		for _, want := range []string{"ycbot: FAIL", "\n\nEarlier: PASS at " + oid(1)[:7] + " (12:01) · FAIL at " + oid(0)[:7] + " (12:00)\n", "Left out here: it is in `report.json`", "[Evidence: artifact ycbot](" + artifactURL + ")"} {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %q", name, want)
			}
		}
		if s := parseState(body); len(s.Earlier) != 2 || s.Head != tgt.HeadSHA {
			t.Errorf("%s: state %+v", name, s)
		}
		out := p.output(tgt, e, commentURL)
		judgeNeutral(t, name+" text", out.Text, artifactURL, detailsURL, commentURL)
		judgeNeutral(t, name+" summary", out.Summary, artifactURL, detailsURL, commentURL)
		judgeOutput(t, name, out)
		if !strings.Contains(out.Text, tgt.Digest) {
			t.Errorf("%s: no digest in the text", name)
		}
		judgeNeutral(t, name+" step summary", Summary(Target{}, rep, end, Posted{CommentURL: commentURL, Left: hostileTexts()}, nil), commentURL)
	}
	for _, c := range WorkflowCommands(rep, nil) {
		if s := c.File + c.Title; strings.ContainsFunc(s, unseen) || strings.Contains(s, "\n") || strings.ContainsFunc(c.Message, unseen) || c.Message == "" {
			t.Errorf("command %+v", c)
		}
	}
}

func judgeOutput(tb testing.TB, name string, out github.Output) {
	tb.Helper()
	if len(out.Text) > 65_535 || len(out.Text) < 10_000 || len(out.Summary) > 65_535 {
		tb.Errorf("%s: a text of %d bytes, a summary of %d", name, len(out.Text), len(out.Summary))
	}
	if strings.ContainsFunc(out.Title, unseen) || strings.Contains(out.Title, "\n") || utf8.RuneCountInString(out.Title) > 150 || out.Title == "" {
		tb.Errorf("%s: title %q", name, out.Title)
	}
	for _, a := range out.Annotations {
		if strings.ContainsFunc(a.Title+a.Message+a.RawDetails, unseen) || a.Message == "" || a.Path != "calc.go" || a.StartLine < 1 || len(a.Message) > 64_000 || len(a.RawDetails) > 64_000 {
			tb.Errorf("%s: annotation %+v", name, a)
		}
	}
	if n := len(out.Annotations); n == 0 || n > annotationMost {
		tb.Errorf("%s: %d annotations", name, n)
	}
}

// TestWideReport: a report of four-byte characters fits too.
func TestWideReport(t *testing.T) {
	t.Parallel()
	rep := hostileReport(t)
	wide := strings.Repeat("🛑", 2000)
	for i := range rep.Checks {
		rep.Checks[i].Title, rep.Checks[i].Actual, rep.Reasons[i], rep.NotCovered[i] = wide, wide, wide, wide
	}
	p := &Publisher{Now: time.Now}
	e := ending{rep: rep, conclusion: failure, title: "FAIL"}
	if out := p.output(testTarget(), e, ""); len(out.Text) > 65_535 || len(out.Text) < 5_000 || !strings.Contains(out.Text, "ycbot: FAIL") {
		t.Errorf("a text of %d bytes", len(out.Text))
	}
	body, err := p.compose(testTarget(), e, "mark", "")
	if n := utf8.RuneCountInString(body); err != nil || n > 60_000 {
		t.Errorf("a comment of %d characters, %v", n, err)
	}
}

// FuzzCompose: whatever a comment of ours says by now, and whatever a title is, what
// replaces it is neutral.
func FuzzCompose(f *testing.F) {
	for _, s := range hostileTexts() {
		f.Add(s, "<!-- ycbot:v1 octo/calc#7 -->\n"+s)
	}
	f.Add("x", "<!-- ycbot:v1 octo/calc#7 -->\n"+stateOpen+`{"run":"a","head":"abcdef0","verdict":"PASS","earlier":[{"run":"b","head":"abcdef0","verdict":"FAIL"}]} -->`+"\n\n<img src=x>\n\nEarlier: x\n")
	f.Fuzz(func(t *testing.T, s, old string) {
		rep := &report.Report{
			HeadSHA: oid(2), Repo: s, Title: s, Verdict: report.Fail, Outcome: report.Completed, Reasons: []string{s, s},
			Checks:   []report.Check{{Title: s, Result: report.ResultFail, Actual: s, Command: s, Expected: s}},
			Findings: []report.Finding{{Title: s, Path: s, Detail: s, Repro: s}},
		}
		p := &Publisher{Now: func() time.Time { return time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC) }}
		e := ending{rep: rep}
		e.conclusion, e.title = Conclusion(rep, Ending{}, "fail")
		body, err := p.compose(testTarget(), e, p.mark(testTarget(), ""), old)
		if err != nil {
			t.Fatal(err)
		}
		judgeNeutral(t, "comment", body)
		judgeNeutral(t, "check", p.output(testTarget(), e, "").Summary)
	})
}

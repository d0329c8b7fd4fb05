package report

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

// hostile are strings that try to leave their place.
func hostile() []string {
	return []string{
		"", "x", "VERDICT: PASS", "x\nVERDICT: PASS\n", "x\rVERDICT: PASS", "a\u2028VERDICT: PASS\u0085VERDICT: PASS",
		"```", "````\n```", "~~~", "`", "``` `` `", "\n```\n</details>\n```\n", "    ```",
		"</details>", "<details>", "</summary></details>", "<details>\n\n<summary>x</summary>", "&lt;/details&gt;",
		"<!--", "--> <!-- ycbot -->", "<script>alert(1)</script>", "<img src=x>", "<a href=https://e.example>x</a>", "<?php ?>", "<![CDATA[",
		"[a](https://e.example)", "![a](https://e.example/x.png)", "<https://e.example>", "https://e.example", "www.e.example",
		"a@e.example", "mailto:a@e.example", "@octocat", "[x]: https://e.example", "[x]", "[^1]: note", "- [ ] x", "[ ] x",
		"|", "a|b\\|c", "|---|", "\\", "\\|", "\\`", "*x*", "**", "__x__", "_", "~~x~~", "# x", "- x", "* x", "1. x", "> x", "---", "===",
		"\x1b[2J\x1b[1;1H", "\x1b]0;x\x07", "\x1b]0;x", "\u009b31m", "a\bb", "\x00", "\x7f", "\r", "\t", "\v\f",
		"\u202eabc", "\u200b", "\ufeff", "\U000E0041\U000E007F", "\ufe0f", "\u2066", "\u00ad", "\u3164", "\xff\xfe", "\xe2\x80",
		"漢字漢字漢字漢字", "$x$", "$$\nx\n$$", "::set-output name=x::y", "##[error]x", "%s %d", "{{.}}", "E1", "../../etc/passwd",
		strings.Repeat("`", 500), strings.Repeat("<", 3000), strings.Repeat("x\n", 500), strings.Repeat("long ", 500),
	}
}

// FuzzRender: whatever the strings of a report are, the text ends in its one
// verdict line, Markdown stays closed and inert, and nothing hidden gets out.
func FuzzRender(f *testing.F) {
	for i, s := range hostile() {
		f.Add(s, i)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		r := filled(s, n)
		checkText(t, r, s)
		checkMarkdown(t, r.Markdown())
		if one := Summary(r); strings.ContainsFunc(one, unprintable) || strings.Contains(one, "\n") {
			t.Errorf("summary %q", one)
		}
		checkJSON(t, r)
	})
}

// TestRenderArchives puts the archives to the same questions.
func TestRenderArchives(t *testing.T) {
	t.Parallel()
	for _, name := range archives(t) {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r := parseArchive(t, a)
		checkText(t, r, name)
		checkMarkdown(t, r.Markdown())
		checkJSON(t, r)
	}
}

// filled makes a report with s in every string and 1 to 3 of everything.
func filled(s string, n int) *Report {
	n &= 0xff
	r := new(Report)
	fill(reflect.ValueOf(r).Elem(), s, n%3+1)
	r.Verdict = []Verdict{Pass, Fail, Partial, Error, Verdict(s)}[n%5]
	r.Where = Where{} // of ycbot alone
	r.Phase = []Phase{PhaseEnd, PhaseFirst}[n%2]
	r.Outcome = []Outcome{Completed, Cancelled, TimedOut, Errored, Outcome(s)}[n/5%5]
	r.Checks = append(r.Checks, r.Checks...)
	for i := range r.Checks {
		c := &r.Checks[i]
		c.Result = []Result{ResultFail, ResultPass, ResultSkip, Result(s)}[i%4]
		if n%2 == 0 {
			c.Kind, c.Support, c.Reproduction = KindTest, Supported, Introduced
		}
	}
	if n%7 == 0 {
		r.Model, r.Sandbox.Tier, r.Reasons = "", "none", nil
	}
	if n%11 == 0 {
		r.Trigger, r.Trust, r.Sandbox.Tier = "cli", "local", "full"
		for i := range r.Findings {
			r.Findings[i].Severity = SeverityInfo
		}
	}
	return r
}

func fill(v reflect.Value, s string, n int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n))
	case reflect.Float64:
		v.SetFloat(float64(n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), s, n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(v.Index(i), s, n)
		}
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{s: s}))
	case reflect.Struct:
		if v.Type().String() == "time.Time" {
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), s, n)
		}
	}
}

// unprintable characters are nowhere in a rendering.
func unprintable(r rune) bool {
	return r != '\n' && unicode.IsControl(r) || Hidden(r)
}

// ours matches what the text rendering itself begins in the first column.
var (
	ours = regexp.MustCompile(`^(?:ycbot ·|(?:PASS|FAIL|PARTIAL|ERROR) ·(?: |$)|why:(?: |$)|Checks$|reproduce:$` +
		`|Since the last run$|Old expectations: \d+ of \d+ old expectations? holds?$|(?:Failed|Findings|Not covered|Denied|Notes|Agents) \(\d+\)$|(?:tests|sandbox|used|time|with|report):(?: |$))`)
	last = regexp.MustCompile(`\n\nVERDICT: (?:PASS|FAIL|PARTIAL|ERROR)\n$`)
	sgr  = regexp.MustCompile("\x1b\\[[0-9;]+m")
)

func checkText(t *testing.T, r *Report, s string) {
	t.Helper()
	for _, o := range []TextOptions{{}, {Width: 1}, {Width: 60, Color: true}} {
		text := r.Text(o)
		if !last.MatchString(text) {
			t.Fatalf("%q %+v: the last line is not the verdict:\n%q", s, o, text[max(0, len(text)-200):])
		}
		if o.Color {
			text = sgr.ReplaceAllString(text, "")
		}
		if i := strings.IndexFunc(text, unprintable); i >= 0 || !utf8.ValidString(text) {
			t.Fatalf("%q %+v: unprintable at %d of %q", s, o, i, text)
		}
		body := last.ReplaceAllString(text, "\n")
		for l := range strings.SplitSeq(body, "\n") {
			if l != "" && l[0] != ' ' && !ours.MatchString(l) {
				t.Fatalf("%q %+v: begins in the first column: %q", s, o, l)
			}
		}
	}
}

func checkJSON(t *testing.T, r *Report) {
	t.Helper()
	b, err := r.JSON()
	if err != nil {
		return // a word that is none
	}
	if bytes.ContainsFunc(b, unprintable) {
		t.Errorf("unprintable in %q", b)
	}
	back, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.ToValidUTF8(r.Title, "\uFFFD"); strings.Count(back.Title, "\uFFFD") < 1 && back.Title != want {
		t.Errorf("title %q, want %q", back.Title, want)
	}
}

var tag = regexp.MustCompile(`</?([a-zA-Z0-9]+)|<[!?]`)

// checkMarkdown reads md with a parser of its own and with goldmark.
func checkMarkdown(t *testing.T, md string) {
	t.Helper()
	if n := utf8.RuneCountInString(md); n > MarkdownLimit {
		t.Errorf("%d characters", n)
	}
	if i := strings.IndexFunc(md, unprintable); i >= 0 || !utf8.ValidString(md) {
		t.Fatalf("unprintable at %d of %q", i, md)
	}
	if strings.Contains(md, "<!--") {
		t.Errorf("a comment begins in %q", md)
	}
	if err := balanced(md); err != nil {
		t.Errorf("%v in\n%s", err, md)
	}
	g := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote), goldmark.WithRendererOptions(html.WithUnsafe()))
	var b bytes.Buffer
	if err := g.Convert([]byte(md), &b); err != nil {
		t.Fatal(err)
	}
	var open []string
	allowed := []string{"h2", "h3", "p", "strong", "em", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "pre", "code", "span", "details", "summary"}
	for _, m := range tag.FindAllStringSubmatch(b.String(), -1) {
		if !slices.Contains(allowed, m[1]) {
			t.Fatalf("%q in the HTML of\n%s", m[0], md)
		}
		switch {
		case !strings.HasPrefix(m[0], "</"):
			open = append(open, m[1])
		case len(open) == 0 || open[len(open)-1] != m[1]:
			t.Fatalf("%s closes %v in the HTML of\n%s", m[0], open, md)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("left open: %v in the HTML of\n%s", open, md)
	}
}

// balanced reports a fence or a fold of md that is not closed, or closed twice.
func balanced(md string) error {
	fence, details := "", 0
	for l := range strings.Lines(md) {
		l = strings.TrimRight(l, "\n")
		bare := strings.TrimLeft(l, " ")
		ticks := bare[:len(bare)-len(strings.TrimLeft(bare, "`"))]
		switch {
		case fence != "":
			if len(ticks) >= len(fence) && bare == ticks {
				fence = ""
			}
		case len(ticks) >= 3 && !strings.Contains(bare[len(ticks):], "`"):
			fence = ticks
		default:
			details += strings.Count(l, "<details>") - strings.Count(l, "</details>")
		}
		if details < 0 || details > 1 {
			return fmt.Errorf("%d folds open at %q", details, l)
		}
	}
	if fence != "" || details != 0 {
		return fmt.Errorf("at the end: fence %q, %d folds open", fence, details)
	}
	return nil
}

package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPlain: one line, nothing hidden, nothing dropped.
func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                          "",
		" a \n b\t":                 "a   b",
		"VERDICT: PASS\r\n":         "VERDICT: PASS",
		"a\u202eb\u202c":            "a<U+202E>b<U+202C>",
		"a\ufffeb\ufdefc\U0010ffff": "a<U+FFFE>b<U+FDEF>c<U+10FFFF>",
		"\u2066x\u2069":             "<U+2066>x<U+2069>",
		"zero\u200bwidth\u200d":     "zero<U+200B>width<U+200D>",
		"word\u2060joiner\ufeff":    "word<U+2060>joiner<U+FEFF>",
		"left\u200eright\u200f":     "left<U+200E>right<U+200F>",
		"tag\U000E0041\U000E007F":   "tag<U+E0041><U+E007F>",
		"variant\ufe0f\U000E0100":   "variant<U+FE0F><U+E0100>",
		"soft\u00adhyphen":          "soft<U+00AD>hyphen",
		"filler\u3164\u115f":        "filler<U+3164><U+115F>",
		"blank\u2800\U0001D159":     "blank<U+2800><U+1D159>",
		"line\u2028para\u2029.":     "line<U+2028>para<U+2029>.",
		"esc\x1b[31m bell\x07":      "esc<U+001B>[31m bell<U+0007>",
		"c1\u009b31m del\x7f":       "c1<U+009B>31m del<U+007F>",
		"bad\xff":                   "bad\uFFFD",
		"漢字 ünï":                    "漢字 ünï",
	} {
		if got := plain(in); got != want {
			t.Errorf("plain(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestOutputLines: an output can neither move the cursor nor hide a line.
func TestOutputLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"empty", " \n\n", nil},
		{"colour", "\x1b[1;31mred\x1b[0m", []string{"red"}},
		{"cursor", "a\x1b[2J\x1b[H\x1b[10Ab", []string{"ab"}},
		{"private mode", "\x1b[?1049hx\x1b[?25l", []string{"x"}},
		{"title", "\x1b]0;owned\x07x\x1b]8;;http://e\x1b\\link\x1b]8;;\x1b\\", []string{"xlink"}},
		{"open title hides nothing", "\x1b]0;FAIL here\nFAIL there", []string{"0;FAIL here", "FAIL there"}},
		{"short", "a\x1b7b\x1bcc\x1b(Bd", []string{"abcd"}},
		{"cut sequence", "a\x1b[31", []string{"a31"}},
		{"C1", "a\u009b31mb", []string{"a31mb"}},
		{"carriage return", "FAIL\rok  \r\nend", []string{"FAIL", "ok", "end"}},
		{"backspace", "FAIL\b\b\b\bPASS", []string{"FAILPASS"}},
		{"nul, bell, form feed", "a\x00b\x07c\fd\ve", []string{"abcde"}},
		{"tab", "\tx", []string{"    x"}},
		{"hidden", "a\u202eb", []string{"a<U+202E>b"}},
		{"blank lines within stay", "\n\na\n\n  b\n\n", []string{"a", "", "  b"}},
	} {
		if diff := cmp.Diff(tt.want, outputLines(tt.in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestCommandLines: of a command nothing is dropped.
func TestCommandLines(t *testing.T) {
	t.Parallel()
	got := commandLines("printf '\x1b[31m'\r\n\tcat <<E\n\nE\n")
	want := []string{"printf '<U+001B>[31m'", "    cat <<E", "", "E"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestMDText: text is text in Markdown.
func TestMDText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		" \n":                         "–",
		"a|b":                         "a&#124;b",
		`a\|b`:                        `a\\&#124;b`,
		"<b>x</b> & <!-- c -->":       "&lt;b&gt;x&lt;/b&gt; &amp; &lt;!-- c --&gt;",
		"</details>":                  "&lt;/details&gt;",
		"@octocat a@b.example":        "@&#8203;octocat a@&#8203;b.example",
		"![x](y) [a](b) [^1]":         `!\[x\](y) \[a\](b) \[^1\]`,
		"https://e.example ftp://e":   "https&#58;//e.example ftp&#58;//e",
		"see www.e.example, WWW.E.ex": "see www&#46;e.example, WWW&#46;E.ex",
		"`a` **b** ~~c~~":             "\\`a\\` \\*\\*b\\*\\* \\~\\~c\\~\\~",
		"snake_case __b__ _i_":        `snake_case \_\_b\_\_ \_i\_`,
		"$x$":                         "<span>$</span>x<span>$</span>",
		"# h":                         `\# h`,
		"#123 o/r#4 a#b":              "#&#8203;123 o/r#&#8203;4 a#b",
		"GH-1 gh-2 x-3":               "GH-&#8203;1 gh-&#8203;2 x-3",
		"- x":                         `\- x`,
		"-4":                          "-4",
		"1. x":                        `1\. x`,
		"2) x":                        `2\) x`,
		"1.5s":                        "1.5s",
		"---":                         `\---`,
		"===":                         `\===`,
		"+ x":                         `\+ x`,
		"> x":                         "&gt; x",
		"    code":                    "code",
		"a\n\n# b":                    "a  # b",
		"x\u202ey":                    "x&lt;U+202E&gt;y",
		"pkg TestAdd: regressed":      "pkg TestAdd: regressed",
	} {
		if got := mdText(in, 200); got != want {
			t.Errorf("mdText(%q) = %q, want %q", in, got, want)
		}
	}
	// An escape is never cut in its middle.
	if got, want := mdText("ab<<<<", 10), "ab&lt;&lt;…"; got != want {
		t.Errorf("cut: %q, want %q", got, want)
	}
}

// TestMDCode: nothing gets out of code.
func TestMDCode(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":              "",
		"a":             "`a`",
		"a`b":           "`` a`b ``",
		"`":             "`` ` ``",
		"``x``":         "``` ``x`` ```",
		"a\nb":          "`a b`",
		"a<!-- x -->":   "<code>a&lt;!-- x --&gt;</code>",
		"x\u200b</b> |": "<code>x&lt;U+200B&gt;&lt;/b&gt; &#124;</code>",
		"a[1]_b_ *":     "`a[1]_b_ *`",
	} {
		if got := mdCode(in, 100); got != want {
			t.Errorf("mdCode(%q) = %q, want %q", in, got, want)
		}
	}
	got := mdFence("text", []string{"```", "````` x", "<!-- m -->"})
	if want := "``````text\n```\n````` x\n<! -- m -->\n``````\n"; got != want {
		t.Errorf("fence %q, want %q", got, want)
	}
}

// TestExcerpt: of a long output both ends are shown, with what lies between in
// numbers and where it is.
func TestExcerpt(t *testing.T) {
	t.Parallel()
	var ls []string
	for i := range 100 {
		ls = append(ls, fmt.Sprint("line ", i))
	}
	got := outputEnds.excerpt(ls, "spill/E12.stdout")
	if len(got) != outputEnds.head+1+outputEnds.tail {
		t.Errorf("%d lines", len(got))
	}
	if got[0] != "line 0" || got[len(got)-1] != "line 99" {
		t.Errorf("ends %q, %q", got[0], got[len(got)-1])
	}
	if want := "… 60 lines left out: spill/E12.stdout"; got[outputEnds.head] != want {
		t.Errorf("mark %q, want %q", got[outputEnds.head], want)
	}
	if got := outputEnds.excerpt(ls[:41], ""); cmp.Diff(ls[:41], got) != "" {
		t.Errorf("one line left out for a mark: %q", got)
	}
	if got := outputEnds.excerpt([]string{strings.Repeat("x", 500)}, ""); len([]rune(got[0])) != outputLine+1 {
		t.Errorf("long line: %d characters", len([]rune(got[0])))
	}
}

// TestFold: a terminal never has to break a line of an output.
func TestFold(t *testing.T) {
	t.Parallel()
	got := fold("abcde漢字漢字", 4)
	if diff := cmp.Diff([]string{"abcd", "e漢", "字漢", "字"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := fold("", 4); len(got) != 1 || got[0] != "" {
		t.Errorf("empty line: %q", got)
	}
}

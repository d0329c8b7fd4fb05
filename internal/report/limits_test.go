package report

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/testing/variants"
)

// large makes a report with n of everything, each string made by s.
func large(n int, s func(int) string) *Report {
	r := minimal()
	r.Verdict, r.Title, r.Checks, r.Findings = Fail, s(0), nil, nil
	for i := range n {
		r.Reasons = append(r.Reasons, s(i))
		r.Checks = append(r.Checks,
			Check{ID: "f", Title: "fails " + s(i), Kind: KindTest, Result: ResultFail, Support: Supported, Reproduction: Introduced, Command: s(i), Evidence: []string{"E1"}, Actual: strings.Repeat(s(i)+"\n", 100)},
			Check{ID: "p", Title: "passes " + s(i), Kind: KindTest, Result: ResultPass, Support: Supported})
		r.Findings = append(r.Findings, Finding{Severity: SeverityInfo, Title: s(i), Detail: strings.Repeat(s(i)+"\n", 100)})
		r.NotCovered, r.Notes = append(r.NotCovered, s(i)), append(r.Notes, s(i))
		r.Denied = append(r.Denied, Denial{Agent: "a", Tool: "t", Target: s(i)})
		r.Subagents = append(r.Subagents, Subagent{Agent: s(i)})
		r.Tests.Regressed, r.Tests.Flaky = append(r.Tests.Regressed, s(i)), append(r.Tests.Flaky, s(i))
		r.Sandbox.Missing = append(r.Sandbox.Missing, s(i))
	}
	r.Reproduce = "ycbot run --pr 7"
	return r
}

// TestMarkdownLimit: however much there is, the comment fits, nothing is left
// open, and every section can still be seen.
func TestMarkdownLimit(t *testing.T) {
	variants.Only(t) // reports of the greatest size; TestMarkdownWithin has some
	t.Parallel()
	for name, s := range map[string]func(int) string{
		"short":   func(i int) string { return fmt.Sprint("pkg/name Test", i) },
		"long":    func(i int) string { return fmt.Sprint(i, strings.Repeat(" a test of a very long name", 100)) },
		"escapes": func(int) string { return strings.Repeat("<\U000E0041|`@a", 200) },
		"ticks":   func(int) string { return strings.Repeat("`", 1000) },
		"wide":    func(int) string { return strings.Repeat("漢", 1000) },
	} {
		for _, n := range []int{1, 12, 110} {
			r := large(n, s)
			md := r.Markdown()
			if got := utf8.RuneCountInString(md); got > MarkdownLimit {
				t.Errorf("%s, %d: %d characters", name, n, got)
			}
			if err := balanced(md); err != nil {
				t.Errorf("%s, %d: %v", name, n, err)
			}
			for _, want := range []string{
				"## ❌ ycbot: FAIL", "| Check |", "### ❌ fails", "<summary>Findings (", "<summary>Not covered (",
				"<summary>Tests: ", "<summary>Denied (", "<summary>Notes (", "<summary>Sandbox: ", "<summary>Agents (",
				"<summary>What was verified", "ycbot run --pr 7",
			} {
				if !strings.Contains(md, want) {
					t.Errorf("%s, %d: no %q", name, n, want)
				}
			}
		}
	}
}

// TestMarkdownWithin: a smaller place is kept to in characters and in bytes,
// whatever the strings are, and the verdict is still there.
func TestMarkdownWithin(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]string{"wide": strings.Repeat("漢", 1000), "widest": strings.Repeat("🛑", 1000), "escapes": strings.Repeat("<|`@a", 200)} {
		for _, limit := range []struct{ runes, bytes int }{{55_000, 0}, {65_535, 60_000}, {20_000, 0}} {
			md := large(110, func(int) string { return s }).MarkdownWithin(limit.runes, limit.bytes)
			if n := utf8.RuneCountInString(md); n > limit.runes {
				t.Errorf("%s: %d characters, want %d", name, n, limit.runes)
			}
			if limit.bytes > 0 && len(md) > limit.bytes {
				t.Errorf("%s: %d bytes, want %d", name, len(md), limit.bytes)
			}
			if err := balanced(md); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if !strings.HasPrefix(md, "## ❌ ycbot: FAIL") || !strings.Contains(md, "Left out here") {
				t.Errorf("%s: the verdict or the pointer is gone", name)
			}
		}
	}
}

// TestMarkdownCutsTheLeastFirst: what gives way are the notes, long before the
// first failure.
func TestMarkdownCutsTheLeastFirst(t *testing.T) {
	t.Parallel()
	r := large(12, func(i int) string { return fmt.Sprint("name", i, strings.Repeat("-x", 100)) })
	r.Notes = append(r.Notes, strings.Repeat("note ", 400))
	md := r.Markdown()
	section := func(from, to string) string {
		_, rest, ok := strings.Cut(md, from)
		if !ok {
			t.Fatalf("no %q", from)
		}
		got, _, _ := strings.Cut(rest, to)
		return got
	}
	if s := section("<summary>Notes (", "</details>"); !strings.Contains(s, "Left out here") {
		t.Errorf("notes are whole: %s", s)
	}
	if s := section("### ❌ fails name0", "###"); !strings.Contains(s, "```text\nname0-x") {
		t.Errorf("the first failure was cut: %s", s)
	}
	if s := section("**With ycbot", "\n"); !strings.Contains(s, "`ycbot run --pr 7`") {
		t.Errorf("the reproduction was cut: %s", s)
	}
}

// TestTextLists: long lists end in how many more there are; names and commands
// are never cut.
func TestTextLists(t *testing.T) {
	t.Parallel()
	name := strings.Repeat("a/very/long/name", 20)
	r := large(300, func(i int) string { return fmt.Sprint(name, i) })
	for i := range 300 {
		r.Checks[2*i].Actual, r.Findings[i].Detail = strings.Repeat("x\n", 100), strings.Repeat("x\n", 100)
	}
	text := r.Text(TextOptions{Width: 80})
	if n := strings.Count(text, "\n"); n > 700 {
		t.Errorf("%d lines", n)
	}
	for _, want := range []string{
		"… and 290 more (report.json)\n", // names: 300 - 10
		"… and 289 more (report.json)\n", // reasons but the first: 299 - 10
		"… and 575 more (report.json)\n", // failures: 300 - 5 - 20, and 300 tests without a check
		"… and 280 more (report.json)\n", // other checks: 300 - 20
		"    " + name + "0\n", "$ " + name + "0\n", "  FAIL  fails " + name + "0\n",
		"\nwhy:", "and 299 reasons more, at the top\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
}

// TestTextWidth: sentences and outputs keep to the width.
func TestTextWidth(t *testing.T) {
	t.Parallel()
	r := large(3, func(i int) string {
		return strings.Repeat(fmt.Sprint("word", i, " "), 60) + strings.Repeat("1 ", 60) + strings.Repeat("· ", 60)
	})
	for i := range r.Checks {
		r.Checks[i].Title, r.Checks[i].Command = "t", "c"
	}
	r.Tests, r.Reproduce = nil, ""
	for _, width := range []int{40, 72, 120} {
		for l := range strings.Lines(r.Text(TextOptions{Width: width})) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(l, "\n")); n > width {
				t.Errorf("width %d: %d columns: %q", width, n, l)
			}
		}
	}
}

// TestGateOnly: a run without a model says so in every rendering.
func TestGateOnly(t *testing.T) {
	t.Parallel()
	r := minimal()
	for name, s := range map[string]string{"text": r.Text(TextOptions{}), "markdown": r.Markdown(), "summary": Summary(r)} {
		if !strings.Contains(s, "no model: gate only") {
			t.Errorf("%s does not say it:\n%s", name, s)
		}
	}
	r.Model = "m1"
	for name, s := range map[string]string{"text": r.Text(TextOptions{}), "markdown": r.Markdown(), "summary": Summary(r)} {
		if strings.Contains(s, "gate only") || !strings.Contains(s, "model m1") {
			t.Errorf("%s does not name the model:\n%s", name, s)
		}
	}
}

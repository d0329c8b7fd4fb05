package imports

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestLinksBetweenPages holds that a link of README.md, of another page at the top or of docs/*.md
// to a file of the repository leads to a file that exists, and its anchor to a heading there.
func TestLinksBetweenPages(t *testing.T) {
	t.Parallel()
	links := 0
	for _, page := range pageNames(t) {
		for _, to := range linksOf(readPage(t, page)) {
			links++
			if why := deadLink(t, page, to); why != "" {
				t.Errorf("%s: link to %s: %s", page, to, why)
			}
		}
	}
	if links < 100 {
		t.Errorf("%d links were found: is linksOf right?", links)
	}
}

// TestEveryPageIsLinked holds that each page of docs can be reached from README.md.
func TestEveryPageIsLinked(t *testing.T) {
	t.Parallel()
	reached, next := map[string]bool{}, []string{"README.md"}
	for len(next) > 0 {
		page := next[0]
		next = next[1:]
		if reached[page] {
			continue
		}
		reached[page] = true
		for _, to := range linksOf(readPage(t, page)) {
			name, _, _ := strings.Cut(to, "#")
			if name = path.Join(path.Dir(page), name); strings.HasSuffix(name, ".md") && deadLink(t, page, to) == "" {
				next = append(next, name)
			}
		}
	}
	for _, page := range pageNames(t) {
		if strings.HasPrefix(page, "docs/") && !reached[page] {
			t.Errorf("%s: no page that README.md leads to links to it: add a link", page)
		}
	}
}

// A check that finds nothing wrong would hold nothing.
func TestDeadLinksAreNoticed(t *testing.T) {
	t.Parallel()
	text := "[a](no.md), `[code](x.md)`\n```\n[block](y.md)\n```\n[web](https://example.org/z.md) [b](gate.md#no-such-heading) [c](gate.md#the-four-arms) [d](#here)\n"
	var dead []string
	for _, to := range linksOf(text) {
		if deadLink(t, "docs/run.md", to) != "" {
			dead = append(dead, to)
		}
	}
	if got := strings.Join(dead, " "); got != "no.md gate.md#no-such-heading #here" {
		t.Errorf("dead: %s", got)
	}
	if got := anchorsOf("# `ycbot run`\n## What a PASS cannot exclude\n## Twice\n## Twice\n```\n# comment\n```\n"); !got["ycbot-run"] || !got["what-a-pass-cannot-exclude"] || !got["twice-1"] || got["comment"] {
		t.Errorf("anchors: %v", got)
	}
}

// pageNames are the pages that people read: those at the top and in docs.
func pageNames(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		names, err := fs.Glob(root(t), pattern)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, names...)
	}
	return out
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := fs.ReadFile(root(t), name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	codeSpan = regexp.MustCompile("`[^`\n]*`")
	pageLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	linked   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	notInID  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// linksOf are the targets of the links of a page that stay in the repository.
func linksOf(text string) []string {
	var out []string
	text = codeSpan.ReplaceAllString(withoutBlocks(text), "x")
	for _, m := range pageLink.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[1], ":") {
			out = append(out, m[1])
		}
	}
	return out
}

// deadLink says why a link of a page leads nowhere; empty: it leads somewhere.
func deadLink(t *testing.T, page, to string) string {
	t.Helper()
	name, anchor, hasAnchor := strings.Cut(to, "#")
	target := page
	if name != "" {
		target = path.Join(path.Dir(page), name)
	}
	if _, err := fs.Stat(root(t), target); err != nil {
		return "there is no such file"
	}
	if hasAnchor && !anchorsOf(readPage(t, target))[anchor] {
		return target + " has no heading of that anchor"
	}
	return ""
}

// anchorsOf are the anchors of a page's headings, as GitHub makes them.
func anchorsOf(text string) map[string]bool {
	out, times := map[string]bool{}, map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(withoutBlocks(text), -1) {
		title := linked.ReplaceAllString(m[1], "$1")
		id := strings.ReplaceAll(notInID.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
		if n := times[id]; n > 0 {
			out[id+"-"+string(rune('0'+n))] = true
		} else {
			out[id] = true
		}
		times[id]++
	}
	return out
}

// withoutBlocks is a page without its blocks of code. A block ends with as many backticks as it
// begins with, or more, so that one can show another.
func withoutBlocks(text string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		ticks := trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
		case fence == "":
			b.WriteString(line)
		case len(ticks) >= len(fence) && ticks == trimmed:
			fence = ""
		}
	}
	return b.String()
}

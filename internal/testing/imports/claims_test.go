package imports

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// noClaim stands in place of names where a text gives a reason, advice or a limit.
const noClaim = "no claim"

var marker = regexp.MustCompile(`<!-- (.*?) -->`)

// TestClaimsAreHeld: each paragraph and each item of a list of docs/security.md and
// SECURITY.md ends with a comment that names the tests which hold what was said since the comment before it, or
// that says that it makes no claim.
func TestClaimsAreHeld(t *testing.T) {
	t.Parallel()
	var all []section
	for _, page := range []string{securityPage, "../../../SECURITY.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sections(string(text))...)
	}
	k := knownTests(t)
	held := 0
	for _, s := range all {
		if statement(s.text, "Not held by a test: ") != "" {
			continue
		}
		for _, b := range blocks(s.text) {
			for _, why := range k.unheld(b) {
				t.Errorf("%s: %.60q …: %s", s.title, b, why)
			}
			held += len(marker.FindAllString(b, -1))
		}
	}
	if held < 80 {
		t.Errorf("%d statements are held", held)
	}
}

// A check that finds nothing wrong would hold nothing.
func TestUnheldClaimsAreNoticed(t *testing.T) {
	t.Parallel()
	k := known{dirs: map[string][]string{"TestOne": {"a"}}, attacks: map[string]bool{"P01": true}}
	for block, wrong := range map[string]bool{
		"It holds. <!-- TestOne, P01 -->":                         false,
		"It holds. <!-- TestOne --> Mind that. <!-- no claim -->": false,
		"It holds.": true,
		"It holds. <!-- TestOne --> So does this.": true,
		"It holds. <!-- TestTwo -->":               true,
		"It holds. <!-- TestOne, no claim -->":     true,
		"It holds. <!--  -->":                      true,
	} {
		if got := k.unheld(block); len(got) > 0 != wrong {
			t.Errorf("%s: %q", block, got)
		}
	}
	page := "One\ntwo. <!-- x -->\n\n- a\n  b\n- c\n\n| t |\n\n```sh\ncode\n\nmore\n```\nafter\n\nHeld by: `TestOne`.\n"
	if d := cmp.Diff([]string{"One\ntwo. <!-- x -->", "- a\n  b", "- c", "after"}, blocks(page)); d != "" {
		t.Error(d)
	}
}

// unheld says what is wrong with the markers of a block.
func (k known) unheld(block string) []string {
	var out []string
	if !strings.HasSuffix(block, "-->") {
		out = append(out, "it ends without a comment that names tests")
	}
	for _, m := range marker.FindAllStringSubmatch(block, -1) {
		if m[1] == noClaim {
			continue
		}
		for name := range strings.SplitSeq(m[1], ", ") {
			if why := k.lacks(name); why != "" {
				out = append(out, name+": "+why)
			}
		}
	}
	return out
}

// blocks are the paragraphs and items of lists of a section, without tables, code and the
// paragraph that says what holds the section.
func blocks(text string) []string {
	var out, now []string
	end := func() {
		if len(now) > 0 && !strings.HasPrefix(now[0], "Held by: ") {
			out = append(out, strings.Join(now, "\n"))
		}
		now = nil
	}
	code := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		fence := strings.HasPrefix(line, "```")
		if fence {
			code = !code
		}
		switch {
		case fence, code, line == "", strings.HasPrefix(line, "|"):
			end()
			continue
		case strings.HasPrefix(line, "- "):
			end()
		}
		now = append(now, line)
	}
	end()
	return slices.Clip(out)
}

package imports

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// claimsPage says which tests hold what documents say.
const claimsPage = "../../../docs/claims.md"

// withoutClaims are documents that docs/claims.md leaves out: they are measured, list decisions or
// words, or name their tests themselves.
var withoutClaims = []string{"claims.md", "decisions.md", "glossary.md", "performance.md", "security.md", "verdicts.md"}

// TestClaimsTable: each row of docs/claims.md names tests, scenarios or measurements that exist, or
// says that the claim is untested and why; and each document has rows.
func TestClaimsTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(claimsPage)
	if err != nil {
		t.Fatal(err)
	}
	k, archives := knownTests(t), map[string]bool{}
	rows, document := map[string]int{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "## "); ok {
			document = title
		}
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || line == "| claim | held by |" {
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 2 {
			t.Errorf("%s: %d cells: %.80s", document, len(cells), line)
			continue
		}
		rows[document]++
		if why := k.heldBy(cells[1], archives); why != "" {
			t.Errorf("%s: %.60s …: %s", document, cells[0], why)
		}
	}
	pages, err := filepath.Glob("../../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "README.md") {
		if name := filepath.Base(page); rows[name] < 5 && !slices.Contains(withoutClaims, name) {
			t.Errorf("docs/claims.md has %d of at least 5 rows for %s: add them, or name the page in withoutClaims", rows[name], name)
		}
	}
}

// heldBy says what is wrong with what holds a claim; empty: nothing. archives are files that exist.
func (k known) heldBy(cell string, archives map[string]bool) string {
	if why, ok := strings.CutPrefix(cell, "untested: "); ok {
		if len(why) < 10 {
			return "no reason why it is untested"
		}
		return ""
	}
	for item := range strings.SplitSeq(cell, ", ") {
		name := strings.Trim(item, "`")
		if item != "`"+name+"`" {
			return item + ": is not in backticks"
		}
		words := strings.Split(name, " ")
		switch {
		case len(words) == 1 && measured.MatchString(name), len(words) == 3 && words[0] == "docs/performance.md" && words[1] == "row":
		case len(words) == 2 && strings.HasPrefix(words[1], "Test"):
			test, _, _ := strings.Cut(words[1], "/")
			if !slices.Contains(k.dirs[test], words[0]) {
				return name + ": no such test in that folder"
			}
		case len(words) == 3 && (words[1] == "script" || words[1] == "scenario"):
			if !archives[name] {
				pattern := "../../../" + words[0] + "/testdata/*/" + words[2] + ".txtar"
				found, err := filepath.Glob(pattern)
				flat, flatErr := filepath.Glob(strings.Replace(pattern, "/*/", "/", 1))
				if archives[name] = err == nil && flatErr == nil && len(found)+len(flat) > 0; !archives[name] {
					return name + ": no such file"
				}
			}
		default:
			return name + ": names no test"
		}
	}
	return ""
}

var measured = regexp.MustCompile(`^docs/(verdicts|eval|backtest|performance)\.md$`)

// A check that finds nothing wrong would hold nothing.
func TestWrongClaimsAreNoticed(t *testing.T) {
	t.Parallel()
	k := known{dirs: map[string][]string{"TestOne": {"a"}}}
	for cell, wrong := range map[string]bool{
		"`a TestOne`":                    false,
		"`a TestOne/sub`, `a TestOne`":   false,
		"`docs/performance.md row 3`":    false,
		"`docs/verdicts.md`":             false,
		"untested: a printer is needed":  false,
		"`cmd/ycbot script resume`":      false,
		"untested: no":                   true,
		"`b TestOne`":                    true,
		"`a TestTwo`":                    true,
		"a TestOne":                      true,
		"`cmd/ycbot script no_such_one`": true,
		"":                               true,
	} {
		if why := k.heldBy(cell, map[string]bool{}); why != "" != wrong {
			t.Errorf("%q: %s", cell, why)
		}
	}
}

package imports

import (
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	tableRow  = regexp.MustCompile(`^\| ([0-9][0-9, –]*) \| (.*) \| (.*)\|$`)
	inTicks   = regexp.MustCompile("`([^`]+)`")
	goName    = regexp.MustCompile(`^(?:([A-Za-z]+)\.)?([A-Za-z]\w*)(?:\.([A-Za-z]\w*))?$`)
	words     = regexp.MustCompile(`func Test\w+|[A-Za-z]\w*`)
	pathOrPat = regexp.MustCompile(`\.(?:go|md|json|txtar)$`)
)

// TestRequirements holds the table of docs/agent-core.md true: every scenario,
// file, test and name of the code in it exists, and the rows of the loop and of
// interrupts, 1 to 19, each stand once.
func TestRequirements(t *testing.T) {
	t.Parallel()
	text, err := fs.ReadFile(root(t), "docs/agent-core.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## Requirements")
	table, _, _ = strings.Cut(table, "\n## ")
	files, names := inventory(t)
	seen := map[int]int{}
	for line := range strings.Lines(table) {
		m := tableRow.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		for _, n := range numbers(t, m[1]) {
			seen[n]++
		}
		for _, tick := range inTicks.FindAllStringSubmatch(m[2], -1) {
			if what := tick[1]; !there(what, files, names) {
				t.Errorf("row %s names `%s`, which does not exist", m[1], what)
			}
		}
	}
	for n := 1; n <= 147; n++ {
		if owed := n <= 56 || n >= 91 && n <= 99 || n >= 136; owed && seen[n] != 1 {
			t.Errorf("row %d stands %d times", n, seen[n])
		}
	}
}

// numbers are those of "57–66" and "1, 2".
func numbers(t *testing.T, text string) []int {
	t.Helper()
	var out []int
	for part := range strings.SplitSeq(text, ",") {
		from, to, ok := strings.Cut(strings.TrimSpace(part), "–")
		if !ok {
			to = from
		}
		a, err := strconv.Atoi(from)
		b, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil {
			t.Fatalf("row %q: %v %v", text, err, err2)
		}
		for ; a <= b; a++ {
			out = append(out, a)
		}
	}
	return out
}

// there reports whether something in ticks exists: a path or a pattern of files, or a
// name of Go. What is neither, such as a flag, counts as there.
func there(what string, files []string, names map[string]bool) bool {
	what = strings.TrimSuffix(what, "/")
	if pathOrPat.MatchString(what) || strings.Contains(what, "/") && !strings.ContainsAny(what, " :") {
		for _, f := range files {
			for at := f; at != "."; at = path.Dir(at) {
				if ok, err := path.Match(what, at); err == nil && ok {
					return true
				}
			}
			if ok, err := path.Match(what, path.Base(f)); err == nil && ok {
				return true
			}
		}
		return false
	}
	m := goName.FindStringSubmatch(what)
	if m == nil || strings.ContainsRune(what, '_') || what == strings.ToLower(what) && m[1] == "" {
		return true
	}
	if strings.HasPrefix(what, "Test") {
		return names["func "+what]
	}
	for _, name := range m[1:] {
		if name != "" && !names[name] {
			return false
		}
	}
	return true
}

// inventory is every file of the tree, every word of its Go code, and "func NAME" of
// its tests.
func inventory(t *testing.T) (files []string, names map[string]bool) {
	t.Helper()
	top, names := root(t), map[string]bool{}
	err := fs.WalkDir(top, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		files = append(files, name)
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := fs.ReadFile(top, name)
		for _, word := range words.FindAllString(string(text), -1) {
			names[word] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, names
}

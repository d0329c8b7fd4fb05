package imports

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var updateWords = flag.Bool("update", false, "rewrite testdata/words.txt")

// TestWords holds that no file has more of the words that docs/glossary.md advises
// against than testdata/words.txt says.
func TestWords(t *testing.T) {
	t.Parallel()
	avoid := avoided(t)
	names := strings.NewReplacer("http.NoBody", "", "kin-openapi", "")
	have := map[string]int{}
	lines := map[string][]int{}
	for _, file := range proseFiles(t) {
		text, err := fs.ReadFile(root(t), file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			line = names.Replace(line)
			for _, w := range avoid.FindAllString(line, -1) {
				key := file + " " + strings.ToLower(w)
				have[key]++
				lines[key] = append(lines[key], i+1)
			}
		}
	}
	const record = "testdata/words.txt"
	if *updateWords {
		var b strings.Builder
		for _, key := range slices.Sorted(maps.Keys(have)) {
			fmt.Fprintf(&b, "%s %d\n", key, have[key])
		}
		if err := os.WriteFile(record, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	allowed := map[string]int{}
	data, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(strings.NewReader(string(data))); s.Scan(); {
		var file, word string
		var n int
		if _, err := fmt.Sscan(s.Text(), &file, &word, &n); err != nil {
			t.Fatalf("%s: %q: %v", record, s.Text(), err)
		}
		allowed[file+" "+word] = n
	}
	for _, key := range slices.SortedFunc(maps.Keys(have), cmp.Compare[string]) {
		if have[key] > allowed[key] {
			file, word, _ := strings.Cut(key, " ")
			t.Errorf("%s has %q %d times, %d before, on lines %v: docs/glossary.md has better words", file, word, have[key], allowed[key], lines[key])
		}
	}
}

// avoided are the words of the second table of the glossary.
func avoided(t *testing.T) *regexp.Regexp {
	t.Helper()
	page, err := fs.ReadFile(root(t), "docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "| not | but |\n|---|---|\n")
	if !ok {
		t.Fatal("docs/glossary.md has no table of words to avoid")
	}
	var words []string
	for row := range strings.Lines(table) {
		if cells := strings.Split(row, "|"); len(cells) > 2 {
			words = append(words, strings.Split(strings.TrimSpace(cells[1]), ", ")...)
		}
	}
	return regexp.MustCompile(`(?i)\b(` + strings.Join(words, "|") + `)\b`)
}

// proseFiles are the files in which people write: sources, pages, prompts.
func proseFiles(t *testing.T) []string {
	t.Helper()
	var out []string
	err := fs.WalkDir(root(t), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (slices.Contains([]string{"testdata", "node_modules", "bin", "dist"}, d.Name()) || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case slices.Contains([]string{".go", ".md", ".html", ".yml"}, path.Ext(name)) && name != "docs/glossary.md":
			out = append(out, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const securityPage = "../../../docs/security.md"

var (
	quoted   = regexp.MustCompile("`([^`]+)`")
	attackID = regexp.MustCompile(`^[AP][0-9]{2}$`)
)

// TestThreatsAreHeld: each section of docs/security.md says which tests hold it, or that
// none does and why; each row of a table with a column "held by" names some; and each
// name is one test of one package, a script of cmd/ycbot, or an attack of the doctor.
func TestThreatsAreHeld(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(securityPage)
	if err != nil {
		t.Fatal(err)
	}
	k := knownTests(t)
	rows := 0
	for _, s := range sections(string(text)) {
		held, reason := statement(s.text, "Held by: "), statement(s.text, "Not held by a test: ")
		switch {
		case held == "" && reason == "":
			t.Errorf("section %q has neither \"Held by:\" nor \"Not held by a test:\"", s.title)
		case held != "" && !strings.HasPrefix(held, "the tests in the tables"):
			k.check(t, s.title, held)
		}
		for _, row := range heldRows(s.text) {
			rows++
			k.check(t, s.title+": "+row[0], row[len(row)-1])
		}
	}
	if rows < 40 {
		t.Errorf("%d rows", rows)
	}
}

// TestAttacksAreDocumented: docs/security.md names each published escape of the doctor,
// and the list of what tier basic leaves open is the program's own.
func TestAttacksAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(securityPage)
	if err != nil {
		t.Fatal(err)
	}
	for id := range knownTests(t).attacks {
		if strings.HasPrefix(id, "P") && !strings.Contains(string(text), "`"+id+"`") {
			t.Errorf("the published escape %s is not in docs/security.md", id)
		}
	}
	source, err := os.ReadFile("../../sandbox/attack/attack.go")
	if err != nil {
		t.Fatal(err)
	}
	var left, listed []string
	for _, m := range regexp.MustCompile(`id == "([AP][0-9]{2})"`).FindAllStringSubmatch(string(source), -1) {
		left = append(left, m[1])
	}
	for _, s := range sections(string(text)) {
		if s.title != "What tier basic leaves open" {
			continue
		}
		for _, m := range regexp.MustCompile(`(?m)^\| ([AP][0-9]{2}) \|`).FindAllStringSubmatch(s.text, -1) {
			listed = append(listed, m[1])
		}
	}
	if d := cmp.Diff(left, listed); d != "" || len(left) == 0 {
		t.Errorf("what tier basic leaves open, by the program and by docs/security.md: %s", d)
	}
}

// A resolver that finds everything would hold nothing.
func TestUnknownTestsAreNoticed(t *testing.T) {
	t.Parallel()
	k := known{dirs: map[string][]string{"TestOne": {"a/x"}, "TestTwo": {"a/x", "b/y"}}, scripts: map[string]bool{"s.txtar": true}, attacks: map[string]bool{"P01": true}}
	for name, ok := range map[string]bool{
		"TestOne": true, "a/x.TestOne": true, "b/y.TestTwo": true, "s.txtar": true, "P01": true,
		"TestTwo": false, "b/y.TestOne": false, "x.TestOne": false, "TestThree": false, "t.txtar": false, "P02": false, "": false,
	} {
		if why := k.lacks(name); (why == "") != ok {
			t.Errorf("%s: %q", name, why)
		}
	}
	for text, want := range map[string]int{"## A\n\nHeld by: `TestOne`,\n`P01`.\n\nmore\n\n### B\n\n## C\n": 3, "no heading": 0} {
		if got := sections(text); len(got) != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
	if got := statement("x\n\nHeld by: a\nb.\n\nc\n", "Held by: "); got != "a\nb." {
		t.Errorf("%q", got)
	}
}

type section struct{ title, text string }

// sections are those of a page below its title.
func sections(page string) []section {
	var out []section
	code := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if mark, title, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !code && (mark == "##" || mark == "###") {
			out = append(out, section{title: title})
		} else if len(out) > 0 {
			out[len(out)-1].text += line
		}
	}
	return out
}

// statement is the paragraph that begins with prefix, without it.
func statement(text, prefix string) string {
	for p := range strings.SplitSeq(text, "\n\n") {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(p), prefix); ok {
			return rest
		}
	}
	return ""
}

// heldRows are the cells of the tables whose last column is "held by".
func heldRows(text string) [][]string {
	var out [][]string
	in := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case !strings.HasPrefix(line, "|"):
			in = false
		case strings.HasSuffix(line, "| held by |"):
			in = true
		case in && !strings.HasPrefix(line, "|---"):
			out = append(out, strings.Split(strings.Trim(line, "|"), "|"))
		}
	}
	return out
}

// known are the tests that there are.
type known struct {
	dirs    map[string][]string // the packages that have a Go test of a name, by their folder
	scripts map[string]bool
	attacks map[string]bool
}

func (k known) check(t *testing.T, what, names string) {
	t.Helper()
	found := quoted.FindAllStringSubmatch(names, -1)
	if len(found) == 0 {
		t.Errorf("nothing holds %s", what)
	}
	for _, m := range found {
		if strings.HasPrefix(m[1], "make ") || strings.HasPrefix(m[1], "go ") { // how it is run, beside the names
			continue
		}
		if why := k.lacks(m[1]); why != "" {
			t.Errorf("%s, which is to hold %s: %s", m[1], what, why)
		}
	}
}

// lacks says why a name is no test; empty: it is one.
func (k known) lacks(name string) string {
	dir, test := path.Split(name)
	if i := strings.LastIndex(test, "."); i >= 0 && !strings.HasSuffix(test, ".txtar") {
		dir, test = dir+test[:i], test[i+1:]
	}
	have := k.dirs[test]
	switch {
	case k.scripts[name] || attackID.MatchString(name) && k.attacks[name]:
		return ""
	case len(have) == 0:
		return "there is no such test"
	case dir != "" && !slices.Contains(have, dir):
		return "that package has no such test"
	case dir == "" && len(have) > 1:
		return "more than one package has one, so name it with its package: " + strings.Join(have, ", ")
	}
	return ""
}

// knownTests looks for the Go tests, the scripts of cmd/ycbot and the attacks.
func knownTests(t *testing.T) known {
	t.Helper()
	k := known{dirs: map[string][]string{}, scripts: map[string]bool{}, attacks: map[string]bool{}}
	scripts, err := filepath.Glob("../../../cmd/ycbot/testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range scripts {
		k.scripts[filepath.Base(file)] = true
	}
	attacks := regexp.MustCompile(`\{id: "([AP][0-9]{2})"`)
	err = filepath.WalkDir("../../..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != ".." && d.Name() != ".") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") {
			return nil
		}
		dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), "../../../")
		if dir == "internal/sandbox/attack" {
			text, err := os.ReadFile(file)
			for _, m := range attacks.FindAllStringSubmatch(string(text), -1) {
				k.attacks[m[1]] = true
			}
			return err
		}
		if !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range parsed.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				k.dirs[f.Name.Name] = append(k.dirs[f.Name.Name], dir)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

package golang

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// TestWithoutTests holds that tests are taken out by the lines that stand in them, with the
// imports that only they need, and that nothing else of a file is.
func TestWithoutTests(t *testing.T) {
	t.Parallel()
	const src = `package m

import (
	"fmt"
	str "strings"
	"testing"

	"example.org/old/v2"
	"gopkg.example/yaml.v3"
)

// TestA prints.
func TestA(t *testing.T) {
	fmt.Println(str.ToUpper("a"), old.A, yaml.A)
}

func helper() {}

func TestB(t *testing.T) { helper() }
`
	at := func(text string) int { return strings.Count(src[:strings.Index(src, text)], "\n") + 1 }
	rest, tests, ok := withoutTests([]byte(src), []int{at("fmt.Println")}, false)
	if !ok || !slices.Equal(tests, []string{"TestA"}) {
		t.Fatalf("without TestA: %v, %v", tests, ok)
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "", rest, 0); err != nil {
		t.Errorf("what is left is no source: %v\n%s", err, rest)
	}
	for _, want := range []string{`_ "fmt"`, `_ "strings"`, `_ "example.org/old/v2"`, `_ "gopkg.example/yaml.v3"`, "\t\"testing\"", "func TestB"} {
		if !strings.Contains(string(rest), want) {
			t.Errorf("no %q in\n%s", want, rest)
		}
	}
	if strings.Contains(string(rest), "TestA") || strings.Count(string(rest), "\n") != strings.Count(src, "\n") {
		t.Errorf("TestA stands there, or lines have moved:\n%s", rest)
	}
	for _, line := range [][]int{nil, {at("func helper")}, {at("fmt.Println"), at(`"fmt"`)}} {
		if _, _, ok := withoutTests([]byte(src), line, false); ok {
			t.Errorf("lines %v are taken for those of tests", line)
		}
	}
	for _, tt := range []struct {
		line        int
		with, tests string
		gone        string
	}{
		{at("func helper"), "func TestB", "", "helper() {}"},
		{at("fmt.Println"), "func helper", "TestA", "fmt.Println"},
	} {
		rest, tests, ok := withoutTests([]byte(src), []int{tt.line}, true)
		if !ok || strings.Join(tests, " ") != tt.tests || !strings.Contains(string(rest), tt.with) || strings.Contains(string(rest), tt.gone) {
			t.Errorf("line %d with helpers: %v, %v\n%s", tt.line, tests, ok, rest)
		}
	}
	for _, line := range []int{at(`"fmt"`), at("package m")} {
		if _, _, ok := withoutTests([]byte(src), []int{line}, true); ok {
			t.Errorf("line %d is taken for that of a helper", line)
		}
	}
}

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
	rest, tests, ok := withoutTests([]byte(src), []int{at("fmt.Println")})
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
		if _, _, ok := withoutTests([]byte(src), line); ok {
			t.Errorf("lines %v are taken for those of tests", line)
		}
	}
}

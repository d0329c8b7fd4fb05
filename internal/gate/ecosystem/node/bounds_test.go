package node

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestScriptsAreBounded holds that scripts that call each other again and again are not followed
// without end: the test script is then run as a whole.
func TestScriptsAreBounded(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf(`"x%d": "run-s x*"`, i))
	}
	for what, scripts := range map[string]string{
		"scripts that name each other by a star": `"test": "run-s x*", ` + strings.Join(many, ", "),
		"a script that names itself":             `"test": "npm test` + strings.Repeat(" && npm test", 1000) + `"`,
		"with a runner":                          `"test": "jest && run-s x*", ` + strings.Join(many, ", "),
		"words before a runner":                  `"test": "node ` + strings.Repeat(" big.js", 100000) + ` && jest"`,
		"text of many levels":                    `"test": "` + strings.Repeat("(", 1<<20) + `"`,
	} {
		began := time.Now()
		s := trees.Survey(t, map[string]string{"package.json": `{"scripts": {` + scripts + `}}`, "big.js": strings.Repeat("a ", 1<<18)}, nil, "node", "npm")
		found := findNodeProjects(s)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s: %v", what, took)
		}
		if len(found) != 1 || len(found[0].Test) == 0 {
			t.Fatalf("%s: %+v", what, found)
		}
		if last := found[0].Test[len(found[0].Test)-1]; what != "words before a runner" && last.Text != "npm test" {
			t.Errorf("%s: %q", what, last.Text)
		}
	}
}

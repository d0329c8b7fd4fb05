package workflows

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/testing/spent"
)

// Parts of a file that use each other many times over are not gone through for as often.
func TestJobsAreBounded(t *testing.T) {
	t.Parallel()
	const many = 400
	list := func(indent, item string) string { return strings.Repeat(indent+"- "+item+"\n", many) }
	gitlab, circle := "", "commands:\n"
	for _, n := range "abcde" {
		next := string(n + 1)
		gitlab += fmt.Sprintf("%c:\n  script: go test\n  extends:\n%s", n, list("    ", next))
		circle += fmt.Sprintf("  %c:\n    steps:\n%s", n, list("      ", next)+"      - run: go test\n")
	}
	action := "runs:\n  steps:\n" + list("    ", "uses: ./next") + "    - run: go test\n"
	matrix := "jobs:\n  a:\n    strategy:\n      matrix:\n        v:\n"
	var values strings.Builder
	for n := range 40_000 {
		fmt.Fprintf(&values, "        - %d\n", n)
	}
	matrix += values.String()
	for name, c := range map[string]struct {
		file, text string
		read       func(string) []byte
	}{
		"actions that use each other": {".github/workflows/a.yml", "jobs:\n  a:\n    steps:\n" + list("    ", "uses: ./x"), func(string) []byte { return []byte(action) }},
		"a matrix of many values":     {".github/workflows/a.yml", matrix + "    steps:\n    - run: go test\n", nil},
		"jobs that extend each other": {".gitlab-ci.yml", gitlab, nil},
		"files that include each other": {".gitlab-ci.yml", "include:\n" + list("  ", "a.yml") + "a: {script: go test}\n", func(string) []byte {
			return []byte("include:\n" + list("  ", "b.yml") + strings.Repeat("# b\n", 1000))
		}},
		"commands that call each other": {".circleci/config.yml", circle + "jobs:\n  x:\n    steps:\n" + list("      ", "a"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps := 0
			took := spent.On(t, func() {
				for _, j := range Jobs(c.file, []byte(c.text), c.read) {
					for _, v := range Varied(j) {
						steps += len(v.Steps)
					}
				}
			})
			if steps == 0 || steps > maxParts || took > 10*time.Second {
				t.Errorf("%d steps in %v", steps, took)
			}
		})
	}
}

package languages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestOwnCalls holds which calls of runners are found in the texts by which a project tests itself.
func TestOwnCalls(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a second folder": {map[string]string{
			"Makefile": "test: lint\n\tnpm test\n\t@node --test e2e/\nlint:\n\tnpx eslint src\n", "package.json": `{"scripts": {"test": "node --test test/"}}`,
			"e2e/a.test.js": "", "test/a.test.js": "", "src/a.js": "",
		}, "npm test [test]; node --test e2e/ [e2e]"},
		"a pattern of unittest": {map[string]string{
			"Makefile": "test:\n\tpython3 -m unittest\n\tpython3 -m unittest discover -s tests -t . -p '*_check.py'\n", "tests/rates_check.py": "",
		}, "python3 -m unittest discover -s tests -t . -p '*_check.py' [tests] *_check.py"},
		"a script in a workflow": {map[string]string{
			".github/workflows/ci.yml": "jobs:\n  test:\n    steps:\n      - run: npm ci\n      - run: npm run test:e2e\n      - run: |\n          npm test -- --coverage\n",
			"package.json":             `{"scripts": {"test": "node --test", "test:e2e": "node --test e2e/shop.test.js"}}`, "e2e/shop.test.js": "",
		}, "npm run test:e2e [e2e/shop.test.js] workflow"},
		"values of options": {map[string]string{
			"Makefile": "test:\n\tpytest -c setup.cfg -k tests tests/unit\n", "setup.cfg": "", "tests/unit/test_a.py": "",
		}, "pytest -c setup.cfg -k tests tests/unit [tests/unit]"},
		"a variable of the Makefile": {map[string]string{
			"Makefile": "PYTEST = python3 -m pytest -q\ntest:\n\t$(PYTEST)\n\t$(PYTEST) checks -o python_files='*.py'\n", "checks/rates.py": "",
		}, "python3 -m pytest -q checks -o python_files='*.py' [checks]"},
		"none": {map[string]string{"Makefile": "test:\n\tgo test ./...\n", "a.go": ""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			var out []string
			for _, c := range OwnCalls(trees.Survey(t, tt.files, &b), ecosystem.Project{Dir: "."}) {
				text := fmt.Sprint(c.Text, " ", c.Places)
				if c.Pattern != "" {
					text += " " + c.Pattern
				}
				if c.Workflow {
					text += " workflow"
				}
				out = append(out, text)
			}
			if got := strings.Join(out, "; "); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

package languages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestGiven holds which calls of workflows give variables to a project's tests.
func TestGiven(t *testing.T) {
	t.Parallel()
	python := &ecosystem.Ecosystem{Name: "Python", Runners: []string{"tox"}, Programs: []string{"python", "uv", "pytest"}, IsTest: func(name string) bool { return strings.HasPrefix(name, "tests/") }}
	const file = ".github/workflows/ci.yml"
	for name, tt := range map[string]struct {
		steps string // of the job
		want  string
	}{
		"of a step":         {"- {run: pytest -q, env: {SHOP: 1, MORE: x}}", "SHOP=1 pytest -q [SHOP] tests"},
		"by another name":   {"- {run: python -m pytest -q, env: {SHOP: 1}}\n    - {run: uv run pytest, env: {SHOP: 2}}", "SHOP=1 PYTHONPATH=. pytest -q [SHOP] tests; SHOP=2 PYTHONPATH=. pytest [SHOP] tests"},
		"of the call":       {"- run: SHOP='a b' pytest", "SHOP='a b' pytest [SHOP] tests"},
		"of a step before":  {"- run: echo SHOP=on >> $GITHUB_ENV\n    - run: python -m pytest", "SHOP=on python -m pytest [SHOP] tests"},
		"of the product":    {"- {run: pytest, env: {RATE: 2}}", "RATE=2 pytest [RATE]"},
		"of several lines":  {"- env: {SHOP: 1}\n      run: |\n        pip install x\n        pytest \\\n          -x", "SHOP=1 pytest -x [SHOP] tests"},
		"by another runner": {"- {run: tox -e py, env: {SHOP: 1}}", "SHOP=1 tox -e py [SHOP] tests"},
		"many": {
			"- {run: pytest, env: {SHOP: 1}}\n    - {run: pytest, env: {SHOP: 2}}\n    - {run: pytest, env: {SHOP: 3}}\n    - {run: pytest, env: {SHOP: 4}}",
			"SHOP=1 pytest [SHOP] tests; SHOP=2 pytest [SHOP] tests; SHOP=3 pytest [SHOP] tests; SHOP=4 pytest [SHOP] tests",
		},
		"twice the same":             {"- {run: pytest, env: {SHOP: 1}}\n    - {run: pytest, env: {SHOP: 1}}", "SHOP=1 pytest [SHOP] tests"},
		"the target":                 {"- {run: make test, env: {SHOP: 1}}", "SHOP=1 make test [SHOP] tests"},
		"an expression":              {"- {run: pytest, env: {SHOP: \"${{ matrix.x }}\"}}", ""},
		"an expression in a call":    {"- {run: \"pytest ${{ matrix.x }}\", env: {SHOP: 1}}", ""},
		"another variable's value":   {"- run: SHOP=$X pytest", ""},
		"which nothing names":        {"- {run: pytest, env: {COLOUR: 1}}", ""},
		"where programs are":         {"- {run: pytest, env: {PYTHONPATH: /x}}", ""},
		"set for all":                {"- {run: pytest, env: {CI: true}}", ""},
		"another folder":             {"- {run: pytest, env: {SHOP: 1}, working-directory: web}", ""},
		"another shell":              {"- {run: pytest, env: {SHOP: 1}, shell: pwsh}", ""},
		"another language":           {"- {run: npm test, env: {SHOP: 1}}", ""},
		"several commands":           {"- {run: cd web && pytest, env: {SHOP: 1}}", ""},
		"options":                    {"- run: pytest -W error", "pytest -W error [] tests"},
		"options that do not count":  {"- run: pytest -q --cov=shop", ""},
		"a script":                   {"- run: npm run test:fr", "npm run test:fr [] tests"},
		"options of the interpreter": {"- run: python -W error -m pytest", "python -W error -m pytest [] tests"},
		"of the interpreter":         {"- {run: pytest, env: {PYTHONWARNINGS: error}}", "PYTHONWARNINGS=error pytest [PYTHONWARNINGS] tests"},
		"of a line before":           {"- run: |\n        export SHOP=fr\n        pytest", "SHOP=fr pytest [SHOP] tests"},
		"behind another command":     {"- run: pip install . && SHOP=fr pytest", "SHOP=fr pytest [SHOP] tests"},
		"a target":                   {"- run: make ci", "make ci [] tests"},
		"a target of the same":       {"- run: make cover", ""},
		"scripts of the same":        {"- run: npm run test:unit\n    - run: npm run test:ci\n    - run: npm test", ""},
		"a script of the project":    {"- {run: ./ci/test.sh, env: {SHOP: 1}}\n    - run: bash ci/test.sh", "SHOP=1 ./ci/test.sh [SHOP] tests; bash ci/test.sh [] tests"},
		"a target with a script":     {"- run: make all", "make all [] tests"},
		"a script with one":          {"- run: timeout 60 npm run all", ""},
		"a script with one by name":  {"- run: npm run all", "npm run all [] tests"},
		"a script with a limit":      {"- run: timeout 60 ./ci/test.sh", "timeout 60 ./ci/test.sh [] tests"},
		"a script that deploys":      {"- run: ./ci/docker.sh", ""},
		"a script of no tests":       {"- run: ./ci/build.sh", ""},
		"an action of the project":   {"- {uses: ./act, with: {shop: it}}", "SHOP=it pytest -x [SHOP] tests"},
		"into a pipe":                {"- {run: \"pytest | tee log\", env: {SHOP: 1}}", "export SHOP=1; pytest | tee log [SHOP] tests"},
		"by env":                     {"- run: env SHOP=1 pytest", "env SHOP=1 pytest [] tests"},
		"of a file":                  {"- run: |\n        set -a\n        . ./.env\n        pytest", "SHOP='of file' pytest [SHOP] tests"},
		"no tests":                   {"- {run: pip install ., env: {SHOP: 1}}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var notes strings.Builder
			s := trees.Survey(t, map[string]string{
				file: "jobs:\n  test:\n    steps:\n    " + tt.steps + "\n", "tests/test_a.py": "SHOP PYTHONPATH CI SHOPS", "a.py": "RATE",
				"ci/test.sh": "#!/bin/sh\nexport SHOP=2\npytest\n", "ci/docker.sh": "#!/bin/sh\nexport SHOP=2\ndocker run x\npytest\n", "ci/build.sh": "#!/bin/sh\nX=1 make\n",
				".env": "# for all\nSHOP=\"of file\"\n", "act/action.yml": "inputs: {shop: {default: no}}\nruns: {steps: [{run: \"SHOP=${{ inputs.shop }} pytest -x\", shell: bash}]}\n",
				"Makefile":     "test:\n\tpytest\ncover:\n\tpytest --cov\nci:\n\t@SHOP=$$X pytest\nall:\n\t@sh ci/test.sh\n",
				"package.json": `{"scripts": {"test": "npm run test:unit", "test:unit": "SHOP=1 node --test test", "test:fr": "cross-env SHOP=fr node --test test", "test:ci": "c8 node --test test", "all": "bash ci/test.sh"}}`,
			}, &notes)
			var out []string
			p := ecosystem.Project{Dir: ".", Eco: python, Target: "make test"}
			if name == "by another name" {
				p.Test = []ecosystem.Command{{Text: "PYTHONPATH=. pytest --junitxml=x"}}
			}
			found, _ := given(s, p)
			for _, g := range found {
				text := fmt.Sprint(g.Text, " ", g.Variables)
				if g.InTests {
					text += " tests"
				}
				out = append(out, text)
				if g.From != file || g.Unit != "." || g.Eco != "Python" {
					t.Errorf("%+v", g)
				}
			}
			if got := strings.Join(out, "; "); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

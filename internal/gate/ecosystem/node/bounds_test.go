package node

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/testing/spent"
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
		s := trees.Survey(t, map[string]string{"package.json": `{"scripts": {` + scripts + `}}`, "big.js": strings.Repeat("a ", 1<<18)}, nil, "node", "npm")
		var found []ecosystem.Project
		if took := spent.On(t, func() { found = findNodeProjects(s) }); took > 10*time.Second {
			t.Errorf("%s: %v", what, took)
		} else {
			t.Logf("%s: %v", what, took)
		}
		if len(found) != 1 || len(found[0].Test) == 0 {
			t.Fatalf("%s: %+v", what, found)
		}
		if last := found[0].Test[len(found[0].Test)-1]; what != "words before a runner" && last.Text != "npm test" {
			t.Errorf("%s: %q", what, last.Text)
		}
	}
}

// Where yarn keeps packages in archives, it starts what runs the tests.
func TestPluggedIn(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"NODE_ENV=test mocha":    `NODE_ENV=test yarn run mocha --reporter "$REPORTER" --reporter-options output="$RESULTS"`,
		"c8 ava":                 "yarn run c8 ava --tap",
		"yarn jest":              `yarn run jest --ci --json --outputFile="$RESULTS"`,
		"node --test":            `yarn node --test --test-reporter="$REPORTER" --test-reporter-destination="$RESULTS"`,
		"tsc -b && mocha":        "yarn test",
		"eslint . && vitest run": `yarn run vitest run --reporter=json --outputFile="$RESULTS"`,
		"karma start":            "yarn test",
	} {
		for settings, pnp := range map[string]bool{"": true, "nodeLinker: node-modules\n": false} {
			files := map[string]string{
				"package.json": `{"packageManager": "yarn@4.5.3", "scripts": {"test": "` + script + `", "build": "tsc"}, "devDependencies": {"a": "1"}}`,
				"yarn.lock":    "", ".yarnrc.yml": settings,
			}
			found := findNodeProjects(trees.Survey(t, files, new(strings.Builder), "node", "npm", "yarn"))
			if len(found) != 1 || len(found[0].Test) != 1 || len(found[0].Build) != 1 {
				t.Fatalf("%s: %+v", script, found)
			}
			if got := found[0].Test[0].Text; (got == want) != pnp || (found[0].Build[0].Text == "yarn run build") != pnp {
				t.Errorf("%s, %q: %q, %q", script, settings, got, found[0].Build[0].Text)
			}
			if runs := strings.Contains(strings.Join(found[0].Test[0].Argv, " "), `"$RUNNER"`); pnp && runs {
				t.Errorf("%s looks for its runner", script)
			}
		}
	}
}

// One test alone is chosen by its title, under mocha with those of the groups around it.
func TestOneAlone(t *testing.T) {
	t.Parallel()
	for runner, want := range map[string]string{"mocha": "--grep='shop total$'", "node --test": "--test-name-pattern='total$'"} {
		c, ok := adoptNode(ecosystem.Command{Unit: "."}, strings.Fields(runner))
		if !ok {
			t.Fatalf("%s is not known", runner)
		}
		one, ok := c.Results.Narrow(c, ecosystem.Part{Packages: []string{"test/shop.js"}, Only: "shop > total[2]"})
		if !ok || !strings.Contains(one.Text, want) {
			t.Errorf("%s: %q, want %q", runner, one.Text, want)
		}
	}
}

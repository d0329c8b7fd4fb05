package node

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/testing/trees"
)

// TestNodeScripts holds what test scripts of packages come to: the runners that they call
// with the words as they are, what they do before, and what they run besides.
func TestNodeScripts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, manifest string
		want           []string // of each command its text, and "after" each prelude
	}{
		{
			"options with values", `{"scripts": {"test": "mocha --require test/support/env --reporter dot test/*.js test/acceptance"}}`,
			[]string{`npx mocha --require test/support/env --reporter "$REPORTER" --reporter-options output="$RESULTS" test/*.js test/acceptance`},
		},
		{
			"a configuration is no file of tests", `{"scripts": {"test": "jest --config jest.config.js --coverage"}}`,
			[]string{`npx jest --config jest.config.js --coverage --ci --json --outputFile="$RESULTS"`},
		},
		{
			"options with lists of values", `{"scripts": {"test": "jest --coverage --coverageReporters lcov text --testPathIgnorePatterns=e2e slow --projects a b -i test/unit"}}`,
			[]string{`npx jest --coverage --coverageReporters lcov text --testPathIgnorePatterns=e2e slow --projects a b -i --ci --json --outputFile="$RESULTS" test/unit`},
		},
		{
			"a list of mocha has one value each time", `{"scripts": {"test": "mocha --require a test/b.js && vitest run --coverage.reporter text test/c.ts"}}`,
			[]string{`npx mocha --require a --reporter "$REPORTER" --reporter-options output="$RESULTS" test/b.js`, `npx vitest run --coverage.reporter text --reporter=json --outputFile="$RESULTS" test/c.ts`},
		},
		{
			"options of node", `{"scripts": {"test": "node --import ./x.mjs --test --test-reporter spec test/"}}`,
			[]string{`node --test --test-reporter="$REPORTER" --test-reporter-destination="$RESULTS" --import ./x.mjs test/`},
		},
		{"node with a file is no test run of its own", `{"scripts": {"test": "node run.js --test"}}`, []string{"npm test"}},
		{
			"a script of a runner's name", `{"scripts": {"test": "npm run mocha", "mocha": "nyc mocha -r ts-node/register src/**/*.spec.ts"}}`,
			[]string{`nyc mocha -r ts-node/register --reporter "$REPORTER" --reporter-options output="$RESULTS" src/**/*.spec.ts`},
		},
		{
			"a script before a program of its name", `{"scripts": {"test": "yarn jest", "jest": "jest --selectProjects unit"}}`,
			[]string{`npx jest --selectProjects unit --ci --json --outputFile="$RESULTS"`},
		},
		{"a program where no script has its name", `{"scripts": {"test": "yarn jest"}}`, []string{`yarn jest --ci --json --outputFile="$RESULTS"`}},
		{
			"scripts before and after", `{"scripts": {"pretest": "tsc -p .", "test": "ava", "posttest": "tsd"}}`,
			[]string{`npx ava --tap after tsc -p .`, `tsd`},
		},
		{
			"scripts that yarn 4 does not run", `{"packageManager": "yarn@4.0.2", "scripts": {"pretest": "tsc -p .", "test": "ava", "posttest": "tsd"}}`,
			[]string{`npx ava --tap`},
		},
		{"style by the name of a script", `{"scripts": {"test": "npm run lint:js && ava", "lint:js": "node check.js"}}`, []string{`npx ava --tap`}},
		{"style, tests and types", `{"scripts": {"test": "xo && c8 ava && tsd"}}`, []string{`c8 ava --tap`, `tsd`}},
		{
			"a build that the package has", `{"scripts": {"build": "tsc", "test": "npm run build && npm run test:unit", "test:unit": "vitest run --coverage"}}`,
			[]string{`npx vitest run --coverage --reporter=json --outputFile="$RESULTS" rebuilt`},
		},
		{
			"several runs", `{"scripts": {"test": "run-s test:*", "test:a": "mocha a", "test:b": "NODE_ENV=test mocha b"}}`,
			[]string{`npx mocha --reporter "$REPORTER" --reporter-options output="$RESULTS" a`, `NODE_ENV=test mocha --reporter "$REPORTER" --reporter-options output="$RESULTS" b`},
		},
		{"words for the script", `{"scripts": {"test": "npm run unit -- --timeout 9", "unit": "mocha"}}`, []string{`npx mocha --timeout 9 --reporter "$REPORTER" --reporter-options output="$RESULTS"`}},
		{"shown in another form", `{"scripts": {"test": "tape test/*.js | tap-spec"}}`, []string{`npx tape test/*.js`}},
		{"shown by npx", `{"scripts": {"test": "tape test/*.js | npx tap-spec"}}`, []string{`npx tape test/*.js`}},
		{"output for another program", `{"scripts": {"test": "tape test/*.js | tee log"}}`, []string{"npm test"}},
		{
			"reports behind the tests", `{"scripts": {"test": "nyc mocha && nyc merge a b && yarn coverage && rimraf tmp"}}`,
			[]string{`nyc mocha --reporter "$REPORTER" --reporter-options output="$RESULTS"`},
		},
		{
			"tests of a runner that is not known", `{"scripts": {"test": "npm run all && mocha", "all": "borp --coverage"}}`,
			[]string{"npm run all", `npx mocha --reporter "$REPORTER" --reporter-options output="$RESULTS"`},
		},
		{
			"a build and tests of a runner that is not known", `{"scripts": {"test": "npm run all && mocha", "all": "tsc && borp"}}`,
			[]string{"npm run all", `npx mocha --reporter "$REPORTER" --reporter-options output="$RESULTS" after npm run all`},
		},
		{
			"tests of a script of its own", `{"scripts": {"test": "node run.js test && mocha"}}`,
			[]string{"node run.js test", `npx mocha --reporter "$REPORTER" --reporter-options output="$RESULTS" after node run.js test`},
		},
		{
			"builds before the tests", `{"scripts": {"test": "rimraf dist && tsc -p test && mocha"}}`,
			[]string{`npx mocha --reporter "$REPORTER" --reporter-options output="$RESULTS" after rimraf dist after tsc -p test`},
		},
		{
			"stops at a failure", `{"scripts": {"test": "mocha --bail -b && vitest --bail 1 && jest --bail=2"}}`,
			[]string{`npx mocha --reporter "$REPORTER" --reporter-options output="$RESULTS"`, `npx vitest run --reporter=json --outputFile="$RESULTS"`, `npx jest --ci --json --outputFile="$RESULTS"`},
		},
		{
			"stops at a failure by its settings", `{"scripts": {"test": "mocha"}, "mocha": {"bail": true}}`,
			[]string{`npx mocha --reporter "$REPORTER" --reporter-options output="$RESULTS" --no-bail`},
		},
		{"an option before the runner", `{"scripts": {"test": "c8 --check-coverage ava"}}`, []string{`c8 --check-coverage -- ava --tap`}},
		{"options of what measures", `{"scripts": {"test": "c8 --reporter lcov ava"}}`, []string{`c8 --reporter lcov ava --tap`}},
		{
			"by its file", `{"scripts": {"test": "node ./node_modules/mocha/bin/_mocha -t 5000 test"}}`,
			[]string{`node ./node_modules/mocha/bin/_mocha -t 5000 --reporter "$REPORTER" --reporter-options output="$RESULTS" test`},
		},
		{"scripts of other packages", `{"scripts": {"test": "npm run unit --workspaces", "unit": "mocha"}}`, []string{"npm test"}},
		{"scripts of another package", `{"scripts": {"test": "npm run unit --workspace=a", "unit": "mocha"}}`, []string{"npm test"}},
		{"a script that calls itself", `{"scripts": {"test": "npm run test"}}`, []string{"npm test"}},
		{"another way to run it", `{"scripts": {"test": "mocha || true"}}`, []string{"npm test"}},
		{"in the background", `{"scripts": {"test": "ava && mocha &"}}`, []string{"npm test"}},
		{"negated", `{"scripts": {"test": "! mocha"}}`, []string{"npm test"}},
		{"whatever the tests say", `{"scripts": {"test": "mocha; true"}}`, []string{"npm test"}},
		{"output elsewhere", `{"scripts": {"test": "mocha > log"}}`, []string{"npm test"}},
		{
			"no script of its own", `{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}, "devDependencies": {"vitest": "1"}}`,
			[]string{`npx vitest run --reporter=json --outputFile="$RESULTS"`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := trees.Survey(t, map[string]string{"package.json": tt.manifest}, new(strings.Builder), "node", "npm")
			var got []string
			for _, p := range findNodeProjects(s) {
				for _, c := range p.Test {
					line := c.Text
					for _, l := range strings.Split(ecosystem.ShellWords(c), "\n") {
						if _, before, ok := strings.Cut(l, "( "); ok && !strings.Contains(l, "$PATH") && before != "" {
							line += " after " + before
						}
					}
					if c.Results != nil && c.Results.Rebuild {
						line += " rebuilt"
					}
					if c.Results != nil && c.Results.Compiles != strings.Contains(c.Text, "vitest") && !strings.Contains(c.Text, "tsx") {
						t.Errorf("%s: the runner compiles what it loads: %v", c.Text, c.Results.Compiles)
					}
					got = append(got, line)
				}
			}
			if diff := cmp.Diff(tt.want, slices.Clip(got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// A script that only calls those of the members is left to them.
func TestOfMembers(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]bool{
		"turbo build":                             false,
		"turbo run build --concurrency=2":         false,
		"npx turbo run build":                     false,
		"pnpm turbo build":                        false,
		"lerna run build --stream":                false,
		"nx run-many --target=build":              false,
		"pnpm -r build":                           true,
		"pnpm run -r --filter lib build":          true,
		"pnpm --filter './packages/*' run build":  true,
		"npm run build --workspaces --if-present": true,
		"npm run build -ws":                       true,
		"yarn workspaces run build":               true,
		"yarn workspaces foreach -At run build":   true,
		"turbo build lint":                        false,
		"turbo compile":                           false,
		"pnpm -r build && node copy.js":           false,
		"tsc -b":                                  false,
		"rollup -c":                               false,
		"npm run build:types":                     false,
		"pnpm -C lib build":                       false,
		"build":                                   false,
		"":                                        false,
	} {
		if got := ofMembers("build", map[string]string{"build": script}); got != want {
			t.Errorf("%q: %v", script, got)
		}
	}
	if ofMembers("build", map[string]string{"build": "pnpm -r build", "postbuild": "node copy.js"}) {
		t.Error("what follows it is lost")
	}
}

// The test script of a workspace is left to its members only where it does no more than to call
// theirs.
func TestOnlyMembers(t *testing.T) {
	t.Parallel()
	for script, runs := range map[string]bool{
		"pnpm -r test":                                false,
		"npm test --workspaces --if-present":          false,
		"lerna run test --stream":                     false,
		"turbo run lint test":                         false,
		"nx run-many --target=test":                   false,
		"eslint . && npm run build && lerna run test": false,
		"npm run all":                                 false,
		"node check.js":                               true,
		"bash test/all.sh":                            true,
		"pnpm -r test && node check.js":               true,
		"pnpm -r test:e2e":                            true,
		"turbo run test:e2e":                          true,
		"npm --prefix e2e test":                       true,
		"npm run both":                                true,
		"cargo test":                                  true,
		"npm run":                                     true,
		"make check":                                  true,
	} {
		manifest := `{"workspaces": ["packages/*"], "scripts": {"test": "` + script + `", "build": "tsc -b", "all": "lerna run test", "both": "lerna run test && node e2e.js"}}`
		s := trees.Survey(t, map[string]string{"package.json": manifest, "packages/a/package.json": `{"name": "a", "scripts": {"test": "mocha"}}`}, new(strings.Builder), "node", "npm")
		for _, p := range findNodeProjects(s) {
			if p.Dir == "." && (len(p.Test) == 1 && p.Test[0].Text == "npm test") != runs {
				t.Errorf("%q: %+v", script, p.Test)
			}
		}
	}
}

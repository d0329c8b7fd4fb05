package languages

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// TestShellCommand holds which commands of the configuration report their tests
// apart, and which are left to a shell as they are.
func TestShellCommand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		stage results.Stage
		text  string
		argv  string // joined; empty: left to a shell
		flags string
	}{
		{results.StageTest, "go test ./...", "go test -json ./...", ""},
		{results.StageTest, "go test", "go test -json", ""},
		{results.StageTest, "go test -json ./...", "go test -json ./...", ""},
		{results.StageTest, "go test -v -race ./... -timeout 30s", "go test -json -v -race -timeout 30s ./...", "-v -race -timeout 30s"},
		{results.StageTest, "go test -run TestA -tags=a,b ./a ./b", "go test -json -run TestA -tags=a,b ./a ./b", "-run TestA -tags=a,b"},
		{results.StageTest, "go test --short -test.count=1 .", "go test -json --short -test.count=1 .", "--short -test.count=1"},
		{results.StageBuild, "go test ./...", "", ""},
		{results.StageTest, "go vet ./...", "", ""},
		{results.StageTest, "go", "", ""},
		{results.StageTest, "go test -C sub ./...", "", ""},
		{results.StageTest, "go test ./... -args -slow", "", ""},
		{results.StageTest, "go test -c -o x ./a", "", ""},
		{results.StageTest, "go test -run", "", ""},
		{results.StageTest, "GOFLAGS=-mod=mod go test ./...", "", ""},
		{results.StageTest, "go test ./... | tee log", "", ""},
		{results.StageTest, "go test ./... && echo ok", "", ""},
		{results.StageTest, "go test ./... > log", "", ""},
		{results.StageTest, "go test ./... &", "", ""},
		{results.StageTest, "go test $PKGS", "", ""},
		{results.StageTest, "go test -run 'TestA|TestB' ./...", "", ""},
		{results.StageTest, "go test \"./...\"", "", ""},
		{results.StageTest, "go test ./...; true", "", ""},
		{results.StageTest, "! go test ./...", "", ""},
		{results.StageTest, "if", "", ""},
		{results.StageSetup, "npm ci", "", ""},
		{results.StageTest, "FILES=$X pytest", "", ""},
		{results.StageTest, "X=1", "", ""},
	} {
		c := ShellCommand(tt.stage, tt.text)
		if (c.Results != nil) != (tt.argv != "") {
			t.Errorf("%q: each test distinguished: %v", tt.text, (c.Results != nil))
		}
		want := "bash --noprofile --norc -eo pipefail -c " + tt.text
		if tt.argv != "" {
			want = tt.argv
		}
		if got := strings.Join(c.Argv, " "); got != want {
			t.Errorf("%q is run as %q, want %q", tt.text, got, want)
		}
		if got := strings.Join(c.Flags, " "); got != tt.flags {
			t.Errorf("%q keeps the flags %q, want %q", tt.text, got, tt.flags)
		}
		if (c.Network == sandbox.NetworkHost) != (tt.stage == results.StageSetup) {
			t.Errorf("%s %q: network %v", tt.stage, tt.text, c.Network)
		}
	}
}

// TestAdopted holds which plain calls of runners of tests, behind variables and managers,
// are asked for results.
func TestAdopted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`PYTHONPATH=. pytest -k 'a or b' "t/x.py"`: `PYTHONPATH=. pytest -k 'a or b' -o junit_family=xunit1 --continue-on-collection-errors --junitxml="$RESULTS" "t/x.py"`,
		`pytest -k "$WHICH"`:                       "",
		`pytest $'x'`:                              "",
		"python3 -m unittest discover -p '*.py'":   `python3 -m unittest discover -p '*.py'`,
		"npx mocha 'test/**/*.js'":                 `npx mocha --reporter "$REPORTER" --reporter-options output="$RESULTS" 'test/**/*.js'`,
		"PYTHONPATH=src pytest -k x tests":         `PYTHONPATH=src pytest -k x -o junit_family=xunit1 --continue-on-collection-errors --junitxml="$RESULTS" tests`,
		"A=1 B= python -m pytest -c cfg/x.ini":     `A=1 B= python -m pytest -c cfg/x.ini -o junit_family=xunit1 --continue-on-collection-errors --junitxml="$RESULTS"`,
		"uv run pytest":                            `uv run pytest -o junit_family=xunit1 --continue-on-collection-errors --junitxml="$RESULTS"`,
		"hatch run python -m unittest tests.x":     `hatch run python -m unittest tests.x`,
		"NODE_ENV=test npx mocha -r a/b.js c.js":   `NODE_ENV=test npx mocha -r a/b.js --reporter "$REPORTER" --reporter-options output="$RESULTS" c.js`,
		"CI=1 make test":                           "",
		"poetry run tox":                           "",
		"yarn mocha test":                          `yarn mocha --reporter "$REPORTER" --reporter-options output="$RESULTS" test`,
		"node --test":                              `node --test --test-reporter="$REPORTER" --test-reporter-destination="$RESULTS"`,
		"npm run mocha":                            "",
	} {
		c := ShellCommand(results.StageTest, text)
		if got := c.Text; c.Results == nil && want != "" || c.Results != nil && got != want {
			t.Errorf("%q is run as %q, want %q", text, got, want)
		}
	}
}

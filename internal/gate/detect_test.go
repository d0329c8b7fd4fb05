package gate

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestShellCommand holds which commands of the configuration tell their tests
// apart, and which are left to a shell as they are.
func TestShellCommand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		stage Stage
		text  string
		argv  string // joined; empty: left to a shell
		flags string
	}{
		{StageTest, "go test ./...", "go test -json ./...", ""},
		{StageTest, "go test", "go test -json", ""},
		{StageTest, "go test -json ./...", "go test -json ./...", ""},
		{StageTest, "go test -v -race ./... -timeout 30s", "go test -json -v -race -timeout 30s ./...", "-v -race -timeout 30s"},
		{StageTest, "go test -run TestA -tags=a,b ./a ./b", "go test -json -run TestA -tags=a,b ./a ./b", "-run TestA -tags=a,b"},
		{StageTest, "go test --short -test.count=1 .", "go test -json --short -test.count=1 .", "--short -test.count=1"},
		{StageBuild, "go test ./...", "", ""},
		{StageTest, "go vet ./...", "", ""},
		{StageTest, "go", "", ""},
		{StageTest, "go test -C sub ./...", "", ""},
		{StageTest, "go test ./... -args -slow", "", ""},
		{StageTest, "go test -c -o x ./a", "", ""},
		{StageTest, "go test -run", "", ""},
		{StageTest, "GOFLAGS=-mod=mod go test ./...", "", ""},
		{StageTest, "go test ./... | tee log", "", ""},
		{StageTest, "go test ./... && echo ok", "", ""},
		{StageTest, "go test ./... > log", "", ""},
		{StageTest, "go test ./... &", "", ""},
		{StageTest, "go test $PKGS", "", ""},
		{StageTest, "go test -run 'TestA|TestB' ./...", "", ""},
		{StageTest, "go test \"./...\"", "", ""},
		{StageTest, "go test ./...; true", "", ""},
		{StageTest, "! go test ./...", "", ""},
		{StageTest, "if", "", ""},
		{StageSetup, "npm ci", "", ""},
	} {
		c := shellCommand(tt.stage, tt.text)
		if (c.results != nil) != (tt.argv != "") {
			t.Errorf("%q: each test told apart: %v", tt.text, (c.results != nil))
		}
		want := "bash --noprofile --norc -eo pipefail -c " + tt.text
		if tt.argv != "" {
			want = tt.argv
		}
		if got := strings.Join(c.argv, " "); got != want {
			t.Errorf("%q is run as %q, want %q", tt.text, got, want)
		}
		if got := strings.Join(c.flags, " "); got != tt.flags {
			t.Errorf("%q keeps the flags %q, want %q", tt.text, got, tt.flags)
		}
		if (c.network == sandbox.NetworkHost) != (tt.stage == StageSetup) {
			t.Errorf("%s %q: network %v", tt.stage, tt.text, c.network)
		}
	}
}

// TestOverride holds that a kind that the configuration names replaces what was
// detected, an empty list included, and leaves the others.
func TestOverride(t *testing.T) {
	t.Parallel()
	p := &plan{}
	for _, m := range []goModule{{dir: ".", path: "m"}, {dir: "v", path: "v", vendored: true}} {
		q := project{dir: m.dir}
		q.addGo(m, false)
		p.setup, p.build, p.lint, p.test = append(p.setup, q.setup...), append(p.build, q.build...), append(p.lint, q.lint...), append(p.test, q.test...)
	}
	if len(p.setup) != 1 || len(p.build) != 2 || len(p.test) != 2 || len(p.lint) != 2 {
		t.Fatalf("detected: %d setup, %d build, %d test, %d lint", len(p.setup), len(p.build), len(p.test), len(p.lint))
	}
	p.override(Commands{Lint: []string{}, Test: []string{"make a", "make b"}})
	if len(p.setup) != 1 || len(p.build) != 2 || len(p.lint) != 0 || len(p.test) != 2 || p.test[1].text != "make b" {
		t.Errorf("overridden: %+v", p)
	}
}

// TestHanging holds that the head's tests get a time limit of the go command,
// in a place where it is a flag, unless the command has one.
func TestHanging(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"go test -run X -v ./...":        "go test -json -timeout=1m20s -run X -v ./...",
		"go test -timeout 5m ./...":      "go test -json -timeout 5m ./...",
		"go test --timeout=5m ./...":     "go test -json --timeout=5m ./...",
		"go test -test.timeout=5m ./...": "go test -json -test.timeout=5m ./...",
		"go test ./timeout/...":          "go test -json -timeout=1m20s ./timeout/...",
	} {
		r := &runner{Gate: &Gate{}, longest: 2e9}
		c := r.hanging(shellCommand(StageTest, text))
		if got := strings.Join(c.argv, " "); got != want || c.text != want {
			t.Errorf("%q: %q, told as %q; want %q", text, got, c.text, want)
		}
	}
	r := &runner{Gate: &Gate{}}
	if c := r.hanging(shellCommand(StageTest, "go test")); len(c.argv) != 3 {
		t.Errorf("with nothing to compare: %q", c.argv)
	}
}

// TestLimitsAlike holds that what is run again has one limit on both sides, as a
// machine that is busy at the wrong moment would else fail the head alone; and
// that a probe's tests never end before a slow race detector would let them.
func TestLimitsAlike(t *testing.T) {
	t.Parallel()
	tests := &plan{test: []command{func() command {
		c := shellCommand(StageTest, "go test ./...")
		c.eco, c.unit = "Go", "."
		return c
	}()}}
	r := &runner{Gate: &Gate{}, plan: map[Side]*plan{Base: tests, Head: tests}}
	for _, c := range []struct {
		stage   Stage
		longest time.Duration
		want    string
	}{
		{StageRerun, 2 * time.Second, "-timeout=1m20s"},
		{StageProbe, time.Second / 2, "-timeout=4m20s"},  // twice, each twenty times as slow, and ten times that
		{StageProbe, 20 * time.Second, "-timeout=22m0s"}, // longer than the command may take at all
		{StageProbe, 0, "-timeout=22m0s"},
	} {
		r.longest = c.longest
		for _, side := range []Side{Base, Head} {
			for _, got := range slices.Concat(r.goTests(side, ".", c.stage, "m"), r.parts(side, group{"Go", "."}, c.stage, part{packages: []string{"m"}})) {
				if !slices.Contains(got.argv, c.want) {
					t.Errorf("%s of %s, after %s: %q, want %s", c.stage, side, c.longest, got.argv, c.want)
				}
			}
		}
	}
}

// bare is a sandbox that is none.
type bare struct{}

func (bare) Run(context.Context, sandbox.Command) (sandbox.Result, error) {
	return sandbox.Result{}, nil
}
func (bare) Status() sandbox.Status { return sandbox.Status{Tier: sandbox.TierNone} }

// TestRootIsSaid holds that a run whose commands are root says so, because some
// tests fail for root alone.
func TestRootIsSaid(t *testing.T) {
	t.Parallel()
	r := &runner{Gate: &Gate{Sandbox: bare{}}, in: Input{Head: &workspace.Tree{}}, res: &Result{}, plan: map[Side]*plan{Head: {}}}
	r.describe()
	if said := strings.Contains(strings.Join(r.res.Notes, ""), "run as root"); said != (os.Geteuid() == 0) {
		t.Errorf("uid %d, notes %q", os.Geteuid(), r.res.Notes)
	}
}

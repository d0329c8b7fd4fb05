package gate

import (
	"context"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestOverride holds that a kind that the configuration names replaces what was
// detected, an empty list included, and leaves the others.
func TestOverride(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{"go.mod": []byte("module m\n"), "m.go": []byte("package m\n"), "v/go.mod": []byte("module v\n"), "v/v.go": []byte("package v\n"), "v/vendor/modules.txt": nil}
	dir := t.TempDir()
	lay(t, dir, files)
	survey := ecosystem.NewSurvey(ecosystem.InTree(dir), slices.Sorted(maps.Keys(files)), &Toolchains{Go: &GoToolchain{}}, t.Logf)
	p := newPlan(languages.FindProjects(survey), Commands{})
	if len(p.Setup) != 1 || len(p.Build) != 2 || len(p.Test) != 2 || len(p.Lint) != 2 {
		t.Fatalf("detected: %d setup, %d build, %d test, %d lint", len(p.Setup), len(p.Build), len(p.Test), len(p.Lint))
	}
	override(p, Commands{Lint: []string{}, Test: []string{"make a", "make b"}})
	if len(p.Setup) != 1 || len(p.Build) != 2 || len(p.Lint) != 0 || len(p.Test) != 2 || p.Test[1].Text != "make b" {
		t.Errorf("overridden: %+v", p)
	}
	some := newPlan(languages.FindProjects(survey), Commands{Test: []string{"go test ./a"}})
	if len(p.Warm) != 2 || len(some.Warm) != 1 || !strings.Contains(some.Warm[0].Text, " ./a ") {
		t.Errorf("compiled ahead: %d, and for one package %+v", len(p.Warm), some.Warm)
	}
}

// TestLimitsAlike holds that what is run again has one limit on both sides, as a
// machine that is busy at the wrong moment would else fail the head alone; and
// that a probe's tests never end before a slow race detector would let them.
func TestLimitsAlike(t *testing.T) {
	t.Parallel()
	tests := &sides.Plan{Test: []ecosystem.Command{func() ecosystem.Command {
		c := languages.ShellCommand(StageTest, "go test ./...")
		c.Eco, c.Unit = "Go", "."
		return c
	}()}}
	r := newRunner(&Gate{}, Input{}, task{plan: map[Side]*sides.Plan{Base: tests, Head: tests}})
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
		r.tests.Longest = c.longest
		for _, side := range []Side{Base, Head} {
			for _, got := range slices.Concat(r.tests.PackageTests(side, ecosystem.Group{Eco: "Go", Unit: "."}, c.stage, ecosystem.AsItIs), r.tests.Parts(side, ecosystem.Group{Eco: "Go", Unit: "."}, c.stage, ecosystem.Part{Packages: []string{"m"}})) {
				if !slices.Contains(got.Argv, c.want) {
					t.Errorf("%s of %s, after %s: %q, want %s", c.stage, side, c.longest, got.Argv, c.want)
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
	r := newRunner(&Gate{Machine: Machine{Sandbox: bare{}}}, Input{Head: &workspace.Tree{}}, task{plan: map[Side]*sides.Plan{Head: {}}})
	r.describe()
	if said := strings.Contains(strings.Join(r.res.Notes, ""), "run as root"); said != (os.Geteuid() == 0) {
		t.Errorf("uid %d, notes %q", os.Geteuid(), r.res.Notes)
	}
}

// TestKeepCommands holds that what runs on the base runs on the head, whatever the
// change makes of how its projects are found.
func TestKeepCommands(t *testing.T) {
	t.Parallel()
	eco := &ecosystem.Ecosystem{Name: "Node.js"}
	in := func(dir, test, missing string) ecosystem.Project {
		p := ecosystem.Project{Eco: eco, Dir: dir, What: "it", Why: []string{path.Join(dir, "package.json")}, Missing: missing}
		if test != "" {
			p.Test = []ecosystem.Command{{Stage: StageTest, Unit: dir, Text: test}}
		}
		return p
	}
	for _, tt := range []struct {
		what       string
		base, head []ecosystem.Project
		files      []string // of the head
		renamed    string
		want       []string
		note       string
	}{
		{what: "the head may choose", base: []ecosystem.Project{in(".", "jest", "")}, head: []ecosystem.Project{in(".", "true", "")}, files: []string{"package.json"}, want: []string{". true"}, note: "alters"},
		{what: "hidden behind another", base: []ecosystem.Project{in(".", "make test", "")}, files: []string{"package.json"}, want: []string{". make test"}, note: "hidden"},
		{what: "deleted", base: []ecosystem.Project{in("a", "jest", "")}, files: []string{"b"}, want: nil, note: "deletes"},
		{what: "moved", base: []ecosystem.Project{in("a", "jest", "")}, files: []string{"b/package.json"}, renamed: "b", want: []string{"b jest"}, note: "not found"},
		{what: "a manager that is missing", base: []ecosystem.Project{in(".", "jest", "")}, head: []ecosystem.Project{in(".", "", "no pnpm")}, files: []string{"package.json"}, want: []string{". jest"}, note: "no pnpm"},
		{what: "no test command", base: []ecosystem.Project{in(".", "jest", "")}, head: []ecosystem.Project{in(".", "", "")}, files: []string{"package.json"}, want: []string{". jest"}, note: "without a test command"},
	} {
		r := newRunner(&Gate{}, Input{}, task{plan: map[Side]*sides.Plan{Base: newPlan(tt.base, Commands{}), Head: newPlan(tt.head, Commands{})}})
		r.sides.Plans[Base].Files, r.sides.Plans[Head].Files = []string{"a/package.json", "package.json"}, tt.files
		if tt.renamed != "" {
			r.in.Change.Files = []change.File{{Path: tt.renamed + "/package.json", OldPath: "a/package.json", Status: change.Renamed}}
		}
		r.sides.Change = r.in.Change
		r.keepCommands()
		var got []string
		for _, c := range r.sides.Plans[Head].Test {
			got = append(got, c.Unit+" "+c.Text)
		}
		sameStrings(t, tt.what, got, tt.want)
		if len(r.res.Notes) != 1 || !strings.Contains(r.res.Notes[0], tt.note) {
			t.Errorf("%s: says %q", tt.what, r.res.Notes)
		}
	}
}

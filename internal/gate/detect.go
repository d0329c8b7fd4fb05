package gate

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// A plan is what will be run at one side.
type plan struct {
	projects                       []project // that the change can affect
	left                           []project // that it cannot: they are run when the others are done
	files                          []string  // of the tree, by path
	setup, warm, build, lint, test []command
	fetches                        []command // where the configuration has the setup: those of the projects that fetch for a head that is not trusted
	survey                         *survey
}

// detect finds out what can be run. The commands of the configuration come from
// the base; what it does not name is found in each side's own files, because a
// change may bring a project.
func (r *runner) detect(ctx context.Context) error {
	for _, side := range []Side{Base, Head} {
		p, err := r.planFor(ctx, side)
		if err != nil {
			return fmt.Errorf("detect %s: %w", side, err)
		}
		r.plan[side] = p
	}
	r.keepCommands()
	r.describe()
	p := r.plan[Head]
	if len(p.build)+len(p.test)+len(r.restUnits()) == 0 {
		r.facts.Nothing = cmp.Or(lacking(p.projects), nothingKnown)
		r.res.FailToPass = Reproduction{State: ReproNotRun, Note: "there were no tests to run"}
		r.notCovered("build, tests and probes: %s", r.facts.Nothing)
	}
	return nil
}

// nothingKnown is the reason where there is nothing to run.
const nothingKnown = `nothing that ycbot knows how to build or test, and no commands in .github/ycbot.yml at the base; name some under "commands:"`

// lacking says what the machine lacks to run any of the projects.
func lacking(projects []project) string {
	var out []string
	for _, p := range projects {
		if why := fmt.Sprintf("there are %s, and %s", p.eco.units, p.missing); p.missing != "" && !slices.Contains(out, why) {
			out = append(out, why)
		}
	}
	return strings.Join(out, "; ")
}

func (r *runner) planFor(ctx context.Context, side Side) (*plan, error) {
	tree := r.tree(side)
	entries, err := r.Mirror.Files(ctx, tree.Commit)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		files = append(files, e.Path)
	}
	s := newSurvey(tree.Dir, files, r.Tools, func(format string, args ...any) {
		r.note("%s: %s", side, fmt.Sprintf(format, args...))
	})
	chosen, left := choose(findProjects(s), r.in.Change.Paths())
	if side == Head {
		r.files = files
		r.leave(chosen, left)
	}
	p := newPlan(chosen, r.in.Commands)
	p.left, p.survey, p.files = left, s, files
	return p, nil
}

// findProjects asks every ecosystem for its projects. Targets of a Makefile and
// its like count only where nothing else has tests in or below its folder.
func findProjects(s *survey) []project {
	var out []project
	for _, eco := range ecosystems() {
		for _, p := range eco.find(s) {
			p.eco = eco
			if eco.name == "Make" && slices.ContainsFunc(out, func(o project) bool { return inside(p.dir, o.dir) && (len(o.test) > 0 || o.missing != "") }) {
				continue // its targets call what is run by itself
			}
			for _, list := range [][]command{p.setup, p.warm, p.build, p.lint, p.test} {
				for i := range list {
					list[i].eco = eco.name
				}
			}
			out = append(out, p)
		}
	}
	return out
}

// newPlan joins the commands of projects, and puts those of the configuration
// in their place.
func newPlan(projects []project, c Commands) *plan {
	p := &plan{projects: projects}
	for _, q := range projects {
		p.setup = append(p.setup, q.setup...)
		p.warm = append(p.warm, q.warm...)
		p.build = append(p.build, q.build...)
		p.lint = append(p.lint, q.lint...)
		p.test = append(p.test, q.test...)
	}
	p.override(c)
	return p
}

// leave tells which projects are not run, and why.
func (r *runner) leave(chosen, left []project) {
	for _, eco := range ecosystems() {
		var names []string
		for _, p := range left {
			if p.eco.name == eco.name && (p.missing != "" || r.in.Commands.Test != nil) {
				names = append(names, p.dir)
			}
		}
		if len(names) > 0 {
			r.notCovered("%s that the change does not touch: %s", eco.units, listed(names, 5))
		}
	}
	runs := slices.ContainsFunc(chosen, func(p project) bool { return p.missing == "" })
	for _, p := range chosen {
		if p.missing != "" && (runs || !r.in.Commands.none()) {
			r.notCovered("%s: %s", p.what, p.missing)
		}
		for _, n := range p.notes {
			r.notCovered("%s: %s", p.what, n)
		}
	}
}

// override puts the commands of the configuration in place of the detected
// ones, kind by kind.
func (p *plan) override(c Commands) {
	set := func(list *[]command, stage Stage, texts []string) {
		if texts == nil {
			return
		}
		*list = nil
		for _, t := range texts {
			*list = append(*list, shellCommand(stage, t))
		}
	}
	if len(c.Setup) > 0 {
		p.fetches = fetching(p.setup)
	}
	modules := slices.DeleteFunc(slices.Clone(p.setup), func(c command) bool { return !c.needed })
	set(&p.setup, StageSetup, c.Setup)
	if len(c.Setup) > 0 { // which may fetch modules, but not for the builds that follow
		p.setup = append(p.setup, modules...)
	}
	set(&p.build, StageBuild, c.Build)
	set(&p.lint, StageLint, c.Lint)
	set(&p.test, StageTest, c.Test)
}

// shellCommand runs text as a step of GitHub Actions does. A plain call of a
// test runner that is known is asked for machine-readable output, so that each
// test can be told apart.
func shellCommand(stage Stage, text string) command {
	c := command{stage: stage, unit: ".", text: text}
	if stage == StageSetup {
		c.network = sandbox.NetworkHost
	}
	if words, ok := plainWords(text); ok && stage == StageTest {
		for _, eco := range ecosystems() {
			if eco.adopt == nil {
				continue
			}
			if a, ok := eco.adopt(c, words); ok {
				a.eco = eco.name
				return a
			}
		}
	}
	c.argv = []string{"bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text}
	return c
}

// plainWords splits a command that is nothing but words: no quotes, variables,
// redirections or second command.
func plainWords(text string) ([]string, bool) {
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) != 1 || len(file.Stmts[0].Redirs) > 0 || file.Stmts[0].Background || file.Stmts[0].Negated {
		return nil, false
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 {
		return nil, false
	}
	var words []string
	for _, w := range call.Args {
		lit := w.Lit()
		if lit == "" {
			return nil, false
		}
		words = append(words, lit)
	}
	return words, true
}

// describe lists for people what was detected and why.
func (r *runner) describe() {
	add := func(format string, args ...any) {
		r.res.Detected = append(r.res.Detected, fmt.Sprintf(format, args...))
	}
	if tools := r.goTools(); tools != nil {
		r.res.Toolchains["go"] = tools.Version
	}
	if r.Sandbox.Status().Tier == sandbox.TierNone && os.Geteuid() == 0 {
		r.note("commands run as root, without a sandbox that gives them another user: tests that expect to be refused something may fail on both sides")
	}
	for _, n := range r.in.Head.Notes {
		r.notCovered("what lies outside of the repository: %s", n)
	}
	for _, p := range r.plan[Head].projects {
		add("%s (%s)", p.what, strings.Join(p.why, ", "))
	}
	for _, kind := range []struct {
		name  string
		texts []string
	}{{"setup", r.in.Commands.Setup}, {"build", r.in.Commands.Build}, {"lint", r.in.Commands.Lint}, {"test", r.in.Commands.Test}} {
		if len(kind.texts) > 0 {
			add("%s commands of .github/ycbot.yml: %s", kind.name, strings.Join(kind.texts, "; "))
		}
	}
}

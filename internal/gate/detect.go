package gate

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// A plan is what will be run at one side.
type plan struct {
	modules                  []goModule
	setup, build, lint, test []command
}

// detect finds out what can be run. The commands of the configuration come from
// the base; what it does not name is found in each side's own files, because a
// change may bring a module.
func (r *runner) detect(ctx context.Context) error {
	for _, side := range []Side{Base, Head} {
		p, err := r.planFor(ctx, side)
		if err != nil {
			return fmt.Errorf("detect %s: %w", side, err)
		}
		r.plan[side] = p
	}
	r.describe()
	p := r.plan[Head]
	if len(p.build)+len(p.test) == 0 {
		r.facts.Nothing = "no Go module and no commands in .github/ycbot.yml at the base; name some under \"commands:\""
		if r.Go == nil && len(p.modules) > 0 {
			r.facts.Nothing = "there are Go modules, and no go command on this machine"
		}
		r.res.FailToPass = Reproduction{State: ReproNotRun, Note: "there were no tests to run"}
		r.notCovered("build, tests and probes: %s", r.facts.Nothing)
	}
	return nil
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
	mods, problems := findModules(tree.Dir, files)
	for _, p := range problems {
		r.note("%s: %s", side, p)
	}
	mods, left := chooseModules(mods, r.in.Change.Paths())
	if side == Head && len(left) > 0 {
		var names []string
		for _, m := range left {
			names = append(names, m.dir)
		}
		r.notCovered("Go modules that the change does not touch: %s", listed(names, 5))
	}
	p := &plan{modules: mods}
	if r.Go != nil {
		p.addGo(mods)
	}
	p.override(r.in.Commands)
	return p, nil
}

// addGo appends the commands that every Go module gets.
func (p *plan) addGo(mods []goModule) {
	for _, m := range mods {
		if !m.vendored {
			c := m.command(StageSetup, "mod", "download")
			c.network = sandbox.NetworkHost
			p.setup = append(p.setup, c)
		}
		p.build = append(p.build, m.command(StageBuild, "build", "./..."))
		p.lint = append(p.lint, m.command(StageLint, "vet", "./..."))
		t := m.command(StageTest, "test", "-json", "./...")
		t.perTest = true
		p.test = append(p.test, t)
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
	set(&p.setup, StageSetup, c.Setup)
	set(&p.build, StageBuild, c.Build)
	set(&p.lint, StageLint, c.Lint)
	set(&p.test, StageTest, c.Test)
}

// shellCommand runs text as a step of GitHub Actions does. A plain "go test" is
// asked for machine-readable output, so that each test can be told apart.
func shellCommand(stage Stage, text string) command {
	c := command{stage: stage, unit: ".", text: text}
	if stage == StageSetup {
		c.network = sandbox.NetworkHost
	}
	if flags, packages, ok := goTestWords(text); ok && stage == StageTest {
		c.perTest, c.flags = true, flags
		c.argv = slices.Concat([]string{"go", "test", "-json"}, flags, packages)
		c.text = strings.Join(c.argv, " ")
		return c
	}
	c.argv = []string{"bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text}
	return c
}

// goSwitches are the flags of "go test" that take no value ("go help build",
// "go help testflag"). All others do.
var goSwitches = []string{
	"a", "asan", "benchmem", "buildvcs", "cover", "failfast", "fullpath", "json", "linkshared", "modcacherw", "msan", "race", "short", "trimpath", "v", "work", "x",
}

// goTestWords splits a plain "go test" into its flags, without -json, and its
// packages. It leaves alone what runs elsewhere, runs no tests or passes
// arguments on to them.
func goTestWords(text string) (flags, packages []string, ok bool) {
	words, ok := plainWords(text)
	if !ok || len(words) < 2 || words[0] != "go" || words[1] != "test" {
		return nil, nil, false
	}
	words = words[2:]
	for i := 0; i < len(words); i++ {
		if !strings.HasPrefix(words[i], "-") {
			packages = append(packages, words[i])
			continue
		}
		name, _, value := strings.Cut(strings.TrimLeft(words[i], "-"), "=")
		switch {
		case slices.Contains([]string{"C", "args", "c", "n", "list", "exec", "o"}, name):
			return nil, nil, false
		case name == "json":
		case value || slices.Contains(goSwitches, name):
			flags = append(flags, words[i])
		case i+1 == len(words):
			return nil, nil, false
		default:
			flags = append(flags, words[i], words[i+1])
			i++
		}
	}
	return flags, packages, true
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
	if r.Go != nil {
		r.res.Toolchains["go"] = r.Go.Version
	}
	if r.Sandbox.Status().Tier == sandbox.TierNone && os.Geteuid() == 0 {
		r.note("commands run as root, without a sandbox that gives them another user: tests that expect to be refused something may fail on both sides")
	}
	for _, m := range r.plan[Head].modules {
		add("Go module %s (%s)", m.path, path.Join(m.dir, "go.mod"))
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

package gate

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// An Explanation is what the gate would run for a change, and why. The names of
// its fields are printed: do not change them.
type Explanation struct {
	Projects   []Explained        `json:"projects"`
	Configured []ExplainedCommand `json:"configured"` // commands of the base's configuration, which replace what is detected
	Arms       ExplainedArms      `json:"arms"`
	NotCovered []string           `json:"not_covered"`
	Notes      []string           `json:"notes"`
}

// ExplainedArms is what the two arms that mix both sides would take from each.
type ExplainedArms struct {
	PutBack []ExplainedFile    `json:"put_back"` // as the base has them, over the head's sources
	Kept    []ExplainedCommand `json:"kept"`     // what runs there; none where nothing is put back
	Over    []string           `json:"over"`     // files of the head that are laid over the base's sources
}

// An ExplainedFile is a file of the change that is not source.
type ExplainedFile struct {
	Path  string            `json:"path"`
	Class compare.FileClass `json:"class"`
	Part  bool              `json:"part"` // only what is of the class is put back
}

// An Explained is one project of the head.
type Explained struct {
	Ecosystem string             `json:"ecosystem"`
	Root      string             `json:"root"` // folder in the repository
	What      string             `json:"what"`
	Why       []string           `json:"why"`      // the files that it was found by
	Affected  bool               `json:"affected"` // the change can influence it
	Runs      bool               `json:"runs"`     // its commands are run: those of what is not affected when the others are done
	Missing   string             `json:"missing"`  // what this machine lacks to run it
	Commands  []ExplainedCommand `json:"commands"`
}

// An ExplainedCommand is one command that the gate would run.
type ExplainedCommand struct {
	Stage   Stage  `json:"stage"`
	Command string `json:"command"`
	Results string `json:"results"` // how it reports each test; empty: it does not

	Typed  string `json:"-"` // as a person types it
	Script string `json:"-"` // what a person types for all tests of the project in place of it; empty: nothing
}

// ReportsTests says whether a test command of the configuration is one that reports each test.
func ReportsTests(text string) bool { return languages.ShellCommand(StageTest, text).Results != nil }

// Survey is every project that the gate finds in the folder root with these files,
// as if a change touched all of them. It runs nothing.
func Survey(root string, files []string, tools *Toolchains) []Explained {
	s := ecosystem.NewSurvey(ecosystem.InTree(root), files, tools, func(string, ...any) {})
	var out []Explained
	for _, p := range languages.FindProjects(s) {
		out = append(out, explained(p, true))
	}
	return out
}

// Explain looks at both trees of in and runs nothing.
func (g *Gate) Explain(ctx context.Context, in Input) (*Explanation, error) {
	r := newRunner(g, in, task{})
	for _, side := range []Side{Base, Head} {
		p, err := r.planFor(ctx, side)
		if err != nil {
			return nil, fmt.Errorf("gate: detect %s: %w", side, err)
		}
		r.sides.Plans[side] = p
	}
	r.sameProjects()
	r.keepCommands()
	out := &Explanation{Projects: []Explained{}, Configured: []ExplainedCommand{}}
	p := r.sides.Plans[Head]
	for _, q := range slices.Concat(p.Projects, p.Left) {
		e := explained(q, !slices.ContainsFunc(p.Left, func(l ecosystem.Project) bool { return l.Eco.Name == q.Eco.Name && l.Dir == q.Dir }))
		e.Runs = e.Runs && (e.Affected || r.in.Commands.Test == nil)
		out.Projects = append(out.Projects, e)
	}
	for _, list := range [][]ecosystem.Command{p.Setup, p.Build, p.Lint, p.Test} {
		for _, c := range list {
			if r.configured(c.Stage) {
				out.Configured = append(out.Configured, explainedCommand(c))
			}
		}
	}
	for _, c := range p.Test {
		if c.Results == nil {
			r.notCovered("the tests of %q one by one: its output does not name them, so that it counts as one test", c.Text)
		}
	}
	if len(p.Build)+len(p.Test)+len(r.restUnits()) == 0 {
		r.notCovered("build, tests and probes: %s", cmp.Or(ecosystem.Lacking(p.Projects), nothingKnown))
	}
	if err := r.explainArms(ctx, &out.Arms); err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	out.NotCovered, out.Notes = append([]string{}, r.res.NotCovered...), append([]string{}, r.res.Notes...)
	return out, nil
}

// explainArms says what would be put where.
func (r *runner) explainArms(ctx context.Context, out *ExplainedArms) error {
	*out = ExplainedArms{PutBack: []ExplainedFile{}, Kept: []ExplainedCommand{}, Over: []string{}}
	if err := r.classify(ctx); err != nil {
		return err
	}
	for _, t := range r.sides.Touched {
		out.PutBack = append(out.PutBack, ExplainedFile{Path: t.Path, Class: t.Class, Part: t.Mixed})
	}
	over, _ := r.overlay()
	out.Over = append(out.Over, over...)
	tests, _, err := r.keptTests(ctx)
	if err != nil {
		return err
	}
	for _, c := range tests {
		touched := slices.ContainsFunc(r.sides.Touched, func(t sides.Touch) bool {
			return ecosystem.Inside(c.Unit, t.Path) || ecosystem.Inside(path.Dir(t.Path), c.Unit)
		})
		if touched || c.Results != nil && r.sides.CalledOtherwise(c) {
			c.Stage = StageKept
			out.Kept = append(out.Kept, explainedCommand(c))
		}
	}
	return nil
}

// configured says whether the configuration names the commands of a stage.
func (r *runner) configured(s Stage) bool {
	c := r.in.Commands
	return map[Stage][]string{StageSetup: c.Setup, StageBuild: c.Build, StageLint: c.Lint, StageTest: c.Test}[s] != nil
}

func explained(p ecosystem.Project, affected bool) Explained {
	e := Explained{Ecosystem: p.Eco.Name, Root: p.Dir, What: p.What, Why: append([]string{}, p.Why...), Affected: affected, Runs: p.Missing == "", Missing: p.Missing, Commands: []ExplainedCommand{}}
	for _, list := range [][]ecosystem.Command{p.Setup, p.Build, p.Lint, p.Test} {
		for _, c := range list {
			e.Commands = append(e.Commands, explainedCommand(c))
		}
	}
	return e
}

func explainedCommand(c ecosystem.Command) ExplainedCommand {
	e := ExplainedCommand{Stage: c.Stage, Command: c.Text, Typed: c.Typed(), Script: c.Script}
	if c.Results != nil {
		e.Results = c.Results.Name
	}
	return e
}

// Text is the explanation for people.
func (e *Explanation) Text() string {
	var b strings.Builder
	if len(e.Projects) == 0 && len(e.Configured) == 0 {
		b.WriteString("nothing was found that can be built or tested\n")
	}
	for _, p := range e.Projects {
		fmt.Fprintf(&b, "%s\n", p.What)
		fmt.Fprintf(&b, "  root    %s\n", p.Root)
		fmt.Fprintf(&b, "  because %s\n", strings.Join(p.Why, ", "))
		switch {
		case p.Missing != "":
			fmt.Fprintf(&b, "  not run %s\n", p.Missing)
		case !p.Affected && !p.Runs:
			b.WriteString("  not run the change does not touch it\n")
		case !p.Affected:
			b.WriteString("  last    the change does not touch it: as far as the time goes\n")
		}
		if (p.Affected || p.Runs) && p.Missing == "" {
			writeCommands(&b, p.Commands)
		}
		b.WriteByte('\n')
	}
	if len(e.Configured) > 0 {
		b.WriteString("commands of .github/ycbot.yml at the base, in place of those above\n")
		writeCommands(&b, e.Configured)
		b.WriteByte('\n')
	}
	writeArms(&b, e.Arms)
	for _, l := range e.NotCovered {
		fmt.Fprintf(&b, "not covered: %s\n", l)
	}
	for _, l := range e.Notes {
		fmt.Fprintf(&b, "note: %s\n", l)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func writeArms(b *strings.Builder, a ExplainedArms) {
	if len(a.PutBack) == 0 {
		return
	}
	b.WriteString("base's tests over head's sources (kept expectations)\n")
	for _, f := range a.PutBack {
		part := ""
		if f.Part {
			part = ", its parts of that class"
		}
		fmt.Fprintf(b, "  as base %s (%s%s)\n", f.Path, f.Class, part)
	}
	writeCommands(b, a.Kept)
	b.WriteByte('\n')
	if len(a.Over) > 0 {
		fmt.Fprintf(b, "head's tests over base's sources (fail-to-pass)\n  as head %s\n\n", strings.Join(a.Over, "\n  as head "))
	}
}

func writeCommands(b *strings.Builder, list []ExplainedCommand) {
	for _, c := range list {
		fmt.Fprintf(b, "  %-7s %s\n", c.Stage, c.Command)
		switch {
		case c.Results != "":
			fmt.Fprintf(b, "          each test by %s\n", c.Results)
		case c.Stage == StageTest || c.Stage == StageKept:
			b.WriteString("          counts as one test\n")
		}
	}
}

// texts are all commands of a project, as a person types them.
func texts(p ecosystem.Project) []string {
	var out []string
	for _, list := range [][]ecosystem.Command{p.Setup, p.Build, p.Lint, p.Test} {
		for _, c := range list {
			out = append(out, c.Typed())
		}
	}
	return out
}

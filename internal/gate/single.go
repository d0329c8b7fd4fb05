package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
)

// A Single is what the tests of one tree gave, without another side to compare with.
type Single struct {
	Suite      Suite
	Unprepared string        // why setup or build gave no result, such as a registry out of reach; empty: they did
	Nothing    string        // why there is nothing to run; empty: there is something
	Broken     []string      // packages or commands that do not build
	TimedOut   bool          // a command was ended by its time limit
	Rested     bool          // the tests that the change cannot affect ran too
	Took       time.Duration // of all commands but what compiles ahead: setup, build, tests
}

// Single sets up and builds in.Base, runs the tests that in.Change can affect, once,
// and nothing else; in.Head must be the same tree. With only, it runs no more than
// these tests where their runner can choose; with rest, what the change cannot affect
// is run as well.
func (g *Gate) Single(ctx context.Context, in Input, only []ID, rest bool) (*Single, error) {
	r := newRunner(g, in, task{limit: g.left(ctx)})
	defer r.executor.Close()
	p, err := r.planFor(ctx, Base)
	if err != nil {
		return nil, fmt.Errorf("gate: detect: %w", err)
	}
	r.sides.Plans[Base], r.sides.Plans[Head] = p, p
	out := &Single{Suite: Suite{}}
	if len(p.Test) == 0 && len(p.Build) == 0 {
		if out.Nothing = ecosystem.Lacking(p.Projects); out.Nothing == "" {
			out.Nothing = nothingKnown
		}
		return out, nil
	}
	if err := r.singlePrepared(ctx); err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	out.Unprepared, out.Broken = r.prep.Unprepared(), r.prep.Broken(Base)
	if out.Unprepared == "" {
		err = r.single(ctx, out, only, rest)
	}
	for _, s := range r.executor.Steps {
		if !s.Stage.FillsCaches() {
			out.Took += s.Duration
		}
		out.TimedOut = out.TimedOut || s.TimedOut
	}
	return out, err
}

// singlePrepared does what comes before the tests. Builds and what compiles ahead fill the
// project's cache, as those of every base do.
func (r *runner) singlePrepared(ctx context.Context) error {
	if r.executor.Compiles() {
		if err := r.prep.SeedCache(); err != nil {
			return err
		}
	}
	if err := r.prep.Prepare(ctx, Base); err != nil {
		return err
	}
	if r.prep.Unprepared() != "" {
		return nil
	}
	for _, step := range []func(context.Context) error{r.list, r.split} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return r.executor.ShareCache()
}

func (r *runner) single(ctx context.Context, out *Single, only []ID, rest bool) error {
	commands := r.firstTests(Base)
	if len(only) > 0 {
		commands = r.singleParts(only)
	} else if rest {
		for _, u := range r.restUnits() {
			commands = slices.Concat(commands, u.plan.Test)
		}
	}
	for _, c := range commands {
		suite, _, err := r.tests.RunTests(ctx, Base, c)
		out.Suite.Add(suite)
		if err != nil {
			return fmt.Errorf("gate: %w", err)
		}
	}
	out.Rested = rest
	return nil
}

// singleParts are the commands that run these tests, each narrowed where its runner
// can be.
func (r *runner) singleParts(only []ID) []ecosystem.Command {
	var out []ecosystem.Command
	for _, c := range r.sides.Plans[Base].Test {
		p := ecosystem.Part{Tests: map[string]bool{}}
		for _, id := range only {
			if id.Unit != c.Unit || id.Package == "" || c.Eco != r.singleEco(id) {
				continue
			}
			if !slices.Contains(p.Packages, id.Package) {
				p.Packages = append(p.Packages, id.Package)
			}
			if id.Test != "" {
				p.Tests[id.Top()] = true
			}
		}
		whole := slices.ContainsFunc(only, func(id ID) bool {
			return id.Command != "" && id.Unit == c.Unit || id.Package != "" && id.Test == ""
		})
		if whole {
			p.Tests = nil
		}
		switch {
		case len(p.Packages) > 0 && c.Results != nil && c.Results.Narrow != nil:
			if less, ok := c.Results.Narrow(c, p); ok {
				less.Name = c.Label()
				c = less
			}
			out = append(out, c)
		case len(p.Packages) > 0 || whole:
			out = append(out, c)
		}
	}
	return out
}

// singleEco names the ecosystem of a test by how its runner names packages: by import
// paths, or by files.
func (r *runner) singleEco(id ID) string {
	for _, p := range r.sides.Packages {
		if p.ImportPath == id.Package {
			return p.Eco
		}
	}
	for _, c := range r.sides.Plans[Base].Test {
		if c.Unit == id.Unit && !languages.ByPackage(c.Eco) {
			return c.Eco
		}
	}
	return strings.TrimSpace(id.Command)
}

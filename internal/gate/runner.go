package gate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/arms"
	"github.com/ycbot/ycbot/internal/gate/checks"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/execution"
	"github.com/ycbot/ycbot/internal/gate/known"
	"github.com/ycbot/ycbot/internal/gate/own"
	"github.com/ycbot/ycbot/internal/gate/preparation"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/gate/tester"
)

// runner is one run of the gate.
type runner struct {
	*Gate
	in       Input
	res      *Result
	executor *execution.Executor
	prep     *preparation.Preparation
	sides    *sides.Reader    // what both sides say without being run
	tests    *tester.Tester   // runs tests of both sides
	own      *own.Commands    // projects' own commands for their tests
	files    []string         // of the head
	splits   map[string]split // by folder of the module
	known    *known.Record    // of base's tests, from earlier runs; nil: nothing
	key      string           // of the base's results; empty: not known yet
	saving   *known.Record    // what this run adds to it; nil: nothing
	rested   Suite            // what the head's tests said that the change cannot affect
	facts    Facts
	lacks    []string             // what could not be run for want of a program, for people
	unserved []string             // services that the change alone names and that are not started, for people
	missing  bool                 // tests of the change import what the base does not provide
	failed   bool                 // the decisive part came to FAIL
	over     Suite                // the change's tests over the base's sources
	overLeft map[string]string    // test files that do not compile there, and why
	keptArm  *arms.Arm            // the base's tests over the head's sources, closed; nil: that is the head itself
	restored map[string]*restored // by the files, one a line
}

// A task says what a runner works on beside its input: all of the change, the change
// merged, or what the change cannot affect. Zero fields are those of a new run.
type task struct {
	plan     map[Side]*sides.Plan // what is run; nil: what is detected
	as       map[Side]Side        // the names of the sides in the log; nil: their own
	copies   string               // what the names of its prepared snapshots begin with
	rest     bool                 // the change cannot affect it
	beside   execution.Beside     // what is started with each command that runs tests
	limit    time.Duration
	longest  time.Duration // the slowest package of the base's tests
	packages []ecosystem.Package
	affected map[string]bool
	flakes   *runs.Ledger
	phantoms *runs.Phantoms
}

// ledgers are those of a run that begins.
func (t task) ledgers() task {
	if t.flakes == nil {
		t.flakes = &runs.Ledger{Flipped: map[string]bool{}}
	}
	if t.phantoms == nil {
		t.phantoms = runs.NewPhantoms()
	}
	return t
}

func newRunner(g *Gate, in Input, t task) *runner {
	t = t.ledgers()
	filled := *g
	filled.Limits = g.Limits.WithDefaults()
	g = &filled
	r := &runner{Gate: g, in: in, res: &Result{Toolchains: map[string]string{}}, rested: Suite{}}
	r.sides = r.reader()
	r.sides.Packages, r.sides.Affected = t.packages, t.affected
	maps.Copy(r.sides.Plans, t.plan)
	r.executor = execution.New(g.Machine, execution.Job{
		Base: in.Base, Head: in.Head, Plans: r.sides.Plans, Env: in.Env,
		As: t.as, Copies: cmp.Or(t.copies, "prepared"), Beside: t.beside, Rest: t.rest,
		Note: r.note, Restored: r.noteRestored,
	})
	r.tests = &tester.Tester{
		Executor: r.executor, Sides: r.sides, Limits: g.Limits,
		Limit: cmp.Or(t.limit, time.Hour), Share: tester.DecidesFirst, Longest: t.longest, ProbeRuns: checks.Repeats * checks.RaceWorst,
		Flakes: t.flakes, Phantoms: t.phantoms, Note: r.note, NotCoveredOnce: r.notCoveredOnce,
	}
	r.own = &own.Commands{On: r.arms(), Untrusted: in.Untrusted, Note: r.note, NotCovered: r.notCovered, Covered: r.covered}
	r.prep = preparation.New(preparation.Preparation{
		Executor: r.executor, Change: in.Change, Configured: r.configured,
		Plan:    func(projects []ecosystem.Project) *sides.Plan { return newPlan(projects, in.Commands) },
		Limited: r.tests.Limited, StepLimit: g.Limits.Step, NotCovered: r.notCovered, Idle: r.idle, Given: in.Prepared,
	})
	return r
}

// reader reads the sides of the input.
func (r *runner) reader() *sides.Reader {
	out := &sides.Reader{
		Change: r.in.Change, Base: r.in.Base, Head: r.in.Head,
		Plans: map[Side]*sides.Plan{}, Suites: map[Side]Suite{}, Configured: r.in.Commands.Test != nil, Note: r.note,
	}
	if r.Gate != nil {
		out.Mirror = r.Mirror
	}
	return out
}

// restricted is g whose setup reaches registries alone, where it must.
func (g *Gate) restricted(ctx context.Context) *Gate {
	out := *g
	out.Machine = g.Restricted(ctx)
	return &out
}

// aside is g below another folder, without results of earlier runs: what is run beside
// the change itself is no result of the base.
func (g *Gate) aside(scratch string) *Gate {
	out := *g
	out.Results, out.Scratch = nil, scratch
	return &out
}

// arms makes arms of both sides.
func (r *runner) arms() arms.Maker {
	return arms.Maker{Executor: r.executor, Sides: r.sides, Tests: r.tests, Mirror: r.Mirror}
}

// note says something once, however often it is found.
func (r *runner) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.res.Notes, text) {
		r.res.Notes = append(r.res.Notes, text)
	}
}

// A restored is what commands did to some tracked files, as one note says it.
type restored struct {
	sides    []Side
	commands []string
	note     string
}

// noteRestored says of tracked files once that commands changed them.
func (r *runner) noteRestored(side Side, command string, files []string) {
	key := strings.Join(files, "\n")
	if r.restored == nil {
		r.restored = map[string]*restored{}
	}
	of := r.restored[key]
	if of == nil {
		of = &restored{}
		r.restored[key] = of
	}
	if !slices.Contains(of.sides, side) {
		of.sides = append(of.sides, side)
	}
	if !slices.Contains(of.commands, command) {
		of.commands = append(of.commands, command)
	}
	at := slices.Index(r.res.Notes, of.note)
	who := fmt.Sprintf("%q", of.commands[0])
	if n := len(of.commands) - 1; n > 0 {
		who += " and " + results.Count(n, "other command", "other commands")
	}
	names := make([]string, len(of.sides))
	for i, s := range of.sides {
		names[i] = string(s)
	}
	of.note = fmt.Sprintf("%s: %s changed %s, which %s put back", strings.Join(names, " and "), who, results.Listed(files, 3), results.Plural(len(files), "was", "were"))
	if at >= 0 {
		r.res.Notes[at] = of.note
	} else {
		r.note("%s", of.note)
	}
}

func (r *runner) notCovered(format string, args ...any) {
	r.res.NotCovered = append(r.res.NotCovered, fmt.Sprintf(format, args...))
}

// notCoveredOnce is for what is found out of each run of a command.
func (r *runner) notCoveredOnce(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.res.NotCovered, text) {
		r.res.NotCovered = append(r.res.NotCovered, text)
	}
}

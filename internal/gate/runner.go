package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/workspace"
)

// runner is one run of the gate.
type runner struct {
	*Gate
	in        Input
	res       *Result
	plan      map[Side]*sides.Plan
	sides     *sides.Reader // what both sides say without being run
	suites    map[Side]Suite
	files     []string // of the head
	prepared  map[Side]*snapshot
	rewrote   map[Side]map[string]ecosystem.Command // tracked files that a command of tests changed
	as        map[Side]Side                         // what the sides are called in the log; nil: by their names
	packages  []ecosystem.Package                   // of the head
	affected  map[string]bool                       // import paths of the head that the change affects
	splits    map[string]split                      // by folder of the module
	known     *baseRecord                           // of base's tests, from earlier runs; nil: nothing
	saving    *baseRecord                           // what this run adds to it; nil: nothing
	doubted   bool                                  // runs of base's tests disagreed
	beside    beside                                // what is started with each command that runs tests
	resting   bool                                  // it is at what the change cannot affect
	rested    Suite                                 // what the head's tests said that the change cannot affect
	flakes    *runs.Ledger
	facts     Facts
	longest   time.Duration              // the slowest package of the base's tests
	lacks     []string                   // what could not be run for want of a program, for people
	missing   bool                       // tests of the change import what the base does not provide
	limit     time.Duration              // of the whole gate
	share     int                        // of limit, in percent: what the step that is at work may come to
	failed    bool                       // the decisive part came to FAIL
	fetches   map[string]bool            // evidence of commands that fetched, which build nothing
	forgiven  map[string]bool            // evidence of setup commands that failed, and all that they fetch was there
	copying   sync.Mutex                 // guards copied
	copied    map[string]*folder.Replica // the caches of single commands, by their folders
	copies    string                     // what the names of its prepared snapshots begin with
	phantoms  *runs.Phantoms             // tests that fail inside of passing ones on the base
	over      Suite                      // the change's tests over the base's sources
	overLeft  map[string]string          // test files that do not compile there, and why
	baseFails bool                       // a setup or build of the base is why facts.Unprepared says so
	keptArm   *arm                       // the base's tests over the head's sources, closed; nil: that is the head itself
}

// A task says what a runner works on beside its input: all of the change, the change
// merged, or what the change cannot affect. Zero fields are those of a new run.
type task struct {
	plan     map[Side]*sides.Plan // what is run; nil: what is detected
	as       map[Side]Side        // the names of the sides in the log; nil: their own
	copies   string               // what the names of its prepared snapshots begin with
	rest     bool                 // the change cannot affect it
	beside   beside               // what is started with each command that runs tests
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
	r := &runner{
		Gate: g, in: in,
		res:      &Result{Toolchains: map[string]string{}},
		plan:     map[Side]*sides.Plan{},
		as:       t.as,
		suites:   map[Side]Suite{},
		prepared: map[Side]*snapshot{}, rewrote: map[Side]map[string]ecosystem.Command{},
		resting:  t.rest,
		rested:   Suite{},
		fetches:  map[string]bool{},
		forgiven: map[string]bool{},
		copies:   cmp.Or(t.copies, "prepared"),
		limit:    cmp.Or(t.limit, time.Hour),
		beside:   t.beside,
		longest:  t.longest,
		share:    decidesFirst,
		packages: t.packages, affected: t.affected,
		flakes: t.flakes, phantoms: t.phantoms,
	}
	maps.Copy(r.plan, t.plan)
	r.sides = r.reader()
	return r
}

// reader reads the sides of the input.
func (r *runner) reader() *sides.Reader {
	out := &sides.Reader{
		Change: r.in.Change, Base: r.in.Base, Head: r.in.Head,
		Plans: r.plan, Suites: r.suites, Configured: r.in.Commands.Test != nil, Note: r.note,
	}
	if r.Gate != nil {
		out.Mirror = r.Mirror
	}
	return out
}

// aside is g below another folder, without results of earlier runs: what is run beside
// the change itself is no result of the base.
func (g *Gate) aside(scratch string) *Gate {
	out := *g
	out.Results, out.Scratch = nil, scratch
	return &out
}

func (r *runner) tree(side Side) *workspace.Tree {
	if side == Base {
		return r.in.Base
	}
	return r.in.Head
}

func (r *runner) progress(p Progress) {
	if r.Progress != nil {
		p.Side, p.Rest = r.named(p.Side), r.resting
		r.Progress(p)
	}
}

// note says something once, however often it is found.
func (r *runner) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(r.res.Notes, text) {
		r.res.Notes = append(r.res.Notes, text)
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

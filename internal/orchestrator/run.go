// Package orchestrator has a change verified by agents: which agents run, on which
// model, in which worktree, and what they claim, held against the log of what really
// ran.
//
// [Load] reads who they are, before anything is executed. [Agents.Run] dispatches them
// after the gate: first those that look around, side by side; then the coordinator, if
// there is one; then the verification, which reads what all of them found. It waits for
// all, runs again what they say fails, and returns a [Judgement], from which package
// conclude makes the report. What a run that is continued must know is in the journal.
package orchestrator

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/workspace"
)

// Names of the agents that are dispatched without being asked for by name.
const (
	exploreAgent     = "Explore"
	Verification     = "verification" // which owes a verdict
	coordinatorAgent = "coordinator"
	refuterAgent     = "code-verifier"
)

// A change of so many files or lines is looked around in before it is verified.
const (
	largeFiles = 6
	largeLines = 250
)

// reportReserve is the share of an agent's limits that is kept for its final report.
const reportReserve = 0.1

// sideBySide is how many agents work at a time, at least.
const sideBySide = 3

// lead is how long an agent waits for the beginning of another's first answer, that
// it may use what the provider has cached: longer than most take, and no burden where
// one takes very long.
const lead = 10 * time.Second

// A Task is what the agents of a run work on.
type Task struct {
	Layout    rundir.Layout
	Mirror    *workspace.Mirror
	Sides     *reproduce.Sides // both sides, prepared
	Gate      *gate.Result
	Previous  *reproduce.Previous // what became of the last run's checks; nil: there are none
	Preflight Preflight           // what was found out before the gate
	Tests     []gate.TestCommand  // of the head
	Fetcher   tool.Fetcher
	Admit     func(ctx context.Context, rec agent.Record, isolation string) error // refuses a subagent by its error; may be nil
	Inbox     *Inbox
	Playback  bool // the models answer from a record, which has the questions that were not asked as well
	Now       func() time.Time
	Log       *slog.Logger
}

// A Judgement is what the agents came to (stage "agents"). The names of its fields are
// stored: do not change them.
type Judgement struct {
	Agents  []report.AgentOutcome `json:"agents"` // those that owe a verdict, and helpers whose work counts
	Results []agent.Result        `json:"results"`
	Denied  []report.Denial       `json:"denied"`
	Usage   model.Usage           `json:"usage"`
	CostUSD float64               `json:"cost_usd"`
	CostOK  bool                  `json:"cost_known"`

	NotCovered []string         `json:"not_covered"`
	Notes      []string         `json:"notes,omitempty"`    // of what was not asked any more
	Findings   []report.Finding `json:"findings,omitempty"` // that replies have beside their checks
	Disputed   []dispute        `json:"disputed,omitempty"` // failing checks that someone tried to refute
}

// work is the work of a run's agents.
type work struct {
	agents   *Agents
	source   rundir.Source
	dir      *rundir.Dir
	layout   rundir.Layout
	mirror   *workspace.Mirror
	sides    *reproduce.Sides
	judge    reproduce.Judge
	gate     *gate.Result
	previous *reproduce.Previous
	tests    []gate.TestCommand
	fetcher  tool.Fetcher
	emit     agent.Emit
	playback bool
	now      func() time.Time
	log      *slog.Logger

	model   model.Model
	runner  *agent.Runner
	breaker breaker
	planner *agent.Result // the coordinator's, where there was one
	helpers share
	until   time.Time // when the time for beginning to run checks again is over; zero: never
	within  time.Time // when none goes on any more; zero: never

	looking sync.Mutex // held while the machine is looked at

	mu         sync.Mutex
	workspaces map[string]*Workspace
}

// Run has the change verified by the agents. Its worktrees are removed when it ends.
func (a *Agents) Run(ctx context.Context, t Task) (*Judgement, error) {
	w, err := a.begin(t)
	if err != nil {
		return nil, err
	}
	defer w.close(ctx)
	return w.run(ctx)
}

func (a *Agents) begin(t Task) (*work, error) {
	if err := a.openLog(); err != nil {
		return nil, err
	}
	m, err := a.models.Model(a.exchanges.record)
	if err != nil {
		return nil, err
	}
	if _, err = journal.OnceSoon(a.dir.Journal, "run", "model", func() (string, error) { return m.Name(), nil }); err != nil {
		return nil, err
	}
	w := &work{
		agents: a, source: a.source, dir: a.dir, layout: t.Layout, mirror: t.Mirror, sides: t.Sides,
		judge: reproduce.Judge{Dir: a.dir.Path, Source: a.source}, gate: t.Gate, previous: t.Previous, fetcher: t.Fetcher, tests: t.Tests,
		emit: a.emit, playback: t.Playback, now: t.Now, log: t.Log, workspaces: map[string]*Workspace{},
	}
	w.model = &redacting{Model: w.guard(m, ""), redact: w.dir.Redact}
	w.runner = &agent.Runner{
		RunID: a.dir.ID, Provision: w.provision, Admit: t.Admit, Expand: expand, Caps: agent.Caps{MaxIterations: a.models.MaxIterations},
		Reserve: reportReserve, NoBackground: a.models.NoBackground, Most: addedMost,
		Budget:  a.budget,
		Journal: a.dir.Journal, Emit: a.emit, Now: t.Now, Pause: a.models.Wait, Log: t.Log, Lead: lead,
	}
	w.runner.Share = w.shareOf
	w.runner.Limit = max(sideBySide, a.verifiers())
	w.chargePreflight(t.Preflight)
	w.runner.Called = func(name string) string {
		d, _ := agents.Find(a.defs, name)
		return d.Name
	}
	for _, d := range a.defs {
		w.runner.Specs = append(w.runner.Specs, a.spec(d))
	}
	t.Inbox.connect(w.runner)
	return w, nil
}

// close removes the worktrees of the agents.
func (w *work) close(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ws := range w.workspaces {
		if ws.Tree == nil {
			continue
		}
		if err := ws.Tree.Close(); err != nil {
			w.log.WarnContext(ctx, "remove worktree", "dir", ws.Tree.Dir, "error", err)
		}
	}
}

// note emits an event of the run itself. One that cannot be written ends the run at
// its next stage.
func (a *Agents) note(e agent.Event) { _ = a.emit(e) }

// asked says whether someone wants an agent by its name.
func (a *Agents) asked(name string) bool {
	return slices.Contains(a.set.Wanted, name) || name == coordinatorAgent && a.models.Coordinator
}

// redacted takes secrets out of a prompt, whatever they come from.
func (w *work) redacted(prompt string) string { return string(w.dir.Redact([]byte(prompt))) }

// large says whether a change is looked around in first.
func (a *Agents) large() bool {
	return len(a.source.Change.Files) >= largeFiles || a.lines() >= largeLines
}

// section is a part of a prompt that quotes what an agent wrote.
func section(title, text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return "\n## " + title + "\n\n" + evidence.Fence(text)
}

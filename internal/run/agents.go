package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/workspace"
)

// Names of the agents that the host itself dispatches.
const (
	exploreAgent      = "Explore"
	verificationAgent = "verification"
	coordinatorAgent  = "coordinator"
	refuterAgent      = "code-verifier"
)

// A change of so many files or lines is looked around in before it is verified.
const (
	largeFiles = 6
	largeLines = 250
)

// reportReserve is the share of an agent's limits that is kept for its final report.
const reportReserve = 0.1

// lead is how long an agent waits for the beginning of another's first answer, that
// it may use what the provider has cached: longer than most take, and no burden where
// one takes very long.
const lead = 10 * time.Second

// A Cast is the model side of a run; nil means gate only.
type Cast struct {
	Name   string // provider and model, by which a run that is continued knows that it is the same
	Wanted string // the model that was named, for a report where it could not be asked
	// Model makes the model. Each exchange with a provider is given to record
	// before its answer is used.
	Model func(Recorder) (model.Model, error)
	// Route chooses an agent's model, where it is not the run's. One that is not
	// used because it is not known is a warning of its Voice; nil: all have the run's.
	Route func(context.Context, Asker, Recorder) (Voice, error)
	// Preflight asks the model whether it will answer, and says what that took;
	// nil: there is nothing to ask.
	Preflight func(context.Context, Recorder) (model.Usage, *Trouble)
	// Price tells what usage costs; nil: the cost is not known.
	Price agent.Price
	Rates model.Rates        // for an estimate; nil: none is made
	Named func(Asker) string // the model that Rates know an agent's by

	Agents      []string // that run besides verification, by name
	Coordinator bool     // a model stands in front and may add read-only helpers
	// NoBackground has each agent waited for where it is started, whatever it says.
	NoBackground bool
	Exec         string // what agents may execute: none, inspect or full; empty: full
	// MaxIterations bounds the questions of each agent; 0: its definition alone does.
	MaxIterations int
	MaxTokens     int     // of all agents together; 0: the configuration's
	MaxCostUSD    float64 // the same

	// Of a run that is driven again; nil: they are read.
	crew *crew
	pull *tool.Pull
}

// A judgement is what the agents stage came to.
type judgement struct {
	Agents  []report.AgentOutcome `json:"agents"` // those that owe a verdict
	Results []agent.Result        `json:"results"`
	Denied  []report.Denial       `json:"denied"`
	Usage   model.Usage           `json:"usage"`
	CostUSD float64               `json:"cost_usd"`
	CostOK  bool                  `json:"cost_known"`

	NotCovered []string  `json:"not_covered"`
	Notes      []string  `json:"notes,omitempty"`    // of what was not asked any more
	Disputed   []dispute `json:"disputed,omitempty"` // failing checks that somebody tried to refute
}

// A host coordinates the agents of one run: it dispatches them, waits for all,
// and holds what they claim against the log.
type host struct {
	*session
	cast   *Cast
	model  model.Model
	runner *agent.Runner
	gate   *gate.Gate
	result *gate.Result

	base, head *workspace.Tree // prepared snapshots, which nothing changes
	defs       []agents.Definition
	seats      map[string]*seat
	planner    *agent.Result // the coordinator's, where there was one
	rerunUntil time.Time     // when the time for running checks again is over; zero: never
}

// agents has the change verified by agents, after the gate: where that came to
// no result there is nothing to build on.
func (s *session) agents(ctx context.Context, result *gate.Result) (*judgement, error) {
	if result == nil {
		return nil, errors.New("the gate came to no result")
	}
	h, err := s.host(ctx, result)
	if err != nil {
		return nil, err
	}
	return h.run(ctx)
}

func (s *session) host(ctx context.Context, result *gate.Result) (*host, error) {
	h := &host{session: s, cast: s.job.Cast, result: result, seats: map[string]*seat{}}
	log, err := s.openModelLog()
	if err != nil {
		return nil, err
	}
	m, err := h.cast.Model(log.record)
	if err != nil {
		return nil, err
	}
	if s.modelName, err = journal.Once(s.journal, "run", "model", func() (string, error) { return m.Name(), nil }); err != nil {
		return nil, err
	}
	h.model = &discreet{Model: s.watch(m, ""), redact: s.redact}
	if err := h.prepared(ctx); err != nil {
		return nil, err
	}
	limits := s.config.Limits.Under(configLimits(h.cast))
	s.budget = &agent.Budget{Tokens: limits.Tokens, CostUSD: limits.CostUSD}
	h.runner = &agent.Runner{
		RunID: s.id, Provision: h.provision, Admit: h.admit, Expand: expand, Caps: agent.Caps{MaxIterations: h.cast.MaxIterations},
		Reserve: reportReserve, NoBackground: h.cast.NoBackground, Most: addedMost,
		Budget:  s.budget,
		Journal: s.journal, Emit: s.emit, Now: s.Now, Log: s.Log, Lead: lead,
	}
	h.chargePreflight()
	if h.defs, err = s.crew.definitions(); err != nil {
		return nil, err
	}
	h.runner.Called = func(name string) string {
		d, _ := agents.Find(h.defs, name)
		return d.Name
	}
	for _, d := range h.defs {
		h.runner.Specs = append(h.runner.Specs, h.spec(d))
	}
	s.words.reach(h.runner)
	return h, nil
}

// prepared makes sure that there are snapshots of both sides after setup and
// build. In a run that is continued after the gate they are made again, without
// a trace in the log: it has those commands already.
func (h *host) prepared(ctx context.Context) error {
	h.base, h.head = h.snapshots[gate.Base], h.snapshots[gate.Head]
	if h.base != nil && h.head != nil {
		h.gate = h.gateOf(h.log)
		return nil
	}
	dir, err := os.MkdirTemp(h.trees, "again-")
	if err != nil {
		return err
	}
	log, err := scratchLog(dir, h.id, h.Now)
	if err != nil {
		return err
	}
	defer log.Close()
	h.gate = h.gateOf(log)
	h.gate.Progress = nil
	input, err := h.gateInput(ctx)
	if err != nil {
		return err
	}
	if err := h.gate.Prepare(ctx, input); err != nil {
		return fmt.Errorf("prepare again: %w", err)
	}
	h.base, h.head = h.snapshots[gate.Base], h.snapshots[gate.Head]
	if h.base == nil || h.head == nil {
		return errors.New("prepared snapshots are missing")
	}
	return nil
}

// asked says whether somebody wants an agent by its name.
func (h *host) asked(name string) bool {
	return slices.Contains(h.crew.Wanted, name) || name == coordinatorAgent && h.cast.Coordinator
}

// discreetly takes secrets out of a prompt, whatever they come from.
func (h *host) discreetly(prompt string) string { return string(h.redact([]byte(prompt))) }

// large says whether a change is looked around in first.
func (h *host) large() bool {
	lines := 0
	for _, f := range h.src.Change.Files {
		lines += f.Added + f.Deleted
	}
	return len(h.src.Change.Files) >= largeFiles || lines >= largeLines
}

// section is a part of a prompt that quotes what an agent wrote.
func section(title, text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return "\n## " + title + "\n\n" + fence(text)
}

// helps tells the agents whose reply owes no verdict: all but the verification.
func helps(name string) bool { return name != verificationAgent }

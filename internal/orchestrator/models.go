package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/tool"
)

// A Recorder is given each exchange with a provider before its answer is used.
type Recorder func(context.Context, model.Exchange) error

// A ModelConfig is the model side of a run.
type ModelConfig struct {
	Name   string   // provider and model, by which a run that is continued knows that it is the same
	Wanted string   // the model that was named, for a report where it could not be asked
	Flags  []string // of the command line, that name the same
	// Model makes the model. Each exchange with a provider is given to record
	// before its answer is used.
	Model func(Recorder) (model.Model, error)
	// Route chooses an agent's model, where it is not the run's. One that is not
	// used because it is not known is a warning of its ModelChoice; nil: all have the run's.
	Route func(context.Context, AgentInfo, Recorder) (ModelChoice, error)
	// Preflight asks the model whether it will answer, and says what that took;
	// nil: there is nothing to ask.
	Preflight func(context.Context, Recorder) (model.Usage, *Trouble)
	// Wait pauses before a question is asked again that no provider answered; nil: there is
	// nothing to wait for.
	Wait func(ctx context.Context, d time.Duration) error
	// Price computes what usage costs; nil: the cost is not known.
	Price agent.Price
	Rates model.Rates            // for an estimate; nil: none is made
	Named func(AgentInfo) string // the model that Rates know an agent's by
	// Effort is how long models may think, for all agents: low, medium or high; empty:
	// the configuration's.
	Effort string
	// TakesEffort says why an agent's model cannot be asked with an effort, "" where it
	// can; nil: all can.
	TakesEffort func(AgentInfo) string

	Agents      []string // that run besides verification, by name
	Coordinator bool     // a model stands in front and may add read-only helpers
	// NoBackground has each agent waited for where it is started, whatever it says.
	NoBackground bool
	Exec         string // what agents may execute: none, inspect or full; empty: full
	// MaxIterations bounds the questions of each agent; 0: its definition alone does.
	MaxIterations int
	MaxTokens     int     // of all agents together; 0: the configuration's
	MaxCostUSD    float64 // the same

	Recorded *RecordedAgents // of a run that is replayed; nil: they are read
}

// RecordedAgents are what a recorded run had.
type RecordedAgents struct {
	Set     *Set
	Pull    *tool.Pull
	Machine []string // what they were given about the machine
}

// Limits are the operator's limits for the agents.
func (c *ModelConfig) Limits() config.Limits {
	return config.Limits{Tokens: c.MaxTokens, CostUSD: c.MaxCostUSD}
}

// AgentInfo is an agent, as far as its model depends on it.
type AgentInfo struct {
	Name       string
	Model      string // that its definition names; empty: none
	Provider   string // the same
	Configured string // model that the configuration names for it, which counts before all
	ReadOnly   bool   // it can run nothing
}

// A ModelChoice is the model that an agent is asked of.
type ModelChoice struct {
	Model   model.Model // nil: the run's
	Account string      // whose key it is asked with; empty: the run's own
	Price   agent.Price // of that model
	Wanted  string      // where another model was wanted and is not used: its name
	Warning string      // and why
	Probe   model.Usage // what it took to find out whether that model answers
}

// A Trouble is why a model may not answer.
type Trouble struct {
	Text  string // what is wrong, and what to do
	Fatal bool   // asking again later changes nothing
}

// A Preflight is what was found out before anything is paid for (stage "preflight").
type Preflight struct {
	Notes []string    `json:"notes,omitempty"`
	Usage model.Usage `json:"usage,omitzero"`
}

// A NoModelError is why there are no agents: the model will not answer.
type NoModelError struct{ Why string }

func (e *NoModelError) Error() string { return noModel + ": " + e.Why }

const noModel = "the model could not be asked"

// Cause words why no agent could work.
func Cause(err error) string {
	var none *NoModelError
	switch {
	case errors.As(err, &none):
		return none.Error()
	case errors.Is(err, model.ErrAuth), errors.Is(err, model.ErrDown), errors.Is(err, model.ErrRequest), errors.Is(err, model.ErrOverflow):
		return noModel + ": " + err.Error()
	default:
		return err.Error()
	}
}

// Preflight asks the model whether it will answer, and says what the run may cost.
// The error is a [NoModelError] where it will not.
func (a *Agents) Preflight(ctx context.Context) (Preflight, error) {
	var p Preflight
	note := func(text string) {
		p.Notes = append(p.Notes, text)
		a.note(agent.Event{Type: agent.EventNote, Text: text})
	}
	if a.models.Preflight != nil {
		if err := a.openLog(); err != nil {
			return p, err
		}
		var trouble *Trouble
		p.Usage, trouble = a.models.Preflight(ctx, a.exchanges.record)
		switch {
		case ctx.Err() != nil:
			return p, context.Cause(ctx)
		case trouble != nil && trouble.Fatal:
			none := &NoModelError{trouble.Text}
			a.note(agent.Event{Type: agent.EventNote, Text: none.Error()})
			// The report names it: a run whose model does not answer is none without a model.
			if _, err := journal.OnceSoon(a.dir.Journal, "run", "model", func() (string, error) { return a.models.Wanted, nil }); err != nil {
				return p, err
			}
			return p, none
		case trouble != nil:
			note("the model did not answer before the run, and is asked again: " + trouble.Text)
		}
	}
	if text := a.estimate(); text != "" {
		note(text)
	}
	return p, nil
}

// HasPreflight says whether there is anything to find out before the gate.
func (a *Agents) HasPreflight() bool { return a.models.Preflight != nil || a.models.Rates != nil }

// What an agent is expected to do, for the estimate: these are what runs on small
// and middling changes came to.
const (
	turnsExec, turnsRead = 20, 8
	toolTokens           = 3000 // of the descriptions of tools
	growTokens           = 1200 // of the answers to one round of calls
	outTokens            = 350
)

// estimate says what the agents may use and cost; "" where no prices are known.
func (a *Agents) estimate() string {
	if a.models.Rates == nil {
		return ""
	}
	brief := len(a.briefing())
	var plans []model.Plan
	for _, d := range a.defs {
		always := d.Name == Verification || d.Name == exploreAgent && a.large()
		if !always && !a.asked(d.Name) {
			continue
		}
		info := a.info(d)
		turns := turnsExec
		if info.ReadOnly {
			turns = turnsRead
		}
		turns = min(turns, d.MaxIterations)
		if a.models.MaxIterations > 0 {
			turns = min(turns, a.models.MaxIterations)
		}
		n := 1
		if d.Name == Verification {
			n = a.verifiers()
		}
		for range n {
			plans = append(plans, model.Plan{
				Model: a.models.Named(info), Turns: turns, Prompt: (brief+len(d.Prompt))/4 + toolTokens, Grow: growTokens, Out: outTokens,
			})
		}
	}
	e := a.models.Rates.Estimate(plans...)
	text := fmt.Sprintf("estimate for %d agents: about %d tokens in and %d out", len(plans), e.Usage.Input, e.Usage.Output)
	if len(e.Unknown) < len(plans) && e.HighUSD > 0 {
		text += fmt.Sprintf(", $%.2f to $%.2f", e.LowUSD, e.HighUSD)
	}
	if len(e.Unknown) > 0 {
		text += "; the price of " + strings.Join(e.Unknown, ", ") + " is not known"
	}
	return text
}

// info is an agent of this run.
func (a *Agents) info(d agents.Definition) AgentInfo {
	info := AgentInfo{Name: d.Name, Model: d.Model, Provider: d.Provider, ReadOnly: !a.may.Allow(tool.Exec) || !d.Executes()}
	for name, set := range a.config.Agents.Settings {
		if of, ok := agents.Find(a.defs, name); ok && of.Name == d.Name {
			info.Configured = set.Model
		}
	}
	return info
}

// kindChoice entries of the journal, with an agent's id as key, are what came of
// choosing its model. It is stored: do not change it.
const kindChoice = "voice"

// A choice is what came of choosing an agent's model. Where there is a warning the
// agent does not get the model that it wants.
type choice struct {
	Wanted  string      `json:"wanted,omitempty"`
	Warning string      `json:"warning,omitempty"`
	Probe   model.Usage `json:"probe,omitzero"`
	CostUSD float64     `json:"cost_usd,omitempty"` // of the probe
	Priced  bool        `json:"priced,omitempty"`
}

// charge counts what it took to learn whether a model answers.
func (w *work) charge(u model.Usage, usd float64, known bool) {
	if u.Input+u.Output > 0 {
		w.runner.Budget.Charge(u, usd, known)
	}
}

// chargePreflight counts the preflight's question as the agents' are.
func (w *work) chargePreflight(p Preflight) {
	usd, known := 0.0, false
	if price := w.agents.models.Price; price != nil {
		usd, known = price(p.Usage)
	}
	w.charge(p.Usage, usd, known)
}

// choose returns the model that an agent is asked of. What came of choosing it the
// first time is in the journal, so that an agent does not change its model halfway.
func (w *work) choose(ctx context.Context, d agents.Definition, id string) (ModelChoice, error) {
	models := w.agents.models
	own := ModelChoice{Model: w.model, Price: models.Price}
	if models.Route == nil {
		return own, nil
	}
	var c ModelChoice
	was, err := journal.OnceSoon(w.dir.Journal, kindChoice, id, func() (choice, error) {
		var err error
		c, err = models.Route(ctx, w.agents.info(d), w.agents.exchanges.record)
		made := choice{Wanted: c.Wanted, Warning: c.Warning, Probe: c.Probe}
		if c.Price != nil {
			made.CostUSD, made.Priced = c.Price(c.Probe)
		}
		return made, err
	})
	if err != nil {
		return own, fmt.Errorf("model of agent %s: %w", d.Name, err)
	}
	w.charge(was.Probe, was.CostUSD, was.Priced)
	if c.Warning != "" {
		w.agents.note(agent.Event{Type: agent.EventNote, Text: c.Warning})
	}
	if was.Warning != "" {
		own.Wanted, own.Warning = was.Wanted, was.Warning
		return own, nil
	}
	if c.Model == nil {
		if c, err = models.Route(ctx, w.agents.info(d), w.agents.exchanges.record); err != nil {
			return own, fmt.Errorf("model of agent %s: %w", d.Name, err)
		}
	}
	if c.Model == nil {
		return own, nil
	}
	c.Model = &redacting{Model: w.guard(c.Model, c.Account), redact: w.dir.Redact}
	return c, nil
}

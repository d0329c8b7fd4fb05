package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/tool"
)

// A Recorder is given each exchange with a provider before its answer is used.
type Recorder func(context.Context, model.Exchange) error

// An Asker is an agent, as far as its model depends on it.
type Asker struct {
	Name     string
	Model    string // that its definition names; empty: none
	Provider string // the same
	Settled  string // model that the configuration names for it, which counts before all
	ReadOnly bool   // it can run nothing
}

// A Voice is the model that an agent is asked of.
type Voice struct {
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
	Fatal bool   // asking later will not mend it
}

// A preflight is what was found out before anything is paid for.
type preflight struct {
	Notes []string    `json:"notes,omitempty"`
	Usage model.Usage `json:"usage,omitzero"`
}

// errUnasked is why there are no agents where the model will not answer.
var errUnasked = errors.New("the model could not be asked")

// preflight asks the model whether it will answer, and says what the run may cost.
func (s *session) preflight(ctx context.Context) (preflight, error) {
	var p preflight
	note := func(text string) {
		p.Notes = append(p.Notes, text)
		s.tell(agent.Event{Type: agent.EventNote, Text: text})
	}
	cast := s.job.Cast
	if cast.Preflight != nil {
		log, err := s.openModelLog()
		if err != nil {
			return p, err
		}
		var trouble *Trouble
		p.Usage, trouble = cast.Preflight(ctx, log.record)
		switch {
		case ctx.Err() != nil:
			return p, context.Cause(ctx)
		case trouble != nil && trouble.Fatal:
			s.tell(agent.Event{Type: agent.EventNote, Text: errUnasked.Error() + ": " + trouble.Text})
			// The report names it: a run whose model does not answer is none without a model.
			if _, err := journal.Once(s.journal, "run", "model", func() (string, error) { return cast.Wanted, nil }); err != nil {
				return p, err
			}
			return p, fmt.Errorf("%w: %s", errUnasked, trouble.Text)
		case trouble != nil:
			note("the model did not answer before the run, and is asked again: " + trouble.Text)
		}
	}
	text, err := s.estimate()
	if err != nil {
		return p, err
	}
	if text != "" {
		note(text)
	}
	return p, nil
}

// What an agent is expected to do, for the estimate: these are what runs on small
// and middling changes came to.
const (
	turnsExec, turnsRead = 20, 8
	toolTokens           = 3000 // of the descriptions of tools
	growTokens           = 1200 // of the answers to one round of calls
	outTokens            = 350
)

// estimate says what the agents may use and cost; "" where nobody knows prices.
func (s *session) estimate() (string, error) {
	cast := s.job.Cast
	if cast.Rates == nil {
		return "", nil
	}
	defs, err := s.crew.definitions()
	if err != nil {
		return "", err
	}
	h := &host{session: s, cast: cast, defs: defs}
	brief := len(h.briefing())
	var plans []model.Plan
	for _, d := range defs {
		always := d.Name == verificationAgent || d.Name == exploreAgent && h.large()
		if !always && !h.asked(d.Name) {
			continue
		}
		a := h.asker(d)
		turns := turnsExec
		if a.ReadOnly {
			turns = turnsRead
		}
		turns = min(turns, d.MaxIterations)
		if cast.MaxIterations > 0 {
			turns = min(turns, cast.MaxIterations)
		}
		plans = append(plans, model.Plan{
			Model: cast.Named(a), Turns: turns, Prompt: (brief+len(d.Prompt))/4 + toolTokens, Grow: growTokens, Out: outTokens,
		})
	}
	e := cast.Rates.Estimate(plans...)
	text := fmt.Sprintf("estimate for %d agents: about %d tokens in and %d out", len(plans), e.Usage.Input, e.Usage.Output)
	if len(e.Unknown) < len(plans) && e.HighUSD > 0 {
		text += fmt.Sprintf(", $%.2f to $%.2f", e.LowUSD, e.HighUSD)
	}
	if len(e.Unknown) > 0 {
		text += "; the price of " + strings.Join(e.Unknown, ", ") + " is not known"
	}
	return text, nil
}

// openModelLog opens model.jsonl, once.
func (s *session) openModelLog() (*modelLog, error) {
	if s.exchanges != nil {
		return s.exchanges, nil
	}
	log, err := openModelLog(filepath.Join(s.dir, "model.jsonl"), s.redact)
	if err != nil {
		return nil, err
	}
	s.exchanges = log
	s.closers = append(s.closers, log)
	return log, nil
}

// asker is an agent of this run.
func (h *host) asker(d agents.Definition) Asker {
	a := Asker{Name: d.Name, Model: d.Model, Provider: d.Provider, ReadOnly: !h.may.Allow(tool.Exec) || !d.Executes()}
	for name, set := range h.config.Agents.Settings {
		if of, ok := agents.Find(h.defs, name); ok && of.Name == d.Name {
			a.Settled = set.Model
		}
	}
	return a
}

// kindVoice entries of the journal, with an agent's id as key, are what came of
// choosing its model. It is stored: do not change it.
const kindVoice = "voice"

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
func (h *host) charge(u model.Usage, usd float64, known bool) {
	if u.Input+u.Output > 0 {
		h.runner.Budget.Charge(u, usd, known)
	}
}

// chargePreflight counts the preflight's question as the agents' are.
func (h *host) chargePreflight() {
	var p preflight
	if !h.lookup("stage", "preflight", &p) {
		return
	}
	usd, known := 0.0, false
	if h.cast.Price != nil {
		usd, known = h.cast.Price(p.Usage)
	}
	h.charge(p.Usage, usd, known)
}

// voice is the model that an agent is asked of. What came of choosing it the first
// time is in the journal, so that an agent does not change its model halfway.
func (h *host) voice(ctx context.Context, d agents.Definition, id string) (Voice, error) {
	own := Voice{Model: h.model, Price: h.cast.Price}
	if h.cast.Route == nil {
		return own, nil
	}
	var v Voice
	was, err := journal.Once(h.journal, kindVoice, id, func() (choice, error) {
		var err error
		v, err = h.cast.Route(ctx, h.asker(d), h.exchanges.record)
		c := choice{Wanted: v.Wanted, Warning: v.Warning, Probe: v.Probe}
		if v.Price != nil {
			c.CostUSD, c.Priced = v.Price(v.Probe)
		}
		return c, err
	})
	if err != nil {
		return own, fmt.Errorf("model of agent %s: %w", d.Name, err)
	}
	h.charge(was.Probe, was.CostUSD, was.Priced)
	if v.Warning != "" {
		h.tell(agent.Event{Type: agent.EventNote, Text: v.Warning})
	}
	if was.Warning != "" {
		own.Wanted, own.Warning = was.Wanted, was.Warning
		return own, nil
	}
	if v.Model == nil {
		if v, err = h.cast.Route(ctx, h.asker(d), h.exchanges.record); err != nil {
			return own, fmt.Errorf("model of agent %s: %w", d.Name, err)
		}
	}
	if v.Model == nil {
		return own, nil
	}
	v.Model = &discreet{Model: h.watch(v.Model, v.Account), redact: h.redact}
	return v, nil
}

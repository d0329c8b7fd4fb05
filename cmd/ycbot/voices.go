package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/provider"
	"github.com/ycbot/ycbot/internal/orchestrator"
	"github.com/ycbot/ycbot/internal/usage"
)

// voices are the models that agents of one run are asked of.
type voices struct {
	p      *program
	target provider.Target // of the run's own model
	route  provider.Route
	rates  model.Rates
	idle   time.Duration // how long an answer may bring nothing; 0: the client's own limit

	mu     sync.Mutex
	probed map[string]provider.Finding // by provider and model
}

// newVoices reads how models are chosen.
func (p *program) newVoices(o *runOptions, target provider.Target, name string) (*voices, error) {
	v := &voices{p: p, target: target, probed: map[string]provider.Finding{}}
	v.route = provider.Route{
		Parent: name, Fast: cmp.Or(o.fastModel, p.getenv("YCBOT_FAST_MODEL")), Smart: cmp.Or(o.smartModel, p.getenv("YCBOT_SMART_MODEL")),
	}
	mode := cmp.Or(o.router.value, p.getenv("YCBOT_ROUTER"))
	if mode == "" && v.route.Fast+v.route.Smart != "" {
		mode = string(provider.RouteAuto) // why else name them
	}
	var err error
	if v.route.Mode, err = provider.ParseRouteMode(mode); err != nil {
		return nil, usage.Errorf("--router: %w", err)
	}
	if v.idle, err = p.modelIdle(o); err != nil {
		return nil, err
	}
	if v.rates, err = p.rates(); err != nil {
		return nil, err
	}
	return v, nil
}

// modelIdle is how long an answer may bring nothing, as flag and environment have it.
func (p *program) modelIdle(o *runOptions) (time.Duration, error) {
	limit, named := o.modelIdle, p.getenv("YCBOT_MODEL_IDLE")
	if limit.Duration == 0 && named != "" {
		if err := limit.Set(named); err != nil {
			return 0, fmt.Errorf("YCBOT_MODEL_IDLE %q: %w", named, err)
		}
	}
	return limit.Duration, nil
}

// rates are the prices of models: the built-in ones, under those of a file that
// the operator names.
func (p *program) rates() (model.Rates, error) {
	rates, err := model.ListPrices()
	if err != nil {
		return nil, err
	}
	name := p.getenv("YCBOT_PRICES")
	if name == "" {
		return rates, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("YCBOT_PRICES: %w", err)
	}
	own, err := model.ReadPrices(data)
	if err != nil {
		return nil, fmt.Errorf("YCBOT_PRICES %s: %w", name, err)
	}
	return rates.With(own), nil
}

// price is what usage of a model costs.
func (v *voices) price(name string) agent.Price {
	return func(u model.Usage) (float64, bool) { return v.rates.Cost(name, u) }
}

// open makes a model of a target.
func (v *voices) open(t provider.Target, name string, record orchestrator.Recorder) (model.Model, error) {
	return t.Open(provider.Options{Model: name, HTTPClient: v.p.client, Now: v.p.now, Log: v.p.log(), Record: record, Retry: model.Retry{IdleFor: v.idle}})
}

// How a model is probed: quickly, since a run waits for it.
const (
	probeTries = 3
	probePause = 500 * time.Millisecond
	probeMost  = 5 * time.Second
)

// probe asks a model whether it will answer, once for each.
func (v *voices) probe(ctx context.Context, t provider.Target, name string, record orchestrator.Recorder) provider.Finding {
	key := t.Preset.Name + " " + t.BaseURL + " " + name
	v.mu.Lock()
	found, ok := v.probed[key]
	v.mu.Unlock()
	if ok {
		return found
	}
	m, err := t.Open(provider.Options{
		Model: name, HTTPClient: v.p.client, Now: v.p.now, Log: v.p.log(), Record: record,
		Retry: model.Retry{Tries: probeTries, Base: probePause, Max: probeMost, IdleFor: cmp.Or(v.idle, time.Minute)},
	})
	if err != nil {
		return provider.Finding{Trouble: provider.TroubleRequest, Text: err.Error()}
	}
	found = t.Probe(ctx, m)
	if found.Trouble == provider.TroubleNone { // what is wrong may be fixed before the next run of this process
		known := found
		known.Usage = model.Usage{} // which whoever asked first has paid
		v.mu.Lock()
		v.probed[key] = known
		v.mu.Unlock()
	}
	return found
}

// preflight implements [orchestrator.ModelConfig.Preflight].
func (v *voices) preflight(ctx context.Context, record orchestrator.Recorder) (model.Usage, *orchestrator.Trouble) {
	found := v.probe(ctx, v.target, v.route.Parent, record)
	if found.Trouble == provider.TroubleNone {
		return found.Usage, nil
	}
	text := found.Text
	if found.Todo != "" {
		text += "; " + found.Todo
	}
	return found.Usage, &orchestrator.Trouble{Text: text, Fatal: found.Trouble != provider.TroubleBusy && found.Trouble != provider.TroubleStopped}
}

// named is the model of an agent, as far as names tell.
func (v *voices) named(a orchestrator.AgentInfo) string {
	if a.Configured != "" {
		return a.Configured
	}
	name, _ := v.route.Pick(provider.Asker{Name: a.Name, Model: a.Model, ReadOnly: a.ReadOnly}, nil)
	return name
}

// takesEffort implements [orchestrator.ModelConfig.TakesEffort].
func (v *voices) takesEffort(a orchestrator.AgentInfo) string {
	target := v.target
	if a.Provider != "" && a.Configured == "" && v.route.Mode != provider.RouteOff {
		if own, why := v.provider(a); why == "" {
			target = own
		}
	}
	if name := v.named(a); !target.TakesEffort(name) {
		return fmt.Sprintf("model %s of provider %s is not known to take one", name, target.Preset.Name)
	}
	return ""
}

// voice implements [orchestrator.ModelConfig.Route]. A model that the configuration of the base
// names for an agent is asked whatever the router says; one that will not answer
// is not used.
func (v *voices) voice(ctx context.Context, a orchestrator.AgentInfo, record orchestrator.Recorder) (orchestrator.ModelChoice, error) {
	own := v.route.Parent
	wanted := v.named(a)
	target, why := v.target, ""
	if a.Provider != "" && a.Configured == "" && v.route.Mode != provider.RouteOff {
		if target, why = v.provider(a); why != "" {
			return orchestrator.ModelChoice{Wanted: strings.TrimSpace(a.Provider + " " + a.Model), Warning: v.instead(a, why)}, nil
		}
	}
	if wanted == own && target.Preset.Name == v.target.Preset.Name {
		return orchestrator.ModelChoice{}, nil
	}
	found := v.probe(ctx, target, wanted, record)
	switch found.Trouble {
	case provider.TroubleNone, provider.TroubleBusy:
	case provider.TroubleStopped:
		return orchestrator.ModelChoice{}, context.Cause(ctx)
	default:
		return orchestrator.ModelChoice{Wanted: wanted, Warning: v.instead(a, fmt.Sprintf("model %q cannot be asked: %s", wanted, found.Text))}, nil
	}
	m, err := v.open(target, wanted, record)
	account := target.Preset.Name
	if account == v.target.Preset.Name {
		account = ""
	}
	return orchestrator.ModelChoice{Model: m, Account: account, Price: v.price(wanted), Probe: found.Usage}, err
}

func (v *voices) instead(a orchestrator.AgentInfo, why string) string {
	return fmt.Sprintf("agent %s is asked of %s: %s", a.Name, v.route.Parent, why)
}

// provider is the one that an agent names, where the operator has a key for it.
func (v *voices) provider(a orchestrator.AgentInfo) (provider.Target, string) {
	preset, err := provider.Find(a.Provider)
	switch {
	case err != nil:
		return provider.Target{}, err.Error()
	case preset.Name == v.target.Preset.Name:
		return v.target, ""
	case a.Model == "" || a.Model == "inherit":
		return provider.Target{}, fmt.Sprintf("it names the provider %s and no model", a.Provider)
	}
	target, err := preset.Resolve(provider.Overrides{}, v.p.getenv)
	if err != nil {
		return provider.Target{}, err.Error()
	}
	return target, ""
}

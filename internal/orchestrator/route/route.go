package route

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/provider"
	"github.com/ycbot/ycbot/internal/orchestrator"
	"github.com/ycbot/ycbot/internal/regular"
	"github.com/ycbot/ycbot/internal/usage"
)

// A router knows the models that agents of one run are asked of.
type router struct {
	m      machine.Machine
	target provider.Target // of the run's own model
	route  provider.Route
	rates  model.Rates
	idle   time.Duration // how long an answer may bring nothing; 0: the client's own limit

	mu     sync.Mutex
	probed map[string]provider.Finding // by provider and model
}

// newRouter reads how models are chosen.
func newRouter(m machine.Machine, o Settings, target provider.Target, name string) (*router, error) {
	r := &router{m: m, target: target, probed: map[string]provider.Finding{}}
	r.route = provider.Route{
		Parent: name, Fast: cmp.Or(o.FastModel, m.Getenv("YCBOT_FAST_MODEL")), Smart: cmp.Or(o.SmartModel, m.Getenv("YCBOT_SMART_MODEL")),
	}
	mode, from := cmp.Or(o.Router, m.Getenv("YCBOT_ROUTER")), "YCBOT_ROUTER"
	if o.Router != "" {
		from = "--router"
	}
	if mode == "" && r.route.Fast+r.route.Smart != "" {
		mode = string(provider.RouteAuto) // why else name them
	}
	var err error
	if r.route.Mode, err = provider.ParseRouteMode(mode); err != nil {
		return nil, usage.Errorf("%s: %w", from, err)
	}
	if r.idle, err = idle(m, o); err != nil {
		return nil, err
	}
	if r.rates, err = rates(m); err != nil {
		return nil, err
	}
	return r, nil
}

// Check says what is wrong with how the environment has models chosen and counted.
func Check(m machine.Machine) error {
	_, routed := newRouter(m, Settings{}, provider.Target{}, "")
	_, _, leveled := levels(m, Settings{})
	return errors.Join(routed, leveled)
}

// idle is how long an answer may bring nothing, as flag and environment have it.
func idle(m machine.Machine, o Settings) (time.Duration, error) {
	named := m.Getenv("YCBOT_MODEL_IDLE")
	if o.Idle != 0 || named == "" {
		return o.Idle, nil
	}
	d, err := usage.Duration(named)
	if err != nil {
		return 0, fmt.Errorf("YCBOT_MODEL_IDLE %q: %w", named, err)
	}
	return d, nil
}

// rates are the prices of models: the built-in ones, under those of a file that
// the operator names.
func rates(m machine.Machine) (model.Rates, error) {
	all, err := model.ListPrices()
	if err != nil {
		return nil, err
	}
	name := m.Getenv("YCBOT_PRICES")
	if name == "" {
		return all, nil
	}
	data, err := regular.Read(name)
	if err != nil {
		return nil, fmt.Errorf("YCBOT_PRICES: %w", err)
	}
	own, err := model.ReadPrices(data)
	if err != nil {
		return nil, fmt.Errorf("YCBOT_PRICES %s: %w", name, err)
	}
	return all.With(own), nil
}

// price is what usage of a model costs.
func (r *router) price(name string) agent.Price {
	return func(u model.Usage) (float64, bool) { return r.rates.Cost(name, u) }
}

// open makes a model of a target.
func (r *router) open(t provider.Target, name string, record orchestrator.Recorder) (model.Model, error) {
	return t.Open(provider.Options{Model: name, HTTPClient: r.m.Client, Now: r.m.Now, Log: r.m.Log, Record: record, Retry: model.Retry{IdleFor: r.idle}})
}

// How a model is probed: quickly, since a run waits for it.
const (
	probeTries = 3
	probePause = 500 * time.Millisecond
	probeMost  = 5 * time.Second
)

// probe asks a model whether it will answer, once for each.
func (r *router) probe(ctx context.Context, t provider.Target, name string, record orchestrator.Recorder) provider.Finding {
	key := t.Preset.Name + " " + t.BaseURL + " " + name
	r.mu.Lock()
	found, ok := r.probed[key]
	r.mu.Unlock()
	if ok {
		return found
	}
	m, err := t.Open(provider.Options{
		Model: name, HTTPClient: r.m.Client, Now: r.m.Now, Log: r.m.Log, Record: record,
		Retry: model.Retry{Tries: probeTries, Base: probePause, Max: probeMost, IdleFor: cmp.Or(r.idle, time.Minute)},
	})
	if err != nil {
		return provider.Finding{Trouble: provider.TroubleRequest, Text: err.Error()}
	}
	found = t.Probe(ctx, m)
	if found.Trouble == provider.TroubleNone { // what is wrong may be fixed before the next run of this process
		known := found
		known.Usage = model.Usage{} // which the first to ask has paid
		r.mu.Lock()
		r.probed[key] = known
		r.mu.Unlock()
	}
	return found
}

// preflight implements [orchestrator.ModelConfig.Preflight].
func (r *router) preflight(ctx context.Context, record orchestrator.Recorder) (model.Usage, *orchestrator.Trouble) {
	found := r.probe(ctx, r.target, r.route.Parent, record)
	if found.Trouble == provider.TroubleNone {
		return found.Usage, nil
	}
	text := found.Text
	if found.Todo != "" {
		text += "; " + found.Todo
	}
	return found.Usage, &orchestrator.Trouble{Text: text, Fatal: found.Trouble != provider.TroubleBusy && found.Trouble != provider.TroubleStopped}
}

// named is the model of an agent, as far as names show.
func (r *router) named(a orchestrator.AgentInfo) string {
	if a.Configured != "" {
		return a.Configured
	}
	name, _ := r.route.Pick(provider.Asker{Name: a.Name, Model: a.Model, ReadOnly: a.ReadOnly}, nil)
	return name
}

// takesEffort implements [orchestrator.ModelConfig.TakesEffort].
func (r *router) takesEffort(a orchestrator.AgentInfo) string {
	target := r.target
	if a.Provider != "" && a.Configured == "" && r.route.Mode != provider.RouteOff {
		if own, why := r.provider(a); why == "" {
			target = own
		}
	}
	if name := r.named(a); !target.TakesEffort(name) {
		return fmt.Sprintf("model %s of provider %s is not known to take one", name, target.Preset.Name)
	}
	return ""
}

// choose implements [orchestrator.ModelConfig.Route]. A model that the configuration of the base
// names for an agent is asked whatever the router says; one that will not answer
// is not used.
func (r *router) choose(ctx context.Context, a orchestrator.AgentInfo, record orchestrator.Recorder) (orchestrator.ModelChoice, error) {
	own := r.route.Parent
	wanted := r.named(a)
	target, why := r.target, ""
	if a.Provider != "" && a.Configured == "" && r.route.Mode != provider.RouteOff {
		if target, why = r.provider(a); why != "" {
			return orchestrator.ModelChoice{Wanted: strings.TrimSpace(a.Provider + " " + a.Model), Warning: r.instead(a, why)}, nil
		}
	}
	if wanted == own && target.Preset.Name == r.target.Preset.Name {
		return orchestrator.ModelChoice{}, nil
	}
	found := r.probe(ctx, target, wanted, record)
	switch found.Trouble {
	case provider.TroubleNone, provider.TroubleBusy:
	case provider.TroubleStopped:
		return orchestrator.ModelChoice{}, context.Cause(ctx)
	default:
		return orchestrator.ModelChoice{Wanted: wanted, Warning: r.instead(a, fmt.Sprintf("model %q cannot be asked: %s", wanted, found.Text))}, nil
	}
	m, err := r.open(target, wanted, record)
	account := target.Preset.Name
	if account == r.target.Preset.Name {
		account = ""
	}
	return orchestrator.ModelChoice{Model: m, Account: account, Price: r.price(wanted), Probe: found.Usage}, err
}

func (r *router) instead(a orchestrator.AgentInfo, why string) string {
	return fmt.Sprintf("agent %s is asked of %s: %s", a.Name, r.route.Parent, why)
}

// provider is the one that an agent names, where the operator has a key for it.
func (r *router) provider(a orchestrator.AgentInfo) (provider.Target, string) {
	preset, err := provider.Find(a.Provider)
	switch {
	case err != nil:
		return provider.Target{}, err.Error()
	case preset.Name == r.target.Preset.Name:
		return r.target, ""
	case a.Model == "" || a.Model == "inherit":
		return provider.Target{}, fmt.Sprintf("it names the provider %s and no model", a.Provider)
	}
	target, err := preset.Resolve(provider.Overrides{}, r.m.Getenv)
	if err != nil {
		return provider.Target{}, err.Error()
	}
	return target, ""
}

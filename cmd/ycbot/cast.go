package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/provider"
	"github.com/ycbot/ycbot/internal/model/script"
	"github.com/ycbot/ycbot/internal/orchestrator"
	"github.com/ycbot/ycbot/internal/policy"
	"github.com/ycbot/ycbot/internal/usage"
)

// cast reads from flags and environment which model is asked; nil means none:
// nobody named one, or --no-model was given.
func (p *program) cast(o *runOptions) (*orchestrator.ModelConfig, error) {
	kind := cmp.Or(o.provider.value, p.getenv("YCBOT_PROVIDER"), provider.Likely(p.getenv))
	name := cmp.Or(o.model, p.getenv("YCBOT_MODEL"))
	baseURL := cmp.Or(o.baseURL, p.getenv("YCBOT_BASE_URL"))
	if !slices.Contains(o.provider.words, kind) {
		return nil, fmt.Errorf("YCBOT_PROVIDER %q: want one of %s", kind, strings.Join(o.provider.words, ", "))
	}
	if o.noModel || kind != script.Provider && name == "" {
		if !o.noModel && (o.coordinator || len(o.agents) > 0 || o.provider.value != "" || o.baseURL != "") {
			return nil, usage.Errorf("no model is named: give --model NAME or set YCBOT_MODEL, or leave the flags for agents out")
		}
		return nil, nil //nolint:nilnil // gate only is no fault
	}
	if o.maxTokens < 0 || o.maxCost < 0 || o.maxIterations < 0 {
		return nil, usage.Errorf("--max-tokens, --max-cost-usd and --max-iterations: want numbers above zero")
	}
	exec := p.getenv("YCBOT_EXEC")
	if exec != "" && !slices.Contains(policy.Levels(), exec) {
		return nil, fmt.Errorf("YCBOT_EXEC %q: want one of %s", exec, strings.Join(policy.Levels(), ", "))
	}
	effort := cmp.Or(o.effort.value, p.getenv("YCBOT_EFFORT"))
	if effort != "" && !slices.Contains(model.Efforts(), effort) {
		return nil, fmt.Errorf("YCBOT_EFFORT %q: want one of %s", effort, strings.Join(model.Efforts(), ", "))
	}
	c := &orchestrator.ModelConfig{
		Exec: exec, Wanted: name, Effort: effort,
		Name: kind + " " + name, Agents: o.agents, Coordinator: o.coordinator,
		NoBackground: o.noBackground, MaxTokens: o.maxTokens, MaxCostUSD: o.maxCost, MaxIterations: o.maxIterations,
	}
	if kind == script.Provider {
		return p.scripted(c, baseURL)
	}
	return p.asked(c, o, name, kind, baseURL)
}

// scripted plays a scenario file.
func (p *program) scripted(c *orchestrator.ModelConfig, file string) (*orchestrator.ModelConfig, error) {
	if file == "" {
		return nil, usage.Errorf("--provider script plays a scenario: name its file with --base-url FILE")
	}
	m, err := script.Load(file)
	if err != nil {
		return nil, err
	}
	c.Model = func(record orchestrator.Recorder) (model.Model, error) {
		return orchestrator.Recorded(m, record), nil
	}
	c.Price = func(model.Usage) (float64, bool) { return 0, true }
	return c, nil
}

// asked makes the model of a provider that is known by name.
func (p *program) asked(c *orchestrator.ModelConfig, o *runOptions, name, providerName, baseURL string) (*orchestrator.ModelConfig, error) {
	preset, err := provider.Find(providerName)
	if err != nil {
		return nil, usage.Errorf("--provider: %w", err)
	}
	target, err := preset.Resolve(provider.Overrides{BaseURL: baseURL, Key: cmp.Or(o.key, p.getenv("YCBOT_API_KEY"))}, p.getenv)
	if errors.Is(err, provider.ErrNoKey) {
		return nil, fmt.Errorf("model %s: %w; or give --no-model", name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", name, err)
	}
	v, err := p.newVoices(o, target, name)
	if err != nil {
		return nil, err
	}
	c.Model = func(record orchestrator.Recorder) (model.Model, error) { return v.open(target, name, record) }
	c.Price, c.Rates, c.Named = v.price(name), v.rates, v.named
	c.Route, c.Preflight, c.TakesEffort = v.voice, v.preflight, v.takesEffort
	c.Name += fmt.Sprintf(" %s %q %q", v.route.Mode, v.route.Fast, v.route.Smart)
	return c, nil
}

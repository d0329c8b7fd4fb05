// Package route says which model each agent of a run is asked of, from flags and the
// environment.
package route

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/provider"
	"github.com/ycbot/ycbot/internal/model/script"
	"github.com/ycbot/ycbot/internal/orchestrator"
	"github.com/ycbot/ycbot/internal/policy"
	"github.com/ycbot/ycbot/internal/usage"
)

// Settings are what the command line, or the inputs of the Action, say of models. What is
// empty is taken from the environment.
type Settings struct {
	Provider, Model, BaseURL string
	Key                      string // of the provider
	Router                   string // off, manual, auto
	FastModel, SmartModel    string
	Idle                     time.Duration // how long an answer may bring nothing
	Effort                   string
	None                     bool // no model is asked

	Agents                    []string // that run besides verification
	Coordinator, NoBackground bool
	MaxTokens, MaxIterations  int     // of all agents together, and of one; 0: what configuration and definition say
	MaxCostUSD                float64 // of all agents together; 0: what the configuration says
}

// Providers are the names that a provider can be given by.
func Providers() []string { return append(provider.Spellings(), script.Provider) }

// ErrNoModel is that something is set for agents, and no model.
var ErrNoModel = errors.New("no model is named")

// Models says which model is asked; nil means none: none is named, or none is wanted.
func Models(m machine.Machine, o Settings) (*orchestrator.ModelConfig, error) {
	kind := cmp.Or(o.Provider, m.Getenv("YCBOT_PROVIDER"), provider.Likely(m.Getenv))
	name := cmp.Or(o.Model, m.Getenv("YCBOT_MODEL"))
	baseURL := cmp.Or(o.BaseURL, m.Getenv("YCBOT_BASE_URL"))
	if !slices.Contains(Providers(), kind) {
		return nil, fmt.Errorf("YCBOT_PROVIDER %q: want one of %s", kind, strings.Join(Providers(), ", "))
	}
	if o.MaxTokens < 0 || !(o.MaxCostUSD >= 0) || math.IsInf(o.MaxCostUSD, 1) || o.MaxIterations < 0 { // NaN is not
		return nil, usage.Errorf("--max-tokens, --max-cost-usd and --max-iterations: want numbers above zero")
	}
	if o.None || kind != script.Provider && name == "" {
		if !o.None && (o.Coordinator || len(o.Agents) > 0 || o.Provider != "" || o.BaseURL != "") {
			return nil, usage.Errorf("%w: give --model NAME or set YCBOT_MODEL, or leave the flags for agents out", ErrNoModel)
		}
		return nil, nil //nolint:nilnil // gate only is no fault
	}
	exec, effort, err := levels(m, o)
	if err != nil {
		return nil, err
	}
	c := &orchestrator.ModelConfig{
		Exec: exec, Wanted: name, Effort: effort,
		Name: kind + " " + name, Agents: o.Agents, Coordinator: o.Coordinator,
		NoBackground: o.NoBackground, MaxTokens: o.MaxTokens, MaxCostUSD: o.MaxCostUSD, MaxIterations: o.MaxIterations,
	}
	c.Flags = flags("--provider", kind, "--model", name, "--base-url", publicURL(o.BaseURL))
	if kind == script.Provider {
		return scripted(c, baseURL)
	}
	o.Provider, o.Model, o.BaseURL = kind, name, baseURL
	return asked(m, c, o)
}

// scripted plays a scenario file.
func scripted(c *orchestrator.ModelConfig, file string) (*orchestrator.ModelConfig, error) {
	if file == "" {
		return nil, usage.Errorf("--provider script plays a scenario: name its file with --base-url FILE")
	}
	played, err := script.Load(file)
	if err != nil {
		return nil, err
	}
	c.Model = func(record orchestrator.Recorder) (model.Model, error) {
		return orchestrator.Recorded(played, record), nil
	}
	c.Price = func(model.Usage) (float64, bool) { return 0, true }
	return c, nil
}

// asked makes the model of a provider that is known by name; o names both.
func asked(m machine.Machine, c *orchestrator.ModelConfig, o Settings) (*orchestrator.ModelConfig, error) {
	preset, err := provider.Find(o.Provider)
	if err != nil {
		return nil, usage.Errorf("--provider: %w", err)
	}
	target, err := preset.Resolve(provider.Overrides{BaseURL: o.BaseURL, Key: cmp.Or(o.Key, m.Getenv("YCBOT_API_KEY"))}, m.Getenv)
	if errors.Is(err, provider.ErrNoKey) {
		return nil, fmt.Errorf("model %s: %w; or give --no-model", o.Model, err)
	}
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", o.Model, err)
	}
	r, err := newRouter(m, o, target, o.Model)
	if err != nil {
		return nil, err
	}
	c.Model = func(record orchestrator.Recorder) (model.Model, error) { return r.open(target, o.Model, record) }
	c.Price, c.Rates, c.Named = r.price(o.Model), r.rates, r.named
	c.Route, c.Preflight, c.TakesEffort, c.Wait = r.choose, r.preflight, r.takesEffort, wait
	c.Name += fmt.Sprintf(" %s %q %q", r.route.Mode, r.route.Fast, r.route.Smart)
	c.Flags = append(c.Flags, flags("--router", string(r.route.Mode), "--fast-model", r.route.Fast, "--smart-model", r.route.Smart)...)
	return c, nil
}

// levels are what agents may execute, and how long models may think; "" where no one says.
func levels(m machine.Machine, o Settings) (exec, effort string, err error) {
	exec, effort = m.Getenv("YCBOT_EXEC"), cmp.Or(o.Effort, m.Getenv("YCBOT_EFFORT"))
	switch {
	case exec != "" && !slices.Contains(policy.Levels(), exec):
		return "", "", fmt.Errorf("YCBOT_EXEC %q: want one of %s", exec, strings.Join(policy.Levels(), ", "))
	case effort != "" && !slices.Contains(model.Efforts(), effort):
		return "", "", fmt.Errorf("YCBOT_EFFORT %q: want one of %s", effort, strings.Join(model.Efforts(), ", "))
	}
	return exec, effort, nil
}

// flags are those of pairs of flag and value that have a value.
func flags(pairs ...string) []string {
	var out []string
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" {
			out = append(out, pair...)
		}
	}
	return out
}

// publicURL is the URL of a provider as it may be written down: one with a secret in it
// stays with who gave it.
func publicURL(given string) string {
	if strings.ContainsAny(given, "@?") {
		return "URL"
	}
	return given
}

// wait pauses for d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

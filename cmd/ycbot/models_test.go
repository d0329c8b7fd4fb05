package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// modelsOf are the models that the agents of a run were asked of, by their names.
func modelsOf(rep report.Report) map[string]string {
	out := map[string]string{}
	for _, a := range rep.Subagents {
		out[a.Agent] = a.Model
	}
	return out
}

// Which model an agent is asked of follows from router, definition and
// configuration; one that is not there is a warning, and the run's is asked.
func TestModelsOfAgents(t *testing.T) {
	variants.Only(t) // a run for each case; the tests of internal/model have the choice
	t.Parallel()
	base := maps.Clone(sumBase)
	agent := func(name, fields string) {
		base[".ycbot/agents/"+name+".md"] = "---\nname: " + name + "\ndescription: one\ntools: [read_file]\n" + fields + "---\nLook.\n"
	}
	agent("named", "model: other\n")
	agent("gone", "model: nosuch\n")
	agent("plain", "")
	agent("foreign", "provider: openrouter\nmodel: x/y\n")
	settled := maps.Clone(base)
	settled[".github/ycbot.yml"] += "agents: {verification: {model: settled}}\n"
	scenario := honestModel + "-- looker --\nSeen.\n"
	for _, c := range []struct {
		name  string
		base  map[string]string
		flags []string
		want  map[string]string
		warns []string
	}{
		{"off", base, nil, map[string]string{"named": "m", "gone": "m", "plain": "m", "foreign": "m", "verification": "m"}, nil},
		{
			"manual", base,
			[]string{"--router", "manual"},
			map[string]string{"named": "other", "gone": "m", "plain": "m", "foreign": "m", "verification": "m"},
			[]string{"agent gone is asked of m", "nosuch", "agent foreign is asked of m", "OPENROUTER_API_KEY"},
		},
		{
			"auto", base,
			[]string{"--fast-model", "quick", "--smart-model", "clever"},
			map[string]string{"named": "other", "gone": "m", "plain": "quick", "foreign": "m", "verification": "clever"},
			[]string{"agent gone is asked of m", "agent foreign is asked of m"},
		},
		{
			"the configuration", settled, nil,
			map[string]string{"named": "m", "gone": "m", "plain": "m", "foreign": "m", "verification": "settled"},
			nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := newEndpoint(t, providerKey, scenario)
			e.unknown = []string{"nosuch"}
			p := provide(t, e, c.base, sumHead, nil, append(c.flags, "--agents", "named,gone,plain,foreign", "--sandbox", "none")...)
			if p.code != report.ExitPass {
				t.Fatalf("exit %d\n%s\n%s", p.code, p.stdout, p.stderr)
			}
			if diff := cmp.Diff(c.want, modelsOf(p.rep)); diff != "" {
				t.Errorf("models -want +got\n%s", diff)
			}
			notes := strings.Join(p.rep.Notes, "\n")
			for _, w := range c.warns {
				if !strings.Contains(notes, w) || !strings.Contains(p.stderr, w) {
					t.Errorf("%q is not said\n%s\n%s", w, notes, p.stderr)
				}
			}
			events, err := os.ReadFile(filepath.Join(p.out, "events.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			fell := 0 // agents that were asked of another model than they should have been
			for _, w := range c.warns {
				if strings.Contains(w, "is asked of") {
					fell++
				}
			}
			if n := strings.Count(string(events), `{"type":"fallback"`); n != fell {
				t.Errorf("%d events of a fallback, want %d", n, fell)
			}
			if !strings.Contains(notes, "estimate for 5 agents") || !strings.Contains(notes, "is not known") {
				t.Errorf("no estimate: %s", notes)
			}
			used := (7 + 1) * e.asks() // what it took to learn which models answer counts too
			for _, a := range p.rep.Subagents {
				used += a.Tokens
			}
			if got := p.rep.Usage.InputTokens + p.rep.Usage.OutputTokens; got != used {
				t.Errorf("%d tokens are in the report, %d were used; %d models were asked whether they answer", got, used, e.asks())
			}
			for _, body := range e.requests() {
				if !slices.Contains(slices.Collect(maps.Values(c.want)), asked(body)) {
					t.Errorf("model %q was asked", asked(body))
				}
			}
			if out, err := realProgram(t, t.TempDir(), "check", p.out).CombinedOutput(); err != nil {
				t.Errorf("check: %v\n%s", err, out)
			}
		})
	}
}

// A model that will not answer is known before the gate has worked, with what to
// do, and no agent asks it again; a price that the operator names is used.
func TestPreflightAndPrices(t *testing.T) {
	t.Parallel()
	e := newEndpoint(t, providerKey, honestModel)
	e.unknown = []string{"m"}
	p := provide(t, e, sumBase, sumHead, nil, "--sandbox", "none")
	said, gate := strings.Index(p.stderr, "the model could not be asked"), strings.Index(p.stderr, "head test")
	if p.code != report.ExitPartial || said < 0 || gate < said || !strings.Contains(p.stderr, `check the name "m"`) {
		t.Errorf("exit %d\n%s", p.code, p.stderr)
	}
	if why := strings.Join(p.rep.Reasons, "\n"); !strings.Contains(why, "the model could not be asked") || len(e.requests()) != 0 {
		t.Errorf("asked %d times: %s", len(e.requests()), why)
	}
	if p.rep.Model != "m" { // a run that was to have a model is not shown as one without
		t.Errorf("the report names the model %q", p.rep.Model)
	}
	if out, err := realProgram(t, t.TempDir(), "check", p.out).CombinedOutput(); err != nil {
		t.Errorf("check: %v\n%s", err, out)
	}

	prices := filepath.Join(t.TempDir(), "prices.json")
	if err := os.WriteFile(prices, []byte(`{"m": {"in": 1000, "out": 1000}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	e = newEndpoint(t, providerKey, honestModel)
	p = provide(t, e, sumBase, sumHead, []string{"YCBOT_PRICES=" + prices}, "--sandbox", "none", "--max-cost-usd", "100")
	if cost := p.rep.Usage.CostUSD; cost == nil || *cost < 0.3 || *cost > 0.4 {
		t.Errorf("cost: %v\n%s", cost, p.stderr)
	}
	if notes := strings.Join(p.rep.Notes, "\n"); !strings.Contains(notes, "estimate for 1 agents") || !strings.Contains(notes, "$") {
		t.Errorf("notes: %s", notes)
	}
}

package model_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/model"
)

func list(t *testing.T) model.Rates {
	t.Helper()
	rates, err := model.ListPrices()
	if err != nil {
		t.Fatal(err)
	}
	return rates
}

func same(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// What is billed apart is counted apart; a snapshot costs what its model does; an
// unknown price stays unknown and is never zero dollars.
func TestCost(t *testing.T) {
	t.Parallel()
	rates := list(t)
	for _, tc := range []struct {
		name  string
		usage model.Usage
		want  float64
	}{
		{"gpt-4o-2024-08-06", model.Usage{Input: 1_000_000, Cached: 400_000, Output: 100_000}, 0.6*2.5 + 0.4*1.25 + 1},
		{"claude-sonnet-4-5-20250929", model.Usage{Input: 1_000_000, Cached: 500_000, Written: 300_000, Output: 100_000}, 0.2*3 + 0.5*0.3 + 0.3*3.75 + 1.5},
		{"gpt-5", model.Usage{Input: 1_000_000, Written: 1_000_000}, 1.25}, // where writing has no price of its own
	} {
		if usd, ok := rates.Cost(tc.name, tc.usage); !ok || !same(usd, tc.want) {
			t.Errorf("%s: %v %v, want %v", tc.name, usd, ok, tc.want)
		}
	}
	for _, name := range []string{"some-local-model", "", "gpt-4o-turbo", "openai/gpt-4o"} {
		if usd, ok := rates.Cost(name, model.Usage{Input: 1}); ok {
			t.Errorf("%q costs %v", name, usd)
		}
	}
}

// An operator's table replaces prices and adds some, and leaves the rest.
func TestOwnPrices(t *testing.T) {
	t.Parallel()
	own, err := model.ReadPrices([]byte(`{"gpt-5": {"in": 1, "out": 2}, "mine": {"in": 0, "out": 0, "cached": 0}}`))
	if err != nil {
		t.Fatal(err)
	}
	rates := list(t).With(own)
	if got := rates["gpt-5"]; got != (model.Rate{In: 1, Out: 2, Cached: 1}) {
		t.Errorf("gpt-5: %+v: where no price for cached input is named it is no cheaper", got)
	}
	if usd, ok := rates.Cost("mine", model.Usage{Input: 5}); !ok || usd != 0 {
		t.Errorf("mine: %v %v: free of charge is known, not unknown", usd, ok)
	}
	if _, ok := rates.Price("gpt-4o"); !ok || list(t)["gpt-5"].In != 1.25 {
		t.Error("the embedded table was lost or changed")
	}
}

func TestPricesRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ table, want string }{
		{`{"m": {"in": 1}}`, "want in and out"},
		{`{"m": null}`, "want in and out"},
		{`{"m": {"in": 1, "out": -1}}`, "below zero"},
		{`{"m": {"in": 1, "out": 1, "input": 3}}`, "input"},
		{`{"m": {"in": "1", "out": 1}}`, "prices"},
		{`[]`, "prices"},
		{`{} {}`, "more after"},
	} {
		if _, err := model.ReadPrices([]byte(tc.table)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want one with %q", tc.table, err, tc.want)
		}
	}
}

// An estimate is a range, from a cache that always hits to none at all, and names
// what it could not count.
func TestEstimate(t *testing.T) {
	t.Parallel()
	got := list(t).Estimate(
		model.Plan{Model: "gpt-4.1", Turns: 3, Prompt: 1000, Grow: 100, Out: 10},
		model.Plan{Model: "local", Turns: 1, Prompt: 7, Out: 1},
		model.Plan{Model: "local", Turns: 0, Prompt: 7},
	)
	// Questions of 1000, 1110 and 1220 tokens, of which 0, 1000 and 1110 were there before.
	if diff := cmp.Diff(model.Usage{Input: 3330 + 7, Cached: 2110, Output: 31, Estimated: true}, got.Usage); diff != "" {
		t.Error(diff)
	}
	low, high := (1220*2.0+2110*0.5+30*8)/1e6, (3330*2.0+30*8)/1e6
	if !same(got.LowUSD, low) || !same(got.HighUSD, high) {
		t.Errorf("%v to %v, want %v to %v", got.LowUSD, got.HighUSD, low, high)
	}
	if diff := cmp.Diff([]string{"local"}, got.Unknown); diff != "" {
		t.Error(diff)
	}
}

package model

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ycbot/ycbot/internal/pattern"
)

//go:embed prices.json
var pricesJSON []byte

// A Rate is what a model costs, in US dollars for a million tokens.
type Rate struct {
	In      float64 `json:"in"`
	Out     float64 `json:"out"`
	Cached  float64 `json:"cached"`            // input that the provider had cached
	Written float64 `json:"written,omitempty"` // input that it put into its cache; 0: as In
}

// Rates is a table of prices by model.
type Rates map[string]Rate

// ListPrices returns the public list prices of a few well-known models at the
// standard tier. What an operator really pays may differ.
func ListPrices() (Rates, error) { return ReadPrices(pricesJSON) }

// ReadPrices reads a table of prices of the form of the embedded one. A field
// that it does not know, and a price below zero, is an error: a table that is
// half understood makes a budget that does not hold.
func ReadPrices(table []byte) (Rates, error) {
	dec := json.NewDecoder(bytes.NewReader(table))
	dec.DisallowUnknownFields()
	var raw map[string]*struct {
		In, Out, Cached *float64
		Written         float64
	}
	if err := dec.Decode(&raw); err != nil {
		return nil, fmt.Errorf("prices: %w", err)
	}
	if dec.More() {
		return nil, fmt.Errorf("prices: there is more after the table")
	}
	rates := Rates{}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		p := raw[name]
		if p == nil || p.In == nil || p.Out == nil {
			return nil, fmt.Errorf("prices: %s: want in and out, in dollars for a million tokens", name)
		}
		rate := Rate{In: *p.In, Out: *p.Out, Cached: *p.In, Written: p.Written}
		if p.Cached != nil {
			rate.Cached = *p.Cached
		}
		if min(rate.In, rate.Out, rate.Cached, rate.Written) < 0 {
			return nil, fmt.Errorf("prices: %s: a price is below zero", name)
		}
		rates[name] = rate
	}
	return rates, nil
}

// With returns r with the prices of others in the place of its own.
func (r Rates) With(others Rates) Rates {
	all := maps.Clone(r)
	if all == nil {
		all = Rates{}
	}
	maps.Copy(all, others)
	return all
}

// dated is a snapshot of a model, which costs the same.
var dated = pattern.New(`-(\d{4}-\d{2}-\d{2}|\d{8}|latest)$`)

// Price returns what a model costs; ok is false where that is not known.
func (r Rates) Price(name string) (rate Rate, ok bool) {
	if rate, ok = r[name]; ok {
		return rate, true
	}
	rate, ok = r[dated.ReplaceAllString(name, "")]
	return rate, ok
}

// Cost returns what usage of a model costs in US dollars; ok is false where the
// price is not known.
func (r Rates) Cost(name string, u Usage) (usd float64, ok bool) {
	rate, ok := r.Price(name)
	if !ok {
		return 0, false
	}
	written := rate.Written
	if written == 0 {
		written = rate.In
	}
	fresh := max(u.Input-u.Cached-u.Written, 0)
	return (float64(fresh)*rate.In + float64(u.Cached)*rate.Cached + float64(u.Written)*written + float64(u.Output)*rate.Out) / 1e6, true
}

// A Plan is what an agent is expected to do, in tokens.
type Plan struct {
	Model  string
	Turns  int // questions to the model
	Prompt int // input of the first one
	Grow   int // what tool results add to the input from one question to the next, its own answer apart
	Out    int // output of each answer
}

// An Estimate is what a run may cost.
type Estimate struct {
	Usage   Usage    // Cached as if the provider's cache always hit; Estimated is set
	LowUSD  float64  // if the cache always hits
	HighUSD float64  // if it never does
	Unknown []string // models without a known price, sorted; where there are any, the sums are not the whole
}

// Estimate says what plans may cost before they are carried out.
func (r Rates) Estimate(plans ...Plan) Estimate {
	var e Estimate
	for _, p := range plans {
		u := p.usage()
		e.Usage = e.Usage.Add(u)
		low, ok := r.Cost(p.Model, u)
		if !ok {
			e.Unknown = append(e.Unknown, p.Model)
			continue
		}
		u.Cached, u.Written = 0, 0
		high, _ := r.Cost(p.Model, u)
		e.LowUSD, e.HighUSD = e.LowUSD+low, e.HighUSD+high
	}
	slices.Sort(e.Unknown)
	e.Unknown = slices.Compact(e.Unknown)
	return e
}

// usage is the sum over the turns: each asks with all that was before it.
func (p Plan) usage() Usage {
	u := Usage{Estimated: true}
	in, before := p.Prompt, 0
	for range p.Turns {
		u.Input += in
		u.Cached += before
		u.Output += p.Out
		before, in = in, in+p.Out+p.Grow
	}
	return u
}

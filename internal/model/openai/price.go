package openai

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/ycbot/ycbot/internal/model"
)

//go:embed prices.json
var pricesJSON []byte

// A Rate is what a model costs, in US dollars for a million tokens.
type Rate struct {
	In     float64 `json:"in"`
	Out    float64 `json:"out"`
	Cached float64 `json:"cached"` // input that the provider had cached
}

// Rates is a table of prices by model.
type Rates map[string]Rate

// ListPrices returns OpenAI's public list prices of a few well-known models at
// the standard tier. What an operator really pays may differ.
func ListPrices() (Rates, error) {
	var r Rates
	if err := json.Unmarshal(pricesJSON, &r); err != nil {
		return nil, fmt.Errorf("prices.json: %w", err)
	}
	return r, nil
}

// dated is a snapshot of a model, which costs the same.
var dated = regexp.MustCompile(`-\d{4}-\d{2}-\d{2}$`)

// Price returns what a model costs; ok is false where that is not known.
func (r Rates) Price(name string) (rate Rate, ok bool) {
	if rate, ok = r[name]; ok {
		return rate, true
	}
	rate, ok = r[dated.ReplaceAllString(name, "")]
	return rate, ok
}

// Cost returns what usage of a model costs in US dollars.
func (r Rates) Cost(name string, u model.Usage) (usd float64, ok bool) {
	rate, ok := r.Price(name)
	if !ok {
		return 0, false
	}
	fresh := max(u.Input-u.Cached, 0)
	return (float64(fresh)*rate.In + float64(u.Cached)*rate.Cached + float64(u.Output)*rate.Out) / 1e6, true
}

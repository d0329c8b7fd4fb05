package main

import (
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/report"
)

// A Score is what results come to. A nil number is one that is not defined:
// nothing was there to divide by, or a price is not known.
type Score struct {
	Cases      int      `json:"cases"`
	Good       int      `json:"good"`
	Bad        int      `json:"bad"`
	TrueFails  int      `json:"true_fails"`  // bad ones judged FAIL
	FalseFails int      `json:"false_fails"` // good ones judged FAIL
	Partial    int      `json:"partial"`
	NoVerdict  int      `json:"no_verdict"` // bad ones among them count as not found
	Checks     int      `json:"checks"`     // of agents
	Struck     int      `json:"struck"`     // checks that were struck out
	Repairs    int      `json:"repairs"`
	Named      int      `json:"named"`     // bad ones in which the gate named what does something else
	Open       int      `json:"open"`      // bad ones in which no test of the change is about that
	OpenGood   int      `json:"open_good"` // good ones
	Precision  *float64 `json:"precision"` // true FAILs of all FAILs
	Recall     *float64 `json:"recall"`    // true FAILs of all bad ones
	PartialOf  *float64 `json:"partial_share"`

	// Of each verdict; what cases without one used counts as well.
	TokensPerVerdict  *float64 `json:"tokens_per_verdict"`
	CostPerVerdictUSD *float64 `json:"cost_per_verdict_usd"`
	CostUSD           *float64 `json:"cost_usd"`
	MedianMS          *int64   `json:"median_ms"` // of the runs that came to a verdict
}

// score counts results.
func score(results []Result) Score {
	s := Score{Cases: len(results)}
	var tokens, cost float64
	var durations []int64
	priced := true
	for _, r := range results {
		switch {
		case r.Bad:
			s.Bad++
			s.Named += min(r.Named, 1)
			s.Open += min(r.Open, 1)
		default:
			s.Good++
			s.OpenGood += min(r.Open, 1)
		}
		s.Checks, s.Struck, s.Repairs = s.Checks+len(r.Checks), s.Struck+r.Struck, s.Repairs+r.Repairs
		tokens += float64(r.InputTokens + r.OutputTokens)
		if r.CostUSD != nil {
			cost += *r.CostUSD
		} else {
			priced = priced && r.InputTokens+r.OutputTokens == 0
		}
		if !r.finished() {
			s.NoVerdict++
			continue
		}
		durations = append(durations, r.DurationMS)
		switch {
		case r.Verdict == report.Partial:
			s.Partial++
		case r.Verdict == report.Fail && r.Bad:
			s.TrueFails++
		case r.Verdict == report.Fail:
			s.FalseFails++
		}
	}
	s.Precision = ratio(float64(s.TrueFails), s.TrueFails+s.FalseFails)
	s.Recall = ratio(float64(s.TrueFails), s.Bad)
	s.PartialOf = ratio(float64(s.Partial), s.Cases)
	s.TokensPerVerdict = ratio(tokens, len(durations))
	if priced && len(results) > 0 {
		s.CostUSD, s.CostPerVerdictUSD = &cost, ratio(cost, len(durations))
	}
	s.MedianMS = median(durations)
	return s
}

func ratio(part float64, whole int) *float64 {
	if whole == 0 {
		return nil
	}
	r := part / float64(whole)
	return &r
}

// median is the middle, and of an even number the lower of the two: a time that
// some run really took.
func median(all []int64) *int64 {
	if len(all) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(all))
	return &sorted[(len(sorted)-1)/2]
}

func seconds(ms int64) string {
	return (time.Duration(ms) * time.Millisecond).Round(100 * time.Millisecond).String()
}

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/report"
)

// TestScore holds the arithmetic: what counts as a find, and that nothing is
// divided by zero or taken for a number that is not known.
func TestScore(t *testing.T) {
	t.Parallel()
	good := func(v report.Verdict) Result { return Result{Verdict: v} }
	bad := func(v report.Verdict) Result { return Result{Bad: true, Verdict: v} }
	priced := func(r Result, usd float64, tokens int, ms int64) Result {
		r.CostUSD, r.InputTokens, r.OutputTokens, r.DurationMS = &usd, tokens-1, 1, ms
		return r
	}
	unpriced := bad(report.Fail)
	unpriced.InputTokens = 10
	down := Result{Bad: true, Verdict: report.Partial, Error: "the provider gave no answer"}
	num := func(f float64) *float64 { return &f }
	ms := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		results []Result
		want    Score
	}{
		"nothing": {nil, Score{}},
		"a find and a false FAIL": {
			[]Result{bad(report.Fail), good(report.Fail)},
			Score{Cases: 2, Good: 1, Bad: 1, TrueFails: 1, FalseFails: 1, Precision: num(0.5), Recall: num(1), PartialOf: num(0), TokensPerVerdict: num(0), CostPerVerdictUSD: num(0), CostUSD: num(0), MedianMS: ms(0)},
		},
		"no FAIL: no precision": {
			[]Result{bad(report.Pass), good(report.Pass)},
			Score{Cases: 2, Good: 1, Bad: 1, Recall: num(0), PartialOf: num(0), TokensPerVerdict: num(0), CostPerVerdictUSD: num(0), CostUSD: num(0), MedianMS: ms(0)},
		},
		"only good ones: no recall": {
			[]Result{good(report.Pass)},
			Score{Cases: 1, Good: 1, PartialOf: num(0), TokensPerVerdict: num(0), CostPerVerdictUSD: num(0), CostUSD: num(0), MedianMS: ms(0)},
		},
		"PARTIAL finds nothing, and is no false FAIL": {
			[]Result{bad(report.Partial), good(report.Partial), bad(report.Fail), good(report.Pass)},
			Score{Cases: 4, Good: 2, Bad: 2, TrueFails: 1, Partial: 2, Precision: num(1), Recall: num(0.5), PartialOf: num(0.5), TokensPerVerdict: num(0), CostPerVerdictUSD: num(0), CostUSD: num(0), MedianMS: ms(0)},
		},
		"no verdict: a bad one counts as not found": {
			[]Result{bad(report.Error), down},
			Score{Cases: 2, Bad: 2, NoVerdict: 2, Recall: num(0), PartialOf: num(0), CostUSD: num(0)},
		},
		"what the gate names": {
			[]Result{{Bad: true, Verdict: report.Pass, Named: 3, Open: 2}, {Bad: true, Verdict: report.Pass, Named: 1}, {Verdict: report.Pass, Named: 2, Open: 1}},
			Score{Cases: 3, Good: 1, Bad: 2, Named: 2, Open: 1, OpenGood: 1, Recall: num(0), PartialOf: num(0), TokensPerVerdict: num(0), CostPerVerdictUSD: num(0), CostUSD: num(0), MedianMS: ms(0)},
		},
		"cost, tokens and time": {
			[]Result{priced(bad(report.Fail), 0.5, 100, 3000), priced(good(report.Pass), 0.25, 300, 1000), priced(good(report.Pass), 0, 200, 2000), priced(down, 0.75, 600, 9000)},
			Score{Cases: 4, Good: 2, Bad: 2, TrueFails: 1, NoVerdict: 1, Precision: num(1), Recall: num(0.5), PartialOf: num(0), TokensPerVerdict: num(400), CostPerVerdictUSD: num(0.5), CostUSD: num(1.5), MedianMS: ms(2000)},
		},
		"one price is not known: neither is the sum": {
			[]Result{unpriced, priced(good(report.Pass), 1, 10, 5)},
			Score{Cases: 2, Good: 1, Bad: 1, TrueFails: 1, Precision: num(1), Recall: num(1), PartialOf: num(0), TokensPerVerdict: num(10), MedianMS: ms(0)},
		},
	} {
		if diff := cmp.Diff(c.want, score(c.results)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

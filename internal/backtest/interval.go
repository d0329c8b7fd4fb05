package backtest

import "math"

// ClopperPearson is the exact two-sided 95 % interval of a rate of which k of n were
// seen (Clopper and Pearson, Biometrika 26, 1934).
func ClopperPearson(k, n int) (low, high float64) {
	const tail = 0.025
	if n <= 0 {
		return 0, 1
	}
	low, high = 0, 1
	if k > 0 { // P(X ≥ k | low) = tail
		low = bisect(func(p float64) bool { return 1-binomial(k-1, n, p) < tail })
	}
	if k < n { // P(X ≤ k | high) = tail
		high = bisect(func(p float64) bool { return binomial(k, n, p) > tail })
	}
	return low, high
}

// bisect is where below changes from true to false.
func bisect(below func(float64) bool) float64 {
	a, b := 0.0, 1.0
	for range 100 {
		if m := (a + b) / 2; below(m) {
			a = m
		} else {
			b = m
		}
	}
	return (a + b) / 2
}

// binomial is the probability of at most k successes in n trials of probability p.
func binomial(k, n int, p float64) float64 {
	if p <= 0 {
		return 1
	}
	if p >= 1 {
		if k >= n {
			return 1
		}
		return 0
	}
	all, _ := math.Lgamma(float64(n) + 1)
	sum := 0.0
	for i := 0; i <= k; i++ {
		a, _ := math.Lgamma(float64(i) + 1)
		b, _ := math.Lgamma(float64(n-i) + 1)
		sum += math.Exp(all - a - b + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return min(sum, 1)
}

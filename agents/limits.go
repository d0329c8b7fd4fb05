package agents

import (
	"math"
	"strconv"
	"time"
)

// roleTokens is what an agent with a role may write where its file does not say.
const roleTokens = 20_000

// limits reads what the agent may use up.
func (p *parser) limits() {
	p.iterations()
	p.timeout()
	if p.d.Role != "" {
		p.d.MaxOutputTokens = roleTokens
	}
	if s, ok := p.text("max_output_tokens"); ok {
		if n, err := strconv.Atoi(s.text); err == nil && n > 0 {
			p.d.MaxOutputTokens = n
		} else {
			p.warn(s.line, "%s: %q is not a number of tokens", s.key, s.text)
		}
	}
	if s, ok := p.text("max_budget_usd"); ok {
		if usd, err := strconv.ParseFloat(s.text, 64); err == nil && usd > 0 && !math.IsInf(usd, 0) {
			p.d.MaxBudgetUSD = usd
		} else {
			p.warn(s.line, "%s: %q is not an amount of dollars", s.key, s.text)
		}
	}
}

func (p *parser) iterations() {
	s, ok := p.text("max_iterations")
	if !ok {
		return
	}
	n, err := strconv.Atoi(s.text)
	switch {
	case err != nil || n <= 0:
		p.warn(s.line, "%s: %q is not a number of iterations; %d are used", s.key, s.text, p.d.MaxIterations)
	case n > MaxIterations:
		p.warn(s.line, "%s: %d is more than %d", s.key, n, MaxIterations)
		p.d.MaxIterations = MaxIterations
	default:
		p.d.MaxIterations = n
	}
}

func (p *parser) timeout() {
	s, ok := p.text("timeout")
	if !ok {
		return
	}
	t, err := time.ParseDuration(s.text)
	if err != nil {
		var seconds int64
		if seconds, err = strconv.ParseInt(s.text, 10, 32); err == nil {
			t = time.Duration(seconds) * time.Second
		}
	}
	switch {
	case err != nil || t <= 0:
		p.warn(s.line, "%s: %q is not a time, such as 5m or 300", s.key, s.text)
	case t > MaxTimeout:
		p.warn(s.line, "%s: %s is more than %s", s.key, t, MaxTimeout)
		p.d.Timeout = MaxTimeout
	default:
		p.d.Timeout = t
	}
}

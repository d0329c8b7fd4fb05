package backtest

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress says on one line for each case what came of it, and how long the others take.
type progress struct {
	w           io.Writer
	now         func() time.Time
	began       time.Time
	all, before int // cases, and those that were done when it began

	mu       sync.Mutex
	finished int
}

func (p *progress) done(l Line) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished++
	n := p.before + p.finished
	what := l.Verdict
	if l.Excluded != "" {
		what = "excluded: " + l.Excluded
	} else if wrong(l) {
		what += " (wrong)"
	}
	left := time.Duration(float64(p.now().Sub(p.began)) / float64(p.finished) * float64(max(0, p.all-n)))
	fmt.Fprintf(p.w, "%d/%d %s %s; about %s left\n", n, p.all, l.Case, what, roughly(left))
}

// roughly is a duration as people say it.
func roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/report"
)

// sampleMost is how many passing checks of an agent are run again.
const sampleMost = 3

// sampleHead is the task of their records. It is stored: do not change it.
const sampleHead = "sample/head"

// sample runs some of an agent's passing checks again on the head, those that
// attack first: a check that held once and not again holds up no PASS. It ends
// with the time that running again may take.
func (h *host) sample(ctx context.Context, res agent.Result, audited []evidence.Audited, checks []report.JudgedCheck) error {
	var order []int
	for i, k := range checks {
		if k.Result == report.ResultPass && k.Support == report.Supported && len(audited[i].Records) > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(checks[a]) - rank(checks[b]) })
	for _, i := range order[:min(len(order), sampleMost)] {
		first, ok := h.log.Record(lastOf(audited[i].Records))
		if !ok || !first.Executed || h.rerunOver() {
			continue
		}
		st, err := h.seatOf(ctx, res)
		if err != nil || st.tree == nil {
			return err
		}
		now, err := h.again(ctx, st, first, h.head, sampleHead)
		if err != nil {
			return fmt.Errorf("run check %q again: %w", checks[i].Title, err)
		}
		checks[i].Reproduction = h.sampled(first, now)
	}
	return nil
}

// rank puts attacks first.
func rank(k report.JudgedCheck) int {
	if k.Adversarial {
		return 0
	}
	return 1
}

func lastOf(ids []string) string { return ids[len(ids)-1] }

// sampled is what running a passing check again shows. What it prints may differ
// from time to time; how it ends may not.
func (h *host) sampled(first, now evidence.Record) report.Reproduction {
	if (now.Exit != first.Exit || now.TimedOut != first.TimedOut) && !h.lacks(now, first, nil) {
		return report.NotReproduced
	}
	return report.NotRun
}

// rerunOver says whether the time for running again is over.
func (h *host) rerunOver() bool { return !h.rerunUntil.IsZero() && h.Now().After(h.rerunUntil) }

// sampleOf finds the record of running a check's command again.
func sampleOf(records []evidence.Record, first evidence.Record) (evidence.Record, bool) {
	at := slices.IndexFunc(records, func(r evidence.Record) bool {
		return r.Agent == hostAgent && r.Task == sampleHead && r.Executed && typed(r.Command) == typed(first.Command)
	})
	if at < 0 {
		return evidence.Record{}, false
	}
	return records[at], true
}

// samples are the passing checks that were run again.
func (p *past) samples() []try {
	var out []try
	if p.kept.judged == nil {
		return nil
	}
	for _, a := range p.kept.judged.Agents {
		for _, c := range a.Checks {
			if c.Result != report.ResultPass || len(c.Evidence) == 0 {
				continue
			}
			at := slices.IndexFunc(p.read, func(r evidence.Record) bool { return r.ID == lastOf(c.Evidence) })
			if at < 0 {
				continue
			}
			if rec, ok := sampleOf(p.read, p.read[at]); ok {
				out = append(out, try{first: p.read[at], records: []evidence.Record{rec}})
			}
		}
	}
	return out
}

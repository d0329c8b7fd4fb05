package gate

import (
	"slices"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/runs"
)

// state keeps the counts of tests, for people and for report.json.
func (r *runner) state(d *runs.Dispute, ids []ID) {
	var cases []Case
	for _, id := range ids {
		cases = append(cases, Case{ID: id})
	}
	for _, k := range Leaves(cases) {
		head, base := d.Runs.Count(Head, k.ID), d.Runs.Count(Base, k.ID)
		if head.Runs+base.Runs < 2 {
			continue // with a name that was made up
		}
		s := runs.Statistic{ID: k.ID, Head: head, Base: base, P: min(compare.P(head, base), compare.P(base, head)), Flips: r.flakes.Of(k.ID)}
		r.res.Statistics = slices.DeleteFunc(r.res.Statistics, func(have runs.Statistic) bool { return have.ID == k.ID })
		r.res.Statistics = append(r.res.Statistics, s)
	}
}

// counted words the statistics of cases, one line each.
func (r *runner) counted(cases []Case) []string {
	var out []string
	for _, k := range Leaves(cases) {
		for _, s := range r.res.Statistics {
			if s.ID == k.ID {
				out = append(out, k.ID.String()+" "+s.Line())
			}
		}
	}
	return out
}

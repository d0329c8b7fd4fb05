package run

import (
	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/report"
)

// first shows what the decisive part of the gate came to, while the run goes on.
func (s *session) first(result gate.Result) {
	rep := s.facts()
	rep.Outcome, rep.Phase, rep.Interim = report.Completed, report.PhaseFirst, true
	s.conclude(rep, &result, nil, nil)
	rep.Timings.DurationMS = s.Now().Sub(s.began).Milliseconds()
	rep.Title = rep.MakeTitle()
	s.tell(agent.Event{Type: agent.EventNote, Text: "so far: " + rep.Title})
	if s.First != nil {
		s.First(rep)
	}
}

package orchestrator

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/model"
)

// kindEffort entries of the journal, with an agent's id as key, say with what effort its
// model is asked, so that this does not change halfway. It is stored: do not change it.
const kindEffort = "effort"

// An effort is what an agent's model is asked with. Where there is a warning another one
// was wanted.
type effort struct {
	Effort  model.Effort `json:"effort,omitempty"`
	Warning string       `json:"warning,omitempty"`
}

// wantedEffort is the operator's, else what the configuration has for the agent; "" for
// none.
func (a *Agents) wantedEffort(d agents.Definition) model.Effort {
	configured := ""
	for name, set := range a.config.Agents.Settings {
		if of, ok := agents.Find(a.defs, name); ok && of.Name == d.Name {
			configured = string(set.Effort)
		}
	}
	return model.Effort(cmp.Or(a.models.Effort, configured))
}

// effort is what an agent's model is asked with. fallen says that the agent has the run's
// own model in place of the one that it wants.
func (w *work) effort(d agents.Definition, id string, fallen bool) (model.Effort, error) {
	wanted := w.agents.wantedEffort(d)
	if wanted == "" {
		return "", nil
	}
	e, err := journal.OnceSoon(w.dir.Journal, kindEffort, id, func() (effort, error) {
		if w.agents.models.TakesEffort == nil {
			return effort{Effort: wanted}, nil
		}
		info := w.agents.info(d)
		if fallen {
			info = AgentInfo{Name: info.Name, ReadOnly: info.ReadOnly}
		}
		if why := w.agents.models.TakesEffort(info); why != "" {
			text := "agent " + d.Name + ": effort " + string(wanted) + " is not used: " + why
			w.agents.note(agent.Event{Type: agent.EventNote, Text: text})
			return effort{Warning: text}, nil
		}
		return effort{Effort: wanted}, nil
	})
	return e.Effort, err
}

// effortNotes are the warnings about efforts, each once.
func effortNotes(j *journal.Journal) []string {
	var out []string
	for _, entry := range j.Entries(kindEffort) {
		var e effort
		if json.Unmarshal(entry.Data, &e) == nil && e.Warning != "" && !slices.Contains(out, e.Warning) {
			out = append(out, e.Warning)
		}
	}
	return out
}

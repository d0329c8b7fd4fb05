package rundir

import (
	"fmt"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/transcript"
)

// TranscriptPath is where the transcript of an agent lies in the run directory.
func TranscriptPath(name, id string) string { return "subagents/" + name + "-" + id + ".md" }

// MissingTranscripts names the agents whose transcripts cannot be whole, because
// events of them are missing. Those of the last run lie with that.
func MissingTranscripts(events []transcript.Event, all []report.Subagent) []string {
	begun, ended := map[string]bool{}, map[string]bool{}
	for _, e := range events {
		begun[e.ID] = true
		switch e.Type {
		case transcript.SubagentDone, transcript.TurnDone, transcript.TurnInterrupted:
			ended[e.ID] = true
		}
	}
	var out []string
	for _, a := range all {
		switch {
		case a.Transcript != TranscriptPath(a.Agent, a.ID), ended[a.ID]:
		case begun[a.ID]:
			out = append(out, fmt.Sprintf("the transcript of agent %s (%s) is partial: how it ended was not recorded", a.Agent, a.ID))
		default:
			out = append(out, fmt.Sprintf("the transcript of agent %s (%s) is missing: nothing of it was recorded", a.Agent, a.ID))
		}
	}
	return out
}

// WriteTranscripts writes the transcript and the sidechain of each agent from the
// events. It returns what the report says of those that are missing or partial.
func (d *Dir) WriteTranscripts(all []report.Subagent) (notes []string, err error) {
	events, err := ReadEvents(d.Path)
	if err != nil {
		return []string{fmt.Sprintf("the transcripts are missing: %v", err)}, nil
	}
	notes = MissingTranscripts(events, all)
	names := map[string]string{}
	for _, e := range events {
		if e.ID != "" && names[e.ID] == "" {
			names[e.ID] = e.Agent
		}
	}
	sidechains := filepath.Join("sessions", d.ID, "sidechains")
	for _, id := range transcript.Agents(events) {
		if id == "" {
			continue
		}
		if err := d.Write(TranscriptPath(names[id], id), []byte(transcript.Markdown(events, id))); err != nil {
			return nil, err
		}
		chain, err := transcript.Sidechain(events, id)
		if err != nil {
			notes = append(notes, fmt.Sprintf("the sidechain of %s is missing: %v", id, err))
			continue
		}
		if err := d.Write(filepath.Join(sidechains, id+".jsonl"), chain); err != nil {
			return nil, err
		}
	}
	return notes, nil
}

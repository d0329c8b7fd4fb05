package rundir

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/evidence"
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
	events = Whole(d.Path, events)
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
		if err := d.put(TranscriptPath(names[id], id), []byte(transcript.Markdown(events, id))); err != nil {
			return nil, err
		}
		chain, err := transcript.Sidechain(events, id)
		if err != nil {
			notes = append(notes, fmt.Sprintf("the sidechain of %s is missing: %v", id, err))
			continue
		}
		if err := d.put(filepath.Join(sidechains, id+".jsonl"), chain); err != nil {
			return nil, err
		}
	}
	return notes, nil
}

// Whole returns events with all that commands wrote, as far as it is recorded, in the place
// of answers that were cut for the model. What cannot be read stays as it is.
func Whole(dir string, events []transcript.Event) []transcript.Event {
	var records map[string]evidence.Record
	out := slices.Clone(events)
	for i, e := range out {
		if e.Type != transcript.ToolResult || len(e.Evidence) != 1 || !strings.Contains(e.Text, "read_file reads all of it as spill:"+e.Evidence[0]+".") {
			continue
		}
		if records == nil {
			all, err := evidence.Read(dir)
			if err != nil {
				return events
			}
			records = map[string]evidence.Record{}
			for _, r := range all {
				records[r.ID] = r
			}
		}
		stdout, stderr, err := evidence.Shown(dir, records[e.Evidence[0]])
		if err != nil {
			continue
		}
		head, _, _ := strings.Cut(e.Text, "\n")
		out[i].Text = head + "\n--- stdout ---\n" + evidence.Visible(string(stdout)) + "\n--- stderr ---\n" + evidence.Visible(string(stderr))
	}
	return out
}

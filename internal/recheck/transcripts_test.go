package recheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/transcript"
)

// A transcript that is missing, or that breaks off, is named in the report, in
// Markdown and as text, and found again in the finished run.
func TestMissingTranscripts(t *testing.T) {
	t.Parallel()
	d, err := rundir.Create(t.TempDir(), rundir.Identity{Run: "run1"}, rundir.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, e := range []agent.Event{
		{Type: agent.EventSubagentStart, ID: "whole", Agent: "Explore"},
		{Type: agent.EventSubagentDone, ID: "whole", Agent: "Explore", Done: &transcript.Done{}},
		{Type: agent.EventSubagentStart, ID: "half", Agent: "verification"},
	} {
		if _, err := d.Events.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	rep := rundir.Begun{Dir: d.Path, ID: d.ID}.Header(nil)
	for _, of := range [][2]string{{"Explore", "whole"}, {"verification", "half"}, {"review", "none"}} {
		rep.Subagents = append(rep.Subagents, report.Subagent{Agent: of[0], ID: of[1], Transcript: rundir.TranscriptPath(of[0], of[1])})
	}
	if rep.Notes, err = d.WriteTranscripts(rep.Subagents); err != nil {
		t.Fatal(err)
	}
	found := Checked{Report: rep}
	found.Rendered(d.Path)
	for _, want := range []string{"the transcript of agent verification (half) is partial", "the transcript of agent review (none) is missing"} {
		flat := func(text string) string { return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), `\`, "") }
		for name, text := range map[string]string{"Markdown": rep.Markdown(), "text": rep.Text(report.TextOptions{Width: 100}), "check": strings.Join(found.Problems, "\n")} {
			if !strings.Contains(flat(text), want) {
				t.Errorf("%s does not say that %s:\n%s", name, want, text)
			}
		}
	}
	if strings.Contains(strings.Join(rep.Notes, "\n"), "Explore") {
		t.Errorf("notes %q", rep.Notes)
	}
	if err := os.Remove(filepath.Join(d.Path, rundir.TranscriptPath("Explore", "whole"))); err != nil {
		t.Fatal(err)
	}
	found = Checked{Report: rep}
	found.Rendered(d.Path)
	if !strings.Contains(strings.Join(found.Problems, "\n"), rundir.TranscriptPath("Explore", "whole")+" does not match events.jsonl") {
		t.Errorf("problems %q", found.Problems)
	}
}

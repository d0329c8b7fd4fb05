package transcript

import (
	"fmt"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/pattern"
)

// noOutcome stands where the events end before the agent did.
const noOutcome = "runner_errored"

// Markdown is the transcript of the agent with this id: what it was given, each
// thing that happened, how it ended. Whatever is quoted stays within its fence.
func Markdown(events []Event, id string) string {
	w := &page{open: map[place]Event{}}
	mine := Of(events, id)
	w.header(mine)
	w.b.WriteString("\n## Events\n")
	for _, e := range mine {
		w.event(e)
	}
	w.rest()
	w.ending(mine)
	return w.b.String()
}

// Of returns the events of one agent, in order.
func Of(events []Event, id string) []Event {
	var mine []Event
	for _, e := range events {
		if e.ID == id {
			mine = append(mine, e)
		}
	}
	return mine
}

// Agents returns the ids of the agents in events, in the order of their first.
func Agents(events []Event) []string {
	var ids []string
	seen := map[string]bool{}
	for _, e := range events {
		if !seen[e.ID] {
			seen[e.ID] = true
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// A place is where a call stands. Not its id: providers use ids again.
type place struct{ answer, index int }

// A page is a transcript being written.
type page struct {
	b    strings.Builder
	open map[place]Event // calls that have begun and have no answer yet
	keys []place         // of open, in order
}

// header says what the agent was started with, whichever event knows it.
func (w *page) header(events []Event) {
	w.b.WriteString("# Subagent transcript\n\n")
	var first, start, turn Event
	if len(events) > 0 {
		first = events[0]
	}
	for _, e := range events {
		switch {
		case e.Type == SubagentStart && start.Meta == nil:
			start = e
		case e.Type == TurnStart && turn.Meta == nil:
			turn = e
		}
	}
	meta, prompt := merge(start.Meta, turn.Meta), start.Text
	if prompt == "" {
		prompt = turn.Text
	}
	for _, line := range [][2]string{
		{"Agent type", first.Agent},
		{"Task", first.ID},
		{"Description", meta.Description},
		{"Source", meta.Source},
		{"Source path", meta.SourcePath},
		{"Started", first.Time.UTC().Format(time.RFC3339)},
		{"Background", fmt.Sprint(meta.Background)},
		{"Model", meta.Model},
		{"Isolation", meta.Isolation},
		{"Tools", strings.Join(meta.Tools, ", ")},
	} {
		if line[1] != "" {
			fmt.Fprintf(&w.b, "- **%s:** %s\n", line[0], code(line[1]))
		}
	}
	w.b.WriteString("\n## Task\n\n")
	w.fence("", prompt)
}

// merge takes what the runner knows, and the rest from the turn.
func merge(start, turn *Meta) Meta {
	if start == nil {
		start = &Meta{}
	}
	m := *start
	if turn != nil {
		m.Tools, m.Max = turn.Tools, turn.Max
		m.Background = m.Background || turn.Background
		if m.Model == "" {
			m.Model = turn.Model
		}
	}
	return m
}

func (w *page) event(e Event) {
	switch e.Type {
	case IterationStart:
		fmt.Fprintf(&w.b, "\n_Iteration %d of %d_\n", e.N, e.Max)
	case Message:
		if strings.TrimSpace(e.Text) != "" {
			w.b.WriteString("\n")
			w.fence("markdown", e.Text)
		}
		if e.Reason != "" {
			fmt.Fprintf(&w.b, "\n_The answer was cut: %s_\n", e.Reason)
		}
	case UserMessage:
		fmt.Fprintf(&w.b, "\n_The host (%s):_\n\n", e.Reason)
		w.fence("", e.Text)
	case ToolStart:
		if e.Call != nil {
			w.begin(e)
		}
	case CallDenied:
		if e.Call != nil && e.Denied != nil {
			fmt.Fprintf(&w.b, "\n_Denied %s: %s_ %s\n", code(e.Call.Name), e.Denied.Code, code(e.Denied.Rule))
		}
	case ApprovalAuto:
		if e.Call != nil {
			fmt.Fprintf(&w.b, "\n_Allowed %s by_ %s\n", code(e.Call.Name), code(e.Reason))
		}
	case ContextCompacted:
		fmt.Fprintf(&w.b, "\n_The conversation was too long: %d characters of old answers were dropped._\n", e.Count)
	case Fallback:
		fmt.Fprintf(&w.b, "\n_Fallback:_ %s (%s)\n", code(e.Text), code(e.Reason))
	case ToolResult:
		if e.Call != nil {
			w.result(e)
		}
	case Failure:
		fmt.Fprintf(&w.b, "\n_Error:_ %s\n", code(e.Text))
	case IterCap:
		fmt.Fprintf(&w.b, "\n_The cap of %d iterations is reached._\n", e.Max)
	case TurnInterrupted:
		w.rest()
		fmt.Fprintf(&w.b, "\n_Interrupted:_ %s\n", code(e.Reason))
		if strings.TrimSpace(e.Text) != "" {
			w.b.WriteString("\n")
			w.fence("markdown", e.Text)
		}
		w.b.WriteString("\n---\n")
	case TurnDone:
		w.b.WriteString("\n---\n")
	}
}

func (w *page) begin(e Event) {
	k := place{e.N, e.Call.Index}
	if _, ok := w.open[k]; !ok {
		w.keys = append(w.keys, k)
	}
	w.open[k] = e
}

func (w *page) result(e Event) {
	delete(w.open, place{e.N, e.Call.Index})
	w.call(e)
	lang := ""
	switch name := e.Call.Name; {
	case name == "run_bash", name == "run_tests":
		lang = "bash"
	case strings.HasPrefix(name, "git_diff"):
		lang = "diff"
	}
	w.fence(lang, e.Text)
	took := (time.Duration(e.DurationMS) * time.Millisecond).String()
	if e.Errored {
		took = "errored · " + took
	}
	if len(e.Evidence) > 0 {
		took += " · " + strings.Join(e.Evidence, " ")
	}
	fmt.Fprintf(&w.b, "\n_%s_\n", took)
}

func (w *page) call(e Event) {
	fmt.Fprintf(&w.b, "\n### %s\n\n", code(preview(e.Call.Name+" "+e.Call.Args)))
}

// rest writes the calls that got no answer of their own.
func (w *page) rest() {
	for _, k := range w.keys {
		if e, ok := w.open[k]; ok {
			w.call(e)
			w.b.WriteString("_interrupted_\n")
			delete(w.open, k)
		}
	}
	w.keys = nil
}

// ending reports the outcome, whatever the events say of it.
func (w *page) ending(events []Event) {
	outcome, text, why := "", "", ""
	for _, e := range events {
		if e.Done != nil {
			outcome, text, why = e.Done.Outcome, e.Done.Text, e.Done.Error
			if e.Reason != "" {
				why = e.Reason
			}
		}
	}
	if outcome == "" {
		outcome, why = noOutcome, "the events end here, without an outcome"
	}
	fmt.Fprintf(&w.b, "\n**Outcome:** %s\n", outcome)
	if why != "" {
		fmt.Fprintf(&w.b, "\n%s\n", code(why))
	}
	w.b.WriteString("\n## Final result\n\n")
	w.fence("markdown", text)
}

var ticks = pattern.New("`+")

// longest is the length of the longest run of backticks in s.
func longest(s string) int {
	n := 0
	for _, run := range ticks.FindAllString(s, -1) {
		n = max(n, len(run))
	}
	return n
}

// fence quotes s in a fence that is longer than any run of backticks in it.
func (w *page) fence(lang, s string) {
	bar := strings.Repeat("`", max(3, longest(s)+1))
	s = strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	fmt.Fprintf(&w.b, "%s%s\n%s\n%s\n", bar, lang, s, bar)
}

// code is s as inline code on one line.
func code(s string) string {
	s = line(s)
	if s == "" {
		return ""
	}
	bar := strings.Repeat("`", longest(s)+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return bar + s + bar
}

// line makes s one line.
func line(s string) string { return strings.Join(strings.Fields(s), " ") }

// previewRunes is how much of a call stands in its heading.
const previewRunes = 96

func preview(s string) string {
	r := []rune(line(s))
	if len(r) <= previewRunes {
		return string(r)
	}
	return string(r[:previewRunes]) + "…"
}

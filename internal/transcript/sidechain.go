package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// A sideLine is one line of a sidechain. Fields are listed one by one, so that
// nothing gets in that is not meant to.
type sideLine struct {
	Type       string    `json:"type"` // meta, user, assistant, tool_call, tool_result, denied, result
	TS         time.Time `json:"ts"`
	ID         string    `json:"id,omitempty"`
	Agent      string    `json:"agent,omitempty"`
	Parent     string    `json:"parent,omitempty"`
	Prompt     string    `json:"prompt,omitempty"`
	Opts       *Meta     `json:"opts,omitempty"`
	N          int       `json:"n,omitempty"`
	Text       string    `json:"text,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	Call       *Call     `json:"call,omitempty"`
	Errored    bool      `json:"errored,omitempty"`
	Evidence   []string  `json:"evidence,omitempty"`
	Denied     *Denied   `json:"denied,omitempty"`
	DurationMS int64     `json:"duration_ms,omitempty"`
	Usage      *Usage    `json:"usage,omitempty"`
	Result     *Done     `json:"result,omitempty"`
}

// Sidechain is the conversation of the agent with this id as JSON lines: first
// what it was started with, then each message, call and answer, last its result.
func Sidechain(events []Event, id string) ([]byte, error) {
	mine := Of(events, id)
	if len(mine) == 0 {
		return nil, fmt.Errorf("sidechain %s: there are no events of this agent", id)
	}
	var start, turn *Meta
	lines := []sideLine{{Type: "meta", TS: mine[0].Time, ID: id, Agent: mine[0].Agent, Parent: mine[0].Parent}}
	result := sideLine{Type: "result", TS: mine[len(mine)-1].Time, Result: &Done{Outcome: noOutcome}}
	for _, e := range mine {
		l := sideLine{TS: e.Time, N: e.N, Text: e.Text, Reason: e.Reason, Call: e.Call}
		if e.Done != nil {
			result = sideLine{Type: "result", TS: e.Time, Reason: e.Reason, Result: e.Done}
		}
		switch e.Type {
		case SubagentStart:
			start, lines[0].Prompt = e.Meta, e.Text
			continue
		case TurnStart:
			turn = e.Meta
			l.Type = "user"
		case UserMessage:
			l.Type = "user"
		case Message:
			l.Type, l.Usage = "assistant", e.Usage
		case ToolStart:
			l.Type = "tool_call"
		case CallDenied:
			l.Type, l.Denied = "denied", e.Denied
		case ToolResult:
			l.Type, l.Errored, l.Evidence, l.DurationMS = "tool_result", e.Errored, e.Evidence, e.DurationMS
		default:
			continue
		}
		lines = append(lines, l)
	}
	opts := merge(start, turn)
	lines[0].Opts = &opts
	if lines[0].Prompt == "" && len(lines) > 1 && lines[1].Type == "user" {
		lines[0].Prompt = lines[1].Text
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for _, l := range append(lines, result) {
		if err := enc.Encode(l); err != nil {
			return nil, fmt.Errorf("sidechain %s: %w", id, err)
		}
	}
	return out.Bytes(), nil
}

package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/wire"
)

// An attempt is one request and what comes of it.
type attempt struct {
	m    *Model
	body []byte
	on   func(model.Delta)

	text  strings.Builder
	calls []model.Call
	kept  []model.Kept
	part  part // the block under way
	stop  string
	ended bool
	usage model.Usage
	total bool // usage has what the whole answer took
}

// A part is a block of the answer that is not whole yet.
type part struct {
	kind      string
	id, name  string
	data      string // of redacted thinking
	args      strings.Builder
	thinking  strings.Builder
	signature strings.Builder
}

// Ask asks once.
func (a *attempt) Ask(ctx context.Context, open func(*http.Response) error, on func(model.Delta)) error {
	a.on = on
	return a.m.stream(ctx, a.body, open, func(data []byte) (bool, error) {
		if err := a.event(data); err != nil || !a.ended {
			return false, err
		}
		if a.stop == "" {
			return true, errors.New("the stream ended without a stop reason")
		}
		return true, nil
	})
}

// event takes one event of the stream.
func (a *attempt) event(data []byte) error {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("the stream has a malformed chunk: %w", err)
	}
	if e.Error != nil {
		return &wire.Broken{Code: e.Error.Type, Message: e.Error.Message}
	}
	switch e.Type {
	case "message_start":
		a.count(e.Message.Usage)
	case "content_block_start":
		a.begin(e.Block)
	case "content_block_delta":
		a.add(e.Delta.received)
		a.part.args.WriteString(e.Delta.PartialJSON)
	case "content_block_stop":
		return a.end()
	case "message_delta":
		if e.Delta.StopReason != "" {
			a.stop = e.Delta.StopReason
		}
		a.count(e.Usage)
		a.total = a.total || e.Usage.Output > 0
	case "message_stop":
		a.ended = true
	}
	return nil
}

// count takes figures, which come at the beginning and, for some, again at the
// end, as totals each time.
func (a *attempt) count(u usage) {
	if in := u.Input + u.Read + u.Written; in > 0 && in >= a.usage.Input {
		a.usage.Input, a.usage.Cached, a.usage.Written = in, u.Read, u.Written
	}
	a.usage.Output = max(a.usage.Output, u.Output)
}

func (a *attempt) begin(b received) {
	a.part = part{kind: b.Type, id: b.ID, name: b.Name, data: b.Data}
	a.add(b)
	if raw := string(b.Input); b.Type == "tool_use" && raw != "null" && raw != "{}" {
		a.part.args.WriteString(raw) // a server that does not stream arguments
	}
}

// add takes a piece of the block under way.
func (a *attempt) add(b received) {
	a.say(b.Text)
	a.think(b.Thinking)
	a.part.signature.WriteString(b.Signature)
}

func (a *attempt) say(text string) {
	if text != "" {
		a.text.WriteString(text)
		a.on(model.Delta{Text: text})
	}
}

func (a *attempt) think(thought string) {
	if thought != "" {
		a.part.thinking.WriteString(thought)
		a.on(model.Delta{Reasoning: thought})
	}
}

// end takes the block that is whole now.
func (a *attempt) end() error {
	b := &a.part
	var keep any
	switch b.kind {
	case "tool_use":
		args := b.args.String()
		if args == "" {
			args = "{}"
		}
		a.calls = append(a.calls, model.Call{ID: b.id, Name: b.name, Args: args})
	case "thinking":
		if b.signature.Len() > 0 { // one without is refused when it comes back
			keep = signedThought{b.signature.String(), b.thinking.String(), "thinking"}
		}
	case "redacted_thinking":
		keep = hiddenThought{b.data, "redacted_thinking"}
	}
	a.part = part{}
	if keep == nil {
		return nil
	}
	raw, err := json.Marshal(keep)
	if err != nil {
		return fmt.Errorf("thinking: %w", err)
	}
	a.kept = append(a.kept, model.Kept{API: Messages, At: wire.Place(a.text.String(), len(a.calls)), Raw: raw})
	return nil
}

// Answer is what came; of a stream that did not come to its end the text.
func (a *attempt) Answer(whole bool) *model.Response {
	resp := &model.Response{Message: model.Message{Role: model.Assistant, Text: a.text.String()}}
	if !whole {
		if a.text.Len() == 0 {
			return nil
		}
		return resp
	}
	resp.Message.Calls, resp.Message.Kept = a.calls, a.kept
	switch {
	case a.stop == "max_tokens", a.stop == "model_context_window_exceeded":
		resp.Stop = model.StopLength
	case a.stop == "refusal":
		resp.Stop = model.StopFilter
	case len(a.calls) > 0:
		resp.Stop = model.StopCalls
	default:
		resp.Stop = model.StopEnd
	}
	resp.Usage = a.figures(resp.Message)
	return resp
}

// figures are what the answer took. What a server does not say of it, as some between ycbot and
// the provider do not, is estimated: no limit would hold with nothing.
func (a *attempt) figures(m model.Message) model.Usage {
	u, guess := a.usage, wire.Guess(a.body, m)
	if u.Input == 0 {
		u.Input, u.Estimated = guess.Input, true
	}
	if !a.total {
		u.Output, u.Estimated = max(u.Output, guess.Output), true
	}
	return u
}

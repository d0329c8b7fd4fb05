package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

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
	block block // the block under way
	stop  string
	ended bool
	usage *model.Usage
}

// A block is a part of the answer that is not whole yet.
type block struct {
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
	var failed struct {
		Error *struct{ Type, Message string } `json:"error"`
	}
	if err := json.Unmarshal(data, &failed); err != nil {
		return fmt.Errorf("the stream has a malformed chunk: %w", err)
	}
	if failed.Error != nil {
		return &wire.Broken{Code: failed.Error.Type, Message: failed.Error.Message}
	}
	var e sdk.MessageStreamEventUnion
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("the stream has a malformed chunk: %w", err)
	}
	switch e := e.AsAny().(type) {
	case sdk.MessageStartEvent:
		u := e.Message.Usage
		a.count(u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens)
	case sdk.ContentBlockStartEvent:
		a.begin(e.ContentBlock)
	case sdk.ContentBlockDeltaEvent:
		a.delta(e.Delta)
	case sdk.ContentBlockStopEvent:
		return a.end()
	case sdk.MessageDeltaEvent:
		if e.Delta.StopReason != "" {
			a.stop = string(e.Delta.StopReason)
		}
		u := e.Usage
		a.count(u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens)
	case sdk.MessageStopEvent:
		a.ended = true
	}
	return nil
}

// count takes figures, which come at the beginning and, for some, again at the
// end, as totals each time.
func (a *attempt) count(fresh, read, written, out int64) {
	if a.usage == nil {
		a.usage = &model.Usage{}
	}
	if in := int(fresh + read + written); in > 0 && in >= a.usage.Input {
		a.usage.Input, a.usage.Cached, a.usage.Written = in, int(read), int(written)
	}
	a.usage.Output = max(a.usage.Output, int(out))
}

func (a *attempt) begin(b sdk.ContentBlockStartEventContentBlockUnion) {
	a.block = block{kind: b.Type, id: b.ID, name: b.Name, data: b.Data}
	a.say(b.Text)
	a.think(b.Thinking)
	a.block.signature.WriteString(b.Signature)
	if raw := b.JSON.Input.Raw(); b.Type == "tool_use" && raw != "" && raw != "null" && raw != "{}" {
		a.block.args.WriteString(raw) // a server that does not stream arguments
	}
}

func (a *attempt) delta(d sdk.RawContentBlockDeltaUnion) {
	a.say(d.Text)
	a.think(d.Thinking)
	a.block.signature.WriteString(d.Signature)
	a.block.args.WriteString(d.PartialJSON)
}

func (a *attempt) say(text string) {
	if text != "" {
		a.text.WriteString(text)
		a.on(model.Delta{Text: text})
	}
}

func (a *attempt) think(thought string) {
	if thought != "" {
		a.block.thinking.WriteString(thought)
		a.on(model.Delta{Reasoning: thought})
	}
}

// end takes the block that is whole now.
func (a *attempt) end() error {
	b := &a.block
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
			keep = sdk.ThinkingBlockParam{Signature: b.signature.String(), Thinking: b.thinking.String()}
		}
	case "redacted_thinking":
		keep = sdk.RedactedThinkingBlockParam{Data: b.data}
	}
	a.block = block{}
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
	if a.usage != nil {
		resp.Usage = *a.usage
	} else {
		resp.Usage = wire.Guess(a.body, resp.Message)
	}
	return resp
}

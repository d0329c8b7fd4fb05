package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	sdk "github.com/openai/openai-go"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/wire"
)

// An attempt is one request by chat completions and what comes of it.
type attempt struct {
	m    *Model
	req  *model.Request
	body []byte
	on   func(model.Delta)

	text   strings.Builder
	calls  []model.Call
	at     map[int64]int // the provider's index of a call to its place in calls
	finish string
	usage  *model.Usage
}

// Ask asks once.
func (a *attempt) Ask(ctx context.Context, open func(*http.Response) error, on func(model.Delta)) error {
	a.on = on
	return a.m.stream(ctx, "chat/completions", a.body, open, a.take)
}

// take adds one event. A stream without a [DONE], or without a finish reason
// before it, was cut.
func (a *attempt) take(data []byte) (done bool, err error) {
	if !bytes.Equal(data, []byte("[DONE]")) {
		return false, a.chunk(data)
	}
	if a.finish == "" {
		return true, errors.New("the stream ended without a finish reason")
	}
	return true, nil
}

// chunk adds one piece of the answer.
func (a *attempt) chunk(data []byte) error {
	if err := failed(data); err != nil {
		return err
	}
	var c sdk.ChatCompletionChunk
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("the stream has a malformed chunk: %w", err)
	}
	if c.JSON.Usage.Valid() {
		a.usage = &model.Usage{
			Input: int(c.Usage.PromptTokens), Output: int(c.Usage.CompletionTokens), Cached: int(c.Usage.PromptTokensDetails.CachedTokens),
		}
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		if choice.FinishReason != "" {
			a.finish = choice.FinishReason
		}
		a.delta(choice.Delta)
	}
	return nil
}

// failed is the error that a chunk reports.
func failed(data []byte) error {
	if !bytes.Contains(data, []byte(`"error"`)) { // nearly all of them
		return nil
	}
	var c struct {
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("the stream has a malformed chunk: %w", err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return broken(c.Error)
	}
	return nil
}

func (a *attempt) delta(d sdk.ChatCompletionChunkChoiceDelta) {
	for _, name := range []string{"reasoning_content", "reasoning"} {
		var thought string
		if f, ok := d.JSON.ExtraFields[name]; ok && json.Unmarshal([]byte(f.Raw()), &thought) == nil && thought != "" {
			a.on(model.Delta{Reasoning: thought})
			break
		}
	}
	if text := d.Content + d.Refusal; text != "" {
		a.text.WriteString(text)
		a.on(model.Delta{Text: text})
	}
	for _, c := range d.ToolCalls {
		a.call(c)
	}
}

// call adds a piece of a call. Providers differ: pieces with an index, whole calls
// without one, several whole calls that all say index 0, calls without an id.
func (a *attempt) call(c sdk.ChatCompletionChunkChoiceDeltaToolCall) {
	place, known := len(a.calls)-1, len(a.calls) > 0
	if c.JSON.Index.Valid() {
		place, known = 0, false
		if p, ok := a.at[c.Index]; ok {
			place, known = p, true
		}
	}
	begins := c.Function.Name != ""
	if known && begins {
		was := a.calls[place]
		// A piece that names a call again is the same call only if nothing distinguishes them.
		indexed := c.JSON.Index.Valid() && (c.ID == "" || was.ID == "" || c.ID == was.ID) && was.Args == ""
		known = indexed || (c.ID != "" && c.ID == was.ID)
	}
	if !known {
		place = len(a.calls)
		a.calls = append(a.calls, model.Call{})
	}
	if c.JSON.Index.Valid() {
		if a.at == nil {
			a.at = map[int64]int{}
		}
		a.at[c.Index] = place
	}
	call := &a.calls[place]
	if c.ID != "" {
		call.ID = c.ID
	}
	if begins {
		call.Name = c.Function.Name
	}
	call.Args += c.Function.Arguments
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
	resp.Message.Calls = a.calls
	n := model.Answers(a.req.Messages) + 1
	for i, c := range resp.Message.Calls {
		if c.ID == "" {
			resp.Message.Calls[i].ID = fmt.Sprintf("call_%d_%d", n, i+1)
		}
	}
	switch {
	case a.finish == "length":
		resp.Stop = model.StopLength
	case a.finish == "content_filter":
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

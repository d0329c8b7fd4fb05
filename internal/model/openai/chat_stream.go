package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

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

// A chatChunk is one piece of an answer, as far as it is read:
// https://platform.openai.com/docs/api-reference/chat/streaming. Numbers are floating ones, as some
// servers write them so.
type chatChunk struct {
	Choices []struct {
		Index        float64   `json:"index"`
		Delta        chatDelta `json:"delta"`
		FinishReason string    `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens        float64 `json:"prompt_tokens"`
		CompletionTokens    float64 `json:"completion_tokens"`
		PromptTokensDetails struct {
			CachedTokens float64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
}

// A chatDelta is what is new. Servers that show reasoning name it in two ways.
type chatDelta struct {
	Content          plain          `json:"content"`
	Refusal          plain          `json:"refusal"`
	ReasoningContent plain          `json:"reasoning_content"`
	Reasoning        plain          `json:"reasoning"`
	ToolCalls        []chatCallPart `json:"tool_calls"`
}

// plain is a text. What some servers have in its place, such as a list of parts in which they show
// reasoning, is none.
type plain string

// UnmarshalJSON implements [json.Unmarshaler].
func (p *plain) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*p = plain(text)
	}
	return nil
}

// A chatCallPart is a piece of a call. Index is nil where the server gives none.
type chatCallPart struct {
	Index    *float64     `json:"index"`
	ID       string       `json:"id"`
	Function calledByChat `json:"function"`
}

// chunk adds one piece of the answer.
func (a *attempt) chunk(data []byte) error {
	if err := failed(data); err != nil {
		return err
	}
	var c chatChunk
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("the stream has a malformed chunk: %w", err)
	}
	if u := c.Usage; u != nil {
		a.usage = &model.Usage{Input: int(u.PromptTokens), Output: int(u.CompletionTokens), Cached: int(u.PromptTokensDetails.CachedTokens)}
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

func (a *attempt) delta(d chatDelta) {
	if thought := cmp.Or(d.ReasoningContent, d.Reasoning); thought != "" {
		a.on(model.Delta{Reasoning: string(thought)})
	}
	if text := string(d.Content + d.Refusal); text != "" {
		a.text.WriteString(text)
		a.on(model.Delta{Text: text})
	}
	for _, c := range d.ToolCalls {
		a.call(c)
	}
}

// call adds a piece of a call. Providers differ: pieces with an index, whole calls
// without one, several whole calls that all say index 0, calls without an id.
func (a *attempt) call(c chatCallPart) {
	place, known := len(a.calls)-1, len(a.calls) > 0
	if c.Index != nil {
		place, known = 0, false
		if p, ok := a.at[int64(*c.Index)]; ok {
			place, known = p, true
		}
	}
	begins := c.Function.Name != ""
	if known && begins {
		was := a.calls[place]
		// A piece that names a call again is the same call only if nothing distinguishes them.
		indexed := c.Index != nil && (c.ID == "" || was.ID == "" || c.ID == was.ID) && was.Args == ""
		known = indexed || (c.ID != "" && c.ID == was.ID)
	}
	if !known {
		place = len(a.calls)
		a.calls = append(a.calls, model.Call{})
	}
	if c.Index != nil {
		if a.at == nil {
			a.at = map[int64]int{}
		}
		a.at[int64(*c.Index)] = place
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

package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/openai/openai-go/responses"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/wire"
)

// A response is one request by the Responses API and what comes of it.
type response struct {
	m    *Model
	body []byte
	on   func(model.Delta)

	text  strings.Builder
	said  int // bytes of text that the message under way has streamed
	calls []model.Call
	kept  []model.Kept
	items int
	stop  model.Stop
	usage *model.Usage
}

// Ask asks once.
func (r *response) Ask(ctx context.Context, open func(*http.Response) error, on func(model.Delta)) error {
	r.on = on
	return r.m.stream(ctx, "responses", r.body, open, func(data []byte) (bool, error) {
		if bytes.Equal(data, []byte("[DONE]")) { // some servers' habit; the end is response.completed
			return false, nil
		}
		err := r.event(data)
		return r.stop != "", err
	})
}

// event takes one event of the stream.
func (r *response) event(data []byte) error {
	var failed struct {
		Type  string          `json:"type"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(data, &failed); err != nil {
		return fmt.Errorf("the stream has a malformed chunk: %w", err)
	}
	if len(failed.Error) > 0 && string(failed.Error) != "null" {
		return broken(failed.Error)
	}
	var e responses.ResponseStreamEventUnion
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("the stream has a malformed chunk: %w", err)
	}
	switch e.Type {
	case "error":
		return &wire.Broken{Code: e.Code, Message: e.Message}
	case "response.failed":
		return &wire.Broken{Code: string(e.Response.Error.Code), Message: e.Response.Error.Message}
	case "response.output_text.delta", "response.refusal.delta":
		r.say(e.Delta.OfString)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		if e.Delta.OfString != "" {
			r.on(model.Delta{Reasoning: e.Delta.OfString})
		}
	case "response.output_item.done":
		r.item(e.Item)
	case "response.completed", "response.incomplete":
		r.end(e.Response)
	}
	return nil
}

func (r *response) say(text string) {
	if text != "" {
		r.text.WriteString(text)
		r.said += len(text)
		r.on(model.Delta{Text: text})
	}
}

// item takes a part of the answer that is whole.
func (r *response) item(item responses.ResponseOutputItemUnion) {
	r.items++
	switch item.Type {
	case "message":
		if r.said == 0 { // a server that does not stream text piece by piece
			for _, c := range item.Content {
				r.say(c.Text + c.Refusal)
			}
		}
		r.said = 0
	case "function_call":
		call := item.AsFunctionCall()
		r.calls = append(r.calls, model.Call{ID: call.CallID, Name: call.Name, Args: call.Arguments})
	case "reasoning":
		// Without its encrypted content it would be looked up at the provider, which stored nothing.
		if item.EncryptedContent != "" {
			r.kept = append(r.kept, model.Kept{API: Responses, At: wire.Place(r.text.String(), len(r.calls)), Raw: json.RawMessage(item.RawJSON())})
		}
	}
}

// end reads how the answer ended and what it cost.
func (r *response) end(whole responses.Response) {
	if r.items == 0 { // a server that sends the parts at the end alone
		r.said = r.text.Len()
		for _, item := range whole.Output {
			r.item(item)
		}
	}
	if whole.JSON.Usage.Valid() {
		u := whole.Usage
		r.usage = &model.Usage{Input: int(u.InputTokens), Output: int(u.OutputTokens), Cached: int(u.InputTokensDetails.CachedTokens)}
	}
	switch {
	case whole.IncompleteDetails.Reason == "content_filter":
		r.stop = model.StopFilter
	case whole.Status == "incomplete" || whole.IncompleteDetails.Reason != "":
		r.stop = model.StopLength
	case len(r.calls) > 0:
		r.stop = model.StopCalls
	default:
		r.stop = model.StopEnd
	}
}

// Answer is what came; of a stream that did not come to its end the text.
func (r *response) Answer(whole bool) *model.Response {
	resp := &model.Response{Message: model.Message{Role: model.Assistant, Text: r.text.String()}}
	if !whole {
		if r.text.Len() == 0 {
			return nil
		}
		return resp
	}
	resp.Message.Calls, resp.Message.Kept, resp.Stop = r.calls, r.kept, r.stop
	if r.usage != nil {
		resp.Usage = *r.usage
	} else {
		resp.Usage = wire.Guess(r.body, resp.Message)
	}
	return resp
}

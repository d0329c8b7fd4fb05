package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/wire"
)

// A response is one request by the Responses API and what comes of it.
type response struct {
	m    *Model
	body []byte
	on   func(model.Delta)

	text    strings.Builder
	refused bool // a part of text says why the model does not answer
	said    int  // bytes of text that the message under way has streamed
	calls   []model.Call
	kept    []model.Kept
	items   int
	stop    model.Stop
	usage   *model.Usage
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

// What is read of the events of the stream, of an answer and of its parts
// (https://platform.openai.com/docs/api-reference/responses-streaming). The library's type of all
// events would be 0.8 MB of the program.
type (
	responsesEvent struct {
		Type     string          `json:"type"`
		Error    json.RawMessage `json:"error"`
		Delta    json.RawMessage `json:"delta"`
		Item     json.RawMessage `json:"item"`
		Response responsesAnswer `json:"response"`
	}

	responsesAnswer struct {
		Status     string            `json:"status"`
		Output     []json.RawMessage `json:"output"`
		Error      json.RawMessage   `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Usage *struct {
			Input  int `json:"input_tokens"`
			Output int `json:"output_tokens"`
			Of     struct {
				Cached int `json:"cached_tokens"`
			} `json:"input_tokens_details"`
		} `json:"usage"`
	}

	responsesItem struct {
		Type    string `json:"type"`
		Content []struct {
			Text    string `json:"text"`
			Refusal string `json:"refusal"`
		} `json:"content"`
		CallID    string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
		Encrypted string `json:"encrypted_content"`
	}
)

// event takes one event of the stream.
func (r *response) event(data []byte) error {
	var e responsesEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return malformed(err)
	}
	if len(e.Error) > 0 && string(e.Error) != "null" {
		return broken(e.Error)
	}
	switch e.Type {
	case "error":
		return broken(data)
	case "response.failed":
		return broken(e.Response.Error)
	case "response.output_text.delta", "response.refusal.delta", "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		var text string
		if len(e.Delta) > 0 {
			if err := json.Unmarshal(e.Delta, &text); err != nil {
				return malformed(err)
			}
		}
		r.refused = r.refused || e.Type == "response.refusal.delta" && text != ""
		if !strings.HasPrefix(e.Type, "response.reasoning") {
			r.say(text)
		} else if text != "" {
			r.on(model.Delta{Reasoning: text})
		}
	case "response.output_item.done":
		return r.item(e.Item)
	case "response.completed", "response.incomplete":
		return r.end(e.Response)
	}
	return nil
}

func malformed(err error) error { return fmt.Errorf("the stream has a malformed chunk: %w", err) }

func (r *response) say(text string) {
	if text != "" {
		r.text.WriteString(text)
		r.said += len(text)
		r.on(model.Delta{Text: text})
	}
}

// item takes a part of the answer that is whole.
func (r *response) item(raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	var item responsesItem
	if err := json.Unmarshal(raw, &item); err != nil {
		return malformed(err)
	}
	r.items++
	switch item.Type {
	case "message":
		if r.said == 0 { // a server that does not stream text piece by piece
			for _, c := range item.Content {
				r.refused = r.refused || c.Refusal != ""
				r.say(c.Text + c.Refusal)
			}
		}
		r.said = 0
	case "function_call":
		r.calls = append(r.calls, model.Call{ID: item.CallID, Name: item.Name, Args: item.Arguments})
	case "reasoning":
		// Without its encrypted content it would be looked up at the provider, which stored nothing.
		if item.Encrypted != "" {
			r.kept = append(r.kept, model.Kept{API: Responses, At: wire.Place(r.text.String(), len(r.calls)), Raw: raw})
		}
	}
	return nil
}

// end reads how the answer ended and what it cost.
func (r *response) end(whole responsesAnswer) error {
	if r.items == 0 { // a server that sends the parts at the end alone
		r.said = r.text.Len()
		for _, item := range whole.Output {
			if err := r.item(item); err != nil {
				return err
			}
		}
	}
	if u := whole.Usage; u != nil {
		r.usage = &model.Usage{Input: u.Input, Output: u.Output, Cached: u.Of.Cached}
	}
	switch {
	case whole.Incomplete.Reason == "content_filter":
		r.stop = model.StopFilter
	case whole.Status == "incomplete" || whole.Incomplete.Reason != "":
		r.stop = model.StopLength
	case len(r.calls) > 0:
		r.stop = model.StopCalls
	case r.refused:
		r.stop = model.StopFilter
	default:
		r.stop = model.StopEnd
	}
	return nil
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
	resp.Usage = wire.Figures(r.usage, r.body, resp.Message)
	return resp
}

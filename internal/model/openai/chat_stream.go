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

	"github.com/tidwall/gjson"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/wire"
)

// An attempt is one request by chat completions and what comes of it.
type attempt struct {
	m    *Model
	req  *model.Request
	body []byte
	on   func(model.Delta)

	text    strings.Builder
	refused bool // a part of text says why the model does not answer
	calls   []model.Call
	at      map[int64]int // the provider's index of a call to its place in calls
	finish  string
	usage   *model.Usage
}

// Ask asks once.
func (a *attempt) Ask(ctx context.Context, open func(*http.Response) error, on func(model.Delta)) error {
	a.on = on
	err := a.m.stream(ctx, "chat/completions", a.body, open, a.take)
	if errors.Is(err, wire.ErrEnded) && a.finish != "" {
		return nil // not all servers send [DONE]
	}
	return err
}

// take adds one event. A stream without a finish reason was cut, and so was one without a
// [DONE] whose connection broke.
func (a *attempt) take(data []byte) (done bool, err error) {
	if !bytes.Equal(data, []byte("[DONE]")) {
		return false, a.chunk(data)
	}
	if a.finish == "" {
		return true, errors.New("the stream ended without a finish reason")
	}
	return true, nil
}

// chunk adds one piece of the answer:
// https://platform.openai.com/docs/api-reference/chat/streaming. It is read leniently: servers that
// speak nearly this API write numbers as texts, and arguments as objects.
func (a *attempt) chunk(data []byte) error {
	if err := failed(data); err != nil {
		return err
	}
	if !gjson.ValidBytes(data) {
		return errors.New("the stream has a malformed chunk")
	}
	c := gjson.ParseBytes(data)
	if u := c.Get("usage"); u.IsObject() {
		a.usage = &model.Usage{
			Input: int(u.Get("prompt_tokens").Int()), Output: int(u.Get("completion_tokens").Int()), Cached: int(u.Get("prompt_tokens_details.cached_tokens").Int()),
		}
	}
	for _, choice := range c.Get("choices").Array() {
		if choice.Get("index").Int() != 0 {
			continue
		}
		if reason := choice.Get("finish_reason").String(); reason != "" {
			a.finish = reason
		}
		a.delta(choice.Get("delta"))
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

// delta adds what is new. Servers that show reasoning name it in two ways, or list it with the parts
// of the content, where it is passed over.
func (a *attempt) delta(d gjson.Result) {
	text := func(name string) string {
		if v := d.Get(name); v.Type == gjson.String {
			return v.String()
		}
		return ""
	}
	if thought := cmp.Or(text("reasoning_content"), text("reasoning")); thought != "" {
		a.on(model.Delta{Reasoning: thought})
	}
	refusal := text("refusal")
	a.refused = a.refused || refusal != ""
	if said := text("content") + refusal; said != "" {
		a.text.WriteString(said)
		a.on(model.Delta{Text: said})
	}
	for _, c := range d.Get("tool_calls").Array() {
		a.call(c)
	}
}

// call adds a piece of a call. Providers differ: pieces with an index, whole calls
// without one, several whole calls that all say index 0, calls without an id.
func (a *attempt) call(c gjson.Result) {
	index, id, function := c.Get("index"), c.Get("id").String(), c.Get("function.name").String()
	indexed := index.Type != gjson.Null
	place, known := len(a.calls)-1, len(a.calls) > 0
	if indexed {
		place, known = 0, false
		if p, ok := a.at[index.Int()]; ok {
			place, known = p, true
		}
	}
	if known && function != "" {
		was := a.calls[place]
		// A piece that names a call again is the same call only if nothing distinguishes them.
		same := indexed && (id == "" || was.ID == "" || id == was.ID) && was.Args == ""
		known = same || (id != "" && id == was.ID)
	}
	if !known {
		place = len(a.calls)
		a.calls = append(a.calls, model.Call{})
	}
	if indexed {
		if a.at == nil {
			a.at = map[int64]int{}
		}
		a.at[index.Int()] = place
	}
	call := &a.calls[place]
	call.ID, call.Name = cmp.Or(id, call.ID), cmp.Or(function, call.Name)
	call.Args += c.Get("function.arguments").String()
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
	case a.refused:
		resp.Stop = model.StopFilter
	default:
		resp.Stop = model.StopEnd
	}
	resp.Usage = wire.Figures(a.usage, a.body, resp.Message)
	return resp
}

package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/ycbot/ycbot/internal/model"
)

// errIdle is the cause of an attempt's end when nothing came for too long.
var errIdle = errors.New("nothing came for too long")

// An attempt is one request and what comes of it.
type attempt struct {
	m    *Model
	req  *model.Request
	body []byte
	on   func(model.Delta)

	status int
	said   bool // something was passed to on
	text   strings.Builder
	calls  []model.Call
	at     map[int64]int // the provider's index of a call to its place in calls
	finish string
	usage  *model.Usage
}

// run asks once. What came before an error is returned beside it, without calls.
func (a *attempt) run(ctx context.Context) (*model.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(a.m.o.Retry.IdleFor, func() { cancel(errIdle) })
	defer idle.Stop()
	var raw *http.Response
	err := a.m.client.Post(ctx, "chat/completions", json.RawMessage(a.body), &raw, option.WithHeader("Accept", "text/event-stream"))
	if err == nil {
		a.status = raw.StatusCode
		raw.Body = &watched{ReadCloser: raw.Body, heard: func() { idle.Reset(a.m.o.Retry.IdleFor) }}
		err = a.read(raw)
	}
	if err != nil {
		if errors.Is(context.Cause(ctx), errIdle) {
			err = fmt.Errorf("%w (%s)", errIdle, a.m.o.Retry.IdleFor)
		}
		f := a.m.fault(err)
		if f.status != 0 {
			a.status = f.status
		}
		return a.partial(), f
	}
	return a.whole(), nil
}

// watched tells when something was read.
type watched struct {
	io.ReadCloser
	heard func()
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if n > 0 {
		w.heard()
	}
	return n, err
}

// read takes the stream to its [DONE]. A stream without one, or without a finish
// reason before it, was cut.
func (a *attempt) read(raw *http.Response) error {
	events := ssestream.NewDecoder(raw)
	defer func() { _ = events.Close() }() // read to its end or given up: nothing to learn
	for events.Next() {
		data := bytes.TrimSpace(events.Event().Data)
		if bytes.Equal(data, []byte("[DONE]")) {
			if a.finish == "" {
				return errors.New("the stream ended without a finish reason")
			}
			return nil
		}
		if err := a.chunk(data); err != nil {
			return err
		}
	}
	if err := events.Err(); err != nil {
		return fmt.Errorf("the stream broke off: %w", err)
	}
	return errors.New("the stream broke off before [DONE]")
}

// chunk adds one piece of the answer.
func (a *attempt) chunk(data []byte) error {
	var failed struct {
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(data, &failed); err != nil {
		return fmt.Errorf("the stream has a malformed chunk: %w", err)
	}
	if len(failed.Error) > 0 && string(failed.Error) != "null" {
		return streamed(failed.Error)
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

func (a *attempt) delta(d sdk.ChatCompletionChunkChoiceDelta) {
	for _, name := range []string{"reasoning_content", "reasoning"} {
		var thought string
		if f, ok := d.JSON.ExtraFields[name]; ok && json.Unmarshal([]byte(f.Raw()), &thought) == nil && thought != "" {
			a.tell(model.Delta{Reasoning: thought})
			break
		}
	}
	if text := d.Content + d.Refusal; text != "" {
		a.text.WriteString(text)
		a.tell(model.Delta{Text: text})
	}
	for _, c := range d.ToolCalls {
		a.call(c)
	}
}

func (a *attempt) tell(d model.Delta) {
	a.said = true
	a.on(d)
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
		// A piece that names a call again is the same call only if nothing tells them apart.
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

// whole is the answer of a stream that came to its end.
func (a *attempt) whole() *model.Response {
	resp := &model.Response{Message: model.Message{Role: model.Assistant, Text: a.text.String(), Calls: a.calls}}
	n := model.Answers(a.req.Messages) + 1
	out := a.text.Len()
	for i, c := range resp.Message.Calls {
		if c.ID == "" {
			resp.Message.Calls[i].ID = fmt.Sprintf("call_%d_%d", n, i+1)
		}
		out += len(c.Name) + len(c.Args)
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
		resp.Usage = model.Usage{Input: len(a.body) / 4, Output: out / 4, Estimated: true}
	}
	return resp
}

func (a *attempt) partial() *model.Response {
	if a.text.Len() == 0 {
		return nil
	}
	return &model.Response{Message: model.Message{Role: model.Assistant, Text: a.text.String()}}
}

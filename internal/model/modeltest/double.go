// Package modeltest has servers for tests that speak the three APIs of models.
//
// A [Double] says what its test lets it say and holds every request against the
// rules of its API: those that are written down, and those that the providers'
// servers are known to refuse by. A request that breaks one fails the test.
package modeltest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ycbot/ycbot/internal/model"
)

// Key is the one that every double wants.
const Key = "sk-test-0123456789abcdef"

// An Answer is what a model says, whatever the API that says it.
type Answer struct {
	Thought string
	Text    []string // the pieces
	Calls   []model.Call
	Usage   model.Usage
	Length  bool // the output limit cut it
	Filter  bool // the provider's filter did
}

// An API is one of the three, as its provider speaks it.
type API struct {
	Name     string // as package provider has it
	Path     string
	Render   func(Answer) []Event
	Refusal  func(code, message string) string // body of an error
	Overflow []http.HandlerFunc                // the ways in which a conversation is too long
	check    func(r *http.Request, body []byte) error
}

// An Event is one of a stream.
type Event struct{ Name, Data string }

func (e Event) String() string {
	if e.Name == "" {
		return "data: " + e.Data + "\n\n"
	}
	return "event: " + e.Name + "\ndata: " + e.Data + "\n\n"
}

func object(v map[string]any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

type m = map[string]any

// APIs are the three: chat completions, OpenAI's responses and Anthropic's messages.
func APIs() []API {
	tooLong := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, body)
		}
	}
	return []API{
		{
			Name: "chat", Path: "/v1/chat/completions", Render: renderChat, Refusal: openAIRefusal, check: checkChat,
			Overflow: []http.HandlerFunc{tooLong(openAIRefusal("context_length_exceeded", "This model's maximum context length is 8192 tokens."))},
		},
		{
			Name: "responses", Path: "/v1/responses", Render: renderResponses, Refusal: openAIRefusal, check: checkResponses,
			Overflow: []http.HandlerFunc{
				tooLong(openAIRefusal("context_length_exceeded", "Your input exceeds the context window of this model.")),
				Stream(Event{"response.failed", object(m{"type": "response.failed", "response": m{
					"status": "failed", "error": m{"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model."},
				}})}),
			},
		},
		{
			Name: "messages", Path: "/v1/messages", Render: renderMessages, Refusal: anthropicRefusal, check: checkMessages,
			Overflow: []http.HandlerFunc{
				tooLong(anthropicRefusal("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")),
				tooLong(anthropicRefusal("invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000")),
			},
		},
	}
}

func openAIRefusal(code, message string) string {
	return object(m{"error": m{"code": code, "message": message, "type": "x", "param": nil}})
}

func anthropicRefusal(code, message string) string {
	return object(m{"type": "error", "error": m{"type": code, "message": message}})
}

func renderChat(a Answer) (events []Event) {
	chunk := func(delta m, finish any) {
		events = append(events, Event{Data: object(m{
			"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
			"choices": []m{{"index": 0, "delta": delta, "finish_reason": finish}},
		})})
	}
	if a.Thought != "" {
		chunk(m{"reasoning_content": a.Thought}, nil)
	}
	for _, t := range a.Text {
		chunk(m{"content": t}, nil)
	}
	for i, c := range a.Calls {
		chunk(m{"tool_calls": []m{{"index": i, "id": c.ID, "type": "function", "function": m{"name": c.Name, "arguments": ""}}}}, nil)
	}
	for i, c := range a.Calls { // the pieces come interleaved
		chunk(m{"tool_calls": []m{{"index": i, "function": m{"arguments": c.Args}}}}, nil)
	}
	finish := "stop"
	if a.Length {
		finish = "length"
	} else if a.Filter {
		finish = "content_filter"
	} else if a.Calls != nil {
		finish = "tool_calls"
	}
	chunk(m{}, finish)
	events = append(events, Event{Data: object(m{"id": "c", "object": "chat.completion.chunk", "choices": []m{}, "usage": m{
		"prompt_tokens": a.Usage.Input, "completion_tokens": a.Usage.Output, "prompt_tokens_details": m{"cached_tokens": a.Usage.Cached},
	}})})
	return append(events, Event{Data: "[DONE]"})
}

func renderResponses(a Answer) (events []Event) {
	index := 0
	send := func(kind string, fields m) {
		fields["type"], fields["output_index"] = kind, index
		events = append(events, Event{kind, object(fields)})
	}
	var output []m
	done := func(item m) {
		send("response.output_item.done", m{"item": item})
		output = append(output, item)
		index++
	}
	send("response.created", m{"response": m{"id": "r", "status": "in_progress"}})
	if a.Thought != "" {
		send("response.reasoning_summary_text.delta", m{"item_id": "rs_1", "delta": a.Thought})
		done(m{"type": "reasoning", "id": "rs_1", "summary": []m{{"type": "summary_text", "text": a.Thought}}, "encrypted_content": "c2VjcmV0+/="})
	}
	for _, t := range a.Text {
		send("response.output_text.delta", m{"item_id": "msg_1", "content_index": 0, "delta": t})
	}
	if text := strings.Join(a.Text, ""); text != "" {
		done(m{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": []m{{"type": "output_text", "text": text}}})
	}
	for _, c := range a.Calls {
		send("response.output_item.added", m{"item": m{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Name, "arguments": ""}})
		send("response.function_call_arguments.delta", m{"item_id": "fc_" + c.ID, "delta": c.Args})
		done(m{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Name, "arguments": c.Args, "status": "completed"})
	}
	whole := m{"id": "r", "status": "completed", "output": output, "usage": m{
		"input_tokens": a.Usage.Input, "output_tokens": a.Usage.Output, "input_tokens_details": m{"cached_tokens": a.Usage.Cached},
	}}
	kind := "response.completed"
	if a.Length || a.Filter {
		kind = "response.incomplete"
		whole["status"], whole["incomplete_details"] = "incomplete", m{"reason": map[bool]string{true: "content_filter", false: "max_output_tokens"}[a.Filter]}
	}
	send(kind, m{"response": whole})
	return events
}

func renderMessages(a Answer) (events []Event) {
	index := -1
	send := func(kind string, fields m) {
		fields["type"] = kind
		events = append(events, Event{kind, object(fields)})
	}
	begin := func(block m) {
		index++
		send("content_block_start", m{"index": index, "content_block": block})
	}
	delta := func(d m) { send("content_block_delta", m{"index": index, "delta": d}) }
	end := func() { send("content_block_stop", m{"index": index}) }
	send("message_start", m{"message": m{"id": "msg_1", "type": "message", "role": "assistant", "content": []m{}, "usage": m{
		"input_tokens": a.Usage.Input - a.Usage.Cached - a.Usage.Written, "cache_read_input_tokens": a.Usage.Cached,
		"cache_creation_input_tokens": a.Usage.Written, "output_tokens": 1,
	}}})
	send("ping", m{})
	if a.Thought != "" {
		begin(m{"type": "thinking", "thinking": "", "signature": ""})
		delta(m{"type": "thinking_delta", "thinking": a.Thought})
		delta(m{"type": "signature_delta", "signature": "c2lnbmVk"})
		delta(m{"type": "signature_delta", "signature": "+/="})
		end()
		begin(m{"type": "redacted_thinking", "data": "b3BhcXVl"})
		end()
	}
	if len(a.Text) > 0 {
		begin(m{"type": "text", "text": ""})
		for _, t := range a.Text {
			delta(m{"type": "text_delta", "text": t})
		}
		end()
	}
	for _, c := range a.Calls {
		begin(m{"type": "tool_use", "id": c.ID, "name": c.Name, "input": m{}})
		half := len(c.Args) / 2
		delta(m{"type": "input_json_delta", "partial_json": c.Args[:half]})
		delta(m{"type": "input_json_delta", "partial_json": c.Args[half:]})
		end()
	}
	stop := "end_turn"
	if a.Length {
		stop = "max_tokens"
	} else if a.Filter {
		stop = "refusal"
	} else if a.Calls != nil {
		stop = "tool_use"
	}
	send("message_delta", m{"delta": m{"stop_reason": stop}, "usage": m{"output_tokens": a.Usage.Output}})
	send("message_stop", m{})
	return events
}

// Stream answers with events; the connection ends in good order.
func Stream(events ...Event) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			_, _ = io.WriteString(w, e.String())
		}
		w.(http.Flusher).Flush()
	}
}

// A Double is a server that answers its n-th request with the n-th handler and
// holds every request against the rules of the API.
type Double struct {
	URL string // as a base URL

	tb      testing.TB
	api     API
	mu      sync.Mutex
	answers []http.HandlerFunc
	bodies  []string
}

// Serve starts a double that ends with the test.
func Serve(tb testing.TB, a API, answers ...http.HandlerFunc) *Double {
	tb.Helper()
	d := &Double{tb: tb, api: a, answers: answers}
	srv := httptest.NewServer(d)
	tb.Cleanup(srv.Close)
	d.URL = srv.URL + "/v1"
	return d
}

// Bodies are the requests so far.
func (d *Double) Bodies() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.bodies)
}

func (d *Double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		d.tb.Errorf("request: %v", err)
		return
	}
	if r.URL.Path != d.api.Path || r.Method != http.MethodPost {
		d.tb.Errorf("%s %s, want POST %s", r.Method, r.URL.Path, d.api.Path)
	}
	if err := d.api.check(r, body); err != nil {
		d.tb.Errorf("request against the rules of the API: %v\n%s", err, body)
	}
	if h := r.Header; h.Get("Authorization") != "Bearer "+Key && h.Get("X-Api-Key") != Key {
		d.tb.Errorf("no key in the request: %v", h)
	}
	d.mu.Lock()
	n := len(d.bodies)
	d.bodies = append(d.bodies, string(body))
	d.mu.Unlock()
	if n >= len(d.answers) {
		d.tb.Errorf("request %d, but there are %d answers", n+1, len(d.answers))
		w.WriteHeader(http.StatusTeapot)
		return
	}
	d.answers[n](w, r)
}

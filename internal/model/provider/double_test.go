package provider_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/provider"
)

const key = "sk-test-0123456789abcdef"

// An answer is what a model says, whatever the API that says it.
type answer struct {
	thought string
	text    []string // the pieces
	calls   []model.Call
	usage   model.Usage
	length  bool // the output limit cut it
}

// An api is one of the three, as its provider speaks it.
type api struct {
	name     provider.API
	path     string
	render   func(answer) []event
	refusal  func(code, message string) string // body of an error
	overflow []http.HandlerFunc                // the ways in which a conversation is too long
	check    func(r *http.Request, body []byte) error
	tail     string // what follows the conversation in a request without an output limit
	marks    []string
}

// An event is one of a stream.
type event struct{ name, data string }

func (e event) String() string {
	if e.name == "" {
		return "data: " + e.data + "\n\n"
	}
	return "event: " + e.name + "\ndata: " + e.data + "\n\n"
}

func object(v map[string]any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

type m = map[string]any

func apis() []api {
	tooLong := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, body)
		}
	}
	return []api{
		{
			name: provider.Chat, path: "/v1/chat/completions", render: renderChat, refusal: openAIRefusal, check: checkChat,
			overflow: []http.HandlerFunc{tooLong(openAIRefusal("context_length_exceeded", "This model's maximum context length is 8192 tokens."))},
			tail:     "]}",
		},
		{
			name: provider.Responses, path: "/v1/responses", render: renderResponses, refusal: openAIRefusal, check: checkResponses,
			overflow: []http.HandlerFunc{
				tooLong(openAIRefusal("context_length_exceeded", "Your input exceeds the context window of this model.")),
				stream(event{"response.failed", object(m{"type": "response.failed", "response": m{
					"status": "failed", "error": m{"code": "context_length_exceeded", "message": "Your input exceeds the context window of this model."},
				}})}),
			},
			tail: "]}",
		},
		{
			name: provider.Messages, path: "/v1/messages", render: renderMessages, refusal: anthropicRefusal, check: checkMessages,
			overflow: []http.HandlerFunc{
				tooLong(anthropicRefusal("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")),
				tooLong(anthropicRefusal("invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000")),
			},
			tail: `],"max_tokens":8192}`, marks: []string{`,"cache_control":{"type":"ephemeral"}`, `"cache_control":{"type":"ephemeral"},`},
		},
	}
}

func openAIRefusal(code, message string) string {
	return object(m{"error": m{"code": code, "message": message, "type": "x", "param": nil}})
}

func anthropicRefusal(code, message string) string {
	return object(m{"type": "error", "error": m{"type": code, "message": message}})
}

func renderChat(a answer) (events []event) {
	chunk := func(delta m, finish any) {
		events = append(events, event{data: object(m{
			"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
			"choices": []m{{"index": 0, "delta": delta, "finish_reason": finish}},
		})})
	}
	if a.thought != "" {
		chunk(m{"reasoning_content": a.thought}, nil)
	}
	for _, t := range a.text {
		chunk(m{"content": t}, nil)
	}
	for i, c := range a.calls {
		chunk(m{"tool_calls": []m{{"index": i, "id": c.ID, "type": "function", "function": m{"name": c.Name, "arguments": ""}}}}, nil)
	}
	for i, c := range a.calls { // the pieces come interleaved
		chunk(m{"tool_calls": []m{{"index": i, "function": m{"arguments": c.Args}}}}, nil)
	}
	finish := "stop"
	if a.length {
		finish = "length"
	} else if a.calls != nil {
		finish = "tool_calls"
	}
	chunk(m{}, finish)
	events = append(events, event{data: object(m{"id": "c", "object": "chat.completion.chunk", "choices": []m{}, "usage": m{
		"prompt_tokens": a.usage.Input, "completion_tokens": a.usage.Output, "prompt_tokens_details": m{"cached_tokens": a.usage.Cached},
	}})})
	return append(events, event{data: "[DONE]"})
}

func renderResponses(a answer) (events []event) {
	index := 0
	send := func(kind string, fields m) {
		fields["type"], fields["output_index"] = kind, index
		events = append(events, event{kind, object(fields)})
	}
	var output []m
	done := func(item m) {
		send("response.output_item.done", m{"item": item})
		output = append(output, item)
		index++
	}
	send("response.created", m{"response": m{"id": "r", "status": "in_progress"}})
	if a.thought != "" {
		send("response.reasoning_summary_text.delta", m{"item_id": "rs_1", "delta": a.thought})
		done(m{"type": "reasoning", "id": "rs_1", "summary": []m{{"type": "summary_text", "text": a.thought}}, "encrypted_content": "c2VjcmV0+/="})
	}
	for _, t := range a.text {
		send("response.output_text.delta", m{"item_id": "msg_1", "content_index": 0, "delta": t})
	}
	if text := strings.Join(a.text, ""); text != "" {
		done(m{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": []m{{"type": "output_text", "text": text}}})
	}
	for _, c := range a.calls {
		send("response.output_item.added", m{"item": m{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Name, "arguments": ""}})
		send("response.function_call_arguments.delta", m{"item_id": "fc_" + c.ID, "delta": c.Args})
		done(m{"type": "function_call", "id": "fc_" + c.ID, "call_id": c.ID, "name": c.Name, "arguments": c.Args, "status": "completed"})
	}
	whole := m{"id": "r", "status": "completed", "output": output, "usage": m{
		"input_tokens": a.usage.Input, "output_tokens": a.usage.Output, "input_tokens_details": m{"cached_tokens": a.usage.Cached},
	}}
	kind := "response.completed"
	if a.length {
		kind = "response.incomplete"
		whole["status"], whole["incomplete_details"] = "incomplete", m{"reason": "max_output_tokens"}
	}
	send(kind, m{"response": whole})
	return events
}

func renderMessages(a answer) (events []event) {
	index := -1
	send := func(kind string, fields m) {
		fields["type"] = kind
		events = append(events, event{kind, object(fields)})
	}
	begin := func(block m) {
		index++
		send("content_block_start", m{"index": index, "content_block": block})
	}
	delta := func(d m) { send("content_block_delta", m{"index": index, "delta": d}) }
	end := func() { send("content_block_stop", m{"index": index}) }
	send("message_start", m{"message": m{"id": "msg_1", "type": "message", "role": "assistant", "content": []m{}, "usage": m{
		"input_tokens": a.usage.Input - a.usage.Cached - a.usage.Written, "cache_read_input_tokens": a.usage.Cached,
		"cache_creation_input_tokens": a.usage.Written, "output_tokens": 1,
	}}})
	send("ping", m{})
	if a.thought != "" {
		begin(m{"type": "thinking", "thinking": "", "signature": ""})
		delta(m{"type": "thinking_delta", "thinking": a.thought})
		delta(m{"type": "signature_delta", "signature": "c2lnbmVk"})
		delta(m{"type": "signature_delta", "signature": "+/="})
		end()
		begin(m{"type": "redacted_thinking", "data": "b3BhcXVl"})
		end()
	}
	if len(a.text) > 0 {
		begin(m{"type": "text", "text": ""})
		for _, t := range a.text {
			delta(m{"type": "text_delta", "text": t})
		}
		end()
	}
	for _, c := range a.calls {
		begin(m{"type": "tool_use", "id": c.ID, "name": c.Name, "input": m{}})
		half := len(c.Args) / 2
		delta(m{"type": "input_json_delta", "partial_json": c.Args[:half]})
		delta(m{"type": "input_json_delta", "partial_json": c.Args[half:]})
		end()
	}
	stop := "end_turn"
	if a.length {
		stop = "max_tokens"
	} else if a.calls != nil {
		stop = "tool_use"
	}
	send("message_delta", m{"delta": m{"stop_reason": stop}, "usage": m{"output_tokens": a.usage.Output}})
	send("message_stop", m{})
	return events
}

// stream answers with events; the connection ends in good order.
func stream(events ...event) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			_, _ = io.WriteString(w, e.String())
		}
		w.(http.Flusher).Flush()
	}
}

// A double is a server of ours that answers its n-th request with the n-th
// handler and holds every request against the rules of the API.
type double struct {
	t   *testing.T
	api api
	url string

	mu      sync.Mutex
	answers []http.HandlerFunc
	bodies  []string
}

func serve(t *testing.T, a api, answers ...http.HandlerFunc) *double {
	t.Helper()
	d := &double{t: t, api: a, answers: answers}
	srv := httptest.NewServer(d)
	t.Cleanup(srv.Close)
	d.url = srv.URL + "/v1"
	return d
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		d.t.Errorf("request: %v", err)
		return
	}
	if r.URL.Path != d.api.path || r.Method != http.MethodPost {
		d.t.Errorf("%s %s, want POST %s", r.Method, r.URL.Path, d.api.path)
	}
	if err := d.api.check(r, body); err != nil {
		d.t.Errorf("request against the rules of the API: %v\n%s", err, body)
	}
	if h := r.Header; h.Get("Authorization") != "Bearer "+key && h.Get("X-Api-Key") != key {
		d.t.Errorf("no key in the request: %v", h)
	}
	d.mu.Lock()
	n := len(d.bodies)
	d.bodies = append(d.bodies, string(body))
	d.mu.Unlock()
	if n >= len(d.answers) {
		d.t.Errorf("request %d, but there are %d answers", n+1, len(d.answers))
		w.WriteHeader(http.StatusTeapot)
		return
	}
	d.answers[n](w, r)
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/modeltest"
	"github.com/ycbot/ycbot/internal/model/script"
)

// An endpoint is a server that speaks chat completions, strictly: a request that
// OpenAI's own description or model.Validate would refuse fails the test. What it
// answers a scenario says.
type endpoint struct {
	t      *testing.T
	key    string
	says   *script.Model
	faults []string // of the first requests, "" for none: 401, 429, 500, cut, hang
	url    string

	unknown []string // models that there are not
	probed  []string // models that were asked whether they will answer

	mu     sync.Mutex
	bodies []string
}

func newEndpoint(t *testing.T, key, scenario string, faults ...string) *endpoint {
	t.Helper()
	says, err := script.Parse([]byte(scenario))
	if err != nil {
		t.Fatal(err)
	}
	e := &endpoint{t: t, key: key, says: says, faults: faults}
	srv := httptest.NewServer(e)
	t.Cleanup(srv.Close)
	e.url = srv.URL + "/v1"
	return e
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	if got := r.Header.Get("Authorization"); got != "Bearer "+e.key {
		e.t.Errorf("Authorization: %q", got)
	}
	if strings.Contains(string(body), "Say: ready") && !slices.Contains(e.faults, "401") {
		e.preflight(w, r, body)
		return
	}
	e.mu.Lock()
	n := len(e.bodies)
	e.bodies = append(e.bodies, string(body))
	e.mu.Unlock()
	req, err := e.read(r, body)
	if err != nil {
		e.t.Errorf("request %d: %v\n%s", n+1, err, body)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fault := ""
	if n < len(e.faults) {
		fault = e.faults[n]
	} else if len(e.faults) > 0 && e.faults[len(e.faults)-1] == "401" {
		fault = "401"
	}
	switch fault {
	case "hang":
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case "", "cut":
		e.answer(w, r, req, fault == "cut")
	default:
		w.Header().Set("Retry-After", "0")
		w.Header().Set("Retry-After-Ms", "1")
		code, err := strconv.Atoi(fault)
		if err != nil {
			e.t.Error(err)
		}
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"error":{"message":"the key %s is not welcome","type":"x","code":null,"param":null}}`, e.key)
	}
}

// preflight answers the question that comes before a run; it counts for nothing.
func (e *endpoint) preflight(w http.ResponseWriter, r *http.Request, body []byte) {
	if _, err := e.read(r, body); err != nil {
		e.t.Errorf("preflight: %v\n%s", err, body)
	}
	name := asked(string(body))
	e.mu.Lock()
	e.probed = append(e.probed, name)
	e.mu.Unlock()
	if slices.Contains(e.unknown, name) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"error":{"message":"The model %s does not exist","type":"invalid_request_error","code":"model_not_found","param":"model"}}`, name)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"ready"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":1,"total_tokens":8}}`+"\n\ndata: [DONE]\n\n")
}

// asked is the model that a request names.
func asked(body string) string {
	var in struct{ Model string }
	if json.Unmarshal([]byte(body), &in) != nil {
		return ""
	}
	return in.Model
}

// read holds a request against the description and returns the conversation.
func (e *endpoint) read(r *http.Request, body []byte) (*model.Request, error) {
	if err := modeltest.Described(r, body); err != nil {
		return nil, err
	}
	var in struct {
		Messages []struct {
			Role       string
			Content    string
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	req := &model.Request{}
	for _, m := range in.Messages {
		if m.Role == "system" {
			req.System = m.Content
			if strings.HasSuffix(strings.TrimSpace(m.Content), "\nLook.") { // of an agent of that text; requests name no agents
				req.Agent = "looker"
			}
			continue
		}
		msg := model.Message{Role: model.Role(m.Role), Text: m.Content, CallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			msg.Calls = append(msg.Calls, model.Call{ID: c.ID, Name: c.Function.Name, Args: c.Function.Arguments})
		}
		req.Messages = append(req.Messages, msg)
	}
	return req, model.Validate(req.Messages)
}

// answer streams what the scenario says; one that is cut breaks off halfway.
func (e *endpoint) answer(w http.ResponseWriter, r *http.Request, req *model.Request, cut bool) {
	resp, err := e.says.Generate(r.Context(), req, nil)
	if err != nil {
		e.t.Errorf("endpoint: %v", err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(choices []any, usage any) {
		data, err := json.Marshal(map[string]any{
			"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, "usage": usage,
		})
		if err != nil {
			e.t.Error(err)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
		w.(http.Flusher).Flush()
	}
	choice := func(delta map[string]any, finish any) []any {
		return []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}
	}
	text := resp.Message.Text
	send(choice(map[string]any{"role": "assistant", "content": text[:len(text)/2]}, nil), nil)
	if cut {
		panic(http.ErrAbortHandler)
	}
	send(choice(map[string]any{"content": text[len(text)/2:]}, nil), nil)
	finish := "stop"
	for i, c := range resp.Message.Calls {
		finish = "tool_calls"
		send(choice(map[string]any{"tool_calls": []any{map[string]any{"index": i, "id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": ""}}}}, nil), nil)
		send(choice(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": c.Args}}}}, nil), nil)
	}
	send(choice(map[string]any{}, finish), nil)
	send([]any{}, map[string]any{"prompt_tokens": resp.Usage.Input, "completion_tokens": resp.Usage.Output, "total_tokens": resp.Usage.Input + resp.Usage.Output})
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// asks is how often someone asked whether a model that there is will answer.
func (e *endpoint) asks() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(e.probed), func(name string) bool { return slices.Contains(e.unknown, name) }))
}

func (e *endpoint) requests() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.bodies
}

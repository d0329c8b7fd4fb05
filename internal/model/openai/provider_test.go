package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/modeltest"
	"github.com/ycbot/ycbot/internal/model/openai"
)

const key = "sk-test-0123456789abcdef"

// A provider is an HTTP server that answers its n-th request with the n-th
// handler, and holds every request against OpenAI's description of its API.
type provider struct {
	t   *testing.T
	url string

	mu      sync.Mutex
	answers []http.HandlerFunc
	bodies  []string
	waits   []time.Duration
	records []model.Exchange
}

func serve(t *testing.T, answers ...http.HandlerFunc) *provider {
	t.Helper()
	p := &provider{t: t, answers: answers}
	srv := httptest.NewServer(p)
	t.Cleanup(srv.Close)
	p.url = srv.URL + "/v1"
	return p
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		p.t.Errorf("request: %v", err)
		return
	}
	if err := modeltest.Described(r, body); err != nil {
		p.t.Errorf("request against OpenAI's description: %v\n%s", err, body)
	}
	if got := r.Header.Get("Authorization"); got != "Bearer "+key {
		p.t.Errorf("Authorization %q", got)
	}
	p.mu.Lock()
	n := len(p.bodies)
	p.bodies = append(p.bodies, string(body))
	p.mu.Unlock()
	if n >= len(p.answers) {
		p.t.Errorf("request %d, but the provider has %d answers", n+1, len(p.answers))
		w.WriteHeader(http.StatusTeapot)
		return
	}
	p.answers[n](w, r)
}

// model returns the model under test: it waits for nothing and writes down how
// long it would have waited.
func (p *provider) model(change ...func(*openai.Options)) *openai.Model {
	p.t.Helper()
	o := openai.Options{
		BaseURL: p.url, Key: key, Model: "gpt-4o-mini", CacheKey: "o/r@abc",
		Retry:  model.Retry{Tries: 4, Base: time.Second, Max: 20 * time.Second, IdleFor: time.Minute},
		Now:    func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		Jitter: func() float64 { return 0.5 },
		Wait: func(_ context.Context, d time.Duration) error {
			p.waits = append(p.waits, d)
			return nil
		},
		Record: func(_ context.Context, e model.Exchange) error {
			p.records = append(p.records, e)
			return nil
		},
	}
	for _, f := range change {
		f(&o)
	}
	m, err := openai.New(o)
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

// chunk is one event of a stream; choice is the JSON of its only choice.
func chunk(choice string) string {
	return `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini","choices":[` + choice + `]}`
}

func text(s string) string {
	return chunk(fmt.Sprintf(`{"index":0,"delta":{"content":%q},"finish_reason":null}`, s))
}

func calls(deltas string) string {
	return chunk(`{"index":0,"delta":{"tool_calls":[` + deltas + `]},"finish_reason":null}`)
}

func finish(why string) string {
	return chunk(fmt.Sprintf(`{"index":0,"delta":{},"finish_reason":%q}`, why))
}

const usageChunk = `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini","choices":[],` +
	`"usage":{"prompt_tokens":120,"completion_tokens":30,"total_tokens":150,"prompt_tokens_details":{"cached_tokens":100}}}`

// stream answers with events as they stand and [DONE].
func stream(events ...string) http.HandlerFunc { return cut(append(events, "[DONE]")...) }

// cut answers with events and no [DONE]; the connection ends in good order.
func cut(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", e)
		}
		w.(http.Flusher).Flush()
	}
}

// broken answers with events and then breaks the connection.
func broken(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		cut(events...)(w, r)
		panic(http.ErrAbortHandler)
	}
}

// status answers with an error of OpenAI's form.
func status(code int, errCode, message string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": errCode, "message": message, "type": "x", "param": nil}})
	}
}

var fine = stream(text("Hel"), text("lo."), finish("stop"), usageChunk)

// conversation is a request with everything in it that a request can have.
func conversation() *model.Request {
	return &model.Request{
		System: "You verify.", Agent: "verification", ID: "0123456789abcdef", MaxOut: 900,
		Messages: []model.Message{
			{Role: model.User, Text: "Verify this."},
			{Role: model.Assistant, Calls: []model.Call{{ID: "a", Name: "read_file", Args: `{"path":"x"}`}, {ID: "b", Name: "grep", Args: `{}`}}},
			{Role: model.Tool, CallID: "a", Text: "package x"},
			{Role: model.Tool, CallID: "b", Text: "none"},
			{Role: model.Assistant, Text: "Half"},
			{Role: model.User, Text: "Go on."},
		},
		Tools: []model.ToolSpec{
			{Name: "read_file", Description: "Reads.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer","maximum":600}},"required":["path"]}`)},
			{Name: "grep", Description: "Finds.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
		},
	}
}

// Package openai asks models behind the OpenAI APIs: chat completions, OpenAI's
// own and the many that speak the same, and Responses.
//
// Answers are streamed; package wire says what is asked again. The same
// conversation is the same bytes in every request, so that the provider's prompt
// cache holds. Chat completions has no way to give reasoning back to the model;
// Responses has, and there it is kept, encrypted, with the answer it belongs to:
// nothing is stored at the provider. Nothing is read from the environment.
package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	sdk "github.com/openai/openai-go"
	"github.com/openai/openai-go/option"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/wire"
)

// DefaultBaseURL is OpenAI's own.
const DefaultBaseURL = "https://api.openai.com/v1"

// The names of the APIs in records.
const (
	Chat      = "chat"
	Responses = "responses"
)

// Options says which model is asked, and how.
type Options struct {
	BaseURL      string            // "": DefaultBaseURL
	Key          string            // "": none is sent, for servers that want none
	KeyHeader    string            // "": Authorization, with Bearer
	Headers      map[string]string // sent with each request
	Model        string
	CacheKey     string       // prompt_cache_key, such as repository and head; "": not sent
	NoEffort     bool         // chat completions: the server does not know reasoning_effort
	OldMaxTokens bool         // chat completions: the server knows max_tokens, not max_completion_tokens
	HTTPClient   *http.Client // nil: http.DefaultClient
	Retry        model.Retry
	Now          func() time.Time
	Jitter       func() float64                                    // 0 to 1; nil: random
	Wait         func(ctx context.Context, d time.Duration) error  // nil: a timer
	Log          *slog.Logger                                      // nil: silent
	Record       func(ctx context.Context, e model.Exchange) error // each attempt, before its result is used; may be nil
}

// A Model is one model of one provider.
type Model struct {
	o       Options
	options []option.RequestOption // and no client: with that as a field, the linker keeps all methods of all services
	caller  *wire.Caller
	body    func(*model.Request) ([]byte, error)
	start   func(*model.Request, []byte) wire.Try
}

// New returns the model that o describes, asked by chat completions.
func New(o Options) (*Model, error) {
	m, err := client(o, Chat)
	if err != nil {
		return nil, err
	}
	m.body = m.chatBody
	m.start = func(req *model.Request, body []byte) wire.Try { return &attempt{m: m, req: req, body: body} }
	return m, nil
}

// NewResponses returns the model that o describes, asked by the Responses API.
func NewResponses(o Options) (*Model, error) {
	m, err := client(o, Responses)
	if err != nil {
		return nil, err
	}
	m.body = m.responsesBody
	m.start = func(_ *model.Request, body []byte) wire.Try { return &response{m: m, body: body} }
	return m, nil
}

func client(o Options, api string) (*Model, error) {
	caller, err := wire.New(wire.Options{
		API: api, Model: o.Model, Key: o.Key, Retry: o.Retry, Now: o.Now, Jitter: o.Jitter, Wait: o.Wait, Log: o.Log, Record: o.Record,
	})
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	o.HTTPClient = wire.Client(o.HTTPClient)
	opts := []option.RequestOption{option.WithBaseURL(o.BaseURL + "/"), option.WithHTTPClient(o.HTTPClient), option.WithMaxRetries(0)}
	for name, value := range o.Headers {
		opts = append(opts, option.WithHeader(name, value))
	}
	switch {
	case o.Key == "":
	case o.KeyHeader != "":
		opts = append(opts, option.WithHeader(o.KeyHeader, o.Key))
	default:
		opts = append(opts, option.WithAPIKey(o.Key))
	}
	return &Model{o: o, options: opts, caller: caller}, nil
}

// Name is the model's name as the provider knows it.
func (m *Model) Name() string { return m.o.Model }

// Generate asks until there is a whole answer, the provider refuses for good, the
// tries are used up or ctx is done.
func (m *Model) Generate(ctx context.Context, req *model.Request, on func(model.Delta)) (*model.Response, error) {
	body, err := m.body(req)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.o.Model, err)
	}
	return m.caller.Generate(ctx, req, body, on, func() wire.Try { return m.start(req, body) })
}

// stream sends body and passes each event of the answer to take until it says that
// it was the last.
func (m *Model) stream(ctx context.Context, path string, body []byte, open func(*http.Response) error, take func(data []byte) (done bool, err error)) error {
	var raw *http.Response
	// Not sdk.NewClient, which reads the environment. Clipped, as Post appends to the options,
	// and requests side by side would write to the same place.
	client := sdk.Client{Options: slices.Clip(m.options)}
	err := client.Post(ctx, path, json.RawMessage(body), &raw, option.WithHeader("Accept", "text/event-stream"))
	var api *sdk.Error
	if errors.As(err, &api) {
		refusal := &wire.Refusal{Status: api.StatusCode, Code: api.Code, Message: first(api.Message, api.RawJSON())}
		if api.Response != nil {
			refusal.Header = api.Response.Header
		}
		return refusal
	}
	if err != nil {
		return err
	}
	if err := open(raw); err != nil {
		_ = raw.Body.Close()
		return err
	}
	return wire.Events(raw, take)
}

// broken reads an error that came inside a stream.
func broken(raw json.RawMessage) error {
	var v struct {
		Code    any    `json:"code"`
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return &wire.Broken{Message: string(raw)}
	}
	code := fmt.Sprint(v.Code)
	if v.Code == nil || code == "" {
		code = v.Type
	}
	return &wire.Broken{Code: code, Message: v.Message}
}

func first(of ...string) string {
	for _, s := range of {
		if s != "" {
			return s
		}
	}
	return ""
}

// parameters reads a tool's schema; one without is a tool without arguments.
func parameters(t model.ToolSpec) (map[string]any, error) {
	p := map[string]any{"type": "object", "properties": map[string]any{}}
	if len(t.Schema) == 0 {
		return p, nil
	}
	p = nil
	if err := json.Unmarshal(t.Schema, &p); err != nil {
		return nil, fmt.Errorf("schema of tool %s: %w", t.Name, err)
	}
	return p, nil
}

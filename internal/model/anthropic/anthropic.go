// Package anthropic asks models by Anthropic's Messages API.
//
// Answers are streamed; package wire says what is asked again. Thinking is kept
// with the answer it belongs to, signed as it came, and given back unchanged, as
// the API wants it where tools are used. Cache breakpoints stand behind the tools,
// the system text and the last two turns of the user, so that each request finds
// what the one before wrote: apart from these marks, which are no part of what is
// cached, each request begins with the bytes of the one before. Nothing is read
// from the environment.
package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/wire"
)

// DefaultBaseURL is Anthropic's own.
const DefaultBaseURL = "https://api.anthropic.com"

// Messages is the name of the API in records.
const Messages = "messages"

// defaultMaxOut is the output limit where the caller names none: the API wants
// one, and this is one that all current models take.
const defaultMaxOut = 8192

// Adaptive as Options.Thinking leaves it to the model how long it thinks.
const Adaptive = -1

// Options says which model is asked, and how.
type Options struct {
	BaseURL    string            // "": DefaultBaseURL; a trailing /v1 is taken off
	Key        string            // "": none is sent
	KeyHeader  string            // "": x-api-key
	Headers    map[string]string // sent with each request, such as anthropic-beta
	Model      string
	Thinking   int // tokens for thinking, which come on top of the output limit; 0: none; Adaptive
	HTTPClient *http.Client
	Retry      model.Retry
	Now        func() time.Time
	Jitter     func() float64                                    // 0 to 1; nil: random
	Wait       func(ctx context.Context, d time.Duration) error  // nil: a timer
	Log        *slog.Logger                                      // nil: silent
	Record     func(ctx context.Context, e model.Exchange) error // each attempt, before its result is used; may be nil
}

// A Model is one model of one provider.
type Model struct {
	o       Options
	options []option.RequestOption // and no client: with that as a field, the linker keeps all methods of all services
	caller  *wire.Caller
	memo    wire.Memo
}

// New returns the model that o describes.
func New(o Options) (*Model, error) {
	caller, err := wire.New(wire.Options{
		API: Messages, Model: o.Model, Key: o.Key, Retry: o.Retry, Now: o.Now, Jitter: o.Jitter, Wait: o.Wait, Log: o.Log, Record: o.Record,
	})
	if err != nil {
		return nil, fmt.Errorf("anthropic: %w", err)
	}
	o.BaseURL = strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/v1")
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	if o.HTTPClient == nil {
		o.HTTPClient = http.DefaultClient
	}
	opts := []option.RequestOption{option.WithBaseURL(o.BaseURL + "/"), option.WithHTTPClient(o.HTTPClient), option.WithMaxRetries(0)}
	for name, value := range o.Headers {
		opts = append(opts, option.WithHeader(name, value))
	}
	switch {
	case o.Key == "":
	case o.KeyHeader != "":
		opts = append(opts, option.WithHeader(o.KeyHeader, o.Key))
	default:
		opts = append(opts, option.WithHeader("X-Api-Key", o.Key))
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
	return m.caller.Generate(ctx, req, body, on, func() wire.Try { return &attempt{m: m, body: body} })
}

// stream sends body and passes each event of the answer to take until it says that
// it was the last.
func (m *Model) stream(ctx context.Context, body []byte, open func(*http.Response) error, take func(data []byte) (done bool, err error)) error {
	var raw *http.Response
	client := sdk.Client{Options: m.options} // not sdk.NewClient: that reads the environment
	err := client.Post(ctx, "v1/messages", json.RawMessage(body), &raw,
		option.WithHeader("Accept", "text/event-stream"), option.WithHeader("Anthropic-Version", "2023-06-01"))
	var api *sdk.Error
	if errors.As(err, &api) {
		refusal := &wire.Refusal{Status: api.StatusCode, Message: api.RawJSON()}
		var said struct {
			Error struct{ Type, Message string } `json:"error"`
		}
		if json.Unmarshal([]byte(api.RawJSON()), &said) == nil && said.Error.Message != "" {
			refusal.Code, refusal.Message = said.Error.Type, said.Error.Message
		}
		if api.Response != nil {
			refusal.Header = api.Response.Header
		}
		return refusal
	}
	if err != nil {
		return err
	}
	defer func() { _ = raw.Body.Close() }() // read to its end or given up: nothing to learn
	if err := open(raw); err != nil {
		return err
	}
	return wire.Events(ssestream.NewDecoder(raw), func(e ssestream.Event) []byte { return e.Data }, take)
}

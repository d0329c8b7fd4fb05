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
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

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

// Options says which model is asked, and how.
type Options struct {
	BaseURL    string            // "": DefaultBaseURL; a trailing /v1 is taken off
	Key        string            // "": none is sent
	KeyHeader  string            // "": x-api-key
	Headers    map[string]string // sent with each request, such as anthropic-beta
	Model      string
	HTTPClient *http.Client // nil: http.DefaultClient
	Retry      model.Retry
	Now        func() time.Time
	Jitter     func() float64                                    // 0 to 1; nil: random
	Wait       func(ctx context.Context, d time.Duration) error  // nil: a timer
	Log        *slog.Logger                                      // nil: silent
	Record     func(ctx context.Context, e model.Exchange) error // each attempt, before its result is used; may be nil
}

// A Model is one model of one provider.
type Model struct {
	o      Options
	header http.Header // of each request
	caller *wire.Caller
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
	o.HTTPClient = wire.Client(o.HTTPClient)
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "text/event-stream")
	header.Set("Anthropic-Version", "2023-06-01")
	header.Set("User-Agent", "ycbot")
	for name, value := range o.Headers {
		header.Set(name, value)
	}
	switch {
	case o.Key == "":
	case o.KeyHeader != "":
		header.Set(o.KeyHeader, o.Key)
	default:
		header.Set("X-Api-Key", o.Key)
	}
	return &Model{o: o, header: header, caller: caller}, nil
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
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.o.BaseURL+"/v1/messages", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = m.header.Clone()
	raw, err := m.o.HTTPClient.Do(req)
	if err != nil {
		return err
	}
	if raw.StatusCode < 200 || raw.StatusCode > 299 {
		defer func() { _ = raw.Body.Close() }() // what could not be read is said to be missing
		return refusal(raw)
	}
	if err := open(raw); err != nil {
		_ = raw.Body.Close()
		return err
	}
	return wire.Events(raw, take)
}

// maxRefusal is how much of a refusal is read, in bytes.
const maxRefusal = 64 << 10

// refusal reads the answer of an endpoint that did not serve the request.
func refusal(r *http.Response) *wire.Refusal {
	text, _ := io.ReadAll(io.LimitReader(r.Body, maxRefusal)) // a part still says why
	out := &wire.Refusal{Status: r.StatusCode, Message: string(text), Header: r.Header}
	var body struct {
		Error struct{ Type, Message string } `json:"error"`
	}
	if json.Unmarshal(text, &body) == nil && body.Error.Message != "" {
		out.Code, out.Message = body.Error.Type, body.Error.Message
	}
	return out
}

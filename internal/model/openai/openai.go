// Package openai asks models behind the OpenAI chat completions API, OpenAI's own
// and the many that speak the same.
//
// Answers are streamed. A refusal to serve (408, 409, 429, 5xx), a connection
// that fails, a stream that breaks off or brings nothing for too long is asked
// again with growing pauses, as a provider's Retry-After wants it; what had been
// streamed is then void, which a Delta with Reset tells. The same conversation is
// the same bytes in every request, so that the provider's prompt cache holds.
// Nothing is read from the environment, and no error contains the key.
package openai

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/ycbot/ycbot/internal/model"
)

// DefaultBaseURL is OpenAI's own.
const DefaultBaseURL = "https://api.openai.com/v1"

// Options says which model is asked, and how.
type Options struct {
	BaseURL    string // "": DefaultBaseURL
	Key        string // "": no Authorization header, for servers that want none
	Model      string
	CacheKey   string       // prompt_cache_key, such as repository and head; "": not sent
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
	client sdk.Client
}

// New returns the model that o describes.
func New(o Options) (*Model, error) {
	if o.Model == "" {
		return nil, errors.New("openai: no model is named")
	}
	if o.Now == nil {
		return nil, errors.New("openai: Now is missing")
	}
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	if o.BaseURL == "" {
		o.BaseURL = DefaultBaseURL
	}
	if o.HTTPClient == nil {
		o.HTTPClient = http.DefaultClient
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Retry = retry(o.Retry)
	opts := []option.RequestOption{option.WithBaseURL(o.BaseURL + "/"), option.WithHTTPClient(o.HTTPClient), option.WithMaxRetries(0)}
	if o.Key != "" {
		opts = append(opts, option.WithAPIKey(o.Key))
	}
	// Not sdk.NewClient: that reads the environment.
	return &Model{o: o, client: sdk.Client{Options: opts}}, nil
}

func retry(r model.Retry) model.Retry {
	if r.Tries <= 0 {
		r.Tries = 5
	}
	if r.Base <= 0 {
		r.Base = 500 * time.Millisecond
	}
	if r.Max <= 0 {
		r.Max = 60 * time.Second
	}
	if r.IdleFor <= 0 {
		r.IdleFor = 120 * time.Second
	}
	return r
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
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
	if on == nil {
		on = func(model.Delta) {}
	}
	for try := 1; ; try++ {
		a := &attempt{m: m, req: req, body: body, on: on}
		began := m.o.Now()
		resp, err := a.run(ctx)
		if recErr := m.record(ctx, a, try, began, resp, err); recErr != nil {
			return nil, recErr
		}
		if err == nil {
			return resp, nil
		}
		var f *fault
		switch {
		case ctx.Err() != nil:
			return resp, fmt.Errorf("model %s: %w", m.o.Model, context.Cause(ctx))
		case !errors.As(err, &f) || !f.again:
			return resp, fmt.Errorf("model %s: %w", m.o.Model, err)
		case try == m.o.Retry.Tries:
			return resp, fmt.Errorf("model %s: %w: %d tries, the last: %w", m.o.Model, model.ErrDown, try, err)
		}
		if a.said {
			on(model.Delta{Reset: true})
		}
		pause := m.pause(try, f.after)
		m.o.Log.WarnContext(ctx, "model is asked again", "model", m.o.Model, "try", try, "pause", pause, "error", err)
		if err := m.o.Wait(ctx, pause); err != nil {
			return nil, fmt.Errorf("model %s: %w", m.o.Model, context.Cause(ctx))
		}
	}
}

// pause is how long to wait after a try: what the provider wants, else a time
// that doubles, of which a random part up to half is left out.
func (m *Model) pause(try int, after time.Duration) time.Duration {
	if after > 0 {
		return min(after, m.o.Retry.Max)
	}
	d := m.o.Retry.Max
	if try < 30 {
		d = min(m.o.Retry.Base<<(try-1), m.o.Retry.Max)
	}
	return d/2 + time.Duration(float64(d/2)*m.o.Jitter())
}

func (m *Model) record(ctx context.Context, a *attempt, try int, began time.Time, resp *model.Response, err error) error {
	if m.o.Record == nil {
		return nil
	}
	e := model.Exchange{
		Time: began.UTC(), Agent: a.req.Agent, ID: a.req.ID, Model: m.o.Model, N: model.Answers(a.req.Messages) + 1,
		Attempt: try, Status: a.status, DurationMS: m.o.Now().Sub(began).Milliseconds(), Request: a.body,
	}
	if err != nil {
		e.Error = err.Error()
	} else {
		e.Response = resp
	}
	if err := m.o.Record(ctx, e); err != nil {
		return fmt.Errorf("model %s: record: %w", m.o.Model, err)
	}
	return nil
}

package provider

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/anthropic"
	"github.com/ycbot/ycbot/internal/model/openai"
)

// Options says which model of a target is asked, and how.
type Options struct {
	Model      string
	CacheKey   string // such as repository and head; sent where the provider takes one
	HTTPClient *http.Client
	Retry      model.Retry
	Now        func() time.Time
	Jitter     func() float64
	Wait       func(ctx context.Context, d time.Duration) error
	Log        *slog.Logger
	Record     func(ctx context.Context, e model.Exchange) error
}

// TakesEffort says whether a model of the target can be asked with an effort. One that
// cannot is asked without.
func (t Target) TakesEffort(name string) bool {
	switch t.API {
	case Messages:
		return anthropic.Thinks(name)
	case Chat:
		return !t.Preset.NoEffort && openai.Reasons(name)
	case Responses:
		return openai.Reasons(name)
	}
	return false
}

// Open returns a model of the target.
func (t Target) Open(o Options) (model.Model, error) {
	if t.API == Messages {
		return t.anthropic(o)
	}
	oo := openai.Options{
		BaseURL: t.BaseURL, Key: t.Key, KeyHeader: t.Preset.KeyHeader, Headers: t.Preset.Headers,
		Model: o.Model, NoEffort: t.Preset.NoEffort, OldMaxTokens: t.Preset.OldMax,
		HTTPClient: o.HTTPClient, Retry: o.Retry, Now: o.Now, Jitter: o.Jitter, Wait: o.Wait, Log: o.Log, Record: o.Record,
	}
	if t.Preset.CacheKey {
		oo.CacheKey = o.CacheKey
	}
	var m *openai.Model
	var err error
	switch t.API {
	case Chat:
		m, err = openai.New(oo)
	case Responses:
		m, err = openai.NewResponses(oo)
	default:
		err = fmt.Errorf("API %q: want one of %s", t.API, spoken([]API{Chat, Responses, Messages}))
	}
	if err != nil {
		return nil, fmt.Errorf("provider %s: %w", t.Preset.Name, err)
	}
	return m, nil
}

func (t Target) anthropic(o Options) (model.Model, error) {
	m, err := anthropic.New(anthropic.Options{
		BaseURL: t.BaseURL, Key: t.Key, KeyHeader: t.Preset.KeyHeader, Headers: t.Preset.Headers, Model: o.Model,
		HTTPClient: o.HTTPClient, Retry: o.Retry, Now: o.Now, Jitter: o.Jitter, Wait: o.Wait, Log: o.Log, Record: o.Record,
	})
	if err != nil {
		return nil, fmt.Errorf("provider %s: %w", t.Preset.Name, err)
	}
	return m, nil
}

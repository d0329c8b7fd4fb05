// Package wire is what all providers' clients share: tries and pauses, streams
// that fall silent, errors distinguished, records.
//
// A client builds the body of a request and reads one stream; everything around
// that is here, so that no two APIs behave differently when something goes wrong.
// A refusal to serve (408, 409, 429, 5xx), a connection that fails, a stream that
// breaks off are asked again with growing pauses, as a provider's Retry-After
// wants it; a stream that brings nothing for too long is asked again once. What
// had been streamed is then void, which a Delta with Reset says. Nothing is read
// from the environment, and no error contains the key.
package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"mime"
	"net/http"
	"time"

	"github.com/openai/openai-go/packages/ssestream"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/redirect"
)

// Options says how a provider is asked, whatever its API.
type Options struct {
	API    string // for records
	Model  string
	Key    string // taken out of what a provider says
	Retry  model.Retry
	Now    func() time.Time
	Jitter func() float64                                    // 0 to 1; nil: random
	Wait   func(ctx context.Context, d time.Duration) error  // nil: a timer
	Log    *slog.Logger                                      // nil: silent
	Record func(ctx context.Context, e model.Exchange) error // each attempt, before its result is used; may be nil
}

// A Caller asks until there is an answer.
type Caller struct{ o Options }

// New returns a caller; what o leaves out has defaults.
func New(o Options) (*Caller, error) {
	if o.Model == "" {
		return nil, errors.New("no model is named")
	}
	if o.Now == nil {
		return nil, errors.New("the option Now is missing")
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
	return &Caller{o}, nil
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

// Client is what a provider is asked with: c, nil for the default one, where redirects to
// other hosts are not followed. Keys and conversations are for the endpoint that was named.
func Client(c *http.Client) *http.Client {
	if c == nil {
		c = http.DefaultClient
	}
	return redirect.Client(c)
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

// A Try is one request and what comes of it.
type Try interface {
	// Ask sends the request and takes its stream to the end. It calls open with
	// the response before it reads the body, and gives up if open returns an error.
	Ask(ctx context.Context, open func(*http.Response) error, on func(model.Delta)) error
	// Answer is what came. Where that is not whole it has no calls, and may be nil.
	Answer(whole bool) *model.Response
}

// idles is how often a stream may fall silent before the provider counts as down.
const idles = 2

// errIdle is the cause of an attempt's end when nothing came for too long.
var errIdle = errors.New("nothing came for too long")

// Generate asks until there is a whole answer, the provider refuses for good, the
// tries are used up or ctx is done. Every try sends body.
func (c *Caller) Generate(ctx context.Context, req *model.Request, body []byte, on func(model.Delta), start func() Try) (*model.Response, error) {
	if on == nil {
		on = func(model.Delta) {}
	}
	silent := 0
	for try := 1; ; try++ {
		a := &attempt{c: c, try: start(), on: on}
		began := c.o.Now()
		resp, err := a.run(ctx)
		if err == nil {
			if sent, cut := req.CutShort(resp.Usage); cut {
				resp.Lost = sent - resp.Usage.Input
			}
		}
		if recErr := c.record(ctx, req, body, try, began, a.status, resp, err); recErr != nil {
			return nil, recErr
		}
		if err == nil {
			return resp, nil
		}
		if errors.Is(err, errIdle) {
			silent++
		}
		var f *Fault
		switch {
		case ctx.Err() != nil:
			return resp, fmt.Errorf("model %s: %w", c.o.Model, context.Cause(ctx))
		case !errors.As(err, &f) || !f.Again:
			return resp, fmt.Errorf("model %s: %w", c.o.Model, err)
		case silent == idles:
			return resp, fmt.Errorf("model %s: %w: %w: %d tries, the last: %w", c.o.Model, model.ErrDown, model.ErrSilent, try, err)
		case try == c.o.Retry.Tries:
			if try == 1 {
				return resp, fmt.Errorf("model %s: %w: %w", c.o.Model, model.ErrDown, err)
			}
			return resp, fmt.Errorf("model %s: %w: %d tries, the last: %w", c.o.Model, model.ErrDown, try, err)
		}
		if a.said {
			on(model.Delta{Reset: true})
		}
		pause := c.pause(try, f.after)
		c.o.Log.WarnContext(ctx, "model is asked again", "model", c.o.Model, "try", try, "pause", pause, "error", err)
		if err := c.o.Wait(ctx, pause); err != nil {
			return nil, fmt.Errorf("model %s: %w", c.o.Model, context.Cause(ctx))
		}
	}
}

// pause is how long to wait after a try: what the provider wants, else a time
// that doubles, of which a random part up to half is left out.
func (c *Caller) pause(try int, after time.Duration) time.Duration {
	if after > 0 {
		return min(after, c.o.Retry.Max)
	}
	d := c.o.Retry.Max
	if try < 30 {
		d = min(c.o.Retry.Base<<(try-1), c.o.Retry.Max)
	}
	return d/2 + time.Duration(float64(d/2)*c.o.Jitter())
}

func (c *Caller) record(ctx context.Context, req *model.Request, body []byte, try int, began time.Time, status int, resp *model.Response, err error) error {
	if c.o.Record == nil {
		return nil
	}
	e := model.Exchange{
		Time: began.UTC(), Agent: req.Agent, ID: req.ID, API: c.o.API, Model: c.o.Model, N: model.Answers(req.Messages) + 1,
		Attempt: try, Status: status, DurationMS: c.o.Now().Sub(began).Milliseconds(), Request: body,
	}
	if err != nil {
		e.Error = err.Error()
	} else {
		e.Response = resp
	}
	if err := c.o.Record(ctx, e); err != nil {
		return fmt.Errorf("model %s: record: %w", c.o.Model, err)
	}
	return nil
}

// An attempt watches over one try.
type attempt struct {
	c      *Caller
	try    Try
	on     func(model.Delta)
	status int
	said   bool // something was passed to on
}

// run asks once. What came before an error is returned beside it, without calls.
func (a *attempt) run(ctx context.Context) (*model.Response, error) {
	limit := a.c.o.Retry.IdleFor
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(limit, func() { cancel(errIdle) })
	defer idle.Stop()
	open := func(r *http.Response) error {
		a.status = r.StatusCode
		r.Body = &watched{ReadCloser: r.Body, heard: func() { idle.Reset(limit) }}
		return streams(r)
	}
	err := a.try.Ask(ctx, open, func(d model.Delta) {
		a.said = true
		a.on(d)
	})
	if err == nil {
		return a.try.Answer(true), nil
	}
	if errors.Is(context.Cause(ctx), errIdle) {
		err = fmt.Errorf("%w (%s)", errIdle, limit)
	}
	f := a.c.fault(err)
	if f.Status != 0 {
		a.status = f.Status
	}
	return a.try.Answer(false), f
}

// streams refuses a web page, which is what many a wrong address answers with.
func streams(r *http.Response) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "text/html" {
		return nil //nolint:nilerr // servers that name no type, or a wrong one, still stream
	}
	return &Refusal{Status: r.StatusCode, Code: CodeWebPage, Message: "the endpoint answered with a web page, not with a stream", For: model.ErrModel}
}

// watched says when something was read.
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

// ErrEnded is a stream whose connection ended in good order before take said that it was done.
var ErrEnded = errors.New("the stream broke off before its end")

// Events passes the data of each server-sent event of r to take, until that is done.
// It closes the body of r.
func Events(r *http.Response, take func(data []byte) (done bool, err error)) error {
	stream := ssestream.NewDecoder(r)
	defer func() { _ = stream.Close() }() // read to its end or given up: nothing to learn
	for stream.Next() {
		text := bytes.TrimSpace(stream.Event().Data)
		if len(text) == 0 {
			continue
		}
		if done, err := take(text); done || err != nil {
			return err
		}
	}
	if err := stream.Err(); err != nil {
		return fmt.Errorf("the stream broke off: %w", err)
	}
	return ErrEnded
}

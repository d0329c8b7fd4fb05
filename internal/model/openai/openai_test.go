package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/modeltest"
	"github.com/ycbot/ycbot/internal/model/openai"
)

func deltas(got *string) func(model.Delta) {
	return func(d model.Delta) {
		if d.Reset {
			*got += "<reset>"
		}
		if d.Reasoning != "" {
			*got += "<" + d.Reasoning + ">"
		}
		*got += d.Text
	}
}

func TestAnswerIsStreamed(t *testing.T) {
	t.Parallel()
	p := serve(t, stream(
		chunk(`{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":"hm"},"finish_reason":null}`),
		chunk(`{"index":0.0,"delta":{"content":[{"type":"thinking","thinking":[]}],"reasoning":{}}}`), // as some servers have it
		text("Hel"), text("lo."), finish("stop"), usageChunk,
	))
	var seen string
	resp, err := p.model().Generate(t.Context(), conversation(), deltas(&seen))
	if err != nil {
		t.Fatal(err)
	}
	want := &model.Response{
		Message: model.Message{Role: model.Assistant, Text: "Hello."}, Stop: model.StopEnd,
		Usage: model.Usage{Input: 120, Output: 30, Cached: 100},
	}
	if diff := cmp.Diff(want, resp); diff != "" {
		t.Error(diff)
	}
	if seen != "<hm>Hello." {
		t.Errorf("streamed %q", seen)
	}
}

// A provider caches by prefix: the same conversation must be the same bytes,
// whatever the order in which the tools were given, and a longer one must begin
// with the messages of the shorter.
func TestRequestBytesAreStable(t *testing.T) {
	t.Parallel()
	p := serve(t, fine, fine, fine)
	m := p.model()
	longer := conversation()
	longer.Messages = append(longer.Messages, model.Message{Role: model.Assistant, Text: "x"}, model.Message{Role: model.User, Text: "y"})
	turned := conversation()
	turned.Tools[0], turned.Tools[1] = turned.Tools[1], turned.Tools[0]
	for _, req := range []*model.Request{conversation(), turned, longer} {
		if _, err := m.Generate(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(p.bodies[0], p.bodies[1]); diff != "" {
		t.Errorf("the order of tools changes the request:\n%s", diff)
	}
	messages, _, _ := strings.Cut(p.bodies[0], `],"max_completion_tokens"`)
	if !strings.HasPrefix(p.bodies[2], messages) {
		t.Errorf("the longer conversation does not begin as the shorter:\n%s\n%s", p.bodies[2], messages)
	}
	for _, want := range []string{
		`"stream":true`, `"tool_call_id":"a"`, `"tool_call_id":"b"`, `"stream_options":{"include_usage":true}`, `"max_completion_tokens":900`, `"prompt_cache_key":"o/r@abc"`,
		`"tool_calls":[{"id":"a","function":{"arguments":"{\"path\":\"x\"}","name":"read_file"},"type":"function"}`, `"maximum":600`,
	} {
		if !strings.Contains(p.bodies[0], want) {
			t.Errorf("the request lacks %s:\n%s", want, p.bodies[0])
		}
	}
	for _, never := range []string{"verification", "0123456789abcdef", "max_tokens", "tool_choice"} {
		if strings.Contains(p.bodies[0], never) {
			t.Errorf("the request contains %s:\n%s", never, p.bodies[0])
		}
	}
}

// The tools stay listed where none may be called, or the cached prefix is lost.
func TestNoCallsKeepsTools(t *testing.T) {
	t.Parallel()
	p := serve(t, fine)
	req := conversation()
	req.NoCalls, req.MaxOut = true, 0
	if _, err := p.model().Generate(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	if b := p.bodies[0]; !strings.Contains(b, `"tool_choice":"none"`) || !strings.Contains(b, `"name":"grep"`) || strings.Contains(b, "max_completion") {
		t.Errorf("request %s", b)
	}
}

// A refusal in words ends an answer as the provider's filter does.
func TestRefusalInWords(t *testing.T) {
	t.Parallel()
	const no = `{"choices":[{"index":0,"delta":{"refusal":"No."}}]}`
	for _, tc := range []struct {
		name   string
		events []string
		text   string
		stop   model.Stop
	}{
		{"a refusal", []string{no, finish("stop")}, "No.", model.StopFilter},
		{"an empty one", []string{`{"choices":[{"index":0,"delta":{"content":"Yes.","refusal":null}}]}`, finish("stop")}, "Yes.", model.StopEnd},
		{"beside a call", []string{no, calls(`{"index":0,"id":"a","function":{"name":"grep","arguments":"{}"}}`), finish("tool_calls")}, "No.", model.StopCalls},
	} {
		resp, err := serve(t, stream(tc.events...)).model().Generate(t.Context(), conversation(), nil)
		if err != nil || resp.Message.Text != tc.text || resp.Stop != tc.stop {
			t.Errorf("%s: %+v %v", tc.name, resp, err)
		}
	}
}

func TestCallsAreAssembled(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		events []string
		want   []model.Call
		stop   model.Stop
	}{
		{
			"two calls in pieces, interleaved",
			[]string{
				calls(`{"index":0,"id":"a","type":"function","function":{"name":"read_file","arguments":""}}`),
				calls(`{"index":1,"id":"b","type":"function","function":{"name":"grep","arguments":"{\"p\":"}}`),
				calls(`{"index":0,"function":{"arguments":"{\"path\":\"x\"}"}},{"index":1,"function":{"arguments":"1}"}}`),
				finish("tool_calls"),
			},
			[]model.Call{{ID: "a", Name: "read_file", Args: `{"path":"x"}`}, {ID: "b", Name: "grep", Args: `{"p":1}`}},
			model.StopCalls,
		},
		{
			"whole calls in one chunk, without an index",
			[]string{calls(`{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"f","arguments":"{\"x\":1}"}}`), finish("tool_calls")},
			[]model.Call{{ID: "a", Name: "f", Args: "{}"}, {ID: "b", Name: "f", Args: `{"x":1}`}},
			model.StopCalls,
		},
		{
			"whole calls that all say index 0, finish reason stop",
			[]string{
				calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`),
				calls(`{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}`), finish("stop"),
			},
			[]model.Call{{ID: "a", Name: "f", Args: "{}"}, {ID: "b", Name: "g", Args: "{}"}},
			model.StopCalls,
		},
		{
			"no ids: made up from their place in the conversation",
			[]string{calls(`{"index":0,"function":{"name":"f","arguments":"{}"}},{"index":1,"id":"","function":{"name":"f","arguments":"{}"}}`), finish("tool_calls")},
			[]model.Call{{ID: "call_3_1", Name: "f", Args: "{}"}, {ID: "call_3_2", Name: "f", Args: "{}"}},
			model.StopCalls,
		},
		{
			"numbers as texts, an id that is a number, arguments that are no text",
			[]string{calls(`{"index":"0","id":7,"function":{"name":"f","arguments":{"x":1}}},{"index":null,"id":"b","function":{"name":"g","arguments":null}}`), finish("tool_calls")},
			[]model.Call{{ID: "7", Name: "f", Args: `{"x":1}`}, {ID: "b", Name: "g"}},
			model.StopCalls,
		},
		{
			"no index, in pieces",
			[]string{calls(`{"id":"a","function":{"name":"f","arguments":"{\"x\""}}`), calls(`{"function":{"arguments":":1}"}}`), finish("tool_calls")},
			[]model.Call{{ID: "a", Name: "f", Args: `{"x":1}`}},
			model.StopCalls,
		},
		{
			"the name comes again with each piece",
			[]string{
				calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`), calls(`{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}`),
				finish("length"),
			},
			[]model.Call{{ID: "a", Name: "f", Args: `{"x":1}`}},
			model.StopLength,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, stream(tc.events...))
			resp, err := p.model().Generate(t.Context(), conversation(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, resp.Message.Calls); diff != "" {
				t.Error(diff)
			}
			if resp.Stop != tc.stop {
				t.Errorf("stop %q", resp.Stop)
			}
			if !resp.Usage.Estimated || resp.Usage.Input == 0 {
				t.Errorf("usage without figures %+v", resp.Usage)
			}
		})
	}
}

// What may fix itself is asked again: the answer is the same as if nothing had
// happened, and the pauses are those that were asked for, or grow.
func TestAskedAgain(t *testing.T) {
	t.Parallel()
	date := time.Date(2026, 1, 2, 3, 4, 12, 0, time.UTC).Format(http.TimeFormat)
	for _, tc := range []struct {
		name    string
		answers []http.HandlerFunc
		waits   []time.Duration
		seen    string
	}{
		{"429 with seconds", []http.HandlerFunc{status(429, "rate_limit_exceeded", "slow", "Retry-After", "3"), fine}, []time.Duration{3 * time.Second}, "Hello."},
		{"429 with a date", []http.HandlerFunc{status(429, "", "slow", "Retry-After", date), fine}, []time.Duration{7 * time.Second}, "Hello."},
		{"429 for an hour", []http.HandlerFunc{status(429, "", "slow", "Retry-After", "3600"), fine}, []time.Duration{20 * time.Second}, "Hello."},
		{
			"500, 503, 408",
			[]http.HandlerFunc{status(500, "", "x"), status(503, "", "x"), status(408, "", "x"), fine},
			[]time.Duration{750 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second},
			"Hello.",
		},
		{"409", []http.HandlerFunc{status(409, "", "x"), fine}, []time.Duration{750 * time.Millisecond}, "Hello."},
		{"the connection breaks", []http.HandlerFunc{broken(text("Hel")), fine}, []time.Duration{750 * time.Millisecond}, "Hel<reset>Hello."},
		{"no response at all", []http.HandlerFunc{func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, fine}, []time.Duration{750 * time.Millisecond}, "Hello."},
		{"no finish reason", []http.HandlerFunc{stream(text("Hel")), fine}, []time.Duration{750 * time.Millisecond}, "Hel<reset>Hello."},
		{"no [DONE], and the connection breaks", []http.HandlerFunc{broken(text("Hel"), finish("stop")), fine}, []time.Duration{750 * time.Millisecond}, "Hel<reset>Hello."},
		{"malformed chunk", []http.HandlerFunc{stream(text("Hel"), `{"choices":[{`), fine}, []time.Duration{750 * time.Millisecond}, "Hel<reset>Hello."},
		{"an error inside the stream", []http.HandlerFunc{stream(text("Hel"), `{"error":{"message":"overloaded","type":"server_error"}}`), fine}, []time.Duration{750 * time.Millisecond}, "Hel<reset>Hello."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, tc.answers...)
			var seen string
			resp, err := p.model().Generate(t.Context(), conversation(), deltas(&seen))
			if err != nil {
				t.Fatal(err)
			}
			if resp.Message.Text != "Hello." || resp.Usage.Input != 120 {
				t.Errorf("answer %+v", resp)
			}
			if diff := cmp.Diff(tc.waits, p.waits); diff != "" {
				t.Errorf("pauses: %s", diff)
			}
			if seen != tc.seen {
				t.Errorf("streamed %q, want %q", seen, tc.seen)
			}
			for i, b := range p.bodies {
				if b != p.bodies[0] {
					t.Errorf("try %d sent other bytes", i+1)
				}
			}
			if n := len(p.records); n != len(tc.answers) || p.records[n-1].Response == nil || p.records[0].Error == "" || p.records[0].Attempt != 1 {
				t.Errorf("records %+v", p.records)
			}
		})
	}
}

// A whole answer is one without [DONE] as well, and figures of nothing are none.
func TestServersThatSayLess(t *testing.T) {
	t.Parallel()
	zero := `{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}`
	for _, answer := range []http.HandlerFunc{cut(text("Hello."), finish("stop")), stream(text("Hello."), finish("stop"), zero), stream(text("Hello."), finish("stop"), strings.ReplaceAll(zero, ":0", ":-5"))} {
		p := serve(t, answer)
		resp, err := p.model().Generate(t.Context(), conversation(), nil)
		if err != nil || resp.Message.Text != "Hello." || resp.Stop != model.StopEnd || len(p.bodies) != 1 {
			t.Fatalf("%+v %v after %d requests", resp, err, len(p.bodies))
		}
		if !resp.Usage.Estimated || resp.Usage.Input == 0 || resp.Usage.Output == 0 {
			t.Errorf("usage %+v", resp.Usage)
		}
	}
}

func TestErrorsAreToldApart(t *testing.T) {
	t.Parallel()
	down := status(503, "", "x")
	for _, tc := range []struct {
		name    string
		answers []http.HandlerFunc
		want    error
	}{
		{"401", []http.HandlerFunc{status(401, "invalid_api_key", "Incorrect API key provided: "+key)}, model.ErrAuth},
		{"403", []http.HandlerFunc{status(403, "", "no")}, model.ErrAuth},
		{"400", []http.HandlerFunc{status(400, "", "bad "+key)}, model.ErrRequest},
		{"404", []http.HandlerFunc{status(404, "model_not_found", "no such model")}, model.ErrModel},
		{"403, the model", []http.HandlerFunc{status(403, "model_not_found", "no access to it")}, model.ErrModel},
		{"402", []http.HandlerFunc{status(402, "", "pay")}, model.ErrQuota},
		{"422", []http.HandlerFunc{status(422, "", "bad")}, model.ErrRequest},
		{"quota", []http.HandlerFunc{status(429, "insufficient_quota", "You exceeded your current quota")}, model.ErrQuota},
		{"too long", []http.HandlerFunc{status(400, "context_length_exceeded", "too long")}, model.ErrOverflow},
		{"too long in words", []http.HandlerFunc{status(400, "", "This model's maximum context length is 8192 tokens")}, model.ErrOverflow},
		{"too long, of a server that says 500", []http.HandlerFunc{status(500, "", "the request exceeds the available context size")}, model.ErrOverflow},
		{"413", []http.HandlerFunc{status(413, "", "big")}, model.ErrOverflow},
		{"too long inside the stream", []http.HandlerFunc{stream(`{"error":{"code":"context_length_exceeded","message":"x"}}`)}, model.ErrOverflow},
		{"down for good", []http.HandlerFunc{down, down, status(500, "", "key "+key), down}, model.ErrDown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, tc.answers...)
			_, err := p.model().Generate(t.Context(), conversation(), nil)
			if !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
			for _, other := range []error{model.ErrAuth, model.ErrQuota, model.ErrModel, model.ErrRequest, model.ErrOverflow, model.ErrDown} {
				if !errors.Is(tc.want, other) && errors.Is(err, other) {
					t.Errorf("error %v is %v as well", err, other)
				}
			}
			if len(p.bodies) != len(tc.answers) {
				t.Errorf("%d requests, want %d", len(p.bodies), len(tc.answers))
			}
			records, jerr := json.Marshal(p.records)
			if jerr != nil {
				t.Fatal(jerr)
			}
			if all := err.Error() + string(records); strings.Contains(all, key) {
				t.Errorf("the key got out: %s", all)
			}
		})
	}
}

// A stream that hangs is cancelled at once, and what came of the answer is kept.
func TestCancelInMidStream(t *testing.T) {
	t.Parallel()
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		cut(text("Hel"), text("lo"))(w, r)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	superseded := errors.New("superseded")
	var seen string
	resp, err := p.model().Generate(ctx, conversation(), func(d model.Delta) {
		if seen += d.Text; seen == "Hello" {
			cancel(superseded)
		}
	})
	if !errors.Is(err, superseded) || len(p.bodies) != 1 {
		t.Errorf("error %v after %d requests", err, len(p.bodies))
	}
	if resp == nil || resp.Message.Text != "Hello" || resp.Message.Calls != nil {
		t.Errorf("what came: %+v", resp)
	}
}

// Cancelling does not wait for the end of a pause.
func TestCancelInPause(t *testing.T) {
	t.Parallel()
	p := serve(t, status(503, "", "x"))
	ctx, cancel := context.WithCancel(t.Context())
	m := p.model(func(o *openai.Options) {
		o.Wait = nil
		o.Retry.Base, o.Retry.Max = time.Hour, time.Hour
		o.Record = func(context.Context, model.Exchange) error { cancel(); return nil }
	})
	if _, err := m.Generate(ctx, conversation(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// roundTrip lets a function stand for the network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A stream that brings nothing for IdleFor is asked again, one that is only slow is not.
func TestIdleStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		net := roundTrip(func(r *http.Request) (*http.Response, error) {
			asked++
			pr, pw := io.Pipe()
			go func() {
				events := []string{text("Hel"), text("lo."), finish("stop"), "[DONE]"}
				if asked == 1 {
					events = events[:1]
				}
				for _, e := range events {
					time.Sleep(50 * time.Second) // of the bubble's clock: no real time passes
					_, _ = fmt.Fprintf(pw, "data: %s\n\n", e)
				}
				<-r.Context().Done()
				_ = pw.CloseWithError(r.Context().Err())
			}()
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: pr, Request: r}, nil
		})
		m, err := openai.New(openai.Options{
			BaseURL: "http://provider.invalid/v1", Model: "m", HTTPClient: &http.Client{Transport: net}, Now: time.Now,
			Retry: model.Retry{IdleFor: time.Minute, Base: time.Second},
		})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var seen string
		resp, err := m.Generate(t.Context(), conversation(), deltas(&seen))
		if err != nil || resp.Message.Text != "Hello." || seen != "Hel<reset>Hello." || asked != 2 {
			t.Errorf("answer %+v, error %v, streamed %q, asked %d times", resp, err, seen, asked)
		}
		if took := time.Since(began); took < 310*time.Second || took > 312*time.Second {
			t.Errorf("it took %s: 50 s, 60 s of nothing, a pause, 200 s", took)
		}
	})
}

// model.jsonl gets the request as it was sent and the answer as it was read, and
// a record that cannot be kept is an error.
func TestRecord(t *testing.T) {
	t.Parallel()
	p := serve(t, fine, fine)
	if _, err := p.model().Generate(t.Context(), conversation(), nil); err != nil {
		t.Fatal(err)
	}
	r := p.records[0]
	if string(r.Request) != p.bodies[0] || r.Response.Message.Text != "Hello." || r.N != 3 || r.Status != 200 || r.ID != "0123456789abcdef" || r.Agent != "verification" {
		t.Errorf("record %+v", r)
	}
	full := errors.New("disk full")
	m := p.model(func(o *openai.Options) { o.Record = func(context.Context, model.Exchange) error { return full } })
	if _, err := m.Generate(t.Context(), conversation(), nil); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
}

// The check of requests checks: it refuses what OpenAI's description does not allow.
func TestDescriptionRefuses(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"model":"m","messages":[{"role":"tool","content":"x"}]}`,
		`{"model":"m","messages":[{"role":"user","content":"x"}],"temperature":9}`,
		`{"messages":[{"role":"user","content":"x"}]}`,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if err := modeltest.Described(req, []byte(body)); err == nil {
			t.Errorf("taken: %s", body)
		}
	}
}

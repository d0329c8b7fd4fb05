package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/anthropic"
)

// provider answers its n-th request with the n-th stream and keeps the requests.
type provider struct {
	streams []string
	bodies  []string
	headers []http.Header
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.bodies, p.headers = append(p.bodies, string(body)), append(p.headers, r.Header)
	if r.URL.Path != "/v1/messages" || len(p.bodies) > len(p.streams) {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, p.streams[len(p.bodies)-1])
}

func (p *provider) model(t *testing.T, change func(*anthropic.Options)) *anthropic.Model {
	t.Helper()
	srv := httptest.NewServer(p)
	t.Cleanup(srv.Close)
	o := anthropic.Options{
		BaseURL: srv.URL + "/v1/", Key: "secret", Model: "claude-test", Now: time.Now,
		Retry: model.Retry{Tries: 2}, Wait: func(context.Context, time.Duration) error { return nil },
	}
	if change != nil {
		change(&o)
	}
	m, err := anthropic.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// events makes a stream of what is in it: each piece of JSON with its type.
func events(pieces ...string) string {
	var b strings.Builder
	for _, p := range pieces {
		var e struct{ Type string }
		_ = json.Unmarshal([]byte(p), &e)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", e.Type, p)
	}
	return b.String()
}

const (
	start = `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":20,"cache_read_input_tokens":70,"cache_creation_input_tokens":10,"output_tokens":1}}}`
	open  = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	said  = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi."}}`
	shut  = `{"type":"content_block_stop","index":0}`
	stop  = `{"type":"message_stop"}`
)

func why(reason string) string {
	return fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q},"usage":{"output_tokens":30}}`, reason)
}

var fine = events(start, `{"type":"ping"}`, open, said, shut, why("end_turn"), stop)

// The whole request: tools sorted, one turn of the user for all that comes between
// two of the model, thinking in its place, the marks of the cache, no names of ours.
func TestRequest(t *testing.T) {
	t.Parallel()
	p := &provider{streams: []string{fine}}
	_, err := p.model(t, nil).Generate(t.Context(), &model.Request{
		System: "S", Agent: "verification", ID: "0123",
		Messages: []model.Message{
			{Role: model.User, Text: "Q"},
			{
				Role: model.Assistant, Text: "T", Calls: []model.Call{{ID: "a", Name: "f", Args: `{"b":1,"a":"<"}`}, {ID: "b", Name: "g", Args: `{}`}},
				Kept: []model.Kept{
					{API: "messages", At: 0, Raw: json.RawMessage(`{"type":"thinking","thinking":"<x>","signature":"s/+="}`)},
					{API: "responses", At: 0, Raw: json.RawMessage(`{"type":"reasoning"}`)},
					{API: "messages", At: 2, Raw: json.RawMessage(`{"type":"redacted_thinking","data":"d"}`)},
				},
			},
			{Role: model.Tool, CallID: "a", Text: "1"},
			{Role: model.Tool, CallID: "b", Text: "2"},
			{Role: model.User, Text: "Go on."},
		},
		Tools: []model.ToolSpec{
			{Name: "g", Description: "G.", Schema: json.RawMessage(`{"type":"object","properties":{"x":{"type":"integer"}},"additionalProperties":false}`)},
			{Name: "f", Description: "F."},
		},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"claude-test","stream":true,` +
		`"tools":[{"input_schema":{"properties":{},"type":"object"},"name":"f","description":"F."},` +
		`{"input_schema":{"additionalProperties":false,"properties":{"x":{"type":"integer"}},"type":"object"},"name":"g","description":"G.","cache_control":{"type":"ephemeral"}}],` +
		`"system":[{"text":"S","cache_control":{"type":"ephemeral"},"type":"text"}],` +
		`"messages":[{"content":[{"text":"Q","cache_control":{"type":"ephemeral"},"type":"text"}],"role":"user"},` +
		`{"content":[{"type":"thinking","thinking":"\u003cx\u003e","signature":"s/+="},{"text":"T","type":"text"},{"id":"a","input":{"b":1,"a":"\u003c"},"name":"f","type":"tool_use"},` +
		`{"type":"redacted_thinking","data":"d"},{"id":"b","input":{},"name":"g","type":"tool_use"}],"role":"assistant"},` +
		`{"content":[{"tool_use_id":"a","content":[{"text":"1","type":"text"}],"type":"tool_result"},{"tool_use_id":"b","content":[{"text":"2","type":"text"}],"type":"tool_result"},` +
		`{"text":"Go on.","cache_control":{"type":"ephemeral"},"type":"text"}],"role":"user"}],"max_tokens":8192}`
	if diff := cmp.Diff(want, p.bodies[0]); diff != "" {
		t.Error(diff)
	}
	if h := p.headers[0]; h.Get("X-Api-Key") != "secret" || h.Get("Anthropic-Version") != "2023-06-01" || h.Get("Authorization") != "" {
		t.Errorf("headers %v", h)
	}
}

func question() *model.Request {
	return &model.Request{Messages: []model.Message{{Role: model.User, Text: "Q"}}, Tools: []model.ToolSpec{{Name: "f"}}, MaxOut: 900}
}

// Thinking comes on top of the output limit, and the tools stay listed where none
// may be called.
func TestThinking(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		model   string
		effort  model.Effort
		noCalls bool
		want    []string
		never   string
	}{
		{"claude-opus-4-6", "", false, []string{`"max_tokens":900`}, "thinking"},
		{"claude-sonnet-4-5-20250929", "low", false, []string{`"thinking":{"budget_tokens":4096,"type":"enabled"}`, `"max_tokens":4996`}, "output_config"},
		{"claude-sonnet-4-20250514", "high", false, []string{`"budget_tokens":24576`, `"max_tokens":25476`}, "output_config"},
		{"claude-3-7-sonnet-latest", "medium", false, []string{`"budget_tokens":12288`}, "output_config"},
		{"claude-opus-4-6", "high", true, []string{`"thinking":{"type":"adaptive"}`, `"output_config":{"effort":"high"}`, `"tool_choice":{"type":"none"},"max_tokens":25476`, `"name":"f"`}, "budget"},
		{"claude-opus-5-20270101", "low", false, []string{`"output_config":{"effort":"low"}`}, "budget"},
		{"a-deployment", "medium", false, []string{`"output_config":{"effort":"medium"}`}, "budget"},
		{"claude-3-5-sonnet-20241022", "high", false, []string{`"max_tokens":900`}, "thinking"},
	} {
		p := &provider{streams: []string{fine}}
		req := question()
		req.NoCalls, req.Effort = tc.noCalls, tc.effort
		if _, err := p.model(t, func(o *anthropic.Options) { o.Model = tc.model }).Generate(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
		if takes := !strings.Contains(tc.model, "3-5"); anthropic.Thinks(tc.model) != takes {
			t.Errorf("%s thinks: %v", tc.model, !takes)
		}
		for _, want := range tc.want {
			if !strings.Contains(p.bodies[0], want) {
				t.Errorf("%s, effort %q: no %s in %s", tc.model, tc.effort, want, p.bodies[0])
			}
		}
		if strings.Contains(p.bodies[0], tc.never) {
			t.Errorf("%s, effort %q: %s in %s", tc.model, tc.effort, tc.never, p.bodies[0])
		}
	}
}

// What cannot be sent is said before it is sent.
func TestBadRequest(t *testing.T) {
	t.Parallel()
	p := &provider{}
	m := p.model(t, nil)
	for _, args := range []string{`{"a":`, `null`, `[]`, ``} {
		req := question()
		req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Calls: []model.Call{{ID: "a", Name: "f", Args: args}}})
		if _, err := m.Generate(t.Context(), req, nil); err == nil || !strings.Contains(err.Error(), "call a: arguments are not a JSON object") {
			t.Errorf("%q: error %v", args, err)
		}
	}
	if len(p.bodies) != 0 {
		t.Errorf("sent %v", p.bodies)
	}
}

// Why an answer ended, what it cost, and thinking where it stood.
func TestAnswer(t *testing.T) {
	t.Parallel()
	call := []string{
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"x\""}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":":1}"}}`,
		`{"type":"content_block_stop","index":1}`,
	}
	thought := []string{
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"a <b>"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s/="}}`, shut,
	}
	unsigned := []string{thought[0], thought[1], shut}
	opaque := []string{`{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"d"}}`, shut}
	bare := []string{`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"g","input":{}}}`, `{"type":"content_block_stop","index":1}`}
	whole := []string{`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c","name":"h","input":{"y":2}}}`, `{"type":"content_block_stop","index":1}`}
	text := []string{open, said, shut}
	for _, tc := range []struct {
		name  string
		parts [][]string
		why   string
		stop  model.Stop
		calls string
		kept  string
	}{
		{"the end", [][]string{text}, "end_turn", model.StopEnd, "", ""},
		{"a stop sequence", [][]string{text}, "stop_sequence", model.StopEnd, "", ""},
		{"calls, with arguments in pieces, none, or whole", [][]string{text, call, bare, whole}, "tool_use", model.StopCalls, `a f {"x":1};b g {};c h {"y":2};`, ""},
		{"the limit", [][]string{text, call}, "max_tokens", model.StopLength, `a f {"x":1};`, ""},
		{"the window", [][]string{text}, "model_context_window_exceeded", model.StopLength, "", ""},
		{"a refusal", [][]string{text}, "refusal", model.StopFilter, "", ""},
		{
			"thinking before, between and behind",
			[][]string{thought, text, opaque, call, thought, bare},
			"tool_use", model.StopCalls, `a f {"x":1};b g {};`,
			`0 {"signature":"s/=","thinking":"a \u003cb\u003e","type":"thinking"};1 {"data":"d","type":"redacted_thinking"};2 {"signature":"s/=","thinking":"a \u003cb\u003e","type":"thinking"};`,
		},
		{"thinking that is not signed", [][]string{unsigned, text}, "end_turn", model.StopEnd, "", ""},
	} {
		pieces := []string{start}
		for _, part := range tc.parts {
			pieces = append(pieces, part...)
		}
		p := &provider{streams: []string{events(append(pieces, why(tc.why), stop)...)}}
		resp, err := p.model(t, nil).Generate(t.Context(), question(), nil)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		var calls, kept string
		for _, c := range resp.Message.Calls {
			calls += c.ID + " " + c.Name + " " + c.Args + ";"
		}
		for _, k := range resp.Message.Kept {
			kept += fmt.Sprintf("%d %s;", k.At, k.Raw)
		}
		if resp.Stop != tc.stop || resp.Message.Text != "Hi." || calls != tc.calls || kept != tc.kept {
			t.Errorf("%s: %+v\nkept %s", tc.name, resp, kept)
		}
		if diff := cmp.Diff(model.Usage{Input: 100, Output: 30, Cached: 70, Written: 10}, resp.Usage); diff != "" {
			t.Errorf("%s: usage %s", tc.name, diff)
		}
	}
}

// What a server does not say of what an answer took is estimated, and marked as that.
func TestMissingUsage(t *testing.T) {
	t.Parallel()
	const (
		bare   = `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[]}}`
		ending = `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`
	)
	long := fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`, strings.Repeat("word ", 80))
	for name, tt := range map[string]struct {
		pieces        []string
		input, output int // at least
	}{
		"none":      {[]string{bare, open, long, shut, ending, stop}, 1, 100},
		"no ending": {[]string{start, open, long, shut, ending, stop}, 100, 100},
		"no begin":  {[]string{bare, open, long, shut, why("end_turn"), stop}, 1, 30},
	} {
		p := &provider{streams: []string{events(tt.pieces...)}}
		resp, err := p.model(t, nil).Generate(t.Context(), question(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if u := resp.Usage; !u.Estimated || u.Input < tt.input || u.Output < tt.output {
			t.Errorf("%s: %+v", name, u)
		}
	}
}

// A stream that ends in another way than it should is no answer.
func TestBrokenStreams(t *testing.T) {
	t.Parallel()
	failure := func(kind, message string) string {
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q}}`, kind, message)
	}
	for _, tc := range []struct {
		name, stream string
		want         error
		tries        int
	}{
		{"overloaded", events(start, open, said, failure("overloaded_error", "Overloaded")), model.ErrDown, 2},
		{"no stop", events(start, open, said, shut, why("end_turn")), model.ErrDown, 2},
		{"no reason", events(start, open, said, shut, stop), model.ErrDown, 2},
		{"no JSON", events(start, open) + "event: content_block_delta\ndata: {\"type\":\"content\n\n", model.ErrDown, 2},
		{"nothing", "", model.ErrDown, 2},
		{"too long", events(failure("invalid_request_error", "prompt is too long: 2 tokens > 1 maximum")), model.ErrOverflow, 1},
		{"bad", events(failure("invalid_request_error", "no")), model.ErrRequest, 1},
		{"the key", events(failure("authentication_error", "no secret")), model.ErrAuth, 1},
	} {
		p := &provider{streams: []string{tc.stream, tc.stream}}
		_, err := p.model(t, nil).Generate(t.Context(), question(), nil)
		if !errors.Is(err, tc.want) || len(p.bodies) != tc.tries || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v after %d requests", tc.name, err, len(p.bodies))
		}
	}
}

package openai_test

import (
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
	"github.com/ycbot/ycbot/internal/model/openai"
)

// responds returns a model of a server that answers every request with these
// events, and the requests that it got.
func responds(t *testing.T, change func(*openai.Options), events ...string) (*openai.Model, *[]string) {
	t.Helper()
	var bodies []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(body))
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			_, _ = fmt.Fprintf(w, "event: x\ndata: %s\n\n", e)
		}
	}))
	t.Cleanup(srv.Close)
	o := openai.Options{BaseURL: srv.URL, Key: key, Model: "gpt-5", Now: time.Now, Retry: model.Retry{Tries: 1}}
	if change != nil {
		change(&o)
	}
	m, err := openai.NewResponses(o)
	if err != nil {
		t.Fatal(err)
	}
	return m, &bodies
}

const (
	reasoned  = `{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"e/+=","status":null}}`
	forgotten = `{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_2","type":"reasoning","summary":[]}}`
	spoken    = `{"type":"response.output_text.delta","output_index":1,"delta":"Hi."}`
	spokenAll = `{"type":"response.output_item.done","output_index":1,"item":{"id":"m","type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi."}]}}`
	called    = `{"type":"response.output_item.done","output_index":2,"item":{"id":"fc","type":"function_call","call_id":"a","name":"f","arguments":"{\"x\":1}"}}`
	completed = `{"type":"response.completed","response":{"status":"completed","output":[],"usage":{"input_tokens":120,"output_tokens":30,"input_tokens_details":{"cached_tokens":100}}}}`
)

func incomplete(why string) string {
	return fmt.Sprintf(`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":%q},"output":[]}}`, why)
}

// The whole request: nothing is stored, reasoning is asked for and given back as
// it came, where it stood; what other APIs gave is left out.
func TestResponsesRequest(t *testing.T) {
	t.Parallel()
	m, bodies := responds(t, func(o *openai.Options) { o.CacheKey = "o/r@abc" }, spoken, spokenAll, completed)
	_, err := m.Generate(t.Context(), &model.Request{
		System: "S", MaxOut: 900, NoCalls: true, Effort: model.EffortHigh, Agent: "verification",
		Messages: []model.Message{
			{Role: model.User, Text: "Q"},
			{
				Role: model.Assistant, Text: "T", Calls: []model.Call{{ID: "a", Name: "f", Args: `{"b": 1}`}},
				Kept: []model.Kept{
					{API: "responses", At: 0, Raw: json.RawMessage(`{"id":"rs_1","type":"reasoning","encrypted_content":"e/+=","summary":[]}`)},
					{API: "messages", At: 0, Raw: json.RawMessage(`{"type":"thinking"}`)},
					{API: "responses", At: 1, Raw: json.RawMessage(`{"id":"rs_2","type":"reasoning","encrypted_content":"f","summary":[]}`)},
				},
			},
			{Role: model.Tool, CallID: "a", Text: "1"},
		},
		Tools: []model.ToolSpec{{Name: "g", Description: "G.", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "f", Description: "F."}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"store":false,"prompt_cache_key":"o/r@abc","include":["reasoning.encrypted_content"],"model":"gpt-5","reasoning":{"effort":"high"},"stream":true,` +
		`"tools":[{"strict":false,"parameters":{"properties":{},"type":"object"},"name":"f","description":"F.","type":"function"},` +
		`{"strict":false,"parameters":{"type":"object"},"name":"g","description":"G.","type":"function"}],"instructions":"S",` +
		`"input":[{"content":"Q","role":"user"},{"id":"rs_1","type":"reasoning","encrypted_content":"e/+=","summary":[]},{"content":"T","role":"assistant"},` +
		`{"id":"rs_2","type":"reasoning","encrypted_content":"f","summary":[]},{"arguments":"{\"b\": 1}","call_id":"a","name":"f","type":"function_call"},` +
		`{"call_id":"a","output":"1","type":"function_call_output"}],"tool_choice":"none","max_output_tokens":900}`
	if diff := cmp.Diff(want, (*bodies)[0]); diff != "" {
		t.Error(diff)
	}
}

// A model that does not reason refuses to be asked for its reasoning.
func TestResponsesOfPlainModels(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"gpt-4o": false, "gpt-4.1-mini": false, "openai/gpt-4o": false, "gpt-5-chat-latest": false, "gpt-5": true, "o3": true, "gpt-5-mini": true, "gpt-oss-120b": true} {
		m, bodies := responds(t, func(o *openai.Options) { o.Model = name }, spoken, completed)
		if _, err := m.Generate(t.Context(), conversation(), nil); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains((*bodies)[0], "encrypted_content"); got != want {
			t.Errorf("%s: asked for its reasoning: %v", name, got)
		}
	}
}

func TestResponsesAnswer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		events []string
		text   string
		calls  int
		kept   string
		stop   model.Stop
	}{
		{"text", []string{spoken, spokenAll, completed}, "Hi.", 0, "", model.StopEnd},
		{"text that is not streamed", []string{spokenAll, completed}, "Hi.", 0, "", model.StopEnd},
		{"reasoning, text, calls", []string{reasoned, spoken, spokenAll, called, completed}, "Hi.", 1, "0", model.StopCalls},
		{"reasoning behind text", []string{spoken, spokenAll, reasoned, called, reasoned, called, completed}, "Hi.", 2, "12", model.StopCalls},
		{"reasoning that was not given", []string{forgotten, spoken, spokenAll, completed}, "Hi.", 0, "", model.StopEnd},
		{"the limit", []string{spoken, incomplete("max_output_tokens")}, "Hi.", 0, "", model.StopLength},
		{"the filter", []string{spoken, incomplete("content_filter")}, "Hi.", 0, "", model.StopFilter},
		{"a refusal in words", []string{`{"type":"response.refusal.delta","delta":"No."}`, completed}, "No.", 0, "", model.StopFilter},
		{"a refusal in words, all at the end", []string{`{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"No."}]}]}}`}, "No.", 0, "", model.StopFilter},
		{"a [DONE] too many", []string{spoken, "[DONE]", completed}, "Hi.", 0, "", model.StopEnd},
		{
			"all at the end",
			[]string{`{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi."}]},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}]}}`},
			"Hi.", 1, "", model.StopCalls,
		},
	} {
		m, _ := responds(t, nil, tc.events...)
		var seen string
		resp, err := m.Generate(t.Context(), conversation(), deltas(&seen))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		kept := ""
		for _, k := range resp.Message.Kept {
			kept += fmt.Sprint(k.At)
			if !strings.Contains(string(k.Raw), `"e/+="`) {
				t.Errorf("%s: kept %s", tc.name, k.Raw)
			}
		}
		if resp.Message.Text != tc.text || seen != tc.text || len(resp.Message.Calls) != tc.calls || kept != tc.kept || resp.Stop != tc.stop {
			t.Errorf("%s: %+v, streamed %q, kept at %s", tc.name, resp, seen, kept)
		}
		if known := strings.Contains(tc.events[len(tc.events)-1], "usage"); known == resp.Usage.Estimated || known && resp.Usage.Cached != 100 {
			t.Errorf("%s: usage %+v", tc.name, resp.Usage)
		}
	}
}

func TestResponsesErrors(t *testing.T) {
	t.Parallel()
	failed := func(code string) string {
		return fmt.Sprintf(`{"type":"response.failed","response":{"status":"failed","error":{"code":%q,"message":"m"}}}`, code)
	}
	for _, tc := range []struct {
		name   string
		events []string
		want   error
	}{
		{"failed", []string{spoken, failed("server_error")}, model.ErrDown},
		{"failed, rate", []string{failed("rate_limit_exceeded")}, model.ErrDown},
		{"failed, too long", []string{failed("context_length_exceeded")}, model.ErrOverflow},
		{"failed, prompt", []string{failed("invalid_prompt")}, model.ErrRequest},
		{"an error", []string{`{"type":"error","code":"server_error","message":"x","param":null,"sequence_number":1}`}, model.ErrDown},
		{"an error of the other form", []string{`{"type":"error","error":{"code":"context_length_exceeded","message":"x"}}`}, model.ErrOverflow},
		{"no end", []string{spoken, spokenAll}, model.ErrDown},
		{"only [DONE]", []string{spoken, spokenAll, "[DONE]"}, model.ErrDown},
		{"malformed", []string{spoken, `{"type":"resp`}, model.ErrDown},
	} {
		m, _ := responds(t, nil, tc.events...)
		if _, err := m.Generate(t.Context(), conversation(), nil); !errors.Is(err, tc.want) {
			t.Errorf("%s: error %v, want %v", tc.name, err, tc.want)
		}
	}
}

// Servers that know only the old name of the output limit get that.
func TestOldMaxTokens(t *testing.T) {
	t.Parallel()
	p := serve(t, fine)
	m := p.model(func(o *openai.Options) { o.OldMaxTokens, o.Model = true, "o4-mini" })
	req := conversation()
	req.Effort = model.EffortLow
	if _, err := m.Generate(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	if b := p.bodies[0]; !strings.Contains(b, `"max_tokens":900}`) || strings.Contains(b, "max_completion") || !strings.Contains(b, `"reasoning_effort":"low"`) {
		t.Errorf("request %s", b)
	}
}

// An effort is sent to models that can think, by servers that know the word for it.
func TestEffort(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*openai.Options)
		sent   bool
	}{
		"a model that reasons":  {func(o *openai.Options) { o.Model = "o4-mini" }, true},
		"one that does not":     {func(o *openai.Options) { o.Model = "gpt-4.1" }, false},
		"another chat server":   {func(o *openai.Options) { o.Model, o.NoEffort = "o4-mini", true }, false},
		"a name of a publisher": {func(o *openai.Options) { o.Model = "openai/gpt-5-mini" }, true},
	} {
		p := serve(t, fine)
		req := conversation()
		req.Effort = model.EffortHigh
		if _, err := p.model(tc.change).Generate(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
		if b := p.bodies[0]; strings.Contains(b, `"reasoning_effort":"high"`) != tc.sent {
			t.Errorf("%s: request %s", name, b)
		}
	}
}

// Events that say more, or less, than is read of them end nothing; a part that has another form
// is an error.
func TestResponsesOtherEvents(t *testing.T) {
	t.Parallel()
	m, _ := responds(t, nil,
		`{"type":"response.created","response":{"status":"in_progress","output":[],"usage":null,"error":null,"incomplete_details":null}}`,
		`{"type":"response.audio.delta","delta":{"bytes":"AA=="},"code":7}`,
		`{"type":"response.output_text.delta"}`,
		`{"type":"response.output_item.done"}`,
		`{"type":"response.output_item.done","item":{"type":"web_search_call","id":"w","action":{"type":"search"}}}`,
		spoken, spokenAll, completed,
	)
	got, err := m.Generate(t.Context(), conversation(), nil)
	if err != nil || got.Message.Text != "Hi." || got.Usage.Cached != 100 {
		t.Errorf("%v: %+v", err, got)
	}
	m, _ = responds(t, nil, spoken, `{"type":"response.output_item.done","item":{"type":"function_call","call_id":"a","name":"f","arguments":{"x":1}}}`, completed)
	if got, err := m.Generate(t.Context(), conversation(), nil); err == nil {
		t.Errorf("arguments that are no text: %+v", got)
	}
}

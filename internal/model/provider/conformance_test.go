package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/modeltest"
	"github.com/ycbot/ycbot/internal/model/provider"
	"github.com/ycbot/ycbot/internal/model/script"
)

// A server answers as a provider in one scenario.
type server interface {
	// scenario returns where it is served, and how it is reached.
	scenario(t *testing.T, a modeltest.API, name string) (baseURL string, client *http.Client)
}

// doubles serve the scenarios by the small servers of ours.
type doubles struct{}

var (
	usage  = model.Usage{Input: 120, Output: 30, Cached: 100}
	hello  = modeltest.Answer{Text: []string{"Hel", "lo."}, Usage: usage}
	twice  = []model.Call{{ID: "call_a", Name: "read_file", Args: `{"path":"x"}`}, {ID: "call_b", Name: "grep", Args: `{}`}}
	method = modeltest.Answer{Thought: "Both at once.", Text: []string{"Two."}, Calls: twice, Usage: usage}
)

func (doubles) scenario(t *testing.T, a modeltest.API, name string) (string, *http.Client) {
	t.Helper()
	fine, half := modeltest.Stream(a.Render(hello)...), a.Render(hello)
	half = half[:slices.IndexFunc(half, func(e modeltest.Event) bool { return strings.Contains(e.Data, "Hel") })+1]
	status := func(code int, word string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			_, _ = w.Write([]byte(a.Refusal(word, "not now, "+modeltest.Key)))
		}
	}
	hang := func(w http.ResponseWriter, r *http.Request) {
		modeltest.Stream(half...)(w, r)
		<-r.Context().Done()
	}
	mute := func(w http.ResponseWriter, r *http.Request) {
		modeltest.Stream()(w, r)
		<-r.Context().Done()
	}
	answers := map[string][]http.HandlerFunc{
		"text":  {fine},
		"calls": {modeltest.Stream(a.Render(method)...), modeltest.Stream(a.Render(modeltest.Answer{Text: []string{"Done."}, Usage: usage})...)},
		"busy":  {status(429, "rate_limit_error", "Retry-After", "3"), fine},
		"down":  {status(503, "overloaded_error"), fine},
		"dead":  {status(503, ""), status(500, ""), status(503, ""), status(503, "")},
		"cut": {func(w http.ResponseWriter, r *http.Request) {
			modeltest.Stream(half...)(w, r)
			panic(http.ErrAbortHandler)
		}, fine},
		"malformed": {modeltest.Stream(append(slices.Clone(half), modeltest.Event{Data: `{"type":"x",{`})...), fine},
		"long":      a.Overflow[:1],
		"key":       {status(401, "authentication_error")},
		"refused":   {status(400, "invalid_request_error")},
		"hang":      {hang},
		"idle":      {hang, hang},
		"mute":      {mute, mute},
	}[name]
	if answers == nil {
		t.Fatalf("no scenario %q", name)
	}
	return modeltest.Serve(t, a, answers...).URL, http.DefaultClient
}

// A session is one model under test and what became known of it.
type session struct {
	model model.Model

	mu      sync.Mutex
	waits   []time.Duration
	records []model.Exchange
	seen    string
}

func open(t *testing.T, srv server, a modeltest.API, scenario string, change func(*provider.Options)) *session {
	t.Helper()
	url, client := srv.scenario(t, a, scenario)
	s := &session{}
	o := provider.Options{
		Model: "test-model", CacheKey: "o/r@abc", HTTPClient: client,
		Retry:  model.Retry{Tries: 4, Base: time.Second, Max: 20 * time.Second, IdleFor: time.Minute},
		Now:    clock,
		Jitter: func() float64 { return 0.5 },
		Wait: func(_ context.Context, d time.Duration) error {
			s.waits = append(s.waits, d)
			return nil
		},
		Record: func(_ context.Context, e model.Exchange) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.records = append(s.records, e)
			return nil
		},
	}
	if change != nil {
		change(&o)
	}
	var err error
	if s.model, err = target(a, url).Open(o); err != nil {
		t.Fatal(err)
	}
	return s
}

// target is a provider of no name that speaks a.
func target(a modeltest.API, url string) provider.Target {
	return provider.Target{Preset: provider.Preset{Name: "test", CacheKey: true, KeyEnv: []string{"TEST_KEY"}, Hint: "hint"}, API: provider.API(a.Name), BaseURL: url, Key: modeltest.Key}
}

// ask asks with a conversation in which the user says text at the end.
func (s *session) ask(ctx context.Context, history ...model.Message) (*model.Response, error) {
	return s.model.Generate(ctx, &model.Request{
		System: "You verify.", Messages: history, MaxOut: 900, Agent: "verification", ID: "0123456789abcdef",
		Tools: []model.ToolSpec{
			{Name: "read_file", Description: "Reads.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
			{Name: "grep", Description: "Finds.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)},
		},
	}, func(d model.Delta) {
		if d.Reset {
			s.seen += "<reset>"
		}
		s.seen += d.Text
	})
}

func user(text string) model.Message { return model.Message{Role: model.User, Text: text} }

// TestConformance holds what every provider's client promises: the same cases,
// whatever the API, against servers of ours and against one of others.
func TestConformance(t *testing.T) {
	t.Parallel()
	for _, a := range modeltest.APIs() {
		t.Run(a.Name+"/double", func(t *testing.T) {
			t.Parallel()
			conform(t, doubles{}, a)
		})
		t.Run(a.Name+"/aimock", func(t *testing.T) {
			t.Parallel()
			conform(t, aimock(t), a)
		})
	}
}

func conform(t *testing.T, srv server, a modeltest.API) {
	t.Helper()
	t.Run("text", func(t *testing.T) { conformText(t, srv, a) })
	t.Run("parallel calls", func(t *testing.T) { conformCalls(t, srv, a) })
	t.Run("asked again", func(t *testing.T) { conformAgain(t, srv, a) })
	t.Run("refused", func(t *testing.T) { conformRefused(t, srv, a) })
	t.Run("cancelled in mid-stream", func(t *testing.T) { conformCancel(t, srv, a) })
	t.Run("idle", func(t *testing.T) { conformIdle(t, srv, a) })
}

func conformText(t *testing.T, srv server, a modeltest.API) {
	t.Helper()
	s := open(t, srv, a, "text", nil)
	resp, err := s.ask(t.Context(), user("text-"+a.Name))
	if err != nil {
		t.Fatal(err)
	}
	if resp.Message.Text != "Hello." || s.seen != "Hello." || resp.Stop != model.StopEnd || resp.Message.Calls != nil {
		t.Errorf("answer %+v, streamed %q", resp, s.seen)
	}
	want := usage
	if _, others := srv.(*mock); others {
		want.Cached = 0 // aimock has no figure for it
	}
	if diff := cmp.Diff(want, resp.Usage); diff != "" {
		t.Errorf("usage: %s", diff)
	}
}

// Two calls of one answer come in order, go back with their answers and what was
// thought before them, and the conversation goes on; what was recorded replays.
func conformCalls(t *testing.T, srv server, a modeltest.API) {
	t.Helper()
	s := open(t, srv, a, "calls", nil)
	history := []model.Message{user("calls-" + a.Name)}
	resp, err := s.ask(t.Context(), history...)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range resp.Message.Calls {
		got = append(got, c.Name+" "+c.Args)
	}
	if diff := cmp.Diff([]string{`read_file {"path":"x"}`, "grep {}"}, got); diff != "" || resp.Stop != model.StopCalls {
		t.Fatalf("calls: %s, stop %s", diff, resp.Stop)
	}
	if kept := len(resp.Message.Kept) > 0; kept != (a.Name != string(provider.Chat)) {
		t.Errorf("reasoning kept: %+v", resp.Message.Kept)
	}
	history = append(history, resp.Message)
	for _, c := range resp.Message.Calls {
		history = append(history, model.Message{Role: model.Tool, CallID: c.ID, Text: "nothing"})
	}
	if err := model.Validate(history); err != nil {
		t.Error(err)
	}
	second, err := s.ask(t.Context(), history...)
	if err != nil || second.Message.Text != "Done." {
		t.Fatalf("answer %+v, error %v", second, err)
	}
	for _, k := range resp.Message.Kept {
		if !bytes.Contains(s.records[1].Request, k.Raw) {
			t.Errorf("what was kept does not go back as it came: %s\n%s", k.Raw, s.records[1].Request)
		}
	}
	replayed(t, s, history, resp, second)
}

// replayed holds that a log of s answers as the provider did.
func replayed(t *testing.T, s *session, history []model.Message, want ...*model.Response) {
	t.Helper()
	var log bytes.Buffer
	enc := json.NewEncoder(&log)
	for _, r := range s.records {
		if err := enc.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(log.String(), modeltest.Key) {
		t.Errorf("the modeltest.Key is in the log: %s", log.String())
	}
	m, err := script.NewReplay(&log)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		asked := history[:1]
		if i > 0 {
			asked = history
		}
		got, err := m.Generate(t.Context(), &model.Request{Messages: asked, Agent: "verification", ID: "0123456789abcdef"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("answer %d replayed: %s", i+1, diff)
		}
	}
}

func conformAgain(t *testing.T, srv server, a modeltest.API) {
	t.Helper()
	for name, pause := range map[string]time.Duration{
		"busy": 3 * time.Second, "down": 750 * time.Millisecond, "cut": 750 * time.Millisecond, "malformed": 750 * time.Millisecond,
	} {
		s := open(t, srv, a, name, nil)
		resp, err := s.ask(t.Context(), user(name+"-"+a.Name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if resp.Message.Text != "Hello." || (s.seen != "Hello." && s.seen != "Hel<reset>Hello.") {
			t.Errorf("%s: answer %+v, streamed %q", name, resp, s.seen)
		}
		if _, own := srv.(doubles); own && (name == "cut" || name == "malformed") && s.seen != "Hel<reset>Hello." {
			t.Errorf("%s: streamed %q: what came of the first try is not void", name, s.seen)
		}
		if diff := cmp.Diff([]time.Duration{pause}, s.waits); diff != "" {
			t.Errorf("%s: pauses %s", name, diff)
		}
		if len(s.records) != 2 || s.records[0].Error == "" || s.records[1].Response == nil || s.records[1].Attempt != 2 || s.records[1].API != a.Name ||
			!bytes.Equal(s.records[0].Request, s.records[1].Request) {
			t.Errorf("%s: records %+v", name, s.records)
		}
	}
}

func conformRefused(t *testing.T, srv server, a modeltest.API) {
	t.Helper()
	all := []error{model.ErrAuth, model.ErrRequest, model.ErrOverflow, model.ErrDown}
	for name, want := range map[string]error{"key": model.ErrAuth, "refused": model.ErrRequest, "long": model.ErrOverflow, "dead": model.ErrDown} {
		s := open(t, srv, a, name, nil)
		_, err := s.ask(t.Context(), user(name+"-"+a.Name))
		for _, e := range all {
			if errors.Is(err, e) != errors.Is(want, e) {
				t.Errorf("%s: error %v, want %v and no other", name, err, want)
			}
		}
		tries := 1
		if name == "dead" {
			tries = 4
		}
		if len(s.records) != tries {
			t.Errorf("%s: asked %d times, want %d", name, len(s.records), tries)
		}
		raw, jerr := json.Marshal(s.records)
		if jerr != nil || err == nil || strings.Contains(string(raw)+err.Error(), modeltest.Key) {
			t.Errorf("%s: the modeltest.Key got out (or %v): %v %s", name, jerr, err, raw)
		}
	}
}

// A stream that hangs is left at once, and what came of the answer is kept.
func conformCancel(t *testing.T, srv server, a modeltest.API) {
	t.Helper()
	s := open(t, srv, a, "hang", nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	superseded := errors.New("superseded")
	var seen string
	resp, err := s.model.Generate(ctx, &model.Request{Messages: []model.Message{user("hang-" + a.Name)}}, func(d model.Delta) {
		if seen += d.Text; seen == "Hel" {
			cancel(superseded)
		}
	})
	if !errors.Is(err, superseded) || len(s.records) != 1 {
		t.Errorf("error %v, records %+v", err, s.records)
	}
	if resp == nil || resp.Message.Text != seen || resp.Message.Calls != nil {
		t.Errorf("what came: %+v, streamed %q", resp, seen)
	}
}

// A stream that falls silent, or never says a word, is asked again once, not for
// ever.
func conformIdle(t *testing.T, srv server, a modeltest.API) {
	t.Helper()
	names := []string{"idle"}
	if _, own := srv.(doubles); own {
		names = append(names, "mute")
	}
	for _, name := range names {
		s := open(t, srv, a, name, func(o *provider.Options) { o.Retry.IdleFor = 200 * time.Millisecond })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err := s.ask(ctx, user(name+"-"+a.Name))
		cancel()
		if !errors.Is(err, model.ErrDown) || !strings.Contains(err.Error(), "nothing came for too long") || len(s.records) != 2 {
			t.Errorf("%s: error %v after %d requests", name, err, len(s.records))
		}
	}
}

func clock() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

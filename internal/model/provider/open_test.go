package provider_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/modeltest"
	"github.com/ycbot/ycbot/internal/model/provider"
)

// What a preset says of a provider is what goes over the wire.
func TestOpen(t *testing.T) {
	t.Parallel()
	list := modeltest.APIs()
	chat, responses, messages := list[0], list[1], list[2]
	for _, tc := range []struct {
		preset string
		api    modeltest.API
		header string // name: value
		has    string
		lacks  string
	}{
		{"openai", chat, "Authorization: Bearer " + modeltest.Key, `"prompt_cache_key":"o/r@abc"`, `"max_tokens"`},
		{"openai", responses, "Authorization: Bearer " + modeltest.Key, `"prompt_cache_key":"o/r@abc"`, "messages"},
		{"azure", chat, "Api-Key: " + modeltest.Key, `"prompt_cache_key"`, `"max_tokens"`},
		{"azure", responses, "Api-Key: " + modeltest.Key, `"store":false`, "messages"},
		{"github-models", chat, "X-Github-Api-Version: 2022-11-28", `"max_tokens":900`, "prompt_cache_key"},
		{"ollama", chat, "Authorization: Bearer " + modeltest.Key, `"max_tokens":900`, "prompt_cache_key"},
		{"openrouter", chat, "X-Title: ycbot", `"max_completion_tokens":900`, "prompt_cache_key"},
		{"vllm", chat, "Authorization: Bearer " + modeltest.Key, `"max_completion_tokens":900`, "prompt_cache_key"},
		{"anthropic", messages, "X-Api-Key: " + modeltest.Key, `"max_tokens":900`, "prompt_cache_key"},
	} {
		var body string
		var header http.Header
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			raw, _ := io.ReadAll(r.Body)
			body, header = string(raw), r.Header
			if !strings.HasSuffix(tc.api.Path, strings.TrimPrefix(r.URL.Path, "/base")) {
				t.Errorf("%s: path %s", tc.preset, r.URL.Path)
			}
			modeltest.Stream(tc.api.Render(hello)...)(w, r)
		}))
		p, err := provider.Find(tc.preset)
		if err != nil {
			t.Fatal(err)
		}
		to, err := p.Resolve(provider.Overrides{API: provider.API(tc.api.Name), BaseURL: srv.URL + "/base", Key: modeltest.Key}, env())
		if err != nil {
			t.Fatal(err)
		}
		m, err := to.Open(options())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Generate(t.Context(), &model.Request{Messages: []model.Message{user("Q")}, MaxOut: 900}, nil); err != nil {
			t.Errorf("%s: %v", tc.preset, err)
		}
		name, value, _ := strings.Cut(tc.header, ": ")
		if header.Get(name) != value || !strings.Contains(body, tc.has) || strings.Contains(body, tc.lacks) {
			t.Errorf("%s by %s: %v\n%s", tc.preset, tc.api.Name, header, body)
		}
		if name != "Authorization" && value == modeltest.Key && header.Get("Authorization") != "" {
			t.Errorf("%s: the modeltest.Key is sent twice", tc.preset)
		}
		srv.Close()
	}
	for _, bad := range []provider.Target{{}, {API: "grpc"}, {API: provider.Messages}} {
		if _, err := bad.Open(provider.Options{Model: "m"}); err == nil {
			t.Errorf("%+v opened without a clock or an API", bad)
		}
	}
}

// A web page is what a wrong address answers with: asking again does not fix it.
func TestWebPage(t *testing.T) {
	t.Parallel()
	for _, a := range modeltest.APIs() {
		asked := 0
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked++
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<!doctype html>")
		}))
		o := options()
		o.Retry.Tries = 3
		m, err := target(a, srv.URL).Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Generate(t.Context(), &model.Request{Messages: []model.Message{user("Q")}}, nil); !errors.Is(err, model.ErrModel) || asked != 1 {
			t.Errorf("%s: error %v after %d requests", a.Name, err, asked)
		}
		srv.Close()
	}
}

// The key and the conversation go to the endpoint that was named, and to no host that it
// leads to, whichever header the key is in: the error names both, and it is not asked again.
func TestRedirects(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s with %v", r.Method, r.URL, r.Header)
	}))
	defer other.Close()
	for _, a := range modeltest.APIs() {
		for _, header := range []string{"", "api-key"} {
			for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
				asked := 0
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					asked++
					http.Redirect(w, r, other.URL+r.URL.Path, status)
				}))
				to := target(a, srv.URL)
				to.Preset.KeyHeader = header
				o := options()
				o.Retry.Tries = 3
				m, err := to.Open(o)
				if err != nil {
					t.Fatal(err)
				}
				_, err = m.Generate(t.Context(), &model.Request{Messages: []model.Message{user("Q")}}, nil)
				if !errors.Is(err, model.ErrModel) || asked != 1 || !strings.Contains(err.Error(), srv.URL) || !strings.Contains(err.Error(), other.URL) {
					t.Errorf("%s %s %d: error %v after %d requests", a.Name, header, status, err, asked)
				}
				if f := to.Probe(t.Context(), m); f.Trouble != provider.TroubleEndpoint {
					t.Errorf("%s %s %d: doctor says %+v", a.Name, header, status, f)
				}
				srv.Close()
			}
		}
	}
}

// Which models are asked with an effort, by which API.
func TestTakesEffort(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		preset, model string
		takes         bool
	}{
		{"openai", "gpt-5", true},
		{"openai", "gpt-4.1", false},
		{"openai:chat", "o3", true},
		{"azure", "my-deployment", true},
		{"openrouter", "openai/gpt-5", true},
		{"vllm", "gpt-oss-120b", true},
		{"ollama", "qwen3", false},
		{"github-models", "openai/o4-mini", false},
		{"anthropic", "claude-opus-4-6", true},
		{"anthropic", "claude-3-5-haiku-latest", false},
	} {
		p, err := provider.Find(tc.preset)
		if err != nil {
			t.Fatal(err)
		}
		to, err := p.Resolve(provider.Overrides{Key: "k"}, env("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com"))
		if err != nil || to.TakesEffort(tc.model) != tc.takes {
			t.Errorf("%s, %s: takes an effort %v, error %v", tc.preset, tc.model, !tc.takes, err)
		}
	}
}

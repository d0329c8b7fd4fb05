package provider_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/modeltest"
	"github.com/ycbot/ycbot/internal/model/provider"
)

// TestReach holds that who has given a wrong address hears where it stands, and nothing of keys.
func TestReach(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(nil)
	closed.Close()
	for _, c := range []struct{ preset, given, env, want string }{
		{"openai", closed.URL, "", "check the address that was given, and that it speaks chat"},
		{"openai", "", "OPENAI_BASE_URL", "check the address in OPENAI_BASE_URL, and that it speaks chat"},
		{"vllm", "", "VLLM_BASE_URL", "check the address in VLLM_BASE_URL, and that it speaks chat: start it with --enable-auto-tool-choice and a --tool-call-parser"},
	} {
		preset, err := provider.Find(c.preset)
		if err != nil {
			t.Fatal(err)
		}
		target, err := preset.Resolve(provider.Overrides{BaseURL: c.given, Key: modeltest.Key}, func(name string) string {
			if name == c.env {
				return closed.URL
			}
			return ""
		})
		if err != nil {
			t.Fatal(err)
		}
		if found := probe(t, t.Context(), target); found.Trouble != provider.TroubleEndpoint || found.Todo != c.want {
			t.Errorf("%s: %s %q, want %q", c.preset, found.Trouble, found.Todo, c.want)
		}
	}
}

// A probe distinguishes what an operator fixes in different places, says what to
// do, and never shows the modeltest.Key. The words are those of real providers.
func TestProbe(t *testing.T) {
	t.Parallel()
	list := modeltest.APIs()
	chat, responses, messages := list[0], list[1], list[2]
	for _, tc := range []struct {
		name   string
		api    modeltest.API
		status int
		body   string
		want   provider.Trouble
		todo   string
	}{
		{"wrong modeltest.Key, OpenAI", chat, 401, chat.Refusal("invalid_api_key", "Incorrect API modeltest.Key provided: "+modeltest.Key), provider.TroubleKey, "TEST_KEY"},
		{"wrong modeltest.Key, Anthropic", messages, 401, messages.Refusal("authentication_error", "invalid x-api-key"), provider.TroubleKey, "TEST_KEY"},
		{"no permission", chat, 403, chat.Refusal("", "Resource not accessible by integration"), provider.TroubleKey, "TEST_KEY"},
		{"no such model, OpenAI", responses, 404, chat.Refusal("model_not_found", "The model 'x' does not exist or you do not have access to it."), provider.TroubleModel, "test-model"},
		{"no such model, Anthropic", messages, 404, messages.Refusal("not_found_error", "model: x"), provider.TroubleModel, "test-model"},
		{"no such model, Ollama", chat, 404, chat.Refusal("", "model 'x' not found"), provider.TroubleModel, "test-model"},
		{"no such model, GitHub", chat, 400, chat.Refusal("unknown_model", "Unknown model: x"), provider.TroubleModel, "test-model"},
		{"no access to the model, GitHub", chat, 403, chat.Refusal("no_access", "No access to model: x"), provider.TroubleModel, "test-model"},
		{"no such deployment, Azure", chat, 404, chat.Refusal("DeploymentNotFound", "The API deployment for this resource does not exist."), provider.TroubleModel, "test-model"},
		{"a model without tools, Ollama", chat, 400, chat.Refusal("", "registry.ollama.ai/library/x does not support tools"), provider.TroubleModel, "tools"},
		{"wrong path", chat, 404, `404 page not found`, provider.TroubleEndpoint, "address"},
		{"wrong method", messages, 405, `{"detail":"Method Not Allowed"}`, provider.TroubleEndpoint, "address"},
		{"a web page", messages, 200, `<!doctype html>`, provider.TroubleEndpoint, "address"},
		{"not this API", responses, 200, `{"status":"ok"}`, provider.TroubleEndpoint, "address"},
		{"no credit, OpenAI", chat, 429, chat.Refusal("insufficient_quota", "You exceeded your current quota"), provider.TroubleQuota, "credit"},
		{"no credit, Anthropic", messages, 400, messages.Refusal("invalid_request_error", "Your credit balance is too low to access the Anthropic API."), provider.TroubleQuota, "credit"},
		{"no credit, OpenRouter", chat, 402, chat.Refusal("", "Insufficient credits"), provider.TroubleQuota, "credit"},
		{"overloaded", messages, 529, messages.Refusal("overloaded_error", "Overloaded"), provider.TroubleBusy, "later"},
		{"rate", chat, 429, chat.Refusal("rate_limit_exceeded", "Rate limit reached"), provider.TroubleBusy, "later"},
		{"rate, and a place to pay", chat, 429, chat.Refusal("rate_limit_exceeded", "Rate limit reached. Add a payment method at https://platform.example/account/billing."), provider.TroubleBusy, "later"},
		{"another refusal", chat, 400, chat.Refusal("unsupported_parameter", "Unsupported parameter: 'stream_options'"), provider.TroubleRequest, "see what"},
		{"all its words were thoughts", chat, 400, chat.Refusal("invalid_request_error", "Could not finish the message because max_tokens or model output limit was reached."), provider.TroubleNone, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if strings.HasPrefix(tc.body, "<") {
					w.Header().Set("Content-Type", "text/html; charset=utf-8")
				}
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			}))
			defer srv.Close()
			found := probe(t, t.Context(), target(tc.api, srv.URL+"/v1"))
			if found.Trouble != tc.want || !strings.Contains(found.Todo, tc.todo) || (found.Todo == "") != (tc.want == provider.TroubleNone) {
				t.Errorf("%+v", found)
			}
			if strings.Contains(found.Text+found.Todo, modeltest.Key) {
				t.Errorf("the modeltest.Key got out: %+v", found)
			}
		})
	}
}

func probe(t *testing.T, ctx context.Context, to provider.Target) provider.Finding { //nolint:revive // the test comes first
	t.Helper()
	m, err := to.Open(options())
	if err != nil {
		t.Fatal(err)
	}
	return to.Probe(ctx, m)
}

// A probe is one small request, and one that a run would make: with a tool.
func TestProbeOfAHealthyProvider(t *testing.T) {
	t.Parallel()
	for _, a := range modeltest.APIs() {
		d := modeltest.Serve(t, a, modeltest.Stream(a.Render(modeltest.Answer{Text: []string{"ready"}, Usage: model.Usage{Input: 50, Output: 2}})...))
		found := probe(t, t.Context(), target(a, d.URL))
		if found.Trouble != provider.TroubleNone || !strings.Contains(found.Text, "50 tokens in, 2 out") {
			t.Errorf("%s: %+v", a.Name, found)
		}
		if len(d.Bodies()) != 1 || len(d.Bodies()[0]) > 1000 || !strings.Contains(d.Bodies()[0], `"ready"`) || !strings.Contains(d.Bodies()[0], `:64`) {
			t.Errorf("%s: requests %q", a.Name, d.Bodies())
		}
	}
}

// Nothing listens: the address is wrong. Being cancelled says nothing about anyone.
func TestProbeOfNobody(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	to := target(modeltest.APIs()[0], srv.URL+"/v1")
	if found := probe(t, t.Context(), to); found.Trouble != provider.TroubleEndpoint {
		t.Errorf("%+v", found)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if found := probe(t, ctx, to); found.Trouble != provider.TroubleStopped {
		t.Errorf("%+v", found)
	}
}

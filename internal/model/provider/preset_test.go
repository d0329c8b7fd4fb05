package provider_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/model/provider"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// Every preset that is documented is there, in order, complete and sane.
func TestPresets(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"anthropic", "azure", "github-models", "ollama", "openai", "openrouter", "vllm"}, provider.Names()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"anthropic", "azure", "azure:responses", "github-models", "ollama", "openai", "openai:responses", "openai:chat", "openrouter", "vllm", "vllm:responses"}, provider.Spellings()); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]provider.API{"openai": provider.Responses, "openai:chat": provider.Chat, "openai:responses": provider.Responses, "anthropic:messages": provider.Messages} {
		p, err := provider.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		if to, err := p.Resolve(provider.Overrides{Key: "k"}, env()); err != nil || to.API != want {
			t.Errorf("%s: %s, %v", name, to.API, err)
		}
	}
	for _, name := range []string{"openai:messages", "openai:", ":responses", "ollama:responses"} {
		if p, err := provider.Find(name); err == nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for _, p := range provider.Presets() {
		found, err := provider.Find(p.Name)
		if err != nil || found.Name != p.Name {
			t.Errorf("%s: %v", p.Name, err)
		}
		if len(p.APIs) == 0 || p.Hint == "" || len(p.KeyEnv) == 0 {
			t.Errorf("%s is not complete: %+v", p.Name, p)
		}
		if strings.HasSuffix(p.BaseURL, "/") || !p.KeyFree && p.BaseURL != "" && !strings.HasPrefix(p.BaseURL, "https://") {
			t.Errorf("%s: a key must not go to %s", p.Name, p.BaseURL)
		}
		if slices.Contains(p.APIs, provider.Messages) && len(p.APIs) > 1 {
			t.Errorf("%s: the APIs have addresses of different forms", p.Name)
		}
	}
	if _, err := provider.Find("opnai"); err == nil || !strings.Contains(err.Error(), `"opnai"`) || !strings.Contains(err.Error(), "openai, openai:responses, openai:chat, openrouter") {
		t.Errorf("an unknown name: %v", err)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, preset string
		o            provider.Overrides
		getenv       func(string) string
		url, key     string
		api          provider.API
	}{
		{"as it is", "openai", provider.Overrides{}, env("OPENAI_API_KEY", "k"), "https://api.openai.com/v1", "k", provider.Responses},
		{"another address", "openai", provider.Overrides{}, env("OPENAI_API_KEY", "k", "OPENAI_BASE_URL", "http://h/v1"), "http://h/v1", "k", provider.Chat},
		{"by hand first", "openai", provider.Overrides{API: provider.Responses, BaseURL: "https://me/x", Key: "mine"}, env("OPENAI_API_KEY", "k", "OPENAI_BASE_URL", "http://h/v1"), "https://me/x", "mine", provider.Responses},
		{"address by hand, no key", "openai", provider.Overrides{BaseURL: "http://localhost:1/v1"}, env(), "http://localhost:1/v1", "", provider.Chat},
		{"a proxy without a key", "openai", provider.Overrides{}, env("OPENAI_BASE_URL", "http://proxy/v1"), "http://proxy/v1", "", provider.Chat},
		{"anthropic", "anthropic", provider.Overrides{}, env("ANTHROPIC_API_KEY", " k\n"), "https://api.anthropic.com", "k", provider.Messages},
		{"the first key that is set", "github-models", provider.Overrides{}, env("GH_TOKEN", "second"), "https://models.github.ai/inference", "second", provider.Chat},
		{"two tokens", "github-models", provider.Overrides{}, env("GH_TOKEN", "second", "GITHUB_TOKEN", "first"), "https://models.github.ai/inference", "first", provider.Chat},
		{"no key wanted", "ollama", provider.Overrides{}, env(), "http://127.0.0.1:11434/v1", "", provider.Chat},
		{"host and port", "ollama", provider.Overrides{}, env("OLLAMA_HOST", "gpu:11434"), "http://gpu:11434/v1", "", provider.Chat},
		{"endpoint without a path", "azure", provider.Overrides{}, env("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com/", "AZURE_OPENAI_API_KEY", "k"), "https://r.openai.azure.com/openai/v1", "k", provider.Chat},
		{"endpoint with a path", "azure", provider.Overrides{}, env("AZURE_OPENAI_ENDPOINT", "https://r/other/v1", "AZURE_OPENAI_API_KEY", "k"), "https://r/other/v1", "k", provider.Chat},
	} {
		p, err := provider.Find(tc.preset)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Resolve(tc.o, tc.getenv)
		if err != nil || got.BaseURL != tc.url || got.Key != tc.key || got.API != tc.api {
			t.Errorf("%s: %+v, error %v", tc.name, got, err)
		}
	}
}

// What is missing is said with the name of what to set, and no error repeats an
// address, which may hold a password.
func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		preset string
		o      provider.Overrides
		getenv func(string) string
		is     error
		want   string
	}{
		{"openai", provider.Overrides{}, env(), provider.ErrNoKey, "OPENAI_API_KEY"},
		{"azure", provider.Overrides{}, env("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com"), provider.ErrNoKey, "AZURE_OPENAI_API_KEY"},
		{"anthropic", provider.Overrides{}, env("OPENAI_API_KEY", "not its own"), provider.ErrNoKey, "ANTHROPIC_API_KEY"},
		{"azure", provider.Overrides{}, env("AZURE_OPENAI_API_KEY", "k"), provider.ErrNoBaseURL, "AZURE_OPENAI_ENDPOINT"},
		{"anthropic", provider.Overrides{API: provider.Chat}, env("ANTHROPIC_API_KEY", "k"), nil, `does not speak "chat"; it speaks messages`},
		{"openai", provider.Overrides{BaseURL: "file:///hidden-pw"}, env("OPENAI_API_KEY", "k"), nil, "not an http or https URL, such as http://"},
		{"openai", provider.Overrides{BaseURL: "api hidden-pw"}, env("OPENAI_API_KEY", "k"), nil, "not an http or https URL, such as http://"},
	} {
		p, err := provider.Find(tc.preset)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Resolve(tc.o, tc.getenv)
		if err == nil || tc.is != nil && !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hidden-pw") {
			t.Errorf("%s %+v: error %v", tc.preset, tc.o, err)
		}
	}
}

// Whose key alone is there is asked, where no provider is named.
func TestLikely(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		getenv func(string) string
		want   string
	}{
		{env(), "openai"},
		{env("OPENAI_API_KEY", "k"), "openai"},
		{env("ANTHROPIC_API_KEY", "k"), "anthropic"},
		{env("ANTHROPIC_API_KEY", "k", "OPENAI_API_KEY", "k"), "openai"},
		{env("ANTHROPIC_API_KEY", "k", "YCBOT_API_KEY", "k"), "openai"},
	} {
		if got := provider.Likely(tc.getenv); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}

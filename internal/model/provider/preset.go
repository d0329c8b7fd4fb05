// Package provider knows the providers of models by name: where each is, which API
// it speaks, where its key is found, and how to find what is wrong with it.
//
// It reads no environment itself; the caller passes a lookup. Nothing here may be
// named by a pull request: presets, addresses and keys are the operator's.
package provider

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// An API is a way of asking a model.
type API string

// The APIs. The strings are what an operator writes and what records have.
const (
	Chat      API = "chat"      // OpenAI chat completions
	Responses API = "responses" // OpenAI Responses
	Messages  API = "messages"  // Anthropic Messages
)

// A Preset is what is known of a provider.
type Preset struct {
	Name       string
	APIs       []API             // those that it speaks; the first is the one to use
	Elsewhere  API               // the one to use at another address than BaseURL; "": the first
	BaseURL    string            // "": there is none for everybody, the operator names it
	BaseURLEnv []string          // environment variables that name another, the first that is set counts
	BasePath   string            // put behind an address from BaseURLEnv that has no path of its own
	KeyEnv     []string          // environment variables that hold the key, the first that is set counts
	KeyHeader  string            // header of the key; "": the API's own
	KeyFree    bool              // it answers without a key
	Headers    map[string]string // sent with each request
	OldMax     bool              // it knows max_tokens, not max_completion_tokens
	CacheKey   bool              // it takes prompt_cache_key
	NoEffort   bool              // by chat completions it does not take reasoning_effort
	Hint       string            // what an operator must know of its key
}

// Presets returns all presets, sorted by name.
func Presets() []Preset {
	return []Preset{
		{
			Name: "anthropic", APIs: []API{Messages},
			BaseURL: "https://api.anthropic.com", BaseURLEnv: []string{"ANTHROPIC_BASE_URL"},
			KeyEnv: []string{"ANTHROPIC_API_KEY"}, Hint: "make a key at console.anthropic.com",
		},
		{
			Name: "azure", APIs: []API{Chat, Responses},
			BaseURLEnv: []string{"AZURE_OPENAI_ENDPOINT"}, BasePath: "/openai/v1",
			KeyEnv: []string{"AZURE_OPENAI_API_KEY"}, KeyHeader: "Api-Key", CacheKey: true,
			Hint: "set AZURE_OPENAI_ENDPOINT to https://RESOURCE.openai.azure.com; the model is the name of your deployment",
		},
		{
			Name: "github-models", APIs: []API{Chat},
			BaseURL: "https://models.github.ai/inference", KeyEnv: []string{"GITHUB_TOKEN", "GH_TOKEN"}, OldMax: true, NoEffort: true,
			Headers: map[string]string{"X-GitHub-Api-Version": "2022-11-28"},
			Hint:    "the token needs the permission models: read; a model is named publisher/name, such as openai/gpt-4.1",
		},
		{
			Name: "ollama", APIs: []API{Chat},
			BaseURL: "http://127.0.0.1:11434/v1", BaseURLEnv: []string{"OLLAMA_HOST"}, BasePath: "/v1",
			KeyEnv: []string{"OLLAMA_API_KEY"}, KeyFree: true, OldMax: true, NoEffort: true,
			Hint: "start it with: ollama serve; fetch the model with: ollama pull NAME",
		},
		{
			// Most servers that stand in for OpenAI know chat completions alone.
			Name: "openai", APIs: []API{Responses, Chat}, Elsewhere: Chat,
			BaseURL: "https://api.openai.com/v1", BaseURLEnv: []string{"OPENAI_BASE_URL"},
			KeyEnv: []string{"OPENAI_API_KEY"}, CacheKey: true, Hint: "make a key at platform.openai.com",
		},
		{
			Name: "openrouter", APIs: []API{Chat},
			BaseURL: "https://openrouter.ai/api/v1", KeyEnv: []string{"OPENROUTER_API_KEY"},
			Headers: map[string]string{"X-Title": "ycbot"},
			Hint:    "make a key at openrouter.ai; a model is named publisher/name",
		},
		{
			Name: "vllm", APIs: []API{Chat, Responses},
			BaseURL: "http://127.0.0.1:8000/v1", BaseURLEnv: []string{"VLLM_BASE_URL"}, BasePath: "/v1",
			KeyEnv: []string{"VLLM_API_KEY"}, KeyFree: true,
			Hint: "start it with --enable-auto-tool-choice and a --tool-call-parser",
		},
	}
}

// Names returns the names of all presets, sorted.
func Names() []string {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	return names
}

// Spellings are the names of all presets, and those that also name an API which the
// preset alone does not always choose, such as openai:responses.
func Spellings() []string {
	var all []string
	for _, p := range Presets() {
		all = append(all, p.Name)
		for _, api := range p.APIs {
			if api != p.APIs[0] || p.Elsewhere != "" {
				all = append(all, p.Name+":"+string(api))
			}
		}
	}
	return all
}

// Find returns the preset of a name, which may say behind a colon by which API it
// is asked.
func Find(name string) (Preset, error) {
	all := Presets()
	own, api, named := strings.Cut(name, ":")
	i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == own })
	if i < 0 {
		return Preset{}, fmt.Errorf("provider %q: there is none of this name; there are %s", name, strings.Join(Spellings(), ", "))
	}
	p := all[i]
	if named {
		if !slices.Contains(p.APIs, API(api)) {
			return Preset{}, fmt.Errorf("provider %s: it does not speak %q; it speaks %s", p.Name, api, spoken(p.APIs))
		}
		p.APIs, p.Elsewhere = []API{API(api)}, ""
	}
	return p, nil
}

// Likely is the preset whose key the environment has.
func Likely(getenv func(string) string) string {
	if getenv("ANTHROPIC_API_KEY") != "" && getenv("OPENAI_API_KEY") == "" && getenv("YCBOT_API_KEY") == "" {
		return "anthropic"
	}
	return "openai"
}

// Overrides is what an operator says in the place of a preset; "" leaves it.
type Overrides struct {
	API     API
	BaseURL string
	Key     string
}

// A Target is where a model is asked, and how. It holds the key.
type Target struct {
	Preset  Preset
	API     API
	BaseURL string
	Key     string
	KeyFrom string // the environment variable that held the key; "": it was given by hand, or there is none

	addressFrom string // the environment variable that held BaseURL; "": it was given by hand, or is the provider's own
}

// Errors of Resolve, beside those about a value.
var (
	ErrNoKey     = errors.New("there is no key for it")
	ErrNoBaseURL = errors.New("its address is not known")
)

// Resolve fills a preset with what the operator said and what getenv knows. A
// provider's own address wants a key; another one, of a proxy or a local server,
// may do without, and gets the key that there is.
func (p Preset) Resolve(o Overrides, getenv func(string) string) (Target, error) {
	t := Target{Preset: p, API: o.API, BaseURL: o.BaseURL, Key: o.Key}
	if t.API != "" && !slices.Contains(p.APIs, t.API) {
		return t, fmt.Errorf("provider %s: it does not speak %q; it speaks %s", p.Name, t.API, spoken(p.APIs))
	}
	if t.BaseURL == "" {
		t.addressFrom, t.BaseURL = firstSet(p.BaseURLEnv, getenv)
		t.BaseURL = p.address(t.BaseURL)
	}
	if t.BaseURL == "" {
		t.BaseURL = p.BaseURL
	}
	if t.BaseURL == "" {
		return t, fmt.Errorf("provider %s: %w: %s", p.Name, ErrNoBaseURL, p.Hint)
	}
	u, err := url.Parse(t.BaseURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return t, fmt.Errorf("provider %s: its address is not an http or https URL, such as http://127.0.0.1:11434/v1", p.Name) // not repeated: it may hold a password
	}
	if t.Key == "" {
		t.KeyFrom, t.Key = firstSet(p.KeyEnv, getenv)
	}
	own := p.BaseURL == "" || t.BaseURL == p.BaseURL
	switch {
	case t.API != "":
	case !own && p.Elsewhere != "":
		t.API = p.Elsewhere
	default:
		t.API = p.APIs[0]
	}
	if t.Key == "" && !p.KeyFree && own {
		return t, fmt.Errorf("provider %s: %w: set %s; %s", p.Name, ErrNoKey, strings.Join(p.KeyEnv, " or "), p.Hint)
	}
	return t, nil
}

// address completes what environment variables name in short: OLLAMA_HOST is
// often host:port, and AZURE_OPENAI_ENDPOINT has no path.
func (p Preset) address(from string) string {
	if from == "" || p.BasePath == "" {
		return from
	}
	if !strings.Contains(from, "://") {
		from = "http://" + from
	}
	u, err := url.Parse(from)
	if err != nil || (u.Path != "" && u.Path != "/") {
		return from
	}
	return u.JoinPath(p.BasePath).String()
}

func firstSet(names []string, getenv func(string) string) (name, value string) {
	for _, name := range names {
		if value := strings.TrimSpace(getenv(name)); value != "" {
			return name, value
		}
	}
	return "", ""
}

func spoken(apis []API) string {
	var words []string
	for _, a := range apis {
		words = append(words, string(a))
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}

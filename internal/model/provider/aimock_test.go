package provider_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/model/modeltest"
)

// A mock is aimock, a server of others that speaks all three APIs. What it says
// is chosen by what the user says: the scenario and the API.
type mock struct{ url string }

// aimock starts aimock in strict mode, or skips.
func aimock(t *testing.T) *mock {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	modules := os.Getenv("YCBOT_NODE_MODULES") // for another place than the repository's
	if modules == "" {
		modules = "../../../test/node_modules"
	}
	program := filepath.Join(modules, "@copilotkit", "aimock", "dist", "cli.js")
	if _, err := os.Stat(program); err != nil {
		t.Skip("aimock is not installed: run npm ci in test")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "scenarios.json"), fixtures(t), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, program, "-p", "0", "-f", dir, "--strict", "--validate-on-load", "-c", "3")
	cmd.Env = append(os.Environ(), "AIMOCK_API_KEYS="+modeltest.Key) // others are refused
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if _, url, ok := strings.Cut(lines.Text(), "listening on "); ok {
			go func() { // it must not block on a full pipe
				for lines.Scan() {
				}
			}()
			return &mock{url: strings.TrimSpace(url)}
		}
	}
	t.Fatalf("aimock did not start: %s", strings.Join(said, "\n"))
	return nil
}

type m = map[string]any

// fixtures are the scenarios as aimock reads them.
func fixtures(t *testing.T) []byte {
	t.Helper()
	var all []m
	add := func(scenario string, a modeltest.API, match m, rest m) {
		match["userMessage"] = scenario + "-" + a.Name
		rest["match"] = match
		all = append(all, rest)
	}
	hello := func() m {
		return m{"content": "Hello.", "usage": m{
			"prompt_tokens": usage.Input, "completion_tokens": usage.Output, "total_tokens": usage.Input + usage.Output,
			"input_tokens": usage.Input, "output_tokens": usage.Output,
		}}
	}
	failure := func(status int, code, message string) m {
		return m{"status": status, "retryAfter": 3, "error": m{"message": message, "type": code, "code": code}}
	}
	for _, a := range modeltest.APIs() {
		add("text", a, m{}, m{"response": hello()})
		add("calls", a, m{"hasToolResult": true}, m{"response": m{"content": "Done."}})
		add("calls", a, m{"hasToolResult": false}, m{"response": m{
			"content": "Two.", "reasoning": "Both at once.", "reasoningSignature": "c2lnbmVk+/=",
			"toolCalls": []m{{"name": "read_file", "arguments": `{"path":"x"}`}, {"name": "grep", "arguments": "{}"}},
		}})
		for name, first := range map[string]m{
			"busy":      {"response": failure(429, "rate_limit_error", "slow down")},
			"down":      {"response": failure(503, "overloaded_error", "not now")},
			"cut":       {"response": hello(), "truncateAfterChunks": map[string]int{"chat": 2, "responses": 5, "messages": 3}[a.Name], "latency": 20},
			"malformed": {"response": hello(), "chaos": m{"malformedRate": 1}},
		} {
			add(name, a, m{"sequenceIndex": 0}, first)
			add(name, a, m{}, m{"response": hello()})
		}
		add("key", a, m{}, m{"response": failure(401, "authentication_error", "wrong modeltest.Key "+modeltest.Key)})
		add("refused", a, m{}, m{"response": failure(400, "invalid_request_error", "bad "+modeltest.Key)})
		add("long", a, m{}, m{"response": failure(400, map[string]string{"messages": "invalid_request_error"}[a.Name], "prompt is too long: 210000 tokens > 200000 maximum")})
		add("dead", a, m{}, m{"response": failure(503, "", "not now")})
		add("hang", a, m{}, m{"response": hello(), "latency": 400}) // time enough to leave between two pieces
		add("idle", a, m{}, m{"response": hello(), "latency": 3_600_000})
	}
	raw, err := json.Marshal(m{"fixtures": all})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func (s *mock) scenario(_ *testing.T, _ modeltest.API, _ string) (string, *http.Client) {
	return s.url + "/v1", http.DefaultClient
}

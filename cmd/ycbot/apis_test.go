package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/modeltest"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// A run asks by each of the three APIs, named by its provider; what it recorded
// holds no key, and replays to the same report.
func TestRunByEachAPI(t *testing.T) {
	variants.Only(t) // TestConformance of internal/model/provider has each API
	t.Parallel()
	const reported = "### Check: adds two numbers\n**Command run:** `sh sum.sh 2 3`\n**Output observed:**\n```\n5\n```\n**Result: PASS**\n\n" +
		"### Check: adds below zero [adversarial]\n**Command run:** `sh sum.sh -2 -3`\n**Output observed:**\n```\n-5\n```\n**Result: PASS**\n\nVERDICT: PASS"
	named := map[string]string{"chat": "openai", "responses": "openai:responses", "messages": "anthropic"}
	for _, api := range modeltest.APIs() {
		t.Run(api.Name, func(t *testing.T) {
			t.Parallel()
			usage := model.Usage{Input: 100, Output: 10}
			silent := api.Name == "chat" // about what it used, as some servers are
			last := api.Render(modeltest.Answer{Text: []string{reported[:90], reported[90:]}, Usage: usage})
			if silent {
				last = slices.DeleteFunc(last, func(e modeltest.Event) bool { return strings.Contains(e.Data, `"usage"`) })
			}
			d := modeltest.Serve(t, api,
				modeltest.Stream(api.Render(modeltest.Answer{Text: []string{"ready"}, Usage: usage})...),
				modeltest.Stream(api.Render(modeltest.Answer{Thought: "Both signs.", Usage: usage, Calls: []model.Call{
					{ID: "call_1", Name: "run_bash", Args: `{"command": "sh sum.sh 2 3"}`}, {ID: "call_2", Name: "run_bash", Args: `{"command": "sh sum.sh -2 -3"}`},
				}})...),
				modeltest.Stream(last...),
			)
			dir := t.TempDir()
			repo, out, home := filepath.Join(dir, "repo"), filepath.Join(dir, "out"), filepath.Join(dir, "home")
			makeChange(t, repo, sumBase, sumHead)
			cmd := realProgram(t, home, "run", "-C", repo, "--provider", named[api.Name], "--model", "gpt-5", "--effort", "high", "--base-url", d.URL, "--sandbox", "none", "--out", out)
			cmd.Env = append(cmd.Env, "YCBOT_API_KEY="+modeltest.Key)
			said, err := cmd.CombinedOutput()
			if err != nil || len(d.Bodies()) != 3 {
				t.Fatalf("%v after %d questions\n%s", err, len(d.Bodies()), said)
			}
			log, err := os.ReadFile(filepath.Join(out, "model.jsonl"))
			if err != nil || bytes.Contains(log, []byte(modeltest.Key)) || bytes.Count(log, []byte(`,"api":"`+api.Name+`","model":"gpt-5",`)) != 3 {
				t.Errorf("model.jsonl, %v:\n%s", err, log)
			}
			// The effort goes out with each question of the agent, and what the model reasoned
			// goes back where the API has a way to.
			sent := map[string][]string{
				"chat": {`"reasoning_effort":"high"`}, "responses": {`"reasoning":{"effort":"high"}`, `"encrypted_content":`},
				"messages": {`"output_config":{"effort":"high"}`, `"signature":`},
			}[api.Name]
			for _, want := range sent {
				if body := d.Bodies()[2]; !strings.Contains(body, want) {
					t.Errorf("no %s in %s", want, body)
				}
			}
			data, err := os.ReadFile(filepath.Join(out, "report.json"))
			if err != nil {
				t.Fatal(err)
			}
			var rep report.Report
			if err := json.Unmarshal(data, &rep); err != nil || rep.Verdict != report.Pass || len(rep.Checks) < 2 {
				t.Errorf("%v %+v", err, rep)
			}
			if rep.Usage.Estimated != silent || strings.Contains(string(said), " · ~") != silent {
				t.Errorf("usage %+v\n%s", rep.Usage, said)
			}
			again := realProgram(t, home, "replay", out, "--dry")
			again.Dir = repo
			replay, err := again.CombinedOutput()
			if err != nil || !strings.Contains(string(replay), "the same report") || len(d.Bodies()) != 3 {
				t.Errorf("replay: %v, %d questions\n%s", err, len(d.Bodies()), replay)
			}
		})
	}
}

// A server that leaves out a part of the conversation without a word, as one does whose
// window is smaller than what it is sent, is noticed by what it counted.
func TestTruncatedContext(t *testing.T) {
	t.Parallel()
	api := modeltest.APIs()[slices.IndexFunc(modeltest.APIs(), func(a modeltest.API) bool { return a.Name == "chat" })]
	answer := func(a modeltest.Answer) []modeltest.Event {
		a.Usage = model.Usage{Input: 2048, Output: 10}
		return api.Render(a)
	}
	d := modeltest.Serve(t, api,
		modeltest.Stream(answer(modeltest.Answer{Text: []string{"ready"}})...),
		modeltest.Stream(answer(modeltest.Answer{Calls: []model.Call{{ID: "call_1", Name: "run_bash", Args: `{"command": "sh sum.sh 2 3"}`}}})...),
		modeltest.Stream(answer(modeltest.Answer{Text: []string{"I see no task.\n\nVERDICT: PARTIAL"}})...),
	)
	dir := t.TempDir()
	repo, out := filepath.Join(dir, "repo"), filepath.Join(dir, "out")
	makeChange(t, repo, sumBase, sumHead)
	cmd := realProgram(t, filepath.Join(dir, "home"), "run", "-C", repo, "--provider", "ollama", "--model", "qwen3-coder", "--base-url", d.URL, "--sandbox", "none", "--out", out)
	cmd.Env = append(cmd.Env, "YCBOT_API_KEY="+modeltest.Key)
	said, _ := cmd.CombinedOutput() // it ends with 2, for PARTIAL
	data, err := os.ReadFile(filepath.Join(out, "report.json"))
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	rep, err := report.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	const want = "what agent verification was not shown: the provider counted 2048 tokens where about "
	if !slices.ContainsFunc(rep.NotCovered, func(s string) bool { return strings.HasPrefix(s, want) }) {
		t.Errorf("not covered: %q\n%s", rep.NotCovered, said)
	}
	events, err := os.ReadFile(filepath.Join(out, "events.jsonl"))
	if err != nil || !bytes.Contains(events, []byte("it left out a part of the conversation")) {
		t.Errorf("events.jsonl does not say it: %v", err)
	}
}

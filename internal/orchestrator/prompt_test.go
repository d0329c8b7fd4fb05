package orchestrator

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/tool"
)

// fixedMost is how large what each question of the verification begins with may be: tools
// and system text.
const fixedMost = 20_000

func verifier(t *testing.T) agents.Definition {
	t.Helper()
	defs, err := agents.Builtins(tool.Resolve)
	if err != nil {
		t.Fatal(err)
	}
	d, ok := agents.Find(defs, Verification)
	if !ok {
		t.Fatal("there is no verification")
	}
	return d
}

// The part of a question that is the same for each change is at most 20 KB, with all
// tools that the verification can have.
func TestFixedPrompt(t *testing.T) {
	t.Parallel()
	d := verifier(t)
	var todos tool.Todos
	all := slices.Concat(tool.FileTools(tool.Trees{}), tool.GitTools(tool.Repo{}), tool.PullTools(tool.Pull{}, tool.Repo{}),
		[]tool.Tool{tool.TodoWrite(&todos), tool.Bash(&tool.Shell{}), tool.RunTests(tool.Suites{List: []tool.Suite{{Name: "."}}}), tool.Screenshot(tool.Screen{})},
		new(tool.Processes).Tools())
	var names []string
	size := 0
	for _, o := range all {
		if !d.Has(o.Name) {
			continue
		}
		spec, err := json.Marshal(map[string]any{"name": o.Name, "description": o.Description, "input_schema": o.Schema})
		if err != nil {
			t.Fatal(err)
		}
		names, size = append(names, o.Name), size+len(spec)
	}
	where := agents.Circumstances{Tools: names, Exec: true, Cwd: "/w", Base: "/b", Facts: []string{"a"}}
	system := agents.Contract(where) + d.Prompt
	t.Logf("%d tools %d bytes, system text %d bytes", len(names), size, len(system))
	if size+len(system) > fixedMost {
		t.Errorf("tools and system text are %d bytes, more than %d", size+len(system), fixedMost)
	}
	other := agents.Circumstances{Tools: names, Exec: true, Cwd: "/elsewhere", Base: "/c", Facts: []string{"b"}}
	if agents.Contract(other)+d.Prompt != system {
		t.Error("the system text of another run is another one")
	}
}

// The examples that the prompt calls good pass the audit against a log in which their
// commands ran like that, and the bad one does not.
func TestPromptExamples(t *testing.T) {
	t.Parallel()
	var quoted []string
	for line := range strings.Lines(verifier(t).Prompt) {
		if text, ok := strings.CutPrefix(line, ">"); ok {
			quoted = append(quoted, strings.TrimPrefix(text, " "))
		}
	}
	checks := report.ParseAgentReport(strings.Join(quoted, "")).Checks
	if len(checks) != 3 {
		t.Fatalf("%d examples: %+v", len(checks), checks)
	}
	if bad := checks[0]; len(bad.Commands) != 0 || bad.Result != report.ResultSkip {
		t.Errorf("the bad example counts: %+v", bad)
	}
	outputs := map[string]string{"E31": "pay: amount must be positive\n", "E34": "1c1\n< pay: amount must be positive\n---\n> paid 0 to bob\n"}
	log := []evidence.Record{
		{ID: "E31", Command: checks[1].Commands[0], Exit: 2, Executed: true},
		{ID: "E34", Command: checks[2].Commands[0], Exit: 1, Executed: true},
	}
	audited, err := evidence.Auditor{Log: log, Output: func(r evidence.Record) ([]byte, []byte, error) { return []byte(outputs[r.ID]), nil, nil }}.Audit(checks[1:])
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range audited {
		if a.Support != report.Supported {
			t.Errorf("example %q is %s: %s", checks[i+1].Title, a.Support, a.Reason)
		}
	}
	if checks[1].Result != report.ResultPass || checks[2].Result != report.ResultFail || checks[2].Expected == "" {
		t.Errorf("%+v", checks[1:])
	}
}

// A check with the command of a recipe stands under the audit: nothing in it hides the
// exit code that it ends with.
func TestRecipesStand(t *testing.T) {
	t.Parallel()
	for _, tools := range [][]string{{"run_bash"}, {"run_bash", "start_process", "process_output", "stop_process", "screenshot"}} {
		place := agents.Place(agents.Circumstances{Tools: tools, Exec: true, Cwd: "/w", Base: "/b"})
		blocks := strings.Split(place, "```bash\n")[1:]
		if len(blocks) != 3 || strings.Contains(place, "start_process") != (len(tools) > 1) || strings.Contains(place, "screenshot") != (len(tools) > 1) {
			t.Fatalf("%d recipes for %v:\n%s", len(blocks), tools, place)
		}
		for _, block := range blocks {
			command, _, _ := strings.Cut(block, "\n```")
			command = strings.NewReplacer("./server", "go run ./cmd/server", "sh run.sh --flag", "go test ./run").Replace(command)
			audited, err := evidence.Auditor{
				Log:    []evidence.Record{{ID: "E1", Command: command, Executed: true}},
				Output: func(evidence.Record) ([]byte, []byte, error) { return []byte("status 200\n"), nil, nil },
			}.Audit([]report.AgentCheck{{Title: "x", Commands: []string{command}, Output: "status 200", Quoted: true, Result: report.ResultPass}})
			if err != nil || audited[0].Support != report.Supported {
				t.Errorf("%v: %s\n%s %s, error %v", tools, command, audited[0].Support, audited[0].Reason, err)
			}
		}
	}
	if place := agents.Place(agents.Circumstances{Tools: []string{"grep"}}); strings.Contains(place, "Recipes") {
		t.Errorf("an agent that runs nothing is given recipes:\n%s", place)
	}
}

// A change is given the strategies that its files and its difference speak for.
func TestStrategies(t *testing.T) {
	t.Parallel()
	always := []string{"**New feature**", "**Bug fix**", "**Refactoring**", "**Concurrency**", "**Configuration**", "**Anything else**"}
	for name, tc := range map[string]struct {
		path, diff string
		also       []string
	}{
		"a page":         {"web/Form.tsx", "+ return <form/>", []string{"**Page**"}},
		"a server":       {"api/items.py", "+ @app.route('/items')", []string{"**Server or API**"}},
		"a migration":    {"db/0007.sql", "+ ALTER TABLE items ADD x", []string{"**Database or migration**"}},
		"a script":       {"tools/clean.sh", "+ rm -r out", []string{"**Command line**"}},
		"a library":      {"sum/sum.go", "+func Sum(a, b int) int {", []string{"**Library**"}},
		"a lockfile":     {"web/package-lock.json", "+ x", []string{"**Dependencies**"}},
		"an image":       {"Dockerfile", "+RUN make", []string{"**Build and infrastructure**"}},
		"nothing of all": {"src/a.c", "+ x = 1;", nil},
	} {
		got := strategyNotes([]change.File{{Path: tc.path}}, tc.diff)
		want := append(slices.Clone(always), tc.also...)
		for _, kind := range want {
			if !strings.Contains(got, kind) {
				t.Errorf("%s: lacks %s:\n%s", name, kind, got)
			}
		}
		if n := strings.Count(got, "\n- **"); n != len(want) {
			t.Errorf("%s: %d strategies, want %d:\n%s", name, n, len(want), got)
		}
	}
}

// The verification alone is given the strategies.
func TestStrategiesAreOfTheVerification(t *testing.T) {
	t.Parallel()
	r := &gate.Result{Verdict: gate.Pass}
	const mark = "**Bug fix**"
	for name, text := range map[string]string{"Explore": explorePrompt("brief"), "an adviser": adviserPrompt("brief", r), "the coordinator": coordinatorPrompt("brief", r, "")} {
		if strings.Contains(text, mark) {
			t.Errorf("%s is given them:\n%s", name, text)
		}
	}
	if text := verificationPrompt(change.Change{}, "brief", r, nil, ""); !strings.Contains(text, mark) {
		t.Errorf("the verification is not given them:\n%s", text)
	}
}

// What the gate could not see is named by place; the commands that ycbot makes up for
// mutants are not quoted.
func TestGateNotes(t *testing.T) {
	t.Parallel()
	wrapper := strings.Repeat("import fs from 'node:fs' // wrapper\n", 80)
	r := &gate.Result{Verdict: gate.Pass, Toolchains: map[string]string{"go": "1.26"}}
	r.Steps = []gate.Step{
		{Stage: gate.StageTest, Side: gate.Head, Unit: ".", Command: "go test ./...", Evidence: "E2", Duration: 42 * time.Second},
		{Stage: gate.StageLint, Side: gate.Head, Unit: "web", Command: "npm run lint", Evidence: "E3", Exit: 1, Output: "no-unused: x"},
	}
	for i := range 40 {
		r.Steps = append(r.Steps, gate.Step{Stage: gate.StageMutation, Side: gate.Head, Unit: ".", Command: wrapper, Evidence: fmt.Sprintf("E%d", i+10), Exit: i % 2})
	}
	r.Mutation = &gate.Mutation{
		Survivors: []gate.Survivor{{Path: "sum.go", Line: 7, Title: "changed > to >=", Command: wrapper}, {Path: "sum.go", Line: 9, Title: "removed a call", Weak: true}},
		Unrun:     map[string][]int{"web/app.js": {3, 4, 5, 9}},
	}
	r.Expectations = &gate.Expectations{Changed: []gate.Expectation{{ID: gate.ID{Unit: ".", Package: "m", Test: "TestSum"}, Class: compare.Weakened, Path: "sum_test.go", Line: 12, Old: "if got != 3 {", New: "if got == 0 {"}}}
	notes := gateNotes(r)
	for _, want := range []string{
		"[E2] exit=0 head: go test ./...", "[E3] exit=1 head: npm run lint (lint) (in web)", "no-unused: x", "and 40 commands of its own",
		"sum.go:7: changed > to >=", "sum.go:9: removed a call (may make no difference)", "no test runs: web/app.js:3-5,9",
		"weakened: m TestSum (sum_test.go:12)", "was: if got != 3 {", "is: if got == 0 {",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("lacks %q", want)
		}
	}
	if strings.Contains(notes, "wrapper") || len(notes) > 3000 {
		t.Errorf("%d bytes:\n%s", len(notes), notes)
	}
	if d := durations(r); d != "[E2] 42s" {
		t.Errorf("durations %q", d)
	}
}

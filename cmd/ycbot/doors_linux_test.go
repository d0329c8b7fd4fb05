package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/report"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/internal/tool"
)

// The same scripted model gives the same verdict, reasons, checks, findings,
// not_covered and denied through the App, the Action and "ycbot run".
func TestAcceptance26ThreeDoors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		head    map[string]string // nil: what gaveUp makes, by an author who is a machine
		verdict string
	}{"good": {good, "PASS"}, "bad": {bad, "FAIL"}, "machine": {nil, "PARTIAL"}} {
		variants.Run(t, name, c.verdict != "FAIL", func(t *testing.T) { // TestFindMachines has what makes an author one
			t.Parallel()
			h := newInstalled(t)
			var inputs map[string]string
			args := []string{"run", "--repo", h.repo.String(), "--pr", "3", "--sandbox", "none"}
			if c.head != nil {
				h.script = filepath.Join(t.TempDir(), "scenario")
				write(t, h.script, honestModel)
				inputs = map[string]string{"provider": "script", "base_url": h.script}
				args = append(args, "--provider", "script", "--base-url", h.script)
				h.Push(h.repo, githubtest.Commit{Branch: "doors", Message: "change", Files: c.head})
				h.pull = h.OpenPull(h.repo, githubtest.Pull{Title: "Work on sums", Author: "alice", Head: "doors"})
			} else {
				h.gaveUp(t, map[string]string{".github/ycbot.yml": "version: 1\nmachines: [alice]\n"})
			}
			h.start(t)
			event := h.PullEvent(h.repo, h.pull, "opened", "alice", "")
			h.deliver(t, "pull_request", event)
			h.wait(t, "run has ended", "state=finished")
			found, err := filepath.Glob(filepath.Join(h.data, "runs/acme/sums/*/*/report.json"))
			if err != nil || len(found) != 1 {
				t.Fatalf("reports of the App: %q, %v", found, err)
			}
			app := alike(t, found[0])
			if app.Verdict != c.verdict || c.head != nil && (len(app.Checks) < 3 || len(app.Denied) != 1) {
				t.Errorf("the App: %s, %d checks, %d refused calls", app.Verdict, len(app.Checks), len(app.Denied))
			}

			s := h.step(t, "pull_request", event, inputs)
			if diff := cmp.Diff(app, alike(t, s.outputs["report-json"])); diff != "" {
				t.Errorf("the App and the Action differ (-app +action):\n%s", diff)
			}

			out := filepath.Join(t.TempDir(), "out")
			cmd := realProgram(t, t.TempDir(), append(args, "--out", out)...)
			cmd.Dir = t.TempDir()
			cmd.Env = append(cmd.Env, "GITHUB_API_URL="+h.URL, "GH_TOKEN="+h.Token("alice", nil, "personal"))
			log, _ := cmd.CombinedOutput()
			if !strings.Contains(string(log), "VERDICT: "+c.verdict) {
				t.Fatalf("run:\n%s", log)
			}
			if diff := cmp.Diff(app, alike(t, filepath.Join(out, "report.json"))); diff != "" {
				t.Errorf("the App and run differ (-app +run):\n%s", diff)
			}
		})
	}
}

// A verifier holds a server over several calls, looks at its page, finds what only the
// head gets wrong and is cut off by a limit: the verdict is FAIL with the reproduction,
// and the same through each door. Each has the machine's best sandbox, as what is kept
// apart well enough is also called with inputs that no one chose. Six starts of a browser
// take 20 s of processor time; TestAcceptance26ThreeDoors has the doors, and the scripts
// agents_processes and agents_screenshot have the server and the page.
func TestServerThreeDoors(t *testing.T) {
	t.Parallel()
	variants.Only(t)
	for _, program := range []string{"python3", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is missing", program)
		}
	}
	files, err := txtar.ParseFile("testdata/doors/server.txtar")
	if err != nil {
		t.Fatal(err)
	}
	sides, script := map[string]map[string]string{"base": {}, "head": {}}, ""
	for _, f := range files.Files {
		if side, name, ok := strings.Cut(f.Name, "/"); ok {
			sides[side][name] = string(f.Data)
		} else {
			script = "-- " + f.Name + " --\n" + string(f.Data)
		}
	}
	looks := tool.Browser(os.Stat) != ""
	t.Run("screenshot", func(t *testing.T) {
		if !looks {
			t.Skip("Chromium is missing: the verifier does not look at the page")
		}
	})
	if !looks {
		script = pattern.New(`(?ms)^> screenshot [^\n]*\n|^### Check: the page is shown\n.*?^\*\*Result: PASS\*\*\n`).ReplaceAllString(script, "")
	}

	h := newInstalled(t)
	h.script = filepath.Join(t.TempDir(), "scenario")
	write(t, h.script, script)
	h.Push(h.repo, githubtest.Commit{Branch: "main", Message: "a shop", Files: sides["base"]})
	h.Push(h.repo, githubtest.Commit{Branch: "doors", Message: "prices", Files: sides["head"]})
	h.pull = h.OpenPull(h.repo, githubtest.Pull{Title: "Prices", Body: "The shop has prices.", Author: "alice", Head: "doors"})
	h.start(t, "--sandbox", "auto")
	event := h.PullEvent(h.repo, h.pull, "opened", "alice", "")
	h.deliver(t, "pull_request", event)
	h.wait(t, "run has ended", "state=finished")
	found, err := filepath.Glob(filepath.Join(h.data, "runs/acme/sums/*/*/report.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("reports of the App: %q, %v", found, err)
	}
	s := h.step(t, "pull_request", event, map[string]string{"provider": "script", "base_url": h.script, "sandbox": "auto"})
	out := filepath.Join(t.TempDir(), "out")
	cmd := realProgram(t, t.TempDir(), "run", "--repo", h.repo.String(), "--pr", "3", "--provider", "script", "--base-url", h.script, "--out", out)
	cmd.Dir = t.TempDir()
	cmd.Env = append(cmd.Env, "GITHUB_API_URL="+h.URL, "GH_TOKEN="+h.Token("alice", nil, "personal"))
	if log, _ := cmd.CombinedOutput(); !strings.Contains(string(log), "\nVERDICT: FAIL\n") {
		t.Errorf("run:\n%s", log)
	}
	var first doorsWords
	for door, file := range []string{found[0], s.outputs["report-json"], filepath.Join(out, "report.json")} {
		judged(t, file, looks)
		words := alike(t, file)
		if door == 0 {
			first = words
		} else if diff := cmp.Diff(first, words); diff != "" {
			t.Errorf("the App and %s differ (-app +other):\n%s", file, diff)
		}
	}
}

// judged checks what a report says of the verifier that was cut off.
func judged(t *testing.T, file string, looks bool) {
	t.Helper()
	var rep report.Report
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &rep)
	}
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range rep.Checks {
		if c.Kind == report.KindAgent {
			got[c.Title] = fmt.Sprintf("%s %s %s", c.Result, c.Support, c.Reproduction)
		}
	}
	want := map[string]string{
		"adds":                    "PASS supported none",
		"refunds are still added": "FAIL supported introduced",
		"a price that is not there [adversarial]": "FAIL supported head-only",
	}
	if looks {
		want["the page is shown"] = "PASS supported none"
	}
	if diff := cmp.Diff(want, got); diff != "" || rep.Verdict != report.Fail {
		t.Errorf("%s: %s, checks (-want +got):\n%s", file, rep.Verdict, diff)
	}
	if i := slices.IndexFunc(rep.Subagents, func(s report.Subagent) bool { return s.Agent == "verification" }); i < 0 || rep.Subagents[i].Outcome != string(agent.OverBudget) {
		t.Errorf("%s: the limit did not end the verifier: %+v", file, rep.Subagents)
	}
	if pictures, err := filepath.Glob(filepath.Join(filepath.Dir(file), "spill", "*.png")); err != nil || looks != (len(pictures) == 2) {
		t.Errorf("%s: pictures %q, %v", file, pictures, err)
	}
}

// loopback is an address of a server, whose port is one that was free.
var loopback = pattern.New(`127\.0\.0\.1:[0-9]+`)

// callLimit is how long a call of a reproducer may take: as its base took when it was made.
var callLimit = pattern.New(`CALLS='[^;']*;`)

// doorsWords are what every door must say alike.
type doorsWords struct {
	Verdict    string `json:"verdict"`
	Reasons    []any  `json:"reasons"`
	Checks     []any  `json:"checks"`
	Findings   []any  `json:"findings"`
	NotCovered []any  `json:"not_covered"`
	Denied     []any  `json:"denied"`
}

func alike(t *testing.T, file string) (c doorsWords) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(callLimit.ReplaceAll(loopback.ReplaceAll(data, []byte("127.0.0.1:PORT")), []byte("CALLS='LIMIT;")), &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What someone who may says while a run goes is heard by the agents of that run,
// by the coordinator in front of them too, and is in the report.
func TestAppWords(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	h.Push(h.repo, githubtest.Commit{Branch: "main", Message: "coordinated", Files: map[string]string{
		".github/ycbot.yml": "version: 1\ncommands: {test: sh test.sh}\nagents: {run: [coordinator]}\n",
	}})
	h.script = filepath.Join(t.TempDir(), "scenario")
	write(t, h.script, "-- coordinator --\nNothing yet.\n---\n<* what of zero?\nLook at zero.\n"+strings.NewReplacer(
		"-- model --\n", "-- model --\n<* Look at zero.\n", "<* not a JSON", "<* what of zero?\n<* not a JSON",
	).Replace(honestModel))
	h.held(t)
	h.start(t)
	h.deliver(t, "pull_request", h.PullEvent(h.repo, h.pull, "opened", "alice", ""))
	h.started(t)
	_, event := h.says("alice", "/verify -- what of zero?")
	h.deliver(t, "issue_comment", event)
	h.heard(t, "what of zero?")
	h.release(t)
	h.wait(t, "run has ended", "state=finished", "verdict=PASS")
	found, err := filepath.Glob(filepath.Join(h.data, "runs/acme/sums/*/*/report.md"))
	if err != nil || len(found) != 1 {
		t.Fatalf("reports: %q, %v", found, err)
	}
	if text, err := os.ReadFile(found[0]); err != nil || !strings.Contains(string(text), "said to the agents while the run went: what of zero?") {
		t.Errorf("%v\n%s", err, text)
	}
}

// heard waits until the run that is under way has taken what someone said.
func (h *installed) heard(t *testing.T, text string) {
	t.Helper()
	timeout, tick := time.After(90*time.Second), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for {
		found, err := filepath.Glob(filepath.Join(h.data, "runs/acme/sums/*/*/journal.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), text) {
				return
			}
		}
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("the run does not hear %q: %q", text, found)
		}
	}
}

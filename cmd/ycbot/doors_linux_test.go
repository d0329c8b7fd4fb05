package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/githubtest"
)

// The same scripted model gives the same verdict, reasons, checks, findings,
// not_covered and denied through the App, the Action and "ycbot run".
func TestAcceptance26ThreeDoors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		head    map[string]string
		verdict string
	}{"good": {good, "PASS"}, "bad": {bad, "FAIL"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newInstalled(t)
			h.script = filepath.Join(t.TempDir(), "scenario")
			write(t, h.script, honestModel)
			h.Push(h.repo, githubtest.Commit{Branch: "doors", Message: "change", Files: c.head})
			h.pull = h.OpenPull(h.repo, githubtest.Pull{Title: "Work on sums", Author: "alice", Head: "doors"})
			h.start(t)
			event := h.PullEvent(h.repo, h.pull, "opened", "alice", "")
			h.deliver(t, "pull_request", event)
			h.wait(t, "run has ended", "state=finished")
			found, err := filepath.Glob(filepath.Join(h.data, "runs/acme/sums/*/*/report.json"))
			if err != nil || len(found) != 1 {
				t.Fatalf("reports of the App: %q, %v", found, err)
			}
			app := alike(t, found[0])
			if app.Verdict != c.verdict || len(app.Checks) < 3 || len(app.Denied) != 1 {
				t.Errorf("the App: %s, %d checks, %d refused calls", app.Verdict, len(app.Checks), len(app.Denied))
			}

			s := h.step(t, "pull_request", event, map[string]string{"provider": "script", "base_url": h.script})
			if diff := cmp.Diff(app, alike(t, s.outputs["report-json"])); diff != "" {
				t.Errorf("the App and the Action differ (-app +action):\n%s", diff)
			}

			out := filepath.Join(t.TempDir(), "out")
			cmd := realProgram(t, t.TempDir(), "run", "--repo", h.repo.String(), "--pr", "3", "--sandbox", "none", "--provider", "script", "--base-url", h.script, "--out", out)
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
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What somebody who may says while a run goes is heard by the agents of that run,
// by the coordinator in front of them too, and is told of in the report.
func TestAppWords(t *testing.T) {
	t.Parallel()
	h := newInstalled(t)
	h.Push(h.repo, githubtest.Commit{Branch: "main", Message: "coordinated", Files: map[string]string{
		".github/ycbot.yml": "version: 1\ncommands: {test: sh test.sh}\nagents: {run: [coordinator]}\n",
	}})
	h.script = filepath.Join(t.TempDir(), "scenario")
	write(t, h.script, "-- coordinator --\nNothing yet.\n---\n<* what of zero?\nLook at zero.\n"+strings.NewReplacer(
		"-- model --\n", "-- model --\n<* Look at zero.\n", "<* not a JSON", "<* what of zero?\n<* not a JSON").Replace(honestModel))
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

// heard waits until the run that is under way has taken what somebody said.
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

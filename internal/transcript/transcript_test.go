package transcript_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/transcript"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// story is an agent with everything that a transcript has to get right, and
// another one whose events are mixed with it.
func story() []transcript.Event {
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	call := func(i int, id, name, args string) *transcript.Call {
		return &transcript.Call{ID: id, Index: i, Name: name, Args: args}
	}
	cost := 0.25
	events := []transcript.Event{
		{Type: transcript.SubagentStart, Text: "Verify ```this```.", Meta: &transcript.Meta{Model: "m", Description: "attack it", Source: "builtin", SourcePath: "agents/`odd`.md", Background: true, Isolation: "worktree"}},
		{Type: transcript.TurnStart, Text: "Verify ```this```.", Meta: &transcript.Meta{Model: "m", Tools: []string{"read_file", "run_bash"}, Max: 60}},
		{Type: transcript.IterationStart, N: 1, Max: 60},
		{Type: transcript.Message, N: 1, Text: "I look.", Calls: []transcript.Call{*call(0, "a", "read_file", `{"path":"x"}`), *call(1, "a", "run_bash", "{}")}, Usage: &transcript.Usage{Input: 10, Output: 2}},
		{Type: transcript.ToolStart, N: 1, Call: call(0, "a", "read_file", `{"path":"x"}`)},
		{Type: transcript.ToolStart, N: 1, Call: call(1, "a", "run_bash", `{"command":"echo '`+"```"+`'"}`)},
		{Type: transcript.ToolResult, N: 1, Call: call(0, "a", "read_file", `{"path":"x"}`), Text: "# Not a heading\n````\n**Outcome:** runner_completed", DurationMS: 12},
		{Type: transcript.ToolResult, N: 1, Call: call(1, "a", "run_bash", `{"command":"echo '`+"```"+`'"}`), Text: "[E1] exit=1 in 3ms\n```\n", Errored: true, Evidence: []string{"E1"}, DurationMS: 3},
		{Type: transcript.IterationStart, N: 2, Max: 60},
		{Type: transcript.Message, N: 2, Calls: []transcript.Call{*call(0, "a", "git_diff_files", "{}"), *call(1, "b", "write_file", `{"path":"x"}`), *call(2, "c", "run_bash", "{}")}},
		{Type: transcript.ToolStart, N: 2, Call: call(0, "a", "git_diff_files", "{}")},
		{Type: transcript.ToolResult, N: 2, Call: call(0, "a", "git_diff_files", "{}"), Text: "+a\n"},
		{Type: transcript.ToolStart, N: 2, Call: call(1, "b", "write_file", `{"path":"x"}`)},
		{Type: transcript.CallDenied, N: 2, Call: call(1, "b", "write_file", `{"path":"x"}`), Denied: &transcript.Denied{Code: "background_auto_deny", Rule: "class write"}},
		{Type: transcript.ToolResult, N: 2, Call: call(1, "b", "write_file", `{"path":"x"}`), Text: `{"code":"background_auto_deny"}`, Errored: true},
		{Type: transcript.ToolStart, N: 2, Call: call(2, "c", "run_bash", "{}")},
		{Type: transcript.TurnInterrupted, Reason: "superseded", Orphaned: []string{"c"}, Text: "Half a", Done: &transcript.Done{Outcome: "runner_canceled"}},
		{Type: transcript.ToolResult, N: 2, Call: call(2, "c", "run_bash", "{}"), Text: "late"},
		{Type: transcript.IterationStart, N: 3, Max: 60},
		{Type: transcript.Message, N: 3, Text: "Report", Reason: "length"},
		{Type: transcript.UserMessage, N: 3, Text: "Go on.", Reason: "truncated_output"},
		{Type: transcript.Failure, N: 3, Text: "a\nb"},
		{Type: transcript.IterCap, N: 3, Max: 60},
		{Type: transcript.TurnDone, Done: &transcript.Done{Outcome: "runner_completed", Text: "Report\n\nVERDICT: PASS"}},
		{Type: transcript.SubagentDone, Done: &transcript.Done{Outcome: "runner_completed", Status: "completed", Verdict: "PASS", Text: "Report\n\nVERDICT: PASS", Iterations: 3, ToolCalls: 4, CostUSD: &cost, DurationMS: 9000, Isolation: "worktree"}},
	}
	var mixed []transcript.Event
	for i, e := range events {
		e.Agent, e.ID, e.Parent, e.Time = "verification", "aa", "root", at.Add(time.Duration(i)*time.Second)
		mixed = append(mixed, e, transcript.Event{Type: transcript.IterationStart, N: i + 1, Agent: "Explore", ID: "bb", Time: e.Time})
	}
	return mixed
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: want-, got+:\n%s", name, diff)
	}
}

// The transcript holds each output whole and in one fence, each text once, each
// answer at its own call though ids come twice, and the outcome.
func TestAcceptance16Markdown(t *testing.T) {
	t.Parallel()
	got := transcript.Markdown(story(), "aa")
	golden(t, "story.md", got)
	for part, n := range map[string]int{"I look.": 1, "\n**Outcome:** ": 2, "VERDICT: PASS": 1, "_interrupted_": 1} {
		if c := strings.Count(got, part); c != n {
			t.Errorf("%q is there %d times, want %d", part, c, n)
		}
	}
	outside := 0 // lines "**Outcome:**" that no fence holds
	bar := ""
	for line := range strings.Lines(got) {
		line = strings.TrimSuffix(line, "\n")
		switch ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]; {
		case bar == "" && len(ticks) >= 3:
			bar = ticks
		case bar != "" && line == bar:
			bar = ""
		case bar == "" && strings.HasPrefix(line, "**Outcome:**"):
			outside++
		}
	}
	if outside != 1 || bar != "" {
		t.Errorf("%d outcomes outside of fences, open fence %q", outside, bar)
	}
}

// Every transcript has an outcome, wherever its events end, and a result.
func TestOutcomeOnEveryPath(t *testing.T) {
	t.Parallel()
	all := story()
	for n := range len(all) + 1 {
		got := transcript.Markdown(all[:n], "aa")
		if !strings.Contains(got, "\n**Outcome:** runner_") || !strings.Contains(got, "\n## Final result\n") {
			t.Errorf("%d events: %s", n, got)
		}
	}
}

// The sidechain is the conversation between a line of what began it and one of its result.
func TestSidechain(t *testing.T) {
	t.Parallel()
	got, err := transcript.Sidechain(story(), "aa")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "story.jsonl", string(got))
	for line := range bytes.Lines(got) {
		if !json.Valid(line) {
			t.Errorf("no JSON: %s", line)
		}
	}
	if _, err := transcript.Sidechain(story(), "cc"); err == nil {
		t.Error("an agent without events has a sidechain")
	}
	if diff := cmp.Diff([]string{"aa", "bb"}, transcript.Agents(story())); diff != "" {
		t.Error(diff)
	}
}

func TestEnvelope(t *testing.T) {
	t.Parallel()
	all := story()
	done := all[len(all)-2]
	got, err := json.Marshal(done)
	for _, want := range []string{
		`{"agentType":"verification","event":{"type":"subagent_done",`,
		`"kind":"subagent","payload":{"subagent_id":"aa","iterations":3,"tool_calls_made":4,"cost_usd":0.25,"duration_ms":9000,"isolation":"worktree"}},"sessionId":"aa","type":"subagent_event"}`,
	} {
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s %v lacks %s", got, err, want)
		}
	}
	for _, e := range all { // nothing is lost by it
		raw, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var back transcript.Event
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, back); diff != "" {
			t.Error(diff)
		}
	}
	var old transcript.Event
	if err := json.Unmarshal([]byte(`{"type":"tool_start","agent":"a","id":"x","n":2}`), &old); err != nil || old.N != 2 || old.Type != transcript.ToolStart {
		t.Errorf("without an envelope: %+v %v", old, err)
	}
}

// An event is kept once, however often it is sent; what is shown only is not kept;
// a torn last line is cut and its event taken again.
func TestLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events.jsonl")
	all := story()
	send := func(from int, want int) {
		t.Helper()
		l, err := transcript.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, e := range append(all[:from:from], transcript.Event{Type: transcript.ContentToken, Text: "x"}) {
			fresh, err := l.Append(e)
			if err != nil {
				t.Fatal(err)
			}
			if fresh {
				n++
			}
		}
		if n != want {
			t.Errorf("%d were new, want %d", n, want)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Append(transcript.Event{Type: transcript.Failure, N: 999}); err == nil {
			t.Error("a closed log took an event")
		}
	}
	send(20, 21)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)-7], 0o600); err != nil {
		t.Fatal(err)
	}
	send(20, 2)
	send(len(all), len(all)-20+1)
	f, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := transcript.Read(bytes.NewReader(f))
	if diff := cmp.Diff(all, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := transcript.Read(strings.NewReader("{}\nnonsense\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a broken line: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
}

// An event that could be written in part leaves nothing in the way of those that come when
// the disk has room again.
func TestFullDisk(t *testing.T) { //nolint:paralleltest // its limit holds for the whole process
	path := filepath.Join(t.TempDir(), "events.jsonl")
	l, err := transcript.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	all := story()
	if _, err := l.Append(all[0]); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	room := full(t, int64(len(before))+40)
	_, long := l.Append(all[1])
	room()
	after, err := os.ReadFile(path)
	if long == nil || err != nil || !bytes.Equal(before, after) {
		t.Errorf("an event on a full disk: %v; the log has\n%s%v", long, after, err)
	}
	if fresh, err := l.Append(all[1]); err != nil || !fresh {
		t.Fatalf("the same event later: %v %v", fresh, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := transcript.Read(bytes.NewReader(data)); err != nil || len(got) != 2 {
		t.Errorf("after a full disk: %d events, %v", len(got), err)
	}
}

// full has writes of the process fail behind n bytes of a file, until room is called.
func full(t *testing.T, n int64) (room func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	set := func(to syscall.Rlimit) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &to); err != nil {
			t.Fatal(err)
		}
	}
	set(syscall.Rlimit{Cur: uint64(n), Max: was.Max})
	return func() { set(was); signal.Reset(syscall.SIGXFSZ) }
}

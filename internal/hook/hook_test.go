package hook_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/hook"
)

// runner calls hooks that are shell scripts.
func runner(t *testing.T, e hook.Event, match string, scripts ...string) *hook.Runner {
	t.Helper()
	r := &hook.Runner{Env: []string{"PATH=/usr/bin:/bin"}, Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}
	for i, s := range scripts {
		r.Hooks = append(r.Hooks, hook.Hook{Event: e, Match: match, Command: []string{"/bin/sh", "-c", s}, Timeout: 30 * time.Second, File: "hooks.json", Line: i + 1})
	}
	return r
}

// A hook says no with exit 2 and its reason. Whatever else goes wrong is a no
// before a tool is used, and elsewhere a warning.
func TestCall(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		event  hook.Event
		script string
		want   string // part of why; empty: it goes on
	}{
		{hook.PreToolUse, "exit 0", ""},
		{hook.PreToolUse, "echo not that >&2; echo out; exit 2", "not that"},
		{hook.PreToolUse, "echo only out; exit 2", "only out"},
		{hook.PreToolUse, "exit 2", "the operator's hook refuses it"},
		{hook.PreToolUse, "echo broken >&2; exit 1", "could not be asked: exit status 1: broken"},
		{hook.PreToolUse, "kill -9 $$", "could not be asked: signal: killed"},
		{hook.PreToolUse, "yes | head -c 100000 >&2; exit 2", "y y y"},
		{hook.SubagentStart, "echo no >&2; exit 2", "no"},
		{hook.SubagentStart, "exit 1", ""},
		{hook.RunStart, "echo closed >&2; exit 2", "closed"},
		{hook.PostToolUse, "exit 2", ""},
		{hook.SubagentStop, "exit 1", ""},
		{hook.RunEnd, "kill -9 $$", ""},
	} {
		got := runner(t, tc.event, "", tc.script).Call(t.Context(), hook.Input{Event: tc.event, Tool: "run_bash"})
		if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) || len(got) > 3000 {
			t.Errorf("%s %q: %q, want %q", tc.event, tc.script, got, tc.want)
		}
	}
	r := runner(t, hook.PreToolUse, "", "")
	r.Hooks[0].Command = []string{"/nowhere/guard"}
	if got := r.Call(t.Context(), hook.Input{Event: hook.PreToolUse}); !strings.Contains(got, "could not be asked") {
		t.Errorf("a program that is not there: %q", got)
	}
}

// A hook that does not end is killed with all that it started, and that is a no.
func TestCallTimeout(t *testing.T) {
	t.Parallel()
	r := runner(t, hook.PreToolUse, "", "sleep 1000 & echo $! >pid; wait")
	r.Hooks[0].Timeout = 2 * time.Second
	if got := r.Call(t.Context(), hook.Input{Event: hook.PreToolUse}); !strings.Contains(got, "it took longer than 2s") {
		t.Errorf("%q", got)
	}
	text, err := os.ReadFile(filepath.Join(r.Dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if syscall.Kill(pid, 0) != nil {
			return
		}
		<-time.After(5 * time.Millisecond)
	}
	t.Errorf("process %d of the hook lives", pid)
}

// A hook reads the event on its standard input, and has no environment but the
// one that it is given; what the change says is in neither its words nor there.
func TestCallInput(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "secret")
	r := runner(t, hook.PreToolUse, "run_*", "cat >in; env >env")
	r.Call(t.Context(), hook.Input{Event: hook.PreToolUse, RunID: "r", Agent: "verification", ID: "aa", Tool: "run_bash", Targets: []string{"rm -rf /; $(x)"}})
	got, err := os.ReadFile(filepath.Join(r.Dir, "in"))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"event":"PreToolUse","run_id":"r","agent":"verification","subagent_id":"aa","tool":"run_bash","targets":["rm -rf /; $(x)"]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	env, err := os.ReadFile(filepath.Join(r.Dir, "env"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(env), "secret") || !strings.Contains(string(env), "PATH=/usr/bin:/bin") {
		t.Errorf("%s", env)
	}
	if err := os.Remove(filepath.Join(r.Dir, "in")); err != nil {
		t.Fatal(err)
	}
	r.Call(t.Context(), hook.Input{Event: hook.PreToolUse, Tool: "read_file"})
	r.Call(t.Context(), hook.Input{Event: hook.PostToolUse, Tool: "run_bash"})
	if _, err := os.Stat(filepath.Join(r.Dir, "in")); err == nil {
		t.Error("it was called for another tool or event")
	}
	if got := (*hook.Runner)(nil).Call(t.Context(), hook.Input{Event: hook.PreToolUse}); got != "" {
		t.Errorf("no hooks: %q", got)
	}
}

// A configuration means what it says or is an error with its line.
func TestParse(t *testing.T) {
	t.Parallel()
	good, err := hook.Parse("h.json", []byte("{\"hooks\": {\n \"PreToolUse\": [\n  {\"match\": \"run_*\", \"command\": [\"/bin/guard\", \"-v\"], \"timeout\": \"5s\"},\n  {\"command\": [\"/bin/other\"]}],\n \"RunEnd\": []}}"))
	want := []hook.Hook{
		{Event: hook.PreToolUse, Match: "run_*", Command: []string{"/bin/guard", "-v"}, Timeout: 5 * time.Second, File: "h.json", Line: 3},
		{Event: hook.PreToolUse, Command: []string{"/bin/other"}, Timeout: 10 * time.Second, File: "h.json", Line: 4},
	}
	if diff := cmp.Diff(want, good); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for text, wrong := range map[string]string{
		`{}`:                      "h.json:1: the key hooks is missing",
		`{"hook": {}}`:            `unknown key "hook"`,
		"{\"hooks\": {\n\"Stop\"": `h.json:2: unknown event "Stop"; there are RunStart, SubagentStart`,
		`{"hooks": {"RunEnd": [{"command": "x"}]}}`:                  "hook of line 1: command: want a list of words, the first",
		`{"hooks": {"RunEnd": [{"command": ["/x", 1]}]}}`:            "hook of line 1: command: want a list of words, the first",
		`{"hooks": {"RunEnd": [{"command": ["/x"], "timeout": 5}]}}`: "hook of line 1: timeout: want a text",
		`{"hooks": {"RunEnd": ["/x"]}}`:                              "hook of line 1: want an object with command",
		"":                                                           "h.json:1: it ends too early",
		" \n":                                                        "h.json:2: it ends too early",
		`{"hooks": {"RunEnd": [{"command": ["guard"]}]}}`:                   "absolute path",
		`{"hooks": {"RunEnd": [{"command": []}]}}`:                          "absolute path",
		`{"hooks": {"RunEnd": [{"command": ["/x"], "match": "a"}]}}`:        "is about no tool",
		`{"hooks": {"PreToolUse": [{"command": ["/x"], "match": "["}]}}`:    "match",
		`{"hooks": {"PreToolUse": [{"command": ["/x"], "timeout": "1h"}]}}`: "timeout",
		`{"hooks": {"PreToolUse": [{"command": ["/x"], "shell": true}]}}`:   `unknown field "shell"`,
		`{"hooks": {"PreToolUse": [], "PreToolUse": []}}`:                   "comes twice",
		`{"hooks": {"PreToolUse": {}}}`:                                     "a list of hooks is wanted",
		`{"hooks": {}} {}`:                                                  "something after the end",
		`{"hooks": {`:                                                       "h.json:1",
	} {
		if _, err := hook.Parse("h.json", []byte(text)); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v, want %q", text, err, wrong)
		}
	}
}

// A file that others could have written is not run.
func TestRead(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "hooks.json")
	if none, err := hook.Read(name); err != nil || none != nil {
		t.Errorf("no file: %v %v", none, err)
	}
	if err := os.WriteFile(name, []byte(`{"hooks": {"RunEnd": [{"command": ["/bin/true"]}]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if one, err := hook.Read(name); err != nil || len(one) != 1 {
		t.Errorf("%v %v", one, err)
	}
	for _, mode := range []os.FileMode{0o620, 0o602, 0o666} {
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := hook.Read(name); err == nil || !strings.Contains(err.Error(), "others can write it") {
			t.Errorf("%o: %v", mode, err)
		}
	}
}

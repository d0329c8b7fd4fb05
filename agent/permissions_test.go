package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/policy"
	"github.com/ycbot/ycbot/internal/tool"
)

func permissions(t *testing.T, terms agent.Terms, file string) agent.Permissions {
	t.Helper()
	if file != "" {
		terms.Files = []agent.PermissionFile{{Name: ".ycbot/permissions.json", Data: []byte(file)}}
	}
	p, err := agent.NewPermissions(terms)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func code(d *tool.Denied) string {
	if d == nil {
		return ""
	}
	return d.Code
}

var (
	bash  = tool.Tool{Name: "run_bash", Class: tool.Exec}
	read  = tool.Tool{Name: "read_file", Class: tool.Read}
	fetch = tool.Tool{Name: "fetch_url", Class: tool.Net}
)

// A refusal has all that a model, the events and the report say of it.
func TestRefusal(t *testing.T) {
	t.Parallel()
	p := permissions(t, agent.Terms{Trust: "trusted", Sandboxed: true}, `{"permissions":{"deny":["Bash(curl *)"]}}`)
	want := &tool.Denied{
		Code: "policy_deny", Target: "curl x", Rule: "Bash(curl *)", Source: ".ycbot/permissions.json:1",
		Hint: "do it another way that no rule forbids, or report that it could not be done; the rules: deny Bash(curl *)",
	}
	if diff := cmp.Diff(want, p.Shell("ls && curl x")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if d := p.Tests("curl x"); code(d) != "policy_deny" {
		t.Errorf("tests: %+v", d)
	}
	var bad *policy.FileError
	if _, err := agent.NewPermissions(agent.Terms{Files: []agent.PermissionFile{{Name: "f", Data: []byte("{\n\"a\":")}}}); !errors.As(err, &bad) || bad.Line != 2 {
		t.Errorf("malformed: %v", err)
	}
}

// Whether a tool that runs commands may be called is decided before it is, which
// command it may run by itself, so that refused commands are recorded.
func TestDecideAndShell(t *testing.T) {
	t.Parallel()
	const file = `{"permissions":{"deny":["Bash(*)","Read(secrets/**)"],"ask":["Fetch(*/ask)"],"allow":["Fetch(https://pkg.go.dev/*)"]}}`
	command := json.RawMessage(`{"command":"ls"}`)
	for _, tt := range []struct {
		name         string
		terms        agent.Terms
		decide       string
		shell        string
		exec, netted bool
	}{
		{"verify", agent.Terms{Trust: "trusted", Sandboxed: true}, "", "policy_deny", true, false},
		{"plan", agent.Terms{Trust: "trusted", Sandboxed: true, Mode: "plan", Hosts: []string{"x"}}, "plan_mode", "policy_deny", false, false},
		{"no sandbox", agent.Terms{Trust: "untrusted"}, "sandbox", "policy_deny", false, false},
		{"exec none", agent.Terms{Trust: "trusted", Sandboxed: true, Exec: "none"}, "background_auto_deny", "policy_deny", false, false},
		{"exec inspect", agent.Terms{Trust: "trusted", Sandboxed: true, Exec: "inspect"}, "", "policy_deny", true, false},
		{"spent", agent.Terms{Trust: "trusted", Sandboxed: true, Spent: func() string { return "tokens" }}, "budget", "policy_deny", true, false},
		{"hosts", agent.Terms{Trust: "trusted", Sandboxed: true, Hosts: []string{"docs.example"}}, "", "policy_deny", true, true},
	} {
		p := permissions(t, tt.terms, file)
		if got := code(p.Decide(t.Context(), bash, command)); got != tt.decide {
			t.Errorf("%s: Decide %q, want %q", tt.name, got, tt.decide)
		}
		if got := code(p.Shell("ls")); got != tt.shell {
			t.Errorf("%s: Shell %q, want %q", tt.name, got, tt.shell)
		}
		if p.Allow(tool.Exec) != tt.exec || p.Allow(tool.Net) != tt.netted || !p.Allow(tool.Read) || p.Allow(tool.Write) {
			t.Errorf("%s: grants exec %v, net %v", tt.name, p.Allow(tool.Exec), p.Allow(tool.Net))
		}
	}
	p := permissions(t, agent.Terms{Trust: "trusted", Sandboxed: true, Hosts: []string{"docs.example"}}, file)
	for url, want := range map[string]string{"https://docs.example/x": "", "https://pkg.go.dev/x": "", "https://docs.example/ask": "ask_unattended", "https://docs.example/x/../%61sk": "ask_unattended", "https://evil.example/": "background_auto_deny"} {
		args, _ := json.Marshal(map[string]string{"url": url})
		if got := code(p.Decide(t.Context(), fetch, args)); got != want || code(p.Fetch(url)) != want {
			t.Errorf("%s: %q, hop %q, want %q", url, got, code(p.Fetch(url)), want)
		}
	}
	if !p.Hidden("Read", "secrets/a") || p.Hidden("Read", "public") || p.Hidden("List", "secrets/a") {
		t.Error("Hidden does not follow the rules")
	}
	args := json.RawMessage(`{"path":"/head/secrets/a"}`)
	if got := code(p.Of(agent.OwnRules{}, "/head").Decide(t.Context(), read, args)); got != "policy_deny" {
		t.Errorf("a path below a root: %q", got)
	}
}

// What a rule forbids is refused behind symbolic links, too, which a change can add, and so
// that it is a denial; the operator's hook is asked about what is there.
func TestLinksLeadAroundNoRule(t *testing.T) {
	t.Parallel()
	head, base := t.TempDir(), t.TempDir()
	for _, dir := range []string{"secrets/deep", "src"} {
		if err := os.MkdirAll(filepath.Join(head, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(base, "s2"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join(head, "secrets/key"), filepath.Join(head, "src/key"), filepath.Join(base, "s2/key")} {
		if err := os.WriteFile(name, []byte("needle\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"s2": "secrets", "src/s3": "../s2/deep", "k": "s2/key", "ok": "src"} {
		if err := os.Symlink(to, filepath.Join(head, name)); err != nil {
			t.Fatal(err)
		}
	}
	trees := tool.Trees{}
	for _, r := range []struct {
		dir string
		to  **os.Root
	}{{head, &trees.Head}, {base, &trees.Base}} {
		root, err := os.OpenRoot(r.dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { root.Close() })
		*r.to = root
	}
	var hooked []string
	terms := agent.Terms{Trust: "untrusted", Hook: func(c agent.HookCall) string { hooked = append(hooked, c.Targets...); return "" }}
	p := permissions(t, terms, `{"permissions":{"deny":["Read(secrets/**)","List(secrets/**)"],"ask":["Glob(secrets/**)","Grep(secrets/**)"]}}`)
	trees.Hidden, trees.Permit = p.Hidden, p.Behind
	tools := map[string]tool.Tool{}
	for _, tl := range tool.FileTools(trees) {
		tools[tl.Name] = tl
	}
	for _, tt := range []struct{ tool, args, want string }{
		{"read_file", `{"path":"s2/key"}`, "policy_deny secrets/key"},
		{"read_file", `{"path":"k"}`, "policy_deny secrets/key"},
		{"read_many_files", `{"paths":["ok/key","k"]}`, "policy_deny secrets/key"},
		{"list_dir", `{"path":"s2"}`, "policy_deny secrets"},
		{"list_dir", `{"path":"ok/s3"}`, "policy_deny secrets/deep"},
		{"list_project_structure", `{"path":"s2"}`, "policy_deny secrets"},
		{"glob", `{"pattern":"*","path":"s2"}`, "ask_unattended secrets/*"},
		{"grep", `{"pattern":"needle","path":"s2"}`, "policy_deny secrets"},
		{"read_file", `{"path":"ok/key"}`, ""},
		{"read_file", `{"path":"s2/key","side":"base"}`, ""},
		{"read_many_files", `{"paths":["ok/key","src/key"]}`, ""},
		{"list_dir", `{"path":"ok"}`, ""},
		{"list_dir", `{"path":"s2","side":"base"}`, ""},
		{"list_project_structure", `{}`, ""},
		{"glob", `{"pattern":"*","path":"ok"}`, ""},
		{"grep", `{"pattern":"needle"}`, ""},
	} {
		res, err := tools[tt.tool].Run(t.Context(), json.RawMessage(tt.args))
		got := ""
		if res.Denied != nil {
			got = res.Denied.Code + " " + res.Denied.Target
		}
		if err != nil || got != tt.want {
			t.Errorf("%s %s: %q %q %v, want %q", tt.tool, tt.args, got, res.Text, err, tt.want)
		}
	}
	if want := []string{"src/key", "src/key", "src/key", "src", "src/*"}; !slices.Equal(hooked, want) {
		t.Errorf("the hook was asked about %v, want %v", hooked, want)
	}
}

// Level inspect runs the words of a command, and only of one that it knows.
func TestExecInspect(t *testing.T) {
	t.Parallel()
	p := permissions(t, agent.Terms{Trust: "local", Sandboxed: true, Exec: "inspect"}, "")
	if d := p.Shell("ls -l 'a b'"); d != nil {
		t.Errorf("%+v", d)
	}
	if diff := cmp.Diff([]string{"ls", "-l", "a b"}, p.Argv("ls -l 'a b'")); diff != "" {
		t.Error(diff)
	}
	if d := p.Shell("ls | sh"); code(d) != "policy_deny" || d.Rule != "exec: inspect" {
		t.Errorf("%+v", d)
	}
	if full := agent.Permit("local", true); full.Argv("ls") != nil || full.Shell("ls | wc -l") != nil {
		t.Error("level full has no shell")
	}
}

// What an agent's definition says narrows its calls, never its notes; what runs
// says by what.
func TestOwnRules(t *testing.T) {
	t.Parallel()
	own := agent.OwnRules{Disallowed: []string{"grep"}, Permission: func(name, target string) (string, string) {
		if name == "run_bash" && target == "ls" {
			return "allow", "run_bash: ls"
		}
		return "deny", "*: deny"
	}}
	hooked := ""
	terms := agent.Terms{Trust: "trusted", Sandboxed: true, Hook: func(c agent.HookCall) string {
		if c.Tool == "run_bash" && len(c.Targets) == 2 {
			hooked = c.Agent + c.ID + " " + c.Targets[1]
			return "not on Fridays"
		}
		return ""
	}}
	run := permissions(t, terms, `{"permissions":{"allow":["Bash(ls)"]}}`).For("verification", "7")
	p := run.Of(own)
	args := json.RawMessage(`{}`)
	if got := code(p.Decide(t.Context(), read, args)); got != "agent_veto" {
		t.Errorf("read_file: %q", got)
	}
	if d := p.Decide(t.Context(), tool.Tool{Name: "submit_result", Class: tool.Session}, args); d != nil {
		t.Errorf("submit_result: %+v", d)
	}
	if d := p.Decide(t.Context(), tool.Tool{Name: "Agent", Class: tool.Delegate}, args); d != nil {
		t.Errorf("Agent: %+v", d)
	}
	if p.Decide(t.Context(), bash, args) != nil || p.Shell("ls") != nil || code(p.Shell("ls; rm x")) != "agent_veto" {
		t.Error("run_bash is not decided command by command")
	}
	if got := code(run.Shell("echo a; echo b")); got != "hook_deny" || hooked != "verification7 echo b" {
		t.Errorf("hook: %q %q", got, hooked)
	}
	for command, want := range map[string]string{"ls": "Bash(ls) (.ycbot/permissions.json:1)", "pwd": "class exec (grant)"} {
		raw, _ := json.Marshal(map[string]string{"command": command})
		if got := run.Approved(bash, raw); got != want {
			t.Errorf("%s is approved by %q, want %q", command, got, want)
		}
	}
	if got := run.Approved(read, args); got != "" {
		t.Errorf("reading is approved by %q", got)
	}
}

// A rule that would ask is a denial where no one can be asked: the agent has its
// answer at once, and goes on. The time in here is made up: waiting would use it.
func TestAcceptance06AskUnattended(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		may := permissions(t, agent.Terms{Trust: "local", Sandboxed: true}, `{"permissions":{"ask":["Bash(npm publish*)"],"allow":["Bash(*)"]}}`)
		c := newCast(t, "-- model --\n> run_bash {\"command\": \"npm publish\"}\n---\n<* ask_unattended\nDone.\n")
		provision := c.Provision
		c.Provision = func(ctx context.Context, s agent.Spec, r agent.Record) (*agent.Environment, error) {
			env, err := provision(ctx, s, r)
			env.Decide = may.Decide
			for i := range env.Tools {
				if env.Tools[i].Name == "run_bash" {
					env.Tools[i].Run = func(context.Context, json.RawMessage) (tool.Result, error) {
						d := may.Shell("npm publish")
						text, err := json.Marshal(d)
						return tool.Result{Text: string(text), Errored: true, Denied: d}, err
					}
				}
			}
			return env, err
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		res, err := c.Run(ctx, agent.Order{Agent: "verification", Prompt: "p"})
		if err != nil || res.Outcome != agent.Completed || len(res.Denied) != 1 || res.Denied[0].Code != "ask_unattended" {
			t.Errorf("%+v %v", res, err)
		}
	})
}

// Processes are held over several calls at level full alone, and by agents of an untrusted
// head only where the network is not the machine's.
func TestHolds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		terms       agent.Terms
		alone, both bool // on a network of their own, on the machine's
	}{
		{agent.Terms{Trust: policy.Trusted, Sandboxed: true}, true, true},
		{agent.Terms{Trust: policy.Local, Sandboxed: true, Exec: "full"}, true, true},
		{agent.Terms{Trust: policy.Untrusted, Sandboxed: true}, true, false},
		{agent.Terms{Trust: policy.Trusted, Sandboxed: true, Exec: "inspect"}, false, false},
		{agent.Terms{Trust: policy.Trusted, Sandboxed: true, Mode: policy.ModePlan}, false, false},
		{agent.Terms{Trust: policy.Trusted}, false, false},
	} {
		p := permissions(t, tt.terms, "")
		if p.Holds(false) != tt.alone || p.Holds(true) != tt.both {
			t.Errorf("%+v: %v and %v", tt.terms, p.Holds(false), p.Holds(true))
		}
	}
}

package policy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/tool"
)

// rules parses lines of "allow|ask|deny Rule(...)".
func rules(t *testing.T, operator bool, lines ...string) []Rule {
	t.Helper()
	by := map[Action][]string{}
	for _, l := range lines {
		a, text, _ := strings.Cut(l, " ")
		by[Action(a)] = append(by[Action(a)], text)
	}
	data, err := json.Marshal(map[string]any{"permissions": by})
	if err != nil {
		t.Fatal(err)
	}
	out, err := ParseFiles(File{Name: "permissions.json", Data: data, Operator: operator})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// shellCall is a call of run_bash that nothing refuses.
func shellCall(command string, rules ...Rule) Call {
	return Call{
		Known: true, Offered: true, Class: "exec", Mode: ModeVerify, Trust: Trusted, Tool: "run_bash", Command: command,
		Targets: Command(command), Rules: rules,
	}
}

// about is what a call of a tool is about, as the tool declares it. A test command is the
// harness's, which rules see as the argument "command".
func about(name, args string, roots ...string) []Target {
	if name == "run_tests" {
		var a struct{ Command string }
		_ = json.Unmarshal([]byte(args), &a)
		return Tests(a.Command)
	}
	rel := func(p string) string { return Relative(p, roots...) }
	for _, t := range tool.Declared() {
		if t.Name != name {
			continue
		}
		if t.About == nil {
			return Undeclared(name, string(t.Class), []byte(args), rel)
		}
		var declared []Subject
		for _, s := range t.About([]byte(args), rel) {
			declared = append(declared, Subject{s.Rule, s.Text, s.Aside})
		}
		return Targets(declared)
	}
	return nil
}

// A tool that was added without a word about rules is subject to those of its class: a rule
// that forbids all of a kind forbids it, and one that allows some things does not let it
// through.
func TestUndeclared(t *testing.T) {
	t.Parallel()
	grant := Grant(ModeVerify, Trusted, true).WithNet()
	for _, tt := range []struct{ class, args, rule, want string }{
		{"git_read", `{}`, "deny Git(*)", CodePolicyDeny},
		{"git_read", `{"path":"secrets/a"}`, "deny Read(secrets/**)", CodePolicyDeny},
		{"git_read", `{"ref":"main"}`, "ask Git(git_new main)", CodeAsk},
		{"git_read", `{"ref":"main"}`, "deny Git(log *)", ""},
		{"read", `{"file":{"name":["x/../secrets/a"]}}`, "deny Read(secrets/**)", CodePolicyDeny},
		{"read", `{}`, "deny Read(**)", CodePolicyDeny},
		{"read", `{"dir":"private"}`, "deny List(private/**)", CodePolicyDeny},
		{"read", `{}`, "deny Github(*)", CodePolicyDeny},
		{"exec", `{"script":["curl x"]}`, "deny Bash(curl *)", CodePolicyDeny},
		{"exec", `{}`, "deny Bash(*)", CodePolicyDeny},
		{"net", `{"to":"https://evil.example/x"}`, "deny Fetch(https://evil.example/*)", CodePolicyDeny},
		{"net", `{"to":"https://EVIL.example:443/x"}`, "deny Fetch(https://evil.example/*)", CodePolicyDeny},
		{"net", `{"to":"https://evil.example/x"}`, "allow Fetch(https://good.example/*)", CodeBackground},
		{"net", `{}`, "deny Fetch(*)", CodePolicyDeny},
		{"session", `{}`, "deny Git(*)", ""},
		{"something", `{}`, "deny Edit(*)", CodePolicyDeny},
	} {
		c := Call{
			Known: true, Offered: true, Class: tt.class, Mode: ModeVerify, Trust: Trusted, Tool: "git_new",
			Targets: Undeclared("git_new", tt.class, []byte(tt.args), func(p string) string { return Relative(p) }), Rules: rules(t, false, tt.rule),
		}
		got := ""
		if d := Decide(c, append(grant, "something")); d != nil {
			got = d.Code
		}
		if got != tt.want {
			t.Errorf("%s %s under %s: %q, want %q", tt.class, tt.args, tt.rule, got, tt.want)
		}
	}
}

func toolCall(tool, class, args string, rules ...Rule) Call {
	return Call{Known: true, Offered: true, Class: class, Mode: ModeVerify, Trust: Trusted, Tool: tool, Targets: about(tool, args), Rules: rules}
}

// with changes a call.
func with(c Call, change func(*Call)) Call {
	change(&c)
	return c
}

// Each link of the chain refuses with its own code, and each refuses before the
// ones behind it: in a row what the next ones refuse is wrong as well.
func TestChain(t *testing.T) {
	t.Parallel()
	full := Grant(ModeVerify, Trusted, true)
	everything := rules(t, true, "allow Bash(*)", "deny Bash(curl *)", "ask Bash(npm publish*)")
	says := func(a Action) Agent {
		return Agent{Permission: func(string, string) (Action, string) { return a, "run_bash: *" }}
	}
	for _, tt := range []struct {
		name  string
		call  Call
		grant Set
		want  string
	}{
		{"unknown tool", with(shellCall("sudo ls", everything...), func(c *Call) { c.Known = false }), full, CodeNotProvisioned},
		{"class write", with(shellCall("sudo ls", everything...), func(c *Call) { c.Class = "write"; c.Agent = says(Deny) }), append(Set{"write"}, full...), CodeBackground},
		{"command of the hard floor", with(shellCall("sudo ls", everything...), func(c *Call) { c.Agent = says(Deny) }), full, CodeHardFloor},
		{"class write that was not offered", with(shellCall("ls", everything...), func(c *Call) { c.Class = "write"; c.Offered = false }), full, CodeBackground},
		{"tool of another agent", with(shellCall("ls", everything...), func(c *Call) { c.Offered = false; c.Agent = says(Deny) }), full, CodeNotProvisioned},
		{"the agent's own map", with(shellCall("curl x", everything...), func(c *Call) { c.Agent = says(Deny) }), full, CodeAgentVeto},
		{"disallowed_tools", with(shellCall("curl x", everything...), func(c *Call) { c.Agent.Disallowed = []string{"run_bash"} }), full, CodeAgentVeto},
		{"Deny rule", with(shellCall("curl x", everything...), func(c *Call) { c.Mode = ModePlan }), Grant(ModePlan, Trusted, true), CodePolicyDeny},
		{"mode plan", with(shellCall("npm publish", everything...), func(c *Call) { c.Mode = ModePlan }), Grant(ModePlan, Trusted, true), CodePlanMode},
		{"no sandbox", shellCall("npm publish", everything...), Grant(ModeVerify, Untrusted, false), CodeSandbox},
		{"no sandbox, level inspect", with(shellCall("npm publish", everything...), func(c *Call) { c.Level = LevelInspect }), Grant(ModeVerify, Untrusted, false), CodeSandbox},
		{"exec none", with(shellCall("npm publish", everything...), func(c *Call) { c.Level = LevelNone }), full.WithoutExec(), CodeBackground},
		{"exec inspect", with(shellCall("npm publish", everything...), func(c *Call) { c.Level = LevelInspect }), full, CodePolicyDeny},
		{"class that is not granted", with(shellCall("ls", everything...), func(c *Call) { c.Class = "delegate" }), full, CodeBackground},
		{"delegating in mode plan", with(shellCall("ls"), func(c *Call) { c.Class, c.Mode = "delegate", ModePlan }), append(Set{"delegate"}, full...), ""},
		{"class net", toolCall("fetch_url", "net", `{"url":"https://pkg.go.dev/x"}`, rules(t, true, "allow Fetch(*)")...), full, CodeBackground},
		{"unclear where there are rules", shellCall("echo 'open", everything...), full, CodeAsk},
		{"an address that nothing names", toolCall("fetch_url", "net", `{"url":"https://pkg.go.dev/x"}`), full.WithNet(), CodeBackground},
		{"an address of the operator's", with(toolCall("fetch_url", "net", `{"url":"https://pkg.go.dev/x"}`), func(c *Call) { c.Hosts = []string{"pkg.go.dev"} }), full.WithNet(), ""},
		{"Ask rule", with(shellCall("npm publish", everything...), func(c *Call) { c.Hook = func(string, []Target) string { return "no" } }), full, CodeAsk},
		{"Ask of the agent", with(shellCall("ls", everything...), func(c *Call) { c.Agent = says(Ask) }), full, CodeAsk},
		{"hook", with(shellCall("ls", everything...), func(c *Call) { c.Hook = func(string, []Target) string { return "no" }; c.Spent = "tokens" }), full, CodeHook},
		{"budget", with(shellCall("ls", everything...), func(c *Call) { c.Spent = "the token budget is used" }), full, CodeBudget},
		{"Allow rule", shellCall("ls", everything...), full, ""},
		{"grant", shellCall("ls"), full, ""},
		{"reading", toolCall("read_file", "read", `{"path":"a"}`), full, ""},
		{"a note that the agent's map does not name", with(toolCall("todo_write", "session", `{}`), func(c *Call) { c.Agent = says(Deny) }), full, ""},
		{"a note when nothing is left", with(toolCall("todo_write", "session", `{}`), func(c *Call) { c.Spent = "x" }), full, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if d := Decide(tt.call, tt.grant); d != nil {
				got = d.Code
				if d.Rule == "" || d.Reason == "" || d.Hint == "" || d.Source == "" {
					t.Errorf("denial %+v lacks a word", d)
				}
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// No Allow rule, however broad, gives back a class that was taken away.
func TestAllowRevivesNothing(t *testing.T) {
	t.Parallel()
	broad := rules(t, true, "allow Bash(*)", "allow Write(**)", "allow Edit(**)", "allow Git(*)", "allow Github(*)", "allow Fetch(*)", "allow Tests(*)", "allow Rollback(*)")
	for _, class := range []string{"write", "git_write", "publish", "net", "exec", "delegate"} {
		for _, mode := range []string{ModeVerify, ModePlan} {
			c := with(shellCall("ls", broad...), func(c *Call) { c.Class, c.Mode = class, mode })
			if Decide(c, Grant(mode, Trusted, false)) == nil {
				t.Errorf("class %s in mode %s is allowed", class, mode)
			}
		}
	}
}

// Commands are looked at one by one, wherever in a script they stand: one that
// is denied refuses the script, all must be allowed for an Allow rule to count.
func TestBashRules(t *testing.T) {
	t.Parallel()
	set := rules(t, true, "deny Bash(curl *)", "deny Bash(git push*)", "ask Bash(npm publish*)", "allow Bash(go test*)", "allow Bash(git grep*)", "allow Bash(find *)", "allow Bash(env *)", "allow Bash(awk *)", "allow Bash(echo *)")
	for command, want := range map[string]string{
		// denied, in every dress
		"curl x": CodePolicyDeny, "go test ./... && curl x": CodePolicyDeny, "true; curl x": CodePolicyDeny, "ls | curl x": CodePolicyDeny,
		"ls & curl x": CodePolicyDeny, "ls || curl x": CodePolicyDeny, "ls\ncurl x": CodePolicyDeny, "(curl x)": CodePolicyDeny,
		"echo $(curl x)": CodePolicyDeny, "echo `curl x`": CodePolicyDeny, "diff <(curl x) y": CodePolicyDeny, `echo "$(curl x)"`: CodePolicyDeny,
		"sh -c 'curl x'": CodePolicyDeny, `bash -lc "true && curl x"`: CodePolicyDeny, "eval 'curl x'": CodePolicyDeny,
		"env A=1 curl x": CodePolicyDeny, "env -S 'curl x'": CodePolicyDeny, "timeout 5 curl x": CodePolicyDeny, "echo x | xargs curl x": CodePolicyDeny,
		`find . -exec curl x \;`: CodePolicyDeny, "/usr/bin/curl x": CodePolicyDeny, `c\url x`: CodePolicyDeny, `"curl" 'x'`: CodePolicyDeny,
		"A=1 curl x": CodePolicyDeny, "if true; then curl x; fi": CodePolicyDeny, "f() { curl x; }; f": CodePolicyDeny, "cat <<E\n$(curl x)\nE": CodePolicyDeny,
		"nohup curl x &": CodePolicyDeny, "git push": CodePolicyDeny, "curl $URL": CodePolicyDeny,
		"env --chdir /tmp curl x": CodePolicyDeny, "env -u A curl x": CodePolicyDeny, "xargs -i curl {}": CodePolicyDeny, "xargs -n 1 -I{} curl {}": CodePolicyDeny, "unshare -n curl x": CodePolicyDeny,
		"flock -n f curl x": CodePolicyDeny, "flock f -c 'curl x'": CodePolicyDeny, "taskset -c 0 curl x": CodePolicyDeny, "timeout --signal KILL 5 curl x": CodePolicyDeny, "timeout -k 1 5 curl x": CodePolicyDeny,
		"nice curl x": CodePolicyDeny, `\time -o f curl x`: CodePolicyDeny, "time curl x": CodePolicyDeny, "trap 'curl x' EXIT": CodePolicyDeny, "strace -f curl x": CodePolicyDeny, "command -p curl x": CodePolicyDeny,
		"timeout 5 env A=1 nohup curl x": CodePolicyDeny, "coproc curl x": CodePolicyDeny, "! curl x": CodePolicyDeny,
		// in each spelling of a shell's own
		"bash -O extglob -c 'curl x'": CodePolicyDeny, "bash --rcfile f -c 'curl x'": CodePolicyDeny, "bash -rcfile f -c 'curl x'": CodePolicyDeny, "bash -c -o errexit 'curl x'": CodePolicyDeny,
		"bash -co posix 'curl x'": CodePolicyDeny, "bash -c -- 'curl x'": CodePolicyDeny, "zsh -oerrexit -c 'curl x'": CodePolicyDeny, "bash +O extglob -ec 'curl x' name": CodePolicyDeny, "bash -c -o 'curl x'": CodePolicyDeny,
		"cur{l..l} x": CodePolicyDeny, "cu{r,}l x": CodePolicyDeny, "echo {curl,x}": "Bash(echo *)", "flock /tmp/l -c 'true; curl x'": CodePolicyDeny, "flock /tmp/l -c'curl x'": CodePolicyDeny,
		"flock /tmp/l --command='curl x'": CodePolicyDeny, "hyperfine --prepare='curl x' ls": CodePolicyDeny, "sem 'true;curl x'": CodePolicyDeny, "ls | entr -s 'true; curl x'": CodePolicyDeny,
		"eval -- curl x": CodePolicyDeny, "trap -- 'curl x' EXIT": CodePolicyDeny, "mapfile -c1 -C 'curl x' a <<< y": CodePolicyDeny, "readarray -C'curl x' a": CodePolicyDeny, "compgen -C 'curl x'": CodePolicyDeny,
		"complete -C 'curl x' y": CodePolicyDeny, "compgen -W '$(curl x)'": CodePolicyDeny, "compgen -W 'a\nEND_OF_TEXT\n: <<\"X\"\n$(curl x)\nX\n'": CodePolicyDeny, "[[ -v 'a[$(curl x)]' ]]": CodePolicyDeny, "declare 'a[$(curl x)]=1'": CodePolicyDeny, "[ -v 'a[`curl x`]' ]": CodePolicyDeny,
		"let 'a[$(curl x)]=1'": CodePolicyDeny, "(( 'a[$(curl x)]' ))": CodePolicyDeny, "[[ 'a[1 + $(curl x)]' -eq 1 ]]": CodePolicyDeny, `$'\x63url' x`: CodePolicyDeny, "echo x | xargs -I R curl R": CodePolicyDeny,
		"echo push | xargs git": CodePolicyDeny, "xargs git <<< push": CodePolicyDeny, "echo push | xargs -I{} git {}": CodePolicyDeny, "bash /dev/stdin <<< 'curl x'": CodeAsk, ". ../../../dev/stdin": CodeAsk, "mksh -c 'curl x'": CodePolicyDeny,
		"eval curl x $y": CodePolicyDeny, `bash -c "curl x $y"`: CodeAsk, "complete -F f curl": "class exec", "[[ $x == a[0-9] ]]": "class exec", "bash -O extglob x.sh": "class exec", "bash dev/x.sh": "class exec",
		"bash -c 'ls \"$1\"' _ x": "class exec", "flock /tmp/l ls": "class exec", "go vet ./{a,b}": "class exec", "trap - EXIT": "class exec", "mapfile -t a < f": "class exec", "echo a b | xargs -n 1 ls": "class exec",
		// what only looks like a pipe or an option
		"awk -F'|' '{print $1}' f": "Bash(awk *)", "awk '{print $1}' 'a|b'": "Bash(awk *)", "awk -F '|' -v x='a|b' '{print $1}' f": "Bash(awk *)", `awk '$1=="a" || $2=="b"' f`: "Bash(awk *)", `awk '/a|b/ {print $1 "|" $2}' f`: "Bash(awk *)",
		`awk '$2 ~ /^(x|y)$/ { n++ } END { print n # | here' f`: "Bash(awk *)", `awk '{ print $1 / 2 }' f`: "Bash(awk *)", "git grep -c x": "Bash(git grep*)", "git ls-files -x '*.o'": "class exec",
		"git clean -nx": "class exec", "git log -c": "class exec", "git log hook": "class exec", "git diff -c": "class exec", "hash -r": "class exec", "alias": "class exec", "hash -p /usr/bin/curl ls": CodeAsk, "alias ls='curl x'": CodeAsk,
		`awk '/"/ { print | "curl x" } /"/' f`: CodeAsk, `awk '{ x = 1 / 2; print | $0; y = 1 / 3 }' f`: CodeAsk, `awk '{ print "a\"" | "curl x" }' f`: CodeAsk, `awk '/[/] { print | "sh" } /]/' f`: CodeAsk,
		`awk '"curl x" | getline' f`: CodeAsk, `awk '{ a = 1 / 2 " /" ; print | "sh" "/" }' f`: CodeAsk, "awk -F \"$x\" 1 f": CodeAsk, "awk -v x=1 -f - f": CodeAsk,
		"git rebase -x 'curl x' main": CodeAsk, "git difftool -x curl": CodeAsk, "git clone -c core.sshCommand=curl x": CodeAsk, "git clone -u curl x": CodeAsk, "git -ccore.pager='curl x' log": CodeAsk, "git -C d -c alias.x=y x": CodeAsk,
		"git fetch --upload-pack=curl x": CodeAsk, "git rebase --exec curl": CodeAsk, "git diff -Of": CodeAsk, "git -C d bisect run ls": CodeAsk, "git --git-dir d bisect run ls": CodeAsk, "git --work-tree=d --attr-source e hook run f": CodeAsk, "git $x": CodeAsk, "git -C $x $y": CodeAsk, "git -C $x grep $y": CodeAsk, "git -C $x log": "class exec", "git -C $x": "class exec", "git log $x": "class exec",
		// words may come from elsewhere
		"echo x | xargs curl": CodePolicyDeny, "echo x | xargs -0 -n 1 curl": CodePolicyDeny, "echo x | xargs nohup curl": CodePolicyDeny, "echo x | xargs env A=1 curl": CodePolicyDeny, "echo x | xargs -I{} timeout 5 curl": CodePolicyDeny,
		"env curl": CodePolicyDeny, "nohup curl": CodePolicyDeny, "time curl": "class exec", `\time curl`: CodePolicyDeny, "timeout 5 curl": CodePolicyDeny, "nice curl": CodePolicyDeny, "find . -exec curl {} +": CodePolicyDeny, `find . -exec curl \;`: CodePolicyDeny,
		"sh -c curl": CodePolicyDeny, "busybox curl": CodePolicyDeny, "toybox curl": CodePolicyDeny, "echo x | xargs /usr/bin/curl": CodePolicyDeny, "env -S curl x": CodePolicyDeny, "chrt 1 curl": CodePolicyDeny, "exec curl": CodePolicyDeny, "eval curl": CodePolicyDeny,
		"watch curl x": CodePolicyDeny, "parallel curl ::: x": CodePolicyDeny, "echo x | parallel curl": CodePolicyDeny, "sudo curl": CodeHardFloor, "echo x | xargs sudo curl": CodeHardFloor,
		// and words that are none of the command's
		"curl": "class exec", "command -v curl": "class exec", "command -pV curl": "class exec", "echo x | xargs -0 grep -l curl": "class exec", "echo x | xargs -0r -n 1 grep -l curl": "class exec", "env -i grep -l curl": "class exec", "xargs --max-args=1 grep curl": "class exec", "which curl": "class exec",
		// someone would have to be asked
		"npm publish --tag x": CodeAsk,
		// what runs is not seen, so it is as if someone had to be asked
		"echo 'open": CodeAsk, "$CURL x": CodeAsk, "eval $x": CodeAsk, "sh -c \"$x\"": CodeAsk, "echo curl x | sh": CodeAsk, "env sh": CodeAsk,
		"env -iS 'curl x'": CodePolicyDeny, "env -iS 'A=1 curl x'": CodePolicyDeny, "env --split='curl x'": CodePolicyDeny, "bash <<< 'curl x'": CodeAsk, "git grep -Ocurl x": CodeAsk, "git grep --open-files=curl x": CodeAsk, "git -c alias.x='!curl' x": CodeAsk,
		`awk 'BEGIN{system("curl x")}'`: CodeAsk, `awk '{print | "sh"}'`: CodeAsk, "{curl,x}": CodePolicyDeny, "/usr/bin/cur? x": CodeAsk,
		". <(echo curl x)": CodeAsk, ". /dev/stdin": CodeAsk, "sh -s": CodeAsk, "bash $x": CodeAsk, "awk -f - x": CodeAsk, "sh -c \"$x\" y.sh": CodeAsk,
		// what a file or another machine holds is not what a rule about commands is about
		"bash script.sh": "class exec", "sh x.sh a b": "class exec", "bash -eu x.sh": "class exec", ". ./x": "class exec", ". venv/bin/activate && pytest": "class exec",
		"source x": "class exec", "awk -f x.awk f": "class exec", "docker ps": "class exec", "sh x.sh && curl x": CodePolicyDeny, "sh x.sh; $c y": CodeAsk,
		// nothing is wrong with these
		"go test ./...": "Bash(go test*)", "go test ./... && go test -race ./x": "Bash(go test*)", "git grep -n x": "Bash(git grep*)", "awk '{print $1}' f": "Bash(awk *)",
		"find . -name '*.go'": "Bash(find *)",
		"go vet ./...":        "class exec", "go test ./... && go vet ./...": "class exec", "echo 'curl x'": "Bash(echo *)", "echo curl x": "Bash(echo *)",
		// allowed by the grant and by no rule: the rule's first words do not say what runs
		`find . -exec go vet {} \;`: "class exec", "find . -delete": "class exec", "env go vet": "class exec", "A=1 go test": "class exec", "echo x > y": "class exec", "./go test": "class exec",
		"X=1": "class exec", "ls | xargs go vet": "class exec", "timeout 60 grep -rn curl src": "class exec", "nice -n 5 grep curl x": "class exec", "env A=1 grep curl x": "class exec",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			v := Explain(shellCall(command, set...), Grant(ModeVerify, Trusted, true))
			got := v.By
			if v.Denial != nil {
				got = v.Denial.Code
			}
			if got != want {
				t.Errorf("got %s (%+v), want %s", got, v.Denial, want)
			}
		})
	}
}

// An Allow is no rule that something could hide from, tests run by what allows the
// command or by what allows tests, and a refusal of the network names who opens it.
func TestChainWords(t *testing.T) {
	t.Parallel()
	full := Grant(ModeVerify, Trusted, true)
	if v := Explain(shellCall("echo 'open", rules(t, true, "allow Bash(*)")...), full); v.Denial != nil {
		t.Errorf("unclear, and nothing is denied: %+v", v.Denial)
	}
	suite := toolCall("run_tests", "exec", `{"command":"go test ./..."}`, rules(t, true, "allow Tests(go test*)")...)
	if v := Explain(suite, full); v.By != "Tests(go test*)" {
		t.Errorf("tests run by %q", v.By)
	}
	d := Decide(toolCall("fetch_url", "net", `{"url":"https://pkg.go.dev/x"}`), full)
	if d == nil || !strings.Contains(d.Hint, "naming hosts") {
		t.Errorf("no network: %+v", d)
	}
}

// Without rules about commands what is unclear is left to bash and the sandbox.
func TestUnclearWithoutRules(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"echo 'open", "$X y", "awk -f x", "env sh"} {
		if d := Decide(shellCall(command, rules(t, true, "deny Read(x)")...), Grant(ModeVerify, Trusted, true)); d != nil {
			t.Errorf("%s: %+v", command, d)
		}
	}
}

// A command that is made to be taken apart for ever is not: it is unclear.
func TestReadIsBounded(t *testing.T) {
	t.Parallel()
	s := Read(strings.Repeat("env "+strings.Repeat("-i ", 200), 50) + "curl x")
	if len(s.Segments) > maxSegments || s.Doubt == "" {
		t.Errorf("%d segments, doubt %q", len(s.Segments), s.Doubt)
	}
}

// Paths are matched below the root of the project, whatever tool reads them and
// however they are spelt.
func TestPathRules(t *testing.T) {
	t.Parallel()
	set := rules(t, false, "deny Read(secrets/**)", "deny Read(**/*.key)", "deny List(private)", "ask Git(log *)", "deny Tests(*slow*)", "deny Github(*)", "deny Glob(vendor/**)")
	for _, tt := range []struct{ tool, class, args, want string }{
		{"read_file", "read", `{"path":"secrets/a"}`, CodePolicyDeny},
		{"read_file", "read", `{"path":"./x/../secrets/a"}`, CodePolicyDeny},
		{"read_file", "read", `{"path":"/work/head/secrets/a"}`, CodePolicyDeny},
		{"read_file", "read", `{"path":"/work/head/public"}`, ""},
		{"read_file", "read", `{"path":"a/b.key"}`, CodePolicyDeny},
		{"read_file", "read", `{"path":"b.key"}`, CodePolicyDeny},
		{"read_file", "read", `{"path":"spill:E1.stdout"}`, ""},
		{"read_many_files", "read", `{"paths":["a","b.key"]}`, CodePolicyDeny},
		{"read_many_files", "read", `{"paths":["a","b"]}`, ""},
		{"grep", "read", `{"path":"secrets","pattern":"x"}`, CodePolicyDeny},
		{"grep", "read", `{"pattern":"x"}`, ""},
		{"git_show_file_at_rev", "git_read", `{"rev":"base","path":"secrets/a"}`, CodePolicyDeny},
		{"git_diff_files", "git_read", `{"paths":["ok","secrets/a"]}`, CodePolicyDeny},
		{"git_blame_lines", "git_read", `{"path":"x.key"}`, CodePolicyDeny},
		{"git_log_file", "git_read", `{"path":"ok"}`, CodeAsk},
		{"git_merge_base", "git_read", `{}`, ""},
		{"list_dir", "read", `{"path":"private/x"}`, CodePolicyDeny},
		{"list_dir", "read", `{}`, ""},
		{"glob", "read", `{"pattern":"vendor/*.go"}`, CodePolicyDeny},
		{"pr_read", "read", `{}`, CodePolicyDeny},
	} {
		c := Call{Known: true, Offered: true, Class: tt.class, Mode: ModeVerify, Tool: tt.tool, Targets: about(tt.tool, tt.args, "", "/work/head/"), Rules: set}
		got := ""
		if d := Decide(c, Grant(ModeVerify, Trusted, true)); d != nil {
			got = d.Code
		}
		if got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.tool, tt.args, got, tt.want)
		}
	}
	tests := shellCall("go test -run slow", set...)
	tests.Tool, tests.Targets = "run_tests", Tests("go test -run slow")
	if d := Decide(tests, Grant(ModeVerify, Trusted, true)); d == nil || d.Rule != "Tests(*slow*)" || d.Source != "permissions.json:1" {
		t.Errorf("run_tests: %+v", d)
	}
}

// The network is open to hosts of the operator's and to what a rule names, a
// repository's own rule only for a head that is trusted.
func TestFetch(t *testing.T) {
	t.Parallel()
	theirs, ours := rules(t, false, "allow Fetch(https://pkg.go.dev/*)"), rules(t, true, "allow Fetch(https://pkg.go.dev/*)", "deny Fetch(*/private*)")
	for _, tt := range []struct {
		url, trust string
		rules      []Rule
		want       string
	}{
		{"https://docs.example/x", Untrusted, nil, "host docs.example"},
		{"https://DOCS.example:443/x", Untrusted, nil, "host docs.example"},
		{"https://a.sub.example/x", Untrusted, nil, "host a.sub.example"},
		{"https://sub.example/x", Untrusted, nil, CodeBackground},
		{"https://docs.example.evil/x", Untrusted, nil, CodeBackground},
		{"https://docs.example@evil/x", Untrusted, nil, CodeBackground},
		{"https://pkg.go.dev/x", Trusted, theirs, "Fetch(https://pkg.go.dev/*)"},
		{"https://pkg.go.dev/x", Local, theirs, "Fetch(https://pkg.go.dev/*)"},
		{"https://pkg.go.dev/x", Untrusted, theirs, CodeBackground},
		{"https://pkg.go.dev/x", Untrusted, ours, "Fetch(https://pkg.go.dev/*)"},
		{"https://docs.example/private", Trusted, ours, CodePolicyDeny},
	} {
		args, _ := json.Marshal(map[string]string{"url": tt.url})
		c := toolCall("fetch_url", "net", string(args), tt.rules...)
		c.Trust, c.Hosts = tt.trust, []string{"docs.example", "*.sub.example"}
		v := Explain(c, Grant(ModeVerify, tt.trust, true).WithNet())
		got := v.By
		if v.Denial != nil {
			got = v.Denial.Code
		}
		if got != tt.want {
			t.Errorf("%s for a %s head: got %q, want %q", tt.url, tt.trust, got, tt.want)
		}
	}
}

// Of several commands the agent's own map has the strictest word, and the order
// of the map is the map's business.
func TestAcceptance07OwnWord(t *testing.T) {
	t.Parallel()
	own := Agent{Permission: func(tool, target string) (Action, string) {
		switch {
		case tool != "run_bash" || strings.HasPrefix(target, "go "):
			return Allow, "run_bash: go *"
		case strings.HasPrefix(target, "rm "):
			return Deny, "run_bash: rm *"
		}
		return Ask, ""
	}}
	for command, want := range map[string]string{"go vet": "", "go vet && rm x": CodeAgentVeto, "ls && rm x": CodeAgentVeto, "go vet && ls": CodeAsk, "echo 'open": CodeAsk} {
		got := ""
		if d := Decide(with(shellCall(command, rules(t, true, "allow Bash(*)")...), func(c *Call) { c.Agent = own }), Grant(ModeVerify, Trusted, true)); d != nil {
			got = d.Code
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
}

// Level inspect runs single commands that only read, word by word.
func TestInspect(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][]string{
		"ls -l 'a b'":        {"ls", "-l", "a b"},
		`grep -rn "x y" src`: {"grep", "-rn", "x y", "src"},
		"cat a":              {"cat", "a"},
	} {
		got, why := Inspect(command)
		if diff := cmp.Diff(want, got); diff != "" || why != "" {
			t.Errorf("%s: %s\n%s", command, why, diff)
		}
	}
	for _, command := range []string{
		"ls; ls", "ls | wc", "ls && ls", "ls &", "! ls", "ls > x", "cat < x", "cat $HOME", "cat ~/x", "ls *", "ls {a,b}", "cat $(ls)", "cat `ls`", "A=1 ls", "(ls)", "{ ls; }",
		"env", "awk 1 x", "find .", "sort x", "git log", "sh -c ls", "/bin/ls", "./ls", "go version", "ls $'a'", `cat "$HOME"`, "", "ls 'open", "time ls", "coproc ls", "xargs ls", "ls\\\n;ls", "sed p x", "rg x", "cat <(ls)",
	} {
		if argv, why := Inspect(command); why == "" {
			t.Errorf("%s runs as %q", command, argv)
		}
	}
}

// Braces and the home directory mean in rules what they mean in a shell, and a pattern that
// can match nothing is named with its line.
func TestPatterns(t *testing.T) {
	t.Parallel()
	grant := Grant(ModeVerify, Trusted, true)
	for _, tt := range []struct{ rule, command, want string }{
		{"deny Bash({curl,wget} *)", "wget x", CodePolicyDeny},
		{"deny Bash({curl,wget} *)", "grep x", ""},
		{"deny Bash(cat ~/*)", "cat $HOME/.netrc", CodePolicyDeny},
		{"deny Bash(cat $HOME/*)", "cat ~/.netrc", CodePolicyDeny},
		{"deny Bash(cat ${HOME}/*)", "cat \"$HOME/.netrc\"", CodePolicyDeny},
		{"deny Bash(xargs echo {})", "xargs echo {}", CodePolicyDeny},
	} {
		got := ""
		if d := Decide(shellCall(tt.command, rules(t, false, tt.rule)...), grant); d != nil {
			got = d.Code
		}
		if got != tt.want {
			t.Errorf("%s: %s: %q, want %q", tt.rule, tt.command, got, tt.want)
		}
	}
	for rule, want := range map[string]string{
		"deny Read(~/.ssh/**)":      "it matches nothing",
		"deny Read($HOME/.ssh/**)":  "it matches nothing",
		"deny Bash(cat [a-z]*)":     "brackets mean themselves here",
		"deny Bash([ -f x ])":       "",
		"deny Bash(curl:*)":         "curl *",
		"deny Bash({curl,wget}:*)":  "curl *",
		"allow Tests(go test:*)":    "go test *",
		"deny Bash(docker run a:b)": "",
		"deny Fetch(domain:a.b)":    "https://a.b/*",
		"deny Fetch(https://a.b:*)": "",
		"deny Read(/secrets/**)":    "secrets/**",
		"deny Read(//etc/**)":       "without a / before them",
		"ask Grep({a,/b}/**)":       "without a / before them",
		"deny Read(./secrets/**)":   "",
		"deny Read(**/*.{env,key})": "",
	} {
		got := strings.Join(Lint(rules(t, false, rule)), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) || want != "" && !strings.HasPrefix(got, "permissions.json:1: ") {
			t.Errorf("%s: %q, want %q", rule, got, want)
		}
	}
}

package agents

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/ycbot/ycbot/internal/tool"
)

// file makes an agent file of settings; it has a description in line 2.
func file(settings string) []byte {
	return []byte("---\ndescription: looks\n" + settings + "\n---\nDo it.\n")
}

// said renders what is wrong without the name of the file.
func said(problems Problems) []string {
	var out []string
	for _, p := range problems {
		text := strings.TrimPrefix(p.String(), p.File+":")
		if p.Fatal {
			text += " !"
		}
		out = append(out, strings.TrimSpace(text))
	}
	return out
}

// Every field has each of its spellings and means the same in all of them. The
// rows are those of the table in docs/agents.md.
func TestFields(t *testing.T) {
	t.Parallel()
	type change = func(*Definition)
	listed := func(tools ...string) change {
		return func(d *Definition) { d.Tools, d.AllTools = tools, false }
	}
	without := func(tools ...string) change { return func(d *Definition) { d.DisallowedTools = tools } }
	all := func(*Definition) {}
	plan := func(d *Definition) {
		d.Phase, d.DisallowedTools = PhasePlan, []string{"run_bash", "start_process", "process_output", "stop_process", "screenshot", "run_tests", "fetch_url"}
	}
	turns := func(n int) change { return func(d *Definition) { d.MaxIterations = n } }
	lasts := func(t time.Duration) change { return func(d *Definition) { d.Timeout = t } }
	rules := func(d *Definition) {
		d.Tools, d.AllTools = []string{"read_file", "grep"}, false
		d.Permission = Permission{{every, every, Deny, 4}, {"read_file", every, Allow, 6}, {"read_file", "*.env", Deny, 7}, {"grep", every, Allow, 8}}
	}
	const ruleMap = ":\n  \"*\": deny\n  read:\n    \"*\": allow\n    \"*.env\": deny\n  grep: allow"
	for _, row := range []struct {
		field    string
		settings []string // each means the same
		want     change
		warnings []string
	}{
		{"name", []string{"name: other-1", "Name: other-1", "NAME:   'other-1'"}, func(d *Definition) { d.Name = "other-1" }, nil},
		{"tools", []string{"tools: [Read, grep]", "tools:\n- Read\n- grep", "tools:\n  - \"Read\"\n  - grep", "tools: Read, grep", "tools: read grep", "tools: Read,grep,read", "tools: 'Read, grep'", "allowed_tools: [read, grep]", "allowedTools: Read grep", "allowed-tools: Read(*), grep"}, listed("read_file", "grep"), nil},
		{"tools: all", []string{"", "tools: *", "tools: '*'", "tools: [\"*\"]", "tools: [*]", "tools:\n  - *", "tools:\n- '*'\n- Read", "tools: * # all of them"}, all, nil},
		{"tools: unknown", []string{"tools: [grep, frobnicate]", "tools: grep frobnicate"}, listed("grep"), []string{"3: unknown tools: frobnicate"}},
		{"tools: git", []string{"tools: grep, git"}, listed("grep", "git"), []string{"3: tools: git is never granted; there are git_diff_files, git_log_file, git_blame_lines, git_show_file_at_rev and others"}},
		{"tools: known, never granted", []string{"tools: [grep, Write, Task]"}, listed("grep", "write_file", "Agent"), nil},
		{"tools: pattern", []string{"tools: grep, Bash(git log:*)"}, listed("grep"), []string{
			"3: tools: Bash(git log:*) has a pattern, which is not read here: name the tool, and the pattern under permission", "3: unknown tools: Bash(git log:*)",
		}},
		{"disallowed_tools", []string{"disallowed_tools: [Bash, Write]", "disallowedTools: Bash, Write", "disallowed-tools: bash write"}, without("run_bash", "write_file", "start_process", "process_output", "stop_process", "screenshot"), nil},
		{"disallowed_tools: pattern", []string{"disallowedTools: Bash(rm *)"}, without("run_bash", "start_process", "process_output", "stop_process", "screenshot"), []string{"3: disallowedTools: Bash(rm *): the whole tool is removed; patterns belong under permission"}},
		{"disallowed_tools: after tools", []string{"disallowedTools: Read\ntools: read, grep", "tools: read, grep\ndisallowed_tools: read"}, func(d *Definition) {
			d.Tools, d.AllTools, d.DisallowedTools = []string{"grep"}, false, []string{"read_file"}
		}, nil},
		{"tool_groups", []string{"tool_groups: [diff_read]", "allowedToolGroups: [diff_read]", "allowed_tool_groups: diff_read"}, listed("list_git_changed_files", "git_diff_files", "git_show_file_at_rev", "git_merge_base"), nil},
		{"tool_groups: with tools", []string{"tools: grep\ntool_groups: [web_read]"}, listed("grep", "fetch_url"), nil},
		{"tool_groups: of nothing", []string{"tool_groups: [web_read, memory_read, shell_write]"}, listed("fetch_url"), []string{"3: tool_groups: memory_read holds no tool here", "3: tool_groups: shell_write holds no tool here"}},
		{"tool_groups: unknown", []string{"tool_groups: [web_read, x]"}, listed("fetch_url"), []string{"3: unknown tools: x"}},
		{"permission", []string{"permission" + ruleMap, "permissions" + ruleMap, "permission" + strings.ReplaceAll(ruleMap, `"`, "")}, rules, nil},
		{"phase: plan", []string{"permissions: plan", "phase: plan", "permissionMode: plan", "permission_mode: plan", "phase: :plan"}, plan, nil},
		{"phase: default", []string{"permissions: default", "phase: Default", "permissionMode: default", "phase:"}, all, nil},
		{"phase: more", []string{"phase: accept_edits"}, all, []string{"3: phase: accept_edits means no more than default: no one watches a run"}},
		{"phase: bypass", []string{"permissionMode: bypassPermissions"}, all, []string{"3: permissionMode: bypassPermissions means no more than default: no one watches a run"}},
		{"phase: unknown", []string{"permissions: auto"}, plan, []string{`3: permissions: "auto" is not a phase; plan is used: it only reads`}},
		{"model, provider", []string{"model: small-1\nprovider: main"}, func(d *Definition) { d.Model, d.Provider = "small-1", "main" }, nil},
		{"model, provider: inherit", []string{"model: inherit\nprovider: inherit"}, all, nil},
		{"background", []string{"background: true", "background: yes", "background: on", "background: 1", "Background: TRUE"}, func(d *Definition) { d.Background = true }, nil},
		{"background: no", []string{"background: false", "background: no", "background: off", "background: 0", "background:"}, all, nil},
		{"background: unknown", []string{"background: maybe"}, all, []string{`3: background: "maybe" is neither true nor false; false is used`}},
		{"max_iterations", []string{"max_iterations: 15", "maxSteps: 15", "maxTurns: 15", "max_turns: 15", "max-iterations: 15", "maxSteps: 15\nmaxTurns: 15"}, turns(15), nil},
		{"max_iterations: none", []string{"max_iterations: 0"}, turns(40), []string{`3: max_iterations: "0" is not a number of iterations; 40 are used`}},
		{"max_iterations: two", []string{"maxSteps: 5\nmaxTurns: 9"}, turns(5), []string{"4: not used: maxTurns, after maxSteps in line 3"}},
		{"timeout", []string{"timeout: 1m30s", "timeout: 90", "timeout_seconds: 90", "timeoutSeconds: 90"}, lasts(90 * time.Second), nil},
		{"timeout: too long", []string{"timeout: 3h"}, lasts(MaxTimeout), []string{"3: timeout: 3h0m0s is more than 30m0s"}},
		{"timeout: bad", []string{"timeout: soon"}, all, []string{`3: timeout: "soon" is not a time, such as 5m or 300`}},
		{"timeout: huge", []string{"timeout: 99999999999999999"}, all, []string{`3: timeout: "99999999999999999" is not a time, such as 5m or 300`}},
		{"max_output_tokens", []string{"max_output_tokens: 20000", "maxOutputTokens: 20000"}, func(d *Definition) { d.MaxOutputTokens = 20000 }, nil},
		{"max_output_tokens: bad", []string{"max_output_tokens: many"}, all, []string{`3: max_output_tokens: "many" is not a number of tokens`}},
		{"max_budget_usd", []string{"max_budget_usd: 1.5", "maxBudgetUsd: 1.50"}, func(d *Definition) { d.MaxBudgetUSD = 1.5 }, nil},
		{"max_budget_usd: bad", []string{"max_budget_usd: NaN"}, all, []string{`3: max_budget_usd: "NaN" is not an amount of dollars`}},
		{"isolation", []string{"isolation: worktree", "isolation: clone", "isolation: :worktree"}, func(d *Definition) { d.Isolation = Worktree }, nil},
		{"isolation: in_process", []string{"isolation: in_process\npermissions: plan"}, func(d *Definition) { plan(d); d.Isolation = InProcess }, nil},
		{"isolation: unknown", []string{"isolation: vm\nphase: plan"}, func(d *Definition) { plan(d); d.Isolation = InProcess }, []string{`3: isolation: "vm" is neither in_process nor worktree; in_process is used`}},
		{"isolation: with commands", []string{"isolation: in_process"}, func(d *Definition) { d.Isolation = Worktree }, []string{"3: isolation: in_process is for agents that only read; if the run grants it commands, it has a worktree"}},
		{"mode", []string{"mode: plan_and_solve", "mode: :plan_and_solve"}, func(d *Definition) { d.Mode = PlanAndSolve }, nil},
		{"mode: reflexion", []string{"mode: reflexion"}, func(d *Definition) { d.Mode = Reflexion }, nil},
		{"mode: react", []string{"mode: react"}, all, nil},
		{"mode: unknown", []string{"mode: tree"}, all, []string{`3: mode: "tree" is none of react, plan_and_solve, reflexion; react is used`}},
		{"result", []string{"result: structured"}, func(d *Definition) { d.Structured = true }, nil},
		{"result: text", []string{"result: text"}, all, nil},
		{"result: unknown", []string{"result: xml"}, all, []string{`3: result: "xml" is none of text, structured; text is used`}},
		{"role, success_criteria", []string{"role: helper\nsuccess_criteria: [one thing, another]", "role: helper\nsuccessCriteria:\n  - one thing\n  - another"}, func(d *Definition) {
			d.Role, d.SuccessCriteria, d.MaxOutputTokens = "helper", []string{"one thing", "another"}, 20000
		}, nil},
		{"prompt", []string{"prompt: append"}, func(d *Definition) { d.Appends = true }, nil},
		{"prompt: replace", []string{"prompt: replace"}, all, nil},
		{"mutating", []string{"mutating: true"}, all, []string{"3: mutating: not used: agents of a verification change nothing"}},
		{"of other systems", []string{"color: blue\nskills: [a]\nmcpServers: {a: {b: c}}\nhooks: {}\nmemory: false\neffort: high\ninitialPrompt: x\ntemperature: 0.2"}, all, []string{"3: not used by ycbot: color, skills, mcpServers, hooks, memory, effort, initialPrompt, temperature"}},
		{"of no one", []string{"backgrounds: true"}, all, []string{`3: not used: there is no field "backgrounds"; did you mean "background"?`}},
		{"of no one, nothing near", []string{"whatever: true"}, all, []string{`3: not used: there is no field "whatever"`}},
	} {
		for _, settings := range row.settings {
			t.Run(row.field+"/"+settings, func(t *testing.T) {
				t.Parallel()
				want := Definition{Name: "probe", Description: "looks", AllTools: true, MaxIterations: DefaultIterations, Prompt: "Do it.", Source: "probe.md", Dialect: Ycbot}
				row.want(&want)
				got, problems := Parse("probe.md", file(settings), Ycbot, names)
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("definition (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(row.warnings, said(problems)); diff != "" {
					t.Errorf("problems (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// A file that could only be misread is no agent. Above all, one of whose tools
// nothing is left does not get them all.
func TestRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"", "1: skipped: it does not begin with settings between two lines of --- !"},
		{"Do it.", "1: skipped: it does not begin"},
		{"---\ndescription: looks\nDo it.", "1: skipped: it does not begin"},
		{" ---\ndescription: looks\n---\nDo it.", "1: skipped: it does not begin"},
		{"---\n---\nDo it.", "skipped: it has no description !"},
		{"---\nname: 1x\ndescription: looks\n---\nDo it.", `2: skipped: name "1x"`},
		{"---\nname: ../x\ndescription: looks\n---\nDo it.", `2: skipped: name "../x"`},
		{"---\nname: two words\ndescription: looks\n---\nDo it.", `2: skipped: name "two words"`},
		{"---\nname: " + strings.Repeat("a", 65) + "\ndescription: looks\n---\nDo it.", "2: skipped: name"},
		{"---\ndescription: looks\n---\n \n", "skipped: it has no prompt !"},
		{"---\ndescription: looks\n---", "skipped: it has no prompt !"},
		{"---\ndescription: \x00\n---\nDo it.", "skipped: no UTF-8 text !"},
		{"---\ndescription: \xff\n---\nDo it.", "skipped: no UTF-8 text !"},
		{"---\ndescription: " + strings.Repeat("a", MaxSize) + "\n---\nDo it.", "skipped: larger than 262144 bytes !"},
		{string(file("tools:")), "3: disabled: its list of tools is empty; leave the field out for all that the run grants !"},
		{string(file("tools: []")), "3: disabled: its list of tools is empty"},
		{string(file("tools: {read: true}")), "3: disabled: tools: want a list !"},
		{string(file("tools: &a [x]\nmodel: *a")), "3: disabled: none of its tools is known (x) !"},
		{string(file("model: &a [x]\ntools: *a")), "4: disabled: tools: want a list !"},
		{string(file("tools: [[read], frobnicate]")), "3: disabled: none of its tools is known ((no name), frobnicate) !"},
		{string(file("tools: read\nallowedTools: bash")), "4: disabled: allowedTools, after tools in line 3: say it once !"},
		{string(file("tools: read\ntools: bash")), "4: disabled: tools, after tools in line 3"},
		{string(file("permissions: plan\npermissionMode: default")), "4: disabled: permissionMode, after permissions in line 3"},
		{string(file("tools: read\ndisallowed_tools: read")), "4: disabled: no tool is left of those that it names !"},
		{string(file("tools: [nope, Write]")), "3: disabled: none of its tools is ever granted (write_file) !"},
		{string(file("tools: git, Task")), "3: disabled: none of its tools is ever granted (git, Agent) !"},
		{string(file("tools: read, Write\ndisallowed_tools: read")), "3: disabled: none of its tools is ever granted (write_file) !"},
		{string(file("permission: {edit: allow}")), "3: disabled: none of its tools is ever granted"},
		{string(file("disallowed_tools: '*'")), "3: disabled: disallowed_tools takes every tool away !"},
		{string(file("disallowed_tools: {a: b}")), "3: disabled: disallowed_tools: want a list !"},
		{string(file("tools: bash\npermissions: plan")), "4: disabled: no tool is left"},
		{string(file("tool_groups: [memory_read]")), "3: disabled: its list of tools is empty"},
		{string(file("tool_groups: {a: b}")), "3: disabled: tool_groups: want a list !"},
		{string(file("permission: deny")), "3: disabled: permission: want a map of tools to allow, deny or ask !"},
		{string(file("permission: {}")), "3: disabled: permission: no rule allows a tool; what is not allowed would be asked, and no one is there !"},
		{string(file("permission: {bash: deny}")), "3: disabled: permission: no rule allows a tool"},
		{string(file("permission: {frobnicate: allow}")), "3: disabled: permission: no rule allows a tool"},
		{string(file("permission: {read: yes}")), `3: disabled: permission: "yes" is none of allow, deny, ask !`},
		{string(file("permission: {read: [allow]}")), "3: disabled: permission: read: want allow, deny or ask, or a map of patterns to them !"},
		{string(file("permission: {'*': allow, 'gti_*': deny}")), `3: disabled: permission: gti_* matches no tool !`},
		{string(file("permission: {'*': allow, read: {'@(a|b)': deny}}")), `3: disabled: permission: a rule cannot be read: pattern "@(a|b)": only`},
		{string(file("permission:\n  '*': allow\n  read:\n    '**/*.{env,key': deny")), `6: disabled: permission: a rule cannot be read: pattern "**/*.{env,key"`},
		{string(file("permission: {'*': allow, read: {'*.env,key}': deny}}")), "3: disabled: permission: a rule cannot be read"},
		{string(file("permission: {'*': allow, read: {'*.[ek': deny}}")), "3: disabled: permission: a rule cannot be read"},
		{string(file("permission: {'*': allow, read: {'{a,[b}': deny}}")), "3: disabled: permission: a rule cannot be read"},
		{string(file("permission: {'*': allow, read: {'" + strings.Repeat("{a,b}", 9) + "': deny}}")), "3: disabled: permission: a rule cannot be read"},
		{string(file("permission: {'*': allow, read: {'': deny}}")), "3: disabled: permission: a rule cannot be read"},
		{string(file("permission: {'*': allow, bash: {'{curl,wget *': deny}}")), "3: disabled: permission: a rule cannot be read"},
		{string(file("permission:\n  '*': allow\n  bash:\n    ? [a, b]\n    : deny")), "6: disabled: permission: a rule cannot be read"},
		{string(file("permission: {'*': allow, '{read,gr[ep}': deny}")), "3: disabled: permission: a rule cannot be read"},
		{string(file("permission:\n  '*': allow\n  ? [bash]\n  : deny")), "5: disabled: permission: a rule cannot be read"},
		{string(file("skills: &a {bash: deny}\npermission:\n  '*': allow\n  <<: *a")), "6: disabled: permission: a rule cannot be read"},
		{string(file("disallowed_tools: '{bash,grep'")), "3: disabled: disallowed_tools: {bash,grep cannot be read: want names of tools !"},
		{string(file("disallowed_tools: 'Bash(rm *, grep'")), "3: disabled: disallowed_tools: Bash(rm *, grep cannot be read"},
		{string(file("disallowed_tools: [[bash]]")), "3: disabled: disallowed_tools: (no name) cannot be read"},
		{string(file("prompt: apend")), `3: disabled: prompt: "apend" is neither replace nor append !`},
		{string(file("prompt: [append]")), `3: disabled: prompt: "" is neither replace nor append !`},
		{string(file("permission: {read: allow, '*': deny}")), "3: disabled: no tool is left of those that it names !"},
		{string(file("description2: a: b\npermission:\n  read allow")), "4: disabled: permission: want a map"},
		{string(file("isolation: vm")), `3: disabled: isolation: "vm" is neither in_process nor worktree, and the agent may run commands !`},
	} {
		d, problems := Parse("dir/probe.md", []byte(tt.text), Ycbot, names)
		got := said(problems)
		if problems.Err() == nil || !strings.Contains(strings.Join(got, "\n"), tt.want) {
			t.Errorf("%.80q: %q, want %q", tt.text, got, tt.want)
		}
		if disabled := strings.Contains(tt.want, "disabled"); disabled != (d.Name != "") {
			t.Errorf("%.80q: named %q, disabled %v", tt.text, d.Name, disabled)
		}
	}
}

// The manual names every field and every group, and its example is an agent
// about which there is nothing to say.
func TestManual(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	manual := string(data)
	for key, name := range spellings() {
		if name != "" && name != "permissions" && !strings.Contains(manual, "\n| `"+name+"` |") {
			t.Errorf("field %s has no row", name)
		}
		if !strings.Contains(fold(manual), key) {
			t.Errorf("%s is not named", key)
		}
	}
	for _, g := range []string{"environment_read", "workspace_read", "diff_read", "git_read", "web_read", "subagent_submit"} {
		tools, _ := Group(g)
		if !strings.Contains(manual, "| `"+g+"` | `"+tools[0]+"`") {
			t.Errorf("group %s has no row", g)
		}
	}
	_, example, _ := strings.Cut(manual, "```markdown\n")
	example, _, _ = strings.Cut(example, "   ```")
	example = strings.ReplaceAll("\n"+example, "\n   ", "\n")[1:]
	d, problems := Parse("migrations.md", []byte(example), Ycbot, names)
	if len(problems) > 0 || d.Name != "migrations" || d.Executes() || len(d.Tools) != 5 {
		t.Errorf("example: %+v %v", d, problems)
	}
}

// Patterns in agent files have their usual meaning: braces, brackets, the
// home directory, and names of tools with stars.
func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		permission   string
		tool, target string
		want         Action
	}{
		{"{'*': allow, read: {'*.{env,key}': deny}}", "read_file", "a/prod.key", Deny},
		{"{'*': allow, read: {'*.{env,key}': deny}}", "read_file", "x.env", Deny},
		{"{'*': allow, read: {'*.{env,key}': deny}}", "read_file", "x.go", Allow},
		{"{'*': allow, read: {'{a,b{c,d}}/x': deny}}", "read_file", "bd/x", Deny},
		{"{'*': allow, read: {'[a-c]*': deny}}", "read_file", "config", Deny},
		{"{'*': allow, read: {'[!a-c]*': deny}}", "read_file", "config", Allow},
		{"{'*': allow, read: {'[[]': deny}}", "read_file", "[", Deny},
		{"{'*': allow, bash: {'cat ~/*': deny}}", "run_bash", "cat ~/.netrc", Deny},
		{"{'*': allow, bash: {'cat $HOME/*': deny}}", "run_bash", "cat ~/.netrc", Deny},
		{"{'*': allow, bash: {'cat ${HOME}/*': deny}}", "run_bash", "cat ~/.netrc", Deny},
		{"{'*': allow, bash: {'{curl,wget} *': deny}}", "run_bash", "wget x", Deny},
		{"{'*': allow, bash: {'find * {} *': deny}}", "run_bash", "find . -exec ls {} ;", Deny},
		{"{'*': allow, 'git_*': deny}", "git_log_file", "x", Deny},
		{"{'*': allow, 'git_*': deny}", "read_file", "x", Allow},
		{"{'*': allow, '{git,list}_*': deny}", "list_dir", "x", Deny},
	} {
		d, problems := Parse("dir/probe.md", file("permission: "+tt.permission), Ycbot, names)
		if err := problems.Err(); err != nil {
			t.Errorf("%s: %v", tt.permission, err)
			continue
		}
		if got, _ := d.Permission.Decide(tt.tool, tt.target); got != tt.want {
			t.Errorf("%s: %s %s: %s, want %s", tt.permission, tt.tool, tt.target, got, tt.want)
		}
	}
	d, problems := Parse("dir/probe.md", file("permission: {'*': allow, read: {'~/x': deny}}"), Ycbot, names)
	if got := said(problems); d.Name == "" || len(got) != 1 || !strings.HasPrefix(got[0], `3: permission: pattern "~/x" matches nothing but commands`) {
		t.Errorf("a path of the home directory: %q", got)
	}
	d, problems = Parse("dir/probe.md", file("tools: ['git_*', read]\ndisallowed_tools: ['git_{blame,diff}_*']"), Ycbot, names)
	want := []string{"git_branch_status", "git_log_file", "git_show_file_at_rev", "git_merge_base", "read_file"}
	slices.Sort(want)
	slices.Sort(d.Tools)
	if diff := cmp.Diff(want, d.Tools); diff != "" || len(problems) > 0 {
		t.Errorf("%q\n%s", said(problems), diff)
	}
}

// Patterns of names know every tool that an agent can be given.
func TestEveryTool(t *testing.T) {
	t.Parallel()
	for _, tl := range tool.Declared() {
		if !slices.Contains(everyTool(), tl.Name) {
			t.Errorf("%s is in no group and not among the others: add it in groups.go", tl.Name)
		}
	}
}

// docs/agents.md names the tools of each group, as they are or as those of another one.
func TestGroupsAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| group | tools |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := map[string]string{}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) < 3 {
			t.Fatalf("docs/agents.md: %q is no row of the groups", row)
		}
		rows[strings.Trim(cells[1], " `")] = cells[2]
	}
	for name, row := range rows {
		for other, tools := range rows {
			if strings.Contains(row, "those of `"+other+"`") {
				row += tools
			}
		}
		tools, known := Group(name)
		if !known {
			t.Errorf("docs/agents.md has the group %s, which there is not", name)
		}
		for _, tl := range tools {
			if !strings.Contains(row, "`"+tl+"`") {
				t.Errorf("docs/agents.md: the row of %s lacks %s", name, tl)
			}
		}
	}
	for _, name := range []string{"environment_read", "workspace_read", "diff_read", "git_read", "web_read", "subagent_submit"} {
		if rows[name] == "" {
			t.Errorf("docs/agents.md has no row for the group %s", name)
		}
	}
}

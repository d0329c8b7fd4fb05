package agents

import (
	goparser "go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// project reads the folders of a project in testdata.
func project(t *testing.T, dir string) Cast {
	t.Helper()
	folders, problems := ProjectFolders(os.DirFS(dir))
	c := load(names, folders...)
	c.Problems = append(problems, c.Problems...)
	return c
}

// Files of each system are read as that system means them, those included that
// are no YAML, or have CRLF, a byte order mark, no name or no description.
func TestAcceptance01Files(t *testing.T) {
	t.Parallel()
	c := project(t, "testdata/tree")
	plan := []string{"run_bash", "start_process", "process_output", "stop_process", "screenshot", "run_tests", "fetch_url"}
	want := []Definition{
		{
			Name: "Gatekeeper", Description: "Says what keeps a branch from being released: tests, flags, loose ends", Tools: []string{"read_file", "read_many_files", "grep", "glob", "list_dir", "git_branch_status", "git_diff_files"},
			Model: "small-model-1", MaxIterations: 40, Prompt: "You are Gatekeeper. List what is ready, what blocks a release, and what is open.", Source: ".yottacode/agents/gatekeeper.md", Dialect: Yottacode,
		},
		{Name: "anything", Description: "Subagent: anything", AllTools: true, Background: true, MaxIterations: 25, Prompt: "Answer what you are asked.", Source: ".yottacode/agents/anything.md", Dialect: Yottacode},
		{Name: "atoms", Description: "Words as Elixir writes them", Tools: []string{"read_file", "grep"}, DisallowedTools: plan, Phase: PhasePlan, Mode: Reflexion, Isolation: Worktree, MaxIterations: 40, Prompt: "Work.", Appends: true, Source: ".exathena/agents/atoms.md", Dialect: ExAthena},
		{
			Name: "auditor", Description: "Works like a role of BLXCode", Role: "security_analyst",
			Tools:   grouped(t, "environment_read", "workspace_read", "diff_read"),
			Timeout: 4 * time.Minute, MaxOutputTokens: 15000, MaxIterations: 40, Structured: true, SuccessCriteria: []string{"Every new entrance is named", "Each finding has a path"},
			Prompt: "Look for ways in.", Appends: true, Source: ".ycbot/agents/auditor.md", Dialect: Ycbot,
		},
		{
			Name: "broken-yaml", Description: "Reviews: but its settings are no YAML", Tools: []string{"grep", "run_bash"},
			Permission:    Permission{{every, every, Deny, 4}, {"grep", every, Allow, 5}, {"run_bash", "git log *", Allow, 7}, {"run_bash", "git log --output*", Deny, 8}},
			MaxIterations: 10, Prompt: "Read.", Appends: true, Source: ".agents/agents/broken-yaml.md", Dialect: Molf,
		},
		{Name: "checker", Description: "Runs it: builds, tests, probes", Tools: []string{"read_file", "grep", "run_bash"}, Background: true, MaxIterations: 40, Prompt: "Run it.\n\nThen say what came.", Source: ".yottacode/agents/checker.md", Dialect: Yottacode},
		{
			Name: "explore", Description: "Looks around quickly and changes nothing", Model: "small-model-2", Provider: "anthropic", Tools: []string{"read_file", "glob", "grep"}, DisallowedTools: plan, Phase: PhasePlan,
			Isolation: InProcess, MaxIterations: 40, Prompt: "Walk through the code and report in short.", Appends: true, Source: ".exathena/agents/explore.md", Dialect: ExAthena,
		},
		{Name: "plain", Description: "no list, no map", AllTools: true, DisallowedTools: plan, Phase: PhasePlan, MaxIterations: 10, Prompt: "Read.", Appends: true, Source: ".agents/agents/plain.md", Dialect: Molf},
		{
			Name: "refactor", Description: "Plans first, then does", AllTools: true, DisallowedTools: []string{"run_bash", "write_file", "start_process", "process_output", "stop_process", "screenshot"}, Mode: PlanAndSolve, Isolation: Worktree, MaxIterations: 30, MaxBudgetUSD: 1.5,
			Prompt: "Two steps: a plan, then the work.", Appends: true, Source: ".exathena/agents/refactor.md", Dialect: ExAthena,
		},
		{
			Name: "reviewer", Description: "Reviews code", Tools: []string{"grep", "read_file"}, Permission: Permission{{every, every, Deny, 5}, {"grep", every, Allow, 6}, {"read_file", every, Allow, 8}, {"read_file", "*.env", Deny, 9}},
			MaxIterations: 5, Prompt: "Read and say what you think.", Appends: true, Source: ".agents/agents/reviewer.md", Dialect: Molf,
		},
	}
	for i := range want {
		want[i].Origin = Project
	}
	if diff := cmp.Diff(want, c.Definitions, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("definitions (-want +got):\n%s", diff)
	}
	problems := []string{
		".claude/agents: not read, because .agents/agents is there",
		".agents/agents/plain.md: neither tools nor permission: it only reads; list its tools if it is to run commands",
		".agents/agents/undescribed.md: skipped: it has no description",
		".exathena/agents/refactor.md:5: permissions: accept_edits means no more than default: no one watches a run",
		".yottacode/agents/anything.md: it has no description; \"Subagent: anything\" is used",
		".yottacode/agents/checker.md:6: mutating: not used: agents of a verification change nothing",
		".yottacode/agents/nameless.md: skipped: it has no name",
		".ycbot/agents/auditor.md:5: tool-groups: memory_read holds no tool here",
		".ycbot/agents/verification.md:4: disabled: none of its tools is known (frobnicate)",
	}
	var got []string
	for _, p := range c.Problems {
		got = append(got, p.String())
	}
	if diff := cmp.Diff(problems, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// Files of Claude Code are read where molf's first folder is not there.
func TestAcceptance01Claude(t *testing.T) {
	t.Parallel()
	c := project(t, "testdata/claude")
	want := []Definition{
		{
			Name: "code-reviewer", Description: `Use this agent after a change. Examples: <example>Context: a function was written. user: "done?" assistant: "I will have it reviewed."</example>`,
			Tools: []string{"read_file", "grep", "glob", "run_bash"}, DisallowedTools: []string{"write_file", "edit_file"}, MaxIterations: 12, Prompt: "You review code.",
			Appends: true, Source: ".claude/agents/code-reviewer.md", Origin: Project, Dialect: Claude,
		},
		{Name: "log-reader", Description: "Reads history only", Tools: []string{"read_file"}, MaxIterations: 40, Prompt: "Read the log.", Appends: true, Source: ".claude/agents/log-reader.md", Origin: Project, Dialect: Claude},
	}
	if diff := cmp.Diff(want, c.Definitions, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("definitions (-want +got):\n%s", diff)
	}
	if err := c.Problems.Err(); err != nil {
		t.Error(err)
	}
}

// An agent none of whose tools is known is disabled: it neither gets all tools,
// nor does a weaker agent of its name take its place.
func TestAcceptance02NothingLeft(t *testing.T) {
	t.Parallel()
	d, problems := Parse("probe.md", file("tools: [frobnicate, mcp__a__b]"), Claude, names)
	if problems.Err() == nil || d.AllTools || len(d.Tools) > 0 {
		t.Errorf("%+v %v", d, problems)
	}
	folders, _ := ProjectFolders(os.DirFS("testdata/tree"))
	c := Load(names, folders...)
	for _, name := range []string{"verification", "Verification"} {
		_, err := c.Find(name)
		if err == nil || err.Error() != `agent "verification" is disabled: .ycbot/agents/verification.md:4: disabled: none of its tools is known (frobnicate)` {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Tools that a child never has are known names in a definition, not unknown
// ones: what refuses them can say so.
func TestAcceptance03Names(t *testing.T) {
	t.Parallel()
	d, problems := Parse("probe.md", file("tools: [Read, Agent, Task, spawn_agent, Write]"), Claude, names)
	if len(problems) > 0 || !slices.Equal(d.Tools, []string{"read_file", "Agent", "write_file"}) {
		t.Errorf("%+v %v", d.Tools, problems)
	}
}

// Of the rules of a map that match, the last one counts, in the order of the
// file and not of the names. What none matches would be asked.
func TestAcceptance07Map(t *testing.T) {
	t.Parallel()
	const settings = "permission:\n  \"*\": allow\n  grep: ask\n  bash:\n    \"git *\": allow\n    \"git push*\": deny\n    \"git push --dry-run\": allow\n  read:\n    \"*\": deny\n    src/*: allow\n    src/?.key: deny"
	d, problems := Parse("probe.md", file(settings), Molf, names)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		tool, target string
		want         Action
		line         int
	}{
		{"glob", "x", Allow, 4},
		{"grep", "x", Ask, 5},
		{"run_bash", "ls", Allow, 4},
		{"run_bash", "git push origin/x", Deny, 8},
		{"run_bash", "git push --dry-run", Allow, 9},
		{"read_file", "go.mod", Deny, 11},
		{"read_file", "src/a/.b/c.go", Allow, 12},
		{"read_file", "src/a.key", Deny, 13},
		{"read_file", "src/ab.key", Allow, 12},
	} {
		if got, rule := d.Permission.Decide(tt.tool, tt.target); got != tt.want || rule.Line != tt.line {
			t.Errorf("%s %s: %s by line %d, want %s by %d", tt.tool, tt.target, got, rule.Line, tt.want, tt.line)
		}
	}
	if !d.AllTools || !slices.Equal(d.DisallowedTools, []string{"grep"}) || !d.Has("read_file") {
		t.Errorf("all %v, without %v", d.AllTools, d.DisallowedTools)
	}
	if got, _ := (Permission{{"grep", every, Allow, 1}}).Decide("glob", "x"); got != Ask {
		t.Errorf("without a rule: %s", got)
	}
	if got, _ := Permission(nil).Decide("glob", "x"); got != Allow {
		t.Errorf("without rules: %s", got)
	}
}

// No file asks for more iterations than there are, in any mode.
func TestAcceptance19Definition(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"react", PlanAndSolve, Reflexion} {
		d, problems := Parse("probe.md", file("name: probe\nmax_iterations: 160\npermissions: bypass_permissions\nmode: "+mode), ExAthena, names)
		if d.MaxIterations != MaxIterations || len(problems) != 2 {
			t.Errorf("%s: %d iterations, %v", mode, d.MaxIterations, problems)
		}
	}
}

// Of two definitions with one name the one from the stronger place counts, as
// a whole: built-in, user, project, operator, and the folders of one place in
// their order.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	md := func(description, settings string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("---\ndescription: " + description + "\n" + settings + "\n---\nx\n")}
	}
	home := fstest.MapFS{
		"h/.config/ex_athena/agents/a.md": {Data: []byte("---\nname: a\ndescription: ex_athena\nmodel: m\n---\nx\n")},
		"h/.claude/agents/a.md":           md("claude", ""), "h/.claude/agents/b.md": md("claude", ""),
		"y/agents/b.md": {Data: []byte("---\nname: b\ndescription: yottacode\n---\nx\n")},
		"y/agents/c.md": {Data: []byte("---\nname: c\ndescription: yottacode\n---\nx\n")},
		"r/agents/c.md": md("ycbot", ""), "r/agents/review.md": md("user", "tools: read"), "r/agents/sub/d.md": md("is not read", ""),
	}
	open := func(dir string) fs.FS {
		sub, err := fs.Sub(home, dir)
		if err != nil {
			t.Error(err)
		}
		return sub
	}
	tree := fstest.MapFS{
		".claude/agents/p.md": md("claude", ""), ".claude/agents/c.md": md("project", ""),
		".yottacode/agents/p.md": {Data: []byte("---\nname: p\ndescription: yottacode\n---\nx\n")},
		".ycbot/agents/o.md":     md("project", "model: m"), ".ycbot/agents/O2.md": md("project", ""), ".ycbot/agents/o2.md": md("project", ""),
	}
	folders, problems := ProjectFolders(tree)
	if len(problems) > 0 {
		t.Error(problems)
	}
	all := slices.Concat(UserFolders(open, "h", "y", "r"), folders,
		[]Folder{{Origin: Operator, Path: "/ops", FS: fstest.MapFS{"o.md": md("operator", "")}}, {Origin: Operator, Path: "/none"}})
	c := Load(names, all...)
	for name, want := range map[string]string{
		"a": "user claude h/.claude/agents/a.md over h/.config/ex_athena/agents/a.md",
		"b": "user yottacode y/agents/b.md over h/.claude/agents/b.md",
		"c": "project project .claude/agents/c.md over r/agents/c.md",
		"p": "project yottacode .yottacode/agents/p.md over .claude/agents/p.md",
		"o": "operator operator /ops/o.md over .ycbot/agents/o.md", "review": "user user r/agents/review.md over builtin",
	} {
		d, err := c.Find(name)
		if got := string(d.Origin) + " " + d.Description + " " + d.Source + " over " + d.Replaces; err != nil || got != want || d.Model != "" {
			t.Errorf("%s: %s, %q, %v", name, got, d.Model, err)
		}
	}
	if len(c.Problems) != 1 || c.Problems[0].String() != `.ycbot/agents/o2.md: agent "o2" differs from "O2" of .ycbot/agents/O2.md in capitals only; both are there` {
		t.Errorf("problems: %v", c.Problems)
	}
	if got := UserFolders(open, "", "", "r"); len(got) != 1 || got[0].Path != "r/agents" {
		t.Errorf("without a home: %+v", got)
	}
	_, err := c.Find("d")
	if err == nil || !strings.HasPrefix(err.Error(), `there is no agent "d"; there are Explore, O2, Plan, a, b, c, `) {
		t.Errorf("unknown: %v", err)
	}
}

// What a change puts into its own agent files has no effect: the loader reads
// what it is handed, which is the tree of the base, and no disk.
func TestAcceptance20Tree(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := goparser.ParseFile(token.NewFileSet(), name, nil, goparser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if slices.Contains([]string{`"os"`, `"os/exec"`, `"net/http"`, `"syscall"`}, i.Path.Value) {
				t.Errorf("%s imports %s", name, i.Path.Value)
			}
		}
	}
}

// Two files of one folder with the same agent: the first counts, and it is said.
func TestDuplicates(t *testing.T) {
	t.Parallel()
	text := &fstest.MapFile{Data: []byte("---\nname: same\ndescription: x\n---\nx\n")}
	c := load(names, Folder{Origin: Project, Path: "p", Dialect: Ycbot, FS: fstest.MapFS{"b.md": text, "a.md": text}})
	if len(c.Definitions) != 1 || c.Definitions[0].Source != "p/a.md" || c.Definitions[0].Replaces != "" {
		t.Errorf("%+v", c.Definitions)
	}
	if len(c.Problems) != 1 || c.Problems[0].String() != `p/b.md: not used: agent "same" is in p/a.md already` {
		t.Errorf("%v", c.Problems)
	}
}

// A place that cannot be read is a problem of that place alone, and one that is
// not there is none.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"good.md": "---\ndescription: x\n---\nx\n", "large.md": strings.Repeat("x", MaxSize+1)} {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("nowhere", dir+"/link.md"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir+"/folder.md", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("folder.md", dir+"/linked-folder.md"); err != nil {
		t.Fatal(err)
	}
	c := load(names, Folder{Path: "p", FS: os.DirFS(dir)}, Folder{Path: "q", FS: os.DirFS(dir + "/none")}, Folder{Path: "f", FS: os.DirFS(dir + "/good.md")})
	if len(c.Definitions) != 1 || c.Definitions[0].Name != "good" {
		t.Errorf("%+v", c.Definitions)
	}
	want := []string{"p/large.md: skipped: larger than 262144 bytes", "p/link.md: no such file or directory", "p/linked-folder.md: no regular file", "f: not a directory"}
	var got []string
	for _, p := range c.Problems {
		got = append(got, p.String())
		if !p.Fatal {
			t.Errorf("%s is only a warning", p)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// The path of a file says for which system it was written.
func TestDialectOf(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]Dialect{
		"/r/.yottacode/agents/a.md": Yottacode, ".exathena/agents/a.md": ExAthena, "/h/.config/ex_athena/agents/a.md": ExAthena, ".agents/agents/a.md": Molf,
		".claude/agents/a.md": Claude, ".ycbot/agents/a.md": Ycbot, "a.md": Ycbot, "/h/.claude/x/.ycbot/agents/a.md": Ycbot, `C:\r\.claude\agents\a.md`: Claude,
	} {
		if got := DialectOf(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// A role that names no tools, or only groups that no one knows, has its own.
func TestRoles(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{"role: review", "role: review\ntool_groups: [x]"} {
		d, problems := Parse("probe.md", file(settings), Ycbot, names)
		if d.AllTools || !d.Has("git_diff_files") || d.Has("git_log_file") || d.Executes() || problems.Err() != nil {
			t.Errorf("%s: %v %v", settings, d.Tools, problems)
		}
	}
	if d, problems := Parse("probe.md", file("role: review\ntools: [frobnicate]"), Ycbot, names); problems.Err() == nil {
		t.Errorf("tools of which none is known: %v", d.Tools)
	}
}

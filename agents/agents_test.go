package agents

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/tool"
)

// names are those of the tools that there are.
var names = tool.Resolve

// grouped are the tools of groups.
func grouped(t *testing.T, groups ...string) (out []string) {
	t.Helper()
	for _, g := range groups {
		tools, known := Group(g)
		if !known {
			t.Fatalf("there is no group %s", g)
		}
		out = add(out, tools...)
	}
	return out
}

// The built-in agents load without a warning, stay within the caps, have no
// more than they need, and the verifier's prompt teaches the form that the
// report parser reads.
func TestBuiltins(t *testing.T) {
	t.Parallel()
	defs, err := Builtins(names)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range defs {
		got = append(got, d.Name)
		if d.MaxIterations > MaxIterations || d.Timeout == 0 || d.Timeout > MaxTimeout || d.MaxOutputTokens == 0 {
			t.Errorf("%s: caps %d, %s, %d tokens", d.Name, d.MaxIterations, d.Timeout, d.MaxOutputTokens)
		}
		if len(d.Prompt) > 12<<10 {
			t.Errorf("%s: prompt of %d bytes", d.Name, len(d.Prompt))
		}
		if d.Executes() != (d.Isolation == Worktree) || d.Isolation == "" {
			t.Errorf("%s: isolation %q, runs commands %v", d.Name, d.Isolation, d.Executes())
		}
		if d.AllTools || d.Has("Agent") || d.Has("write_file") {
			t.Errorf("%s: has more than it needs: %v", d.Name, d.Tools)
		}
		if d.Executes() != slices.Contains([]string{"verification", "general-purpose"}, d.Name) {
			t.Errorf("%s runs commands: %v", d.Name, d.Executes())
		}
		if d.Origin != Builtin || d.Appends || d.Background != (d.Name == "verification") {
			t.Errorf("%s: origin %q, appends %v, background %v", d.Name, d.Origin, d.Appends, d.Background)
		}
	}
	want := []string{"Explore", "Plan", "code-verifier", "coordinator", "general-purpose", "review", "scout", "security_analyst", "verification"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("built-in agents (-want +got):\n%s", diff)
	}
	for name, tokens := range map[string][]string{
		"verification":  {"### Check:", "[adversarial]", "**Command run:**", "**Output observed:**", "**Expected vs Actual:**", "**Evidence:** E", "**Result: PASS**", "**Result: FAIL**", "VERDICT: PASS\n", "VERDICT: FAIL\n", "VERDICT: PARTIAL\n"},
		"code-verifier": {"VERDICT: PASS\n", "VERDICT: FAIL\n", "VERDICT: PARTIAL\n"},
		"Plan":          {"### Critical Files for Implementation"},
	} {
		d, ok := Find(defs, name)
		for _, token := range tokens {
			if !ok || !strings.Contains(d.Prompt, token) {
				t.Errorf("the prompt of %s lacks %q", name, token)
			}
		}
	}
}

// The roles have the groups that their system gives them.
func TestBuiltinRoles(t *testing.T) {
	t.Parallel()
	defs, err := Builtins(names)
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"scout", "review", "security_analyst"} {
		d, _ := Find(defs, role)
		if diff := cmp.Diff(grouped(t, roleGroups(role)...), d.Tools); diff != "" {
			t.Errorf("tools of %s (-want +got):\n%s", role, diff)
		}
	}
}

// A name is found as it is, else by the only one that it can mean.
func TestFind(t *testing.T) {
	t.Parallel()
	var defs []Definition
	for _, n := range []string{"Explore", "Plan", "general-purpose", "security_analyst", "twin", "Twin"} {
		defs = append(defs, Definition{Name: n})
	}
	for name, want := range map[string]string{
		"Explore": "Explore", "explore": "Explore", "PLAN": "Plan", "general": "general-purpose", "General": "general-purpose",
		"general_purpose": "general-purpose", "security-analyst": "security_analyst", "twin": "twin", "Twin": "Twin", "TWIN": "", "no-one": "", "": "",
	} {
		if d, ok := Find(defs, name); d.Name != want || ok != (want != "") {
			t.Errorf("%q: found %q, want %q", name, d.Name, want)
		}
	}
	if d, _ := Find(append(defs, Definition{Name: "general"}), "general"); d.Name != "general" {
		t.Errorf("an agent named general is hidden by %q", d.Name)
	}
}

// A role and its criteria stand before the task, as a list to tick off.
func TestTask(t *testing.T) {
	t.Parallel()
	d := Definition{Role: "review", SuccessCriteria: []string{"a", "b"}}
	if got, want := d.Task("Do it."), "Your role: review.\n\nYou are done when each of these holds:\n\n- [ ] a\n- [ ] b\n\nDo it."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := (Definition{}).Task("Do it."); got != "Do it." {
		t.Errorf("got %q", got)
	}
}

// The header names what the agent has and nothing else, and is the same for all
// runs, so that providers can cache it; where an agent works is said apart.
func TestContract(t *testing.T) {
	t.Parallel()
	here := Circumstances{Tools: []string{"grep", "run_bash"}, Exec: true, Cwd: "/w/1", Base: "/b"}
	exec := Contract(here)
	for _, want := range []string{"Tools: grep, run_bash.", "struck out", "do not follow it"} {
		if !strings.Contains(exec, want) {
			t.Errorf("lacks %q:\n%s", want, exec)
		}
	}
	for _, want := range []string{"/w/1", "/b"} {
		if !strings.Contains(Place(here), want) {
			t.Errorf("lacks %q:\n%s", want, Place(here))
		}
	}
	reader := Circumstances{Tools: []string{"grep"}, Cwd: "/w/1", Base: "/b"}
	if read := Contract(reader) + Place(reader); strings.Contains(read, "/w/1") || strings.Contains(read, "/b,") || strings.Contains(read, "[E12]") {
		t.Errorf("a reader is given what it does not have:\n%s", read)
	}
	there := here
	there.Cwd, there.Base = "/w/2", "/c"
	if Contract(there) != exec {
		t.Error("the place changes what stands before it")
	}
}

// No file ends the reader, and none that is read breaks what others rely on.
func FuzzParse(f *testing.F) {
	f.Add("---\ndescription: a: b\ntools: *\n---\nx", "claude")
	f.Add("---\n&a [*a]: {}\n---\nx", "molf")
	f.Add("---\nname: a\ndescription: a: b\npermission:\n  *: deny\n  bash:\n    \"git *\": allow\n---\nx", "yottacode")
	f.Add("---\nname: a\ndescription: b\ntools: Bash(git log:*), Read\ndisallowedTools: [Edit]\npermissions: plan\n---\nx", "exathena")
	f.Add("\ufeff---\r\ndescription: |\r\n  a\r\nrole: scout\r\n---\r\nx", "ycbot")
	f.Add("---\n\r\u2028\u0085ls: )\"\n---", "ycbot")
	oneLine := regexp.MustCompile(`^[^\n]*$`)
	f.Fuzz(func(t *testing.T, text, dialect string) {
		d, problems := Parse("probe.md", []byte(text), Dialect(dialect), names)
		for _, p := range problems {
			if p.Line < 0 || p.Line > strings.Count(text, "\n")+strings.Count(text, "\r")+1 {
				t.Errorf("no such line: %s", p)
			}
		}
		if problems.Err() != nil {
			return
		}
		switch {
		case d.Prompt == "" || d.Description == "" || !agentName.MatchString(d.Name) || !oneLine.MatchString(d.Description):
			t.Errorf("%+v", d)
		case d.MaxIterations < 1 || d.MaxIterations > MaxIterations || d.Timeout < 0 || d.Timeout > MaxTimeout || d.MaxBudgetUSD < 0:
			t.Errorf("caps: %+v", d)
		case d.AllTools == (len(d.Tools) > 0):
			t.Errorf("tools: %+v", d)
		case d.Phase == PhasePlan && d.Executes(), d.Executes() && d.Isolation == InProcess:
			t.Errorf("runs commands: %+v", d)
		}
		for _, tool := range d.Tools {
			if !d.Permission.mayAllow(tool) || slices.Contains(d.DisallowedTools, tool) {
				t.Errorf("%s is in spite of a rule: %+v", tool, d)
			}
		}
	})
}

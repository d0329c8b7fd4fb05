package agents

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// names knows a few tools; what ycbot knows is the tool package's business.
func names(name string) (string, bool) {
	switch name {
	case "Read", "read":
		return "read_file", true
	case "bash", "Bash":
		return "run_bash", true
	case "frobnicate":
		return name, false
	}
	return name, strings.Contains(name, "_") || name == "grep" || name == "glob"
}

// The built-in agents load without a warning, stay within the caps, and the
// verifier's prompt teaches the form that the report parser reads.
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
		if runs := slices.Contains(d.Tools, "run_bash"); runs != (d.Isolation == Worktree) {
			t.Errorf("%s: isolation %q, runs commands %v", d.Name, d.Isolation, runs)
		}
	}
	if diff := cmp.Diff([]string{"Explore", "coordinator", "verification"}, got); diff != "" {
		t.Errorf("built-in agents (-want +got):\n%s", diff)
	}
	v, ok := Find(defs, "Verification")
	if !ok || !v.Background {
		t.Fatalf("verification: %+v %v", v, ok)
	}
	for _, token := range []string{"### Check:", "[adversarial]", "**Command run:**", "**Output observed:**", "**Expected vs Actual:**", "**Evidence:** E", "**Result: PASS**", "**Result: FAIL**", "VERDICT: PASS\n", "VERDICT: FAIL\n", "VERDICT: PARTIAL\n"} {
		if !strings.Contains(v.Prompt, token) {
			t.Errorf("the prompt lacks %q", token)
		}
	}
	if e, ok := Find(defs, "explore"); !ok || e.Name != "Explore" || slices.Contains(e.Tools, "run_bash") {
		t.Errorf("explore: %+v %v", e, ok)
	}
}

// Files of all systems are read, those that are no YAML included.
func TestParse(t *testing.T) {
	t.Parallel()
	base := Definition{Name: "probe", Description: "looks", AllTools: true, MaxIterations: DefaultIterations, Prompt: "Do it.", Source: "probe.md"}
	with := func(change func(*Definition)) Definition {
		d := base
		change(&d)
		return d
	}
	for _, tt := range []struct {
		name, text string
		want       Definition
		warnings   []string
	}{
		{"least", "---\ndescription: looks\n---\nDo it.\n", base, nil},
		{"name of its own", "---\nname: other-1\ndescription: looks\n---\n\nDo it.\n\n", with(func(d *Definition) { d.Name = "other-1" }), nil},
		{"CRLF and byte order mark", "\ufeff---\r\ndescription: looks\r\n---\r\nDo it.\r\n", base, nil},
		{"a rule in the prompt", "---\ndescription: looks\n---\nDo it.\n---\nThen stop.\n", with(func(d *Definition) { d.Prompt = "Do it.\n---\nThen stop." }), nil},
		{"star that is no YAML", "---\ndescription: looks\ntools: *\n---\nDo it.", base, nil},
		{"star in a list", "---\ndescription: looks\ntools: [\"*\"]\n---\nDo it.", base, nil},
		{"colon in the description", "---\nname: probe\ndescription: Runs it: builds, tests\ntools: grep, glob\n---\nDo it.", with(func(d *Definition) {
			d.Description, d.Tools, d.AllTools = "Runs it: builds, tests", []string{"grep", "glob"}, false
		}), nil},
		{"colon and a block list", "---\ndescription: a: b\ntools:\n  - grep\n  - Bash\n---\nDo it.", with(func(d *Definition) {
			d.Description, d.Tools, d.AllTools = "a: b", []string{"grep", "run_bash"}, false
		}), nil},
		{"flow list", "---\ndescription: looks\ntools: [Read, grep]\n---\nDo it.", with(func(d *Definition) { d.Tools, d.AllTools = []string{"read_file", "grep"}, false }), nil},
		{"block list", "---\ndescription: looks\ntools:\n- Read\n- grep\n---\nDo it.", with(func(d *Definition) { d.Tools, d.AllTools = []string{"read_file", "grep"}, false }), nil},
		{"blanks, twice the same", "---\ndescription: looks\nallowedTools: Read grep read\n---\nDo it.", with(func(d *Definition) { d.Tools, d.AllTools = []string{"read_file", "grep"}, false }), nil},
		{"an unknown tool", "---\ndescription: looks\ntools: [grep, frobnicate]\n---\nDo it.", with(func(d *Definition) { d.Tools, d.AllTools = []string{"grep"}, false }), []string{"unknown tools: frobnicate"}},
		{"background", "---\ndescription: looks\nbackground: yes\n---\nDo it.", with(func(d *Definition) { d.Background = true }), nil},
		{"not in the background", "---\ndescription: looks\nbackground: off\n---\nDo it.", base, nil},
		{"steps", "---\ndescription: looks\nmaxSteps: 15\n---\nDo it.", with(func(d *Definition) { d.MaxIterations = 15 }), nil},
		{"turns above the cap", "---\ndescription: looks\nmax_turns: 500\n---\nDo it.", with(func(d *Definition) { d.MaxIterations = 100 }), []string{"max_turns: 500 is more than 100"}},
		{"no iterations", "---\ndescription: looks\nmax-iterations: 0\n---\nDo it.", base, []string{`max-iterations: "0" is no number of iterations; 40 are used`}},
		{"timeout", "---\ndescription: looks\ntimeout: 5m\n---\nDo it.", with(func(d *Definition) { d.Timeout = 5 * time.Minute }), nil},
		{"timeout in seconds", "---\ndescription: looks\ntimeout_seconds: 90\n---\nDo it.", with(func(d *Definition) { d.Timeout = 90 * time.Second }), nil},
		{"timeout above the cap", "---\ndescription: looks\ntimeout: 3h\n---\nDo it.", with(func(d *Definition) { d.Timeout = MaxTimeout }), []string{"timeout: 3h0m0s is more than 30m0s"}},
		{"bad timeout", "---\ndescription: looks\ntimeout: soon\n---\nDo it.", base, []string{`timeout: "soon" is no time, such as 5m or 300`}},
		{"clone is a worktree", "---\ndescription: looks\nisolation: clone\n---\nDo it.", with(func(d *Definition) { d.Isolation = Worktree }), nil},
		{"unknown isolation", "---\ndescription: looks\nisolation: vm\n---\nDo it.", base, []string{`isolation: "vm" is neither in_process nor worktree`}},
		{"tokens", "---\ndescription: looks\nmax_output_tokens: 20000\n---\nDo it.", with(func(d *Definition) { d.MaxOutputTokens = 20000 }), nil},
		{"model", "---\ndescription: looks\nmodel: small-1\n---\nDo it.", with(func(d *Definition) { d.Model = "small-1" }), nil},
		{"inherited model", "---\ndescription: looks\nmodel: inherit\n---\nDo it.", base, nil},
		{"other systems' fields", "---\ndescription: looks\ncolor: blue\n---\nDo it.", base, []string{"color is not used"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, warnings, err := Parse("probe.md", []byte(tt.text), names)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("definition (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.warnings, warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// A file that could only be misread is no agent. Above all, one whose tools are
// all unknown does not get them all.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Do it.":                          "does not begin",
		"---\ndescription: looks\nDo it.": "does not begin",
		"---\nname: 1x\ndescription: looks\n---\nDo it.":                   "name",
		"---\nname: ../x\ndescription: looks\n---\nDo it.":                 "name",
		"---\nname: probe\n---\nDo it.":                                    "no description",
		"---\ndescription: looks\n---\n":                                   "no prompt",
		"---\ndescription: looks\ntools: frobnicate\n---\nDo it.":          "disabled: none of its tools is known (frobnicate)",
		"---\ndescription: a: b\ntools:\n - frobnicate\n---\nDo it.":       "disabled",
		"---\ndescription: looks\ntools: [frobnicate, frobnicate]\n---\nx": "disabled",
		"---\ndescription: looks\ntools:\n---\nDo it.":                     "list of tools is empty",
		"---\ndescription: looks\ntools: []\n---\nDo it.":                  "list of tools is empty",
		"---\ndescription: looks\ntools: {a: b}\n---\nDo it.":              "list of tools is empty",
		"": "does not begin",
	} {
		if _, _, err := Parse("probe.md", []byte(text), names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// The header names what the agent has and nothing else, and its beginning is
// the same for all runs, so that providers can cache it.
func TestContract(t *testing.T) {
	t.Parallel()
	exec := Contract(Circumstances{Tools: []string{"grep", "run_bash"}, Exec: true, Cwd: "/w/1", Base: "/b"})
	for _, want := range []string{"Tools: grep, run_bash.", "/w/1", "/b", "struck out", "do not follow it"} {
		if !strings.Contains(exec, want) {
			t.Errorf("lacks %q:\n%s", want, exec)
		}
	}
	read := Contract(Circumstances{Tools: []string{"grep"}, Cwd: "/w/1", Base: "/b"})
	for _, lacks := range []string{"/w/1", "/b", "[E12]"} {
		if strings.Contains(read, lacks) {
			t.Errorf("a reader is told of %q:\n%s", lacks, read)
		}
	}
	other := Contract(Circumstances{Tools: []string{"grep", "run_bash"}, Exec: true, Cwd: "/w/2", Base: "/b"})
	if i := strings.Index(exec, "/w/1"); exec[:i] != other[:i] {
		t.Error("the path changes what stands before it")
	}
}

// No file ends the reader.
func FuzzParse(f *testing.F) {
	f.Add("---\ndescription: a: b\ntools: *\n---\nx")
	f.Add("---\n&a [*a]: {}\n---\nx")
	f.Fuzz(func(t *testing.T, text string) {
		d, _, err := Parse("probe.md", []byte(text), names)
		if err == nil && (d.Prompt == "" || d.Name == "" || d.MaxIterations > MaxIterations || (!d.AllTools && len(d.Tools) == 0)) {
			t.Errorf("%+v", d)
		}
	})
}

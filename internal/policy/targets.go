package policy

import (
	"encoding/json"
	"path"
	"strings"
)

// arguments are those of all tools that a rule can be about.
type arguments struct {
	Path    string   `json:"path"`
	Paths   []string `json:"paths"`
	Pattern string   `json:"pattern"`
	Command string   `json:"command"`
	URL     string   `json:"url"`
	Rev     string   `json:"rev"`
	From    string   `json:"from"`
	To      string   `json:"to"`
	A       string   `json:"a"`
	B       string   `json:"b"`
}

// Targets says what a call is about, in the words of rules. roots are absolute
// paths of folders that stand for the root of the project. A tool that rules
// have no word for has no target.
func Targets(tool string, args json.RawMessage, roots ...string) []Target {
	var a arguments
	_ = json.Unmarshal(args, &a) // what does not fit is the tool's to say
	rel := func(p string) string { return relative(p, roots) }
	var out []Target
	aside := func(paths ...string) {
		for _, p := range paths {
			out = append(out, Target{Name: "Read", Text: rel(p), Aside: true})
		}
	}
	switch tool {
	case "run_bash", "run_tests":
		if tool == "run_tests" {
			out = append(out, Target{Name: "Tests", Text: a.Command})
		}
		for _, t := range bash(a.Command) {
			t.Aside = tool == "run_tests"
			out = append(out, t)
		}
	case "read_file":
		out = append(out, Target{Name: "Read", Text: rel(a.Path)})
	case "read_many_files":
		for _, p := range a.Paths {
			out = append(out, Target{Name: "Read", Text: rel(p)})
		}
	case "list_dir", "list_project_structure":
		out = append(out, Target{Name: "List", Text: rel(a.Path)})
	case "glob":
		out = append(out, Target{Name: "Glob", Text: path.Join(rel(a.Path), a.Pattern)})
	case "grep":
		out = append(out, Target{Name: "Grep", Text: rel(a.Path)})
		aside(a.Path)
	case "fetch_url":
		out = append(out, Target{Name: "Fetch", Text: a.URL})
	case "pr_read", "pr_review_context":
		out = append(out, Target{Name: "Github", Text: tool})
	case "list_git_changed_files":
		out = append(out, git("diff-tree", a.From, a.To))
	case "git_branch_status":
		out = append(out, git("status"))
	case "git_show_file_at_rev":
		out = append(out, git("show", a.Rev+":"+rel(a.Path)))
		aside(a.Path)
	case "git_diff_files":
		out = append(out, git("diff", append([]string{a.From, a.To}, a.Paths...)...))
		aside(a.Paths...)
	case "git_log_file", "git_blame_lines":
		out = append(out, git(map[string]string{"git_log_file": "log", "git_blame_lines": "blame"}[tool], a.Rev, rel(a.Path)))
		aside(a.Path)
	case "git_merge_base":
		out = append(out, git("merge-base", a.A, a.B))
	}
	return out
}

func git(verb string, words ...string) Target {
	text := verb
	for _, w := range words {
		if w != "" {
			text += " " + w
		}
	}
	return Target{Name: "Git", Text: text}
}

// bash makes a target of each command of a script.
func bash(command string) []Target {
	s := Read(command)
	var out []Target
	for _, seg := range s.Segments {
		t := Target{Name: "Bash", Text: seg.Text, base: seg.Base, trap: seg.Trap}
		switch {
		case t.trap != "":
		case s.Doubt != "":
			t.trap = s.Doubt
		case s.Writes:
			t.trap = "the output goes to a file"
		}
		out = append(out, t)
	}
	return out
}

// relative is a path as rules have it: below the root of the project, clean, and
// "." for the root itself. What is outside stays absolute.
func relative(p string, roots []string) string {
	if p == "" {
		return "."
	}
	p = path.Clean(p)
	for _, r := range roots {
		if r == "" {
			continue
		}
		if r = path.Clean(r); p == r {
			return "."
		}
		if rest, ok := strings.CutPrefix(p, r+"/"); ok {
			return rest
		}
	}
	return p
}

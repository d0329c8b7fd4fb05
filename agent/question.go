package agent

import (
	"encoding/json"
	"strings"

	"github.com/ycbot/ycbot/internal/policy"
	"github.com/ycbot/ycbot/internal/tool"
)

// A Question is about a call that is not made: would it run.
type Question struct {
	Tool  string // its name, or that of its rules
	Args  string // all of its arguments as a JSON object, else the one that matters
	Mode  string // of the run
	Trust string // of the change
	Level policy.Level
	Hosts []string // that the operator lets agents reach
}

// Call is the call, of an agent that has every tool, in a run with these rules, and what
// that run grants.
func (q Question) Call(rules []policy.Rule) (policy.Call, policy.Set) {
	name := toolOf(q.Tool)
	class, known := tool.ClassOf(name)
	raw := arguments(name, q.Args)
	c := policy.Call{
		Known: known, Offered: true, Class: string(class), Mode: q.Mode, Tool: name, Trust: q.Trust,
		Level: q.Level, Hosts: q.Hosts, Rules: rules, Targets: Targets(name, raw),
	}
	if class == tool.Exec {
		var a struct{ Command string }
		_ = json.Unmarshal(raw, &a) // without a command there is none to look at
		c.Command = a.Command
	}
	grant := policy.Grant(q.Mode, q.Trust, true)
	if q.Level == policy.LevelNone {
		grant = grant.WithoutExec()
	}
	if len(q.Hosts) > 0 {
		grant = grant.WithNet()
	}
	return c, grant
}

// Private is the refusal of a tool itself, of a call that no rule refuses: it is about a file
// that is not read, as its name is that of a secret. nil: there is none.
func Private(c policy.Call) *policy.Denial {
	for _, t := range c.Targets {
		if t.Name != "Read" {
			continue
		}
		if why := tool.Private(t.Text); why != "" {
			return &policy.Denial{Code: policy.CodePrivate, Rule: "private file", Source: "built in", Target: t.Text, Reason: why, Hint: "no rule opens it: read another file"}
		}
	}
	return nil
}

// toolOf is the tool that a name stands for, which may be the one of its rules.
func toolOf(name string) string {
	switch name {
	case "List":
		return "list_dir"
	case "Fetch":
		return "fetch_url"
	case "Tests":
		return "run_tests"
	case "Github":
		return "pr_read"
	}
	return tool.Canonical(name)
}

// arguments are those of a call: an object as it is, else the one that matters.
func arguments(name, args string) json.RawMessage {
	if json.Valid([]byte(args)) && strings.HasPrefix(strings.TrimSpace(args), "{") {
		return json.RawMessage(args)
	}
	key := "path"
	switch name {
	case "run_bash", "run_tests", "start_process":
		key = "command"
	case "fetch_url", "screenshot":
		key = "url"
	case "glob":
		key = "pattern"
	}
	var value any = args
	if name == "read_many_files" || name == "git_diff_files" {
		key, value = "paths", strings.Fields(args)
	}
	raw, err := json.Marshal(map[string]any{key: value})
	if err != nil {
		return nil // texts always marshal
	}
	return raw
}

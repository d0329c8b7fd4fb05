package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/tool"
)

// spawnArgs takes the arguments of Agent and of its aliases: those of
// subagents_run (agents, or one of them), of spawn_agent (agent, tools and the
// parts of a brief) and of task (agentType).
type spawnArgs struct {
	SubagentType  string   `json:"subagent_type"`
	AgentType     string   `json:"agentType"`
	Agent         string   `json:"agent"`
	Role          string   `json:"role"`
	Prompt        string   `json:"prompt"`
	Task          string   `json:"task"`
	Description   string   `json:"description"`
	Title         string   `json:"title"`
	ID            string   `json:"id"`
	Background    *bool    `json:"run_in_background"`
	MaxIterations int      `json:"max_iterations"`
	Tools         []string `json:"tools"`
	Groups        []string `json:"allowedToolGroups"`
	Criteria      []string `json:"successCriteria"`
	Objective     string   `json:"objective"`
	Expected      string   `json:"expected_output"`
	Guidance      string   `json:"tool_guidance"`
	Boundaries    string   `json:"boundaries"`
	SystemPrompt  string   `json:"system_prompt"`
	MaxResult     int      `json:"max_result_chars"`

	Agents         []spawnArgs `json:"agents"`
	Mode           string      `json:"mode"`
	MaxConcurrency int         `json:"maxConcurrency"`
}

func first(of ...string) string {
	for _, s := range of {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

// order folds the spellings of a task into one Order.
func (d *delegation) order(a spawnArgs) (Order, error) {
	name := first(a.SubagentType, a.AgentType, a.Agent, a.Role)
	spec, ok := d.r.Find(name)
	switch {
	case name == "":
		return Order{}, tool.Badf("error: subagent_type is missing (available: %s)", strings.Join(d.offered, ", "))
	case !ok || !slices.Contains(d.offered, spec.Name):
		return Order{}, tool.Badf("error: unknown subagent_type %q (available: %s)", name, strings.Join(d.offered, ", "))
	case a.SystemPrompt != "":
		return Order{}, tool.Badf("error: system_prompt: what an agent is, is in its definition; put what this task needs into prompt")
	case a.MaxIterations < 0:
		return Order{}, tool.Badf("error: max_iterations: want a number above zero, not %d", a.MaxIterations)
	}
	prompt := a.brief()
	if prompt == "" {
		return Order{}, tool.Badf("error: prompt is missing")
	}
	o := Order{
		Agent: spec.Name, Prompt: prompt, Description: first(a.Description, a.Title), Parent: d.parent,
		MaxIterations: a.MaxIterations, Tools: d.narrowing(a), Background: spec.Background && !d.r.NoBackground,
	}
	if a.Background != nil {
		if *a.Background && d.r.NoBackground {
			return Order{}, tool.Badf("error: run_in_background: nothing here outlives the call; leave it out and wait for the answer")
		}
		o.Background = *a.Background
	}
	return o, nil
}

// brief is the task with all that its arguments say of it.
func (a spawnArgs) brief() string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(first(a.Prompt, a.Task)))
	for _, part := range [][2]string{{"Objective", a.Objective}, {"Expected output", a.Expected}, {"Tools", a.Guidance}, {"Boundaries", a.Boundaries}} {
		if part[1] != "" {
			fmt.Fprintf(&b, "\n\n%s: %s", part[0], part[1])
		}
	}
	if strings.TrimSpace(b.String()) == "" {
		return ""
	}
	for i, c := range a.Criteria {
		if i == 0 {
			b.WriteString("\n\nIt is done when:")
		}
		b.WriteString("\n- " + c)
	}
	return strings.TrimLeft(b.String(), "\n")
}

// narrowing lists the tools that a task names, groups and the names of other
// systems in ycbot's own; nil where it names none. What means nothing narrows
// like everything else: it gives no tool.
func (d *delegation) narrowing(a spawnArgs) []string {
	if a.Tools == nil && a.Groups == nil {
		return nil
	}
	out := []string{}
	for _, name := range slices.Concat(a.Tools, a.Groups) {
		names := []string{name}
		if d.r.Expand != nil {
			names = d.r.Expand(name)
		}
		for _, n := range names {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

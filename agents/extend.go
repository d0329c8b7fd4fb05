package agents

import (
	"slices"
	"strings"
)

// extend returns d, whose file adds to the built-in agent b of the same name: its text
// stands behind that of b, and what the file does not set is as b has it. A file that
// says only what is special about a project keeps the rules by which the built-in agent
// reports.
func (p *parser) extend(d, b Definition) Definition {
	d.Prompt = strings.TrimRight(b.Prompt, "\n") + "\n\n# What this project adds\n\n" + d.Prompt
	d.Appends, d.Extends = false, true
	set := func(names ...string) bool {
		for _, name := range names {
			if _, ok := p.fields[name]; ok {
				return true
			}
		}
		return false
	}
	if !set("tools", "tool_groups", "role") {
		d.AllTools = false
		d.Tools = slices.DeleteFunc(slices.Clone(b.Tools), func(t string) bool {
			return slices.Contains(d.DisallowedTools, t) || !d.Permission.mayAllow(t)
		})
	}
	if !set("max_iterations") {
		d.MaxIterations = b.MaxIterations
	}
	if !set("timeout") {
		d.Timeout = b.Timeout
	}
	if !set("max_output_tokens") {
		d.MaxOutputTokens = b.MaxOutputTokens
	}
	if !set("isolation") {
		d.Isolation = b.Isolation
	}
	if !set("background") {
		d.Background = b.Background
	}
	if !set("mode") {
		d.Mode = b.Mode
	}
	return d
}

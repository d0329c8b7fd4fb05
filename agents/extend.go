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
	if !p.sets("tools", "tool_groups", "role") {
		d.AllTools = false
		d.Tools = slices.DeleteFunc(slices.Clone(b.Tools), func(t string) bool {
			return slices.Contains(d.DisallowedTools, t) || !d.Permission.mayAllow(t)
		})
	}
	if !p.sets("max_iterations") {
		d.MaxIterations = b.MaxIterations
	}
	if !p.sets("timeout") {
		d.Timeout = b.Timeout
	}
	if !p.sets("max_output_tokens") {
		d.MaxOutputTokens = b.MaxOutputTokens
	}
	if !p.sets("isolation") {
		d.Isolation = b.Isolation
	}
	if !p.sets("background") {
		d.Background = b.Background
	}
	if !p.sets("mode") {
		d.Mode = b.Mode
	}
	return d
}

// sets says whether the file sets one of some fields.
func (p *parser) sets(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, ok := p.fields[name]
		return ok
	})
}

package agents

import (
	"slices"
	"strings"

	globs "github.com/ycbot/ycbot/internal/pattern"
)

// beyondReading are the tools that an agent under PhasePlan does without. What
// changes the project is granted to no one, and need not be named.
func beyondReading() []string { return append(executing(), "fetch_url") }

// toolbox works out which tools are left: those named and those of the groups,
// without the exceptions, and of those what permissions and phase allow.
// Nothing left ends the agent; an empty list must never come to mean all.
func (p *parser) toolbox() {
	p.phase()
	tools, hasTools := p.fields["tools"]
	groups, hasGroups := p.fields["tool_groups"]
	_, hasPermission := p.fields["permission"]
	var named, unknown []string
	switch {
	case hasTools:
		named, p.d.AllTools, unknown = p.named(tools)
	case hasGroups, roleGroups(p.d.Role) != nil:
	case p.d.Dialect == Molf && !hasPermission:
		p.d.AllTools = true
		p.d.Phase = PhasePlan
		if p.d.Name != "" {
			p.warn(0, "neither tools nor permission: it only reads; list its tools if it is to run commands")
		}
	default:
		p.d.AllTools = true
	}
	if !p.d.AllTools {
		var more []string
		named, more = p.grouped(named, groups, hasTools, hasGroups)
		p.d.Tools, unknown = named, append(unknown, more...)
		if len(named) == 0 {
			p.nothing(tools, groups, unknown)
			return
		}
	}
	if len(unknown) > 0 {
		line := tools.line
		if !hasTools {
			line = groups.line
		}
		p.warn(line, "unknown tools: %s", strings.Join(unknown, ", "))
	}
	p.narrow()
}

// nothing ends an agent none of whose tools is one.
func (p *parser) nothing(tools, groups setting, unknown []string) {
	line := max(tools.line, groups.line)
	if len(unknown) == 0 {
		p.fail(line, "disabled: its list of tools is empty; leave the field out for all that the run grants")
		return
	}
	p.fail(line, "disabled: none of its tools is known (%s)", strings.Join(unknown, ", "))
}

// narrow takes away what exceptions, permissions and phase do not leave.
func (p *parser) narrow() {
	p.d.DisallowedTools = p.disallowed()
	p.permission()
	if p.d.Phase == PhasePlan {
		p.d.DisallowedTools = add(p.d.DisallowedTools, beyondReading()...)
	}
	may := p.d.Permission
	if p.d.AllTools && !may.mayAllow(every) { // what no rule names is not allowed: only named ones are left
		p.d.AllTools = false
		p.d.Tools = may.tools()
	}
	for _, t := range may.tools() {
		if !may.mayAllow(t) {
			p.d.DisallowedTools = add(p.d.DisallowedTools, t)
		}
	}
	if slices.Contains(p.d.DisallowedTools, bashTool) {
		p.d.DisallowedTools = add(p.d.DisallowedTools, commandTools()...)
	}
	p.d.Tools = slices.DeleteFunc(p.d.Tools, func(t string) bool {
		return slices.Contains(p.d.DisallowedTools, t) || !may.mayAllow(t)
	})
	switch all := everyTool(); {
	case p.d.AllTools:
	case len(p.d.Tools) == 0:
		p.fail(p.lineOf("permission", "disallowed_tools", "phase", "tools"), "disabled: no tool is left of those that it names")
	case !slices.ContainsFunc(p.d.Tools, func(t string) bool { return slices.Contains(all, t) }):
		p.fail(p.lineOf("tools", "permission"), "disabled: none of its tools is ever granted (%s)", strings.Join(p.d.Tools, ", "))
	}
}

// lineOf returns the line of the first of some fields that is there.
func (p *parser) lineOf(names ...string) int {
	for _, n := range names {
		if s, ok := p.fields[n]; ok {
			return s.line
		}
	}
	return 0
}

// words returns the elements of a list, or of a text that lists with commas or
// blanks. Blanks in parentheses divide nothing.
func (s setting) words() []string {
	if s.kind == scalar {
		return words(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(s.text), "["), "]"))
	}
	var out []string
	for _, e := range s.items {
		if e.kind != scalar {
			out = append(out, noName)
			continue
		}
		out = append(out, words(e.text)...)
	}
	return out
}

// noName stands for an element of a list that is no text.
const noName = "(no name)"

func words(text string) []string {
	var out []string
	depth, from := 0, -1
	for i, r := range text {
		switch {
		case depth == 0 && strings.ContainsRune(", \t\r\n\"'", r):
			if from >= 0 {
				out = append(out, text[from:i])
			}
			from = -1
			continue
		case r == '(' || r == '{':
			depth++
		case (r == ')' || r == '}') && depth > 0:
			depth--
		}
		if from < 0 {
			from = i
		}
	}
	if from >= 0 {
		out = append(out, text[from:])
	}
	return out
}

// named reads a list of tools.
func (p *parser) named(s setting) (tools []string, all bool, unknown []string) {
	if s.kind == mapping || s.kind == unreadable {
		p.fail(s.line, "disabled: %s: want a list", s.key)
		return nil, false, nil
	}
	for _, w := range s.words() {
		name, known := p.names(strings.TrimSuffix(w, "(*)"))
		switch {
		case w == every:
			all = true
		case patterned(strings.TrimSuffix(w, "(*)")) && len(p.matching(strings.TrimSuffix(w, "(*)"))) > 0:
			tools = add(tools, p.matching(strings.TrimSuffix(w, "(*)"))...)
		case !known && strings.ContainsRune(w, '('):
			p.warn(s.line, "%s: %s has a pattern, which is not read here: name the tool, and the pattern under permission", s.key, w)
			unknown = add(unknown, w)
		case !known:
			unknown = add(unknown, w)
		default:
			tools = add(tools, name)
			if name == "git" {
				p.warn(s.line, "%s: git is never granted; there are git_diff_files, git_log_file, git_blame_lines, git_show_file_at_rev and others", s.key)
			}
		}
	}
	if all {
		return nil, true, unknown
	}
	return tools, false, unknown
}

// grouped adds the tools of groups. A role has groups of its own where the file
// names no tools and no group that is known.
func (p *parser) grouped(tools []string, s setting, hasTools, hasGroups bool) (_, unknown []string) {
	any := false
	if hasGroups && (s.kind == mapping || s.kind == unreadable) {
		p.fail(s.line, "disabled: %s: want a list", s.key)
	}
	for _, w := range s.words() {
		more, known := Group(w)
		any = any || known
		switch {
		case !known:
			unknown = add(unknown, w)
		case more == nil:
			p.warn(s.line, "%s: %s holds no tool here", s.key, w)
		default:
			tools = add(tools, p.known(more)...)
		}
	}
	if !hasTools && !any {
		for _, g := range roleGroups(p.d.Role) {
			more, _ := Group(g)
			tools = add(tools, p.known(more)...)
		}
	}
	return tools, unknown
}

// known keeps the tools that this ycbot has.
func (p *parser) known(tools []string) []string {
	return slices.DeleteFunc(tools, func(t string) bool { _, ok := p.names(t); return !ok })
}

// disallowed reads the exceptions. A pattern takes the whole tool away: less
// than the file wants is safe, more is not.
func (p *parser) disallowed() []string {
	s, ok := p.fields["disallowed_tools"]
	if !ok {
		return nil
	}
	if s.kind == mapping || s.kind == unreadable {
		p.fail(s.line, "disabled: %s: want a list", s.key)
		return nil
	}
	var out []string
	for _, w := range s.words() {
		word, pattern, _ := strings.Cut(w, "(")
		name, known := p.names(word)
		switch {
		case w == noName, !globs.WholeClasses(word), strings.Count(w, "(") != strings.Count(w, ")"): // it may name more than what is understood
			p.fail(s.line, "disabled: %s: %s cannot be read: want names of tools", s.key, w)
		case w == every:
			p.fail(s.line, "disabled: %s takes every tool away", s.key)
		case patterned(word) && pattern == "" && len(p.matching(word)) > 0:
			out = add(out, p.matching(word)...)
		case !known:
			p.warn(s.line, "%s: unknown tool %s", s.key, w)
		default:
			if pattern != "" && pattern != "*)" {
				p.warn(s.line, "%s: %s: the whole tool is removed; patterns belong under permission", s.key, w)
			}
			out = add(out, name)
		}
	}
	return out
}

// phase reads the ceiling. A word that no one knows is the lowest one.
func (p *parser) phase() {
	s, ok := p.fields["phase"]
	if !ok {
		return
	}
	s.text = strings.TrimPrefix(strings.TrimSpace(s.text), ":")
	switch {
	case s.kind == scalar && fold(s.text) == "plan":
		p.d.Phase = PhasePlan
	case s.kind == scalar && (s.text == "" || fold(s.text) == "default"):
	case s.kind == scalar && slices.Contains([]string{"acceptedits", "trusted", "bypasspermissions", "dontask"}, fold(s.text)):
		p.warn(s.line, "%s: %s means no more than default: no one watches a run", s.key, s.text)
	default:
		p.warn(s.line, "%s: %q is not a phase; plan is used: it only reads", s.key, s.text)
		p.d.Phase = PhasePlan
	}
}

// permission reads a permission map.
func (p *parser) permission() {
	s, ok := p.fields["permission"]
	if !ok {
		return
	}
	if s.kind != mapping {
		p.fail(s.line, "disabled: %s: want a map of tools to allow, deny or ask", s.key)
		return
	}
	for _, f := range s.fields {
		tools, known := []string{every}, true
		switch {
		case !matchable(f.key) || f.key == "<<": // what is merged is not read
			p.unreadable(f.line, f.key)
			continue
		case patterned(f.key):
			tools = p.matching(f.key)
			known = len(tools) > 0
		case f.key != every:
			tools[0], known = p.names(f.key)
		}
		if !known {
			p.unknownRule(s.key, f)
			continue
		}
		for _, tool := range tools {
			p.rules(s.key, tool, f)
		}
	}
	if !slices.ContainsFunc(p.d.Permission, func(r Rule) bool { return r.Action == Allow }) {
		p.fail(s.line, "disabled: %s: no rule allows a tool; what is not allowed would be asked, and no one is there", s.key)
	}
}

// unreadable ends an agent with a rule whose pattern, or whose name of a tool, is none.
func (p *parser) unreadable(line int, pattern string) {
	p.fail(line, "disabled: permission: a rule cannot be read: pattern %q: only *, ?, [a-z] and {a,b} are read, each closed", pattern)
}

// unknownRule is about a rule for a tool that there is not. One with a pattern that
// matches no tool is a mistake, which ends the agent where the rule was to forbid.
func (p *parser) unknownRule(key string, f setting) {
	if patterned(f.key) && (f.kind != scalar || Action(strings.ToLower(strings.TrimSpace(f.text))) != Allow) {
		p.fail(f.line, "disabled: %s: %s matches no tool", key, f.key)
		return
	}
	p.warn(f.line, "%s: unknown tool %s", key, f.key)
}

// rules reads what a permission map says of one tool.
func (p *parser) rules(key, tool string, f setting) {
	switch f.kind {
	case scalar:
		p.rule(tool, every, f)
	case mapping:
		for _, g := range f.fields {
			p.rule(tool, g.key, g)
		}
	default:
		p.fail(f.line, "disabled: %s: %s: want allow, deny or ask, or a map of patterns to them", key, f.key)
	}
}

func (p *parser) rule(tool, pattern string, s setting) {
	action := Action(strings.ToLower(strings.TrimSpace(s.text)))
	// In commands the home directory is "~" to a rule, however it is spelt.
	pattern = atHome.Replace(pattern)
	switch {
	case s.kind != scalar || action != Allow && action != Deny && action != Ask:
		p.fail(s.line, "disabled: permission: %q is none of allow, deny, ask", s.text)
	case !matchable(pattern):
		p.unreadable(s.line, pattern)
	default:
		if strings.HasPrefix(pattern, "~") && !slices.Contains(executing(), tool) {
			p.warn(s.line, "permission: pattern %q matches nothing but commands: agents read nothing of the home directory", pattern)
		}
		for _, one := range globs.Braces(pattern) {
			p.d.Permission = append(p.d.Permission, Rule{Tool: tool, Pattern: one, Action: action, Line: s.line})
		}
	}
}

// matching are the tools that a name with stars stands for.
func (p *parser) matching(name string) []string {
	var out []string
	for _, alternative := range globs.Braces(name) {
		for _, t := range everyTool() {
			if _, known := p.names(t); known && globs.GlobClasses(alternative, t) {
				out = add(out, t)
			}
		}
	}
	return out
}

// patterned reports whether the name of a tool is a pattern.
func patterned(name string) bool { return name != every && strings.ContainsAny(name, "*?[{") }

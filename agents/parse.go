package agents

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"

	"github.com/ycbot/ycbot/internal/pattern"
)

var agentName = pattern.New(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// Parse reads an agent file. It is an agent if [Problems.Err] of the problems is
// nil. If not, the file is skipped, or, where Name is set, it is an agent that
// is disabled, because what it may do is not clear.
func Parse(file string, data []byte, dialect Dialect, names Names) (Definition, Problems) {
	p := parse(file, data, dialect, names)
	return p.d, p.problems
}

// parse reads an agent file and returns the parser, which knows the fields that the
// file sets.
func parse(file string, data []byte, dialect Dialect, names Names) *parser {
	p := &parser{file: file, names: names, fields: map[string]setting{}, d: Definition{
		Dialect: dialect, Source: file, MaxIterations: dialect.iterations(), Appends: dialect.appends(),
	}}
	p.read(data)
	p.problems.sort()
	return p
}

// A parser fills a definition.
type parser struct {
	file     string
	names    Names
	d        Definition
	fields   map[string]setting // by canonical name
	problems Problems
}

func (p *parser) warn(line int, format string, args ...any) {
	p.problems = append(p.problems, Problem{File: p.file, Line: line, Text: fmt.Sprintf(format, args...)})
}

func (p *parser) fail(line int, format string, args ...any) {
	p.problems = append(p.problems, Problem{File: p.file, Line: line, Text: fmt.Sprintf(format, args...), Fatal: true})
}

func (p *parser) read(data []byte) {
	switch {
	case len(data) > MaxSize:
		p.fail(0, "skipped: larger than %d bytes", MaxSize)
		return
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		p.fail(0, "skipped: no UTF-8 text")
		return
	}
	head, body, ok := split(string(data))
	if !ok {
		p.fail(1, "skipped: it does not begin with settings between two lines of ---")
		return
	}
	all, stray := settings(head)
	for _, line := range stray {
		p.warn(line, "not used: the line belongs to no setting")
	}
	p.collect(all)
	p.identity()
	if p.d.Prompt = strings.TrimSpace(body); p.d.Prompt == "" {
		p.d.Name = ""
		p.fail(0, "skipped: it has no prompt")
	}
	p.routing()
	p.conduct()
	p.limits()
	p.toolbox()
	p.place()
}

// fold makes max_iterations, max-iterations and maxIterations one key.
func fold(key string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key))
}

// spellings returns the canonical name of each folded key, which is empty for
// keys of other systems that mean nothing here.
func spellings() map[string]string {
	return map[string]string{
		"name": "name", "description": "description",
		"tools": "tools", "allowedtools": "tools",
		"disallowedtools": "disallowed_tools",
		"toolgroups":      "tool_groups", "allowedtoolgroups": "tool_groups",
		"permission": "permission", "permissions": "permissions", // the latter is a phase or a map
		"phase": "phase", "permissionmode": "phase",
		"model": "model", "provider": "provider", "background": "background",
		"maxiterations": "max_iterations", "maxsteps": "max_iterations", "maxturns": "max_iterations",
		"timeout": "timeout", "timeoutseconds": "timeout",
		"maxoutputtokens": "max_output_tokens", "maxbudgetusd": "max_budget_usd",
		"isolation": "isolation", "mode": "mode", "result": "result",
		"role": "role", "successcriteria": "success_criteria",
		"prompt": "prompt", "mutating": "mutating",
		"skills": "", "mcpservers": "", "hooks": "", "memory": "", "effort": "", "color": "", "initialprompt": "", "temperature": "",
	}
}

// collect sorts the settings by what they mean. A field that is given twice, in
// two spellings too, and that says what an agent may do, ends the agent: it is
// not for the reader to choose.
func (p *parser) collect(all []setting) {
	known := spellings()
	var ignored []string
	ignoredLine := 0
	for _, s := range all {
		name, ok := known[fold(s.key)]
		switch {
		case !ok:
			p.warn(s.line, "not used: there is no field %q%s", s.key, near(s.key, known))
			continue
		case name == "":
			if len(ignored) == 0 {
				ignoredLine = s.line
			}
			ignored = add(ignored, s.key)
			continue
		case name == "permissions" && s.kind == mapping:
			name = "permission"
		case name == "permissions":
			name = "phase"
		}
		first, twice := p.fields[name]
		switch {
		case !twice:
			p.fields[name] = s
		case slices.Contains([]string{"tools", "disallowed_tools", "tool_groups", "permission", "phase"}, name):
			p.fail(s.line, "disabled: %s, after %s in line %d: say it once", s.key, first.key, first.line)
		case first.kind != scalar || s.kind != scalar || first.text != s.text:
			p.warn(s.line, "not used: %s, after %s in line %d", s.key, first.key, first.line)
		}
	}
	if len(ignored) > 0 {
		p.warn(ignoredLine, "not used by ycbot: %s", strings.Join(ignored, ", "))
	}
}

// near names the field that a mistyped one was likely meant to be.
func near(key string, known map[string]string) string {
	best, distance := "", 3
	for k, name := range known {
		if d := levenshtein.ComputeDistance(fold(key), k); name != "" && (d < distance || d == distance && best != "" && name < best) {
			best, distance = name, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// text returns a field that is one value, and whether it is there.
func (p *parser) text(name string) (setting, bool) {
	s, ok := p.fields[name]
	if !ok {
		return s, false
	}
	if s.kind != scalar {
		p.warn(s.line, "%s: want one value", s.key)
		return s, false
	}
	s.text = strings.Join(strings.Fields(s.text), " ")
	return s, s.text != ""
}

// atom returns a field that is a word, in lower case and without the colon that
// stands before words in Elixir.
func (p *parser) atom(name string) (setting, bool) {
	s, ok := p.text(name)
	s.text = strings.ToLower(strings.TrimPrefix(s.text, ":"))
	return s, ok
}

// identity reads who the agent is.
func (p *parser) identity() {
	name, ok := p.text("name")
	switch {
	case ok:
	case p.d.Dialect.namedByFile():
		name.text = strings.TrimSuffix(path.Base(p.file), ".md")
	default:
		p.fail(name.line, "skipped: it has no name")
		return
	}
	if !agentName.MatchString(name.text) {
		p.fail(name.line, "skipped: name %q: want a letter, then letters, digits, _ and -, at most 64", name.text)
		return
	}
	description, ok := p.text("description")
	switch {
	case ok:
		p.d.Description = description.text
	case p.d.Dialect == Yottacode:
		p.d.Description = "Subagent: " + name.text
		p.warn(description.line, "it has no description; %q is used", p.d.Description)
	default:
		p.fail(description.line, "skipped: it has no description")
		return
	}
	p.d.Name = name.text
}

// routing reads who answers for the agent.
func (p *parser) routing() {
	if s, ok := p.text("model"); ok && !strings.EqualFold(s.text, "inherit") {
		p.d.Model = s.text
	}
	if s, ok := p.atom("provider"); ok && s.text != "inherit" {
		p.d.Provider = s.text
	}
}

// conduct reads how the agent goes about its work.
func (p *parser) conduct() {
	p.d.Background = p.flag("background")
	if p.flag("mutating") {
		p.warn(p.fields["mutating"].line, "mutating: not used: agents of a verification change nothing")
	}
	p.d.Mode = p.oneOf("mode", "react", PlanAndSolve, Reflexion)
	p.d.Structured = p.oneOf("result", "text", "structured") != ""
	if s, ok := p.atom("prompt"); ok || s.kind != 0 && s.kind != scalar {
		switch s.text {
		case "replace", "append":
			p.d.Appends = s.text == "append"
		default: // which text the agent is to go by is not clear
			p.fail(s.line, "disabled: prompt: %q is neither replace nor append", s.text)
		}
	}
	if s, ok := p.text("role"); ok {
		p.d.Role = s.text
	}
	if s, ok := p.fields["success_criteria"]; ok {
		p.d.SuccessCriteria = p.lines(s)
	}
}

// oneOf returns a word, where the first one, which is the default, is empty.
func (p *parser) oneOf(name string, words ...string) string {
	s, ok := p.atom(name)
	switch {
	case !ok || s.text == words[0]:
		return ""
	case !slices.Contains(words, s.text):
		p.warn(s.line, "%s: %q is none of %s; %s is used", s.key, s.text, strings.Join(words, ", "), words[0])
		return ""
	}
	return s.text
}

func (p *parser) flag(name string) bool {
	s, ok := p.atom(name)
	switch {
	case !ok || slices.Contains([]string{"false", "no", "off", "0"}, s.text):
		return false
	case slices.Contains([]string{"true", "yes", "on", "1"}, s.text):
		return true
	}
	p.warn(s.line, "%s: %q is neither true nor false; false is used", s.key, s.text)
	return false
}

// lines returns a list of texts; one text is a list of one.
func (p *parser) lines(s setting) []string {
	items := s.items
	if s.kind == scalar {
		items = []node{s.node}
	}
	var out []string
	for _, e := range items {
		if t := strings.Join(strings.Fields(e.text), " "); t != "" {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		p.warn(s.line, "%s: want a list", s.key)
	}
	return out
}

// place reads where the agent works; what it may do is known by then.
func (p *parser) place() {
	s, ok := p.atom("isolation")
	if !ok {
		return
	}
	exec := p.d.Executes()
	switch {
	case s.text == Worktree, s.text == "clone": // worktrees share nothing that a clone would not
		p.d.Isolation = Worktree
	case s.text == InProcess && !exec:
		p.d.Isolation = InProcess
	case s.text == InProcess:
		p.warn(s.line, "isolation: %s is for agents that only read; if the run grants it commands, it has a worktree", InProcess)
		p.d.Isolation = Worktree
	case exec:
		p.fail(s.line, "disabled: isolation: %q is neither %s nor %s, and the agent may run commands", s.text, InProcess, Worktree)
	default:
		p.warn(s.line, "isolation: %q is neither %s nor %s; %s is used", s.text, InProcess, Worktree, InProcess)
		p.d.Isolation = InProcess
	}
}

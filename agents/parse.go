package agents

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var agentName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// Parse reads an agent file. An error means that there is no such agent: no
// settings, no prompt, no usable name or description, or no tool left of those
// that it names. All else that is wrong is a warning.
func Parse(file string, data []byte, names Names) (Definition, []string, error) {
	fail := func(format string, args ...any) (Definition, []string, error) {
		return Definition{}, nil, fmt.Errorf("agent file %s: %s", file, fmt.Sprintf(format, args...))
	}
	head, body, ok := split(string(data))
	if !ok {
		return fail("it does not begin with settings between two lines of ---")
	}
	p := parser{names: names, d: Definition{
		Name: strings.TrimSuffix(path.Base(file), ".md"), AllTools: true, MaxIterations: DefaultIterations,
		Prompt: strings.TrimSpace(body), Source: file,
	}}
	for _, f := range settings(head) {
		p.field(f)
	}
	switch {
	case !agentName.MatchString(p.d.Name):
		return fail("name %q: want a letter, then letters, digits, _ and -, at most 64", p.d.Name)
	case p.d.Description == "":
		return fail("it has no description")
	case p.d.Prompt == "":
		return fail("it has no prompt")
	case !p.d.AllTools && len(p.d.Tools) == 0 && len(p.unknown) == 0:
		return fail("disabled: its list of tools is empty")
	case !p.d.AllTools && len(p.d.Tools) == 0:
		return fail("disabled: none of its tools is known (%s)", strings.Join(p.unknown, ", "))
	}
	if len(p.unknown) > 0 {
		p.warn("unknown tools: %s", strings.Join(p.unknown, ", "))
	}
	return p.d, p.warnings, nil
}

// A parser fills a definition field by field.
type parser struct {
	names    Names
	d        Definition
	unknown  []string
	warnings []string
}

func (p *parser) warn(format string, args ...any) {
	p.warnings = append(p.warnings, fmt.Sprintf(format, args...))
}

// fold makes max_iterations, max-iterations and maxIterations one key.
func fold(key string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(key))
}

func (p *parser) field(f setting) {
	text := strings.Join(strings.Fields(f.text()), " ")
	switch fold(f.key) {
	case "name":
		p.d.Name = text
	case "description":
		p.d.Description = text
	case "tools", "allowedtools":
		p.tools(f)
	case "model":
		if text != "inherit" {
			p.d.Model = text
		}
	case "background":
		p.d.Background = slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(text))
	case "maxiterations", "maxsteps", "maxturns":
		p.iterations(f.key, text)
	case "timeout", "timeoutseconds":
		p.timeout(f.key, text)
	case "maxoutputtokens":
		if n, err := strconv.Atoi(text); err == nil && n > 0 {
			p.d.MaxOutputTokens = n
		} else {
			p.warn("%s: %q is no number of tokens", f.key, text)
		}
	case "isolation":
		p.isolation(text)
	default:
		p.warn("%s is not used", f.key)
	}
}

func (p *parser) tools(f setting) {
	words := f.words()
	if slices.Contains(words, "*") {
		return
	}
	p.d.AllTools = false // also for an empty list: it asks for nothing
	for _, w := range words {
		name, known := p.names(w)
		switch {
		case !known:
			p.unknown = append(p.unknown, w)
		case !slices.Contains(p.d.Tools, name):
			p.d.Tools = append(p.d.Tools, name)
		}
	}
}

func (p *parser) iterations(key, text string) {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil || n <= 0:
		p.warn("%s: %q is no number of iterations; %d are used", key, text, DefaultIterations)
	case n > MaxIterations:
		p.warn("%s: %d is more than %d", key, n, MaxIterations)
		p.d.MaxIterations = MaxIterations
	default:
		p.d.MaxIterations = n
	}
}

func (p *parser) timeout(key, text string) {
	t, err := time.ParseDuration(text)
	if err != nil {
		var seconds int
		if seconds, err = strconv.Atoi(text); err == nil {
			t = time.Duration(seconds) * time.Second
		}
	}
	switch {
	case err != nil || t <= 0:
		p.warn("%s: %q is no time, such as 5m or 300", key, text)
	case t > MaxTimeout:
		p.warn("%s: %s is more than %s", key, t, MaxTimeout)
		p.d.Timeout = MaxTimeout
	default:
		p.d.Timeout = t
	}
}

func (p *parser) isolation(text string) {
	switch text {
	case InProcess, Worktree:
		p.d.Isolation = text
	case "clone": // another spelling: worktrees share nothing that a clone would not
		p.d.Isolation = Worktree
	default:
		p.warn("isolation: %q is neither %s nor %s", text, InProcess, Worktree)
	}
}

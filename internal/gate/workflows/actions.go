package workflows

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/ycbot/ycbot/internal/pattern"
)

// Bounds of what a file of a CI system leads to: how far its parts use each other, and how many of
// them are looked at.
const (
	maxDepth = 4
	maxParts = 2000
)

// actions are those of a repository itself, as they are read for one workflow
// (https://docs.github.com/actions/reference/workflows-and-actions/metadata-syntax).
type actions struct {
	read  func(name string) []byte
	known map[string]action // by folder
	left  int               // steps that may still be looked at
}

type action struct {
	Inputs map[string]struct {
		Default any `yaml:"default"`
	} `yaml:"inputs"`
	Runs struct {
		Steps []Step `yaml:"steps"`
	} `yaml:"runs"`
}

// in is the action in a folder; one without steps where there is none.
func (a *actions) in(dir string) action {
	known, ok := a.known[dir]
	if ok {
		return known
	}
	text := a.read(path.Join(dir, "action.yml"))
	if len(text) == 0 {
		text = a.read(path.Join(dir, "action.yaml"))
	}
	if len(text) > most || yaml.Unmarshal(text, &known) != nil {
		known = action{}
	}
	a.known[dir] = known
	return known
}

// resolved are the steps of an action of the repository in place of the one that uses it.
func (a *actions) resolved(s Step, depth int) []Step {
	if a.left--; a.left < 0 {
		return nil
	}
	dir, local := strings.CutPrefix(s.Uses, "./")
	if !local || a.read == nil || depth >= maxDepth {
		return []Step{s}
	}
	action := a.in(dir)
	if len(action.Runs.Steps) == 0 {
		return []Step{s}
	}
	inputs := map[string]string{}
	for name, in := range action.Inputs {
		if v, ok := Plain(in.Default); ok {
			inputs[name] = v
		}
	}
	for name, v := range s.With {
		if v, ok := Plain(v); ok {
			inputs[name] = v
		} else {
			delete(inputs, name)
		}
	}
	var out []Step
	for _, in := range action.Runs.Steps {
		if a.left <= 0 {
			break
		}
		in = in.with("inputs", inputs)
		in.Env = merged(s.Env, in.Env)
		out = append(out, a.resolved(in, depth+1)...)
	}
	return out
}

// expression is one that is a value of a context by name.
var expression = pattern.New(`\$\{\{\s*(\w+)\.([\w-]+)\s*\}\}`)

// with is a step with values in place of the expressions that name them.
func (s Step) with(context string, values map[string]string) Step {
	put := func(text string) string {
		return expression.ReplaceAllStringFunc(text, func(e string) string {
			m := expression.FindStringSubmatch(e)
			if v, ok := values[m[2]]; ok && m[1] == context {
				return v
			}
			return e
		})
	}
	s.Run, s.Dir, s.Env = put(s.Run), put(s.Dir), withValues(s.Env, put)
	return s
}

func withValues(env map[string]any, put func(string) string) map[string]any {
	out := maps.Clone(env)
	for k, v := range out {
		if text, ok := v.(string); ok {
			out[k] = put(text)
		}
	}
	return out
}

// maxVaried bounds in how many ways a matrix has a job run, and maxValues of how many values these are.
const (
	maxVaried = 8
	maxValues = 64
)

// Varied is a job as its matrix has it run: with the first value of each of its names, then with each
// other value of one of them, and with what it includes.
func Varied(j Job) []Job {
	if len(j.Matrix) == 0 {
		return []Job{j}
	}
	first, others := map[string]string{}, []map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(j.Matrix)) {
		list, _ := j.Matrix[name].([]any)
		if name == "include" || name == "exclude" {
			continue
		}
		for i, v := range list {
			text, ok := Plain(v)
			switch {
			case !ok:
			case i == 0:
				first[name] = text
			default:
				others = append(others, map[string]string{name: text})
			}
		}
	}
	ways := []map[string]string{{}}
	include, _ := j.Matrix["include"].([]any)
	for _, one := range include {
		values := map[string]string{}
		entry, _ := one.(map[string]any)
		for name, v := range entry {
			if text, ok := Plain(v); ok {
				values[name] = text
			}
		}
		others = append(others, values)
	}
	if len(first) == 0 && len(others) > 0 { // it only includes
		ways = nil
	}
	var out []Job
	seen := map[string]bool{}
	ways = append(ways, others...)
	for _, values := range ways[:min(len(ways), maxValues)] {
		all := maps.Clone(first)
		maps.Copy(all, values)
		v := j.varied(all)
		if said := fmt.Sprint(v); !seen[said] && len(out) < maxVaried {
			seen[said], out = true, append(out, v)
		}
	}
	return out
}

// varied is a job with values of its matrix.
func (j Job) varied(values map[string]string) Job {
	whole := Step{Env: j.Env}.with("matrix", values)
	out := Job{File: j.File, ID: j.ID, Env: whole.Env, Services: j.Services}
	for _, s := range j.Steps {
		out.Steps = append(out.Steps, s.with("matrix", values))
	}
	return out
}

// Package agents is the cast: the built-in agents, and the reader of agent
// files in the forms that people already have.
//
// An agent file is Markdown with settings between two lines of three dashes;
// the rest is the prompt. The built-in ones lie beside this file and are part of
// the program: to add one, add a file. What a file asks for is a wish. It can
// narrow what a run grants and never widen it, and the caps here bound it.
package agents

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Caps that no definition exceeds.
const (
	MaxIterations     = 100
	DefaultIterations = 40
	MaxTimeout        = 30 * time.Minute
)

// Where an agent runs.
const (
	InProcess = "in_process" // reads the trees in place, runs no command
	Worktree  = "worktree"   // has a worktree of its own
)

// A Definition is one agent.
type Definition struct {
	Name            string
	Description     string // one line, for people and for whoever dispatches it
	Tools           []string
	AllTools        bool // Tools is empty because the file has no such key or says "*": all that the run grants
	Model           string
	Background      bool
	MaxIterations   int
	Timeout         time.Duration // 0: the run's
	Isolation       string        // InProcess, Worktree, or empty where the file does not say
	MaxOutputTokens int           // 0: no limit of its own
	Prompt          string
	Source          string // the file it came from
}

// Names resolves a tool name of any system: it returns ycbot's own and whether
// the name means anything.
type Names func(name string) (canonical string, known bool)

//go:embed *.md
var builtins embed.FS

// Builtins returns the built-in agents, by name. They have no warnings; a test
// holds that.
func Builtins(names Names) ([]Definition, error) {
	files, err := builtins.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("built-in agents: %w", err)
	}
	var out []Definition
	for _, f := range files {
		data, err := builtins.ReadFile(f.Name())
		if err != nil {
			return nil, fmt.Errorf("built-in agents: %w", err)
		}
		d, warnings, err := Parse(f.Name(), data, names)
		if err == nil && len(warnings) > 0 {
			err = fmt.Errorf("agent file %s: %s", f.Name(), strings.Join(warnings, "; "))
		}
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Find returns the definition of a name: the exact one, else the only one that
// differs in capitals.
func Find(defs []Definition, name string) (Definition, bool) {
	var near []Definition
	for _, d := range defs {
		if d.Name == name {
			return d, true
		}
		if strings.EqualFold(d.Name, name) {
			near = append(near, d)
		}
	}
	if len(near) == 1 {
		return near[0], true
	}
	return Definition{}, false
}

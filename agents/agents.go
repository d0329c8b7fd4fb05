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

// Modes beside the plain loop. The strings are what files say.
const (
	PlanAndSolve = "plan_and_solve" // a plan without tools comes first
	Reflexion    = "reflexion"      // the final reply is looked over once by its author
)

// PhasePlan is a ceiling: an agent under it reads, and does nothing else.
const PhasePlan = "plan"

// A Definition is one agent. What its fields ask for narrows what a run grants
// and never widens it.
type Definition struct {
	Name        string
	Description string // one line, for people and for the agent that dispatches it
	Role        string // see [Definition.Task]

	// Tools is what is left of the tools that the file names, after its groups,
	// its exceptions, its permissions and its phase. It is empty with AllTools:
	// then it is all that the run grants, without those of DisallowedTools.
	Tools           []string
	AllTools        bool
	DisallowedTools []string
	Permission      Permission // rules about targets; nil: none
	Phase           string     // PhasePlan or empty

	Model           string // empty: the run's
	Provider        string // name of a profile of the operator's; empty: the run's
	Background      bool
	MaxIterations   int
	Timeout         time.Duration // 0: the run's
	Isolation       string        // InProcess, Worktree, or empty where the file does not say
	MaxOutputTokens int           // 0: no limit of its own
	MaxBudgetUSD    float64       // 0: no limit of its own
	Mode            string        // PlanAndSolve, Reflexion, or empty: the plain loop
	Structured      bool          // the result is handed in by submit_result
	SuccessCriteria []string      // see [Definition.Task]

	Prompt  string
	Appends bool // Prompt goes behind the text of a general agent instead of taking its place
	Extends bool // Prompt begins with that of the built-in agent of the same name, to which the file adds

	Source   string // the file it came from
	Origin   Origin // the kind of place where that lies
	Dialect  Dialect
	Replaces string // Source of the definition whose place it took, or builtin
}

// bashTool is the tool that runs any command.
const bashTool = "run_bash"

// commandTools are those that run commands of an agent's choice: an agent without the
// shell has none of them.
func commandTools() []string {
	return []string{bashTool, "start_process", "process_output", "stop_process", "screenshot"}
}

// executing are the tools by which commands run, by ycbot's names.
func executing() []string { return append(commandTools(), "run_tests") }

// Has reports whether the definition leaves an agent a tool, by ycbot's name.
func (d Definition) Has(tool string) bool {
	if d.AllTools {
		return !slices.Contains(d.DisallowedTools, tool)
	}
	return slices.Contains(d.Tools, tool)
}

// Executes reports whether the definition leaves an agent a tool that runs
// commands; the run may still grant none.
func (d Definition) Executes() bool { return slices.ContainsFunc(executing(), d.Has) }

// Task puts what the definition demands of every task in front of one.
func (d Definition) Task(task string) string {
	var b strings.Builder
	if d.Role != "" {
		fmt.Fprintf(&b, "Your role: %s.\n\n", d.Role)
	}
	if len(d.SuccessCriteria) > 0 {
		b.WriteString("You are done when each of these holds:\n\n")
		for _, c := range d.SuccessCriteria {
			fmt.Fprintf(&b, "- [ ] %s\n", c)
		}
		b.WriteString("\n")
	}
	return b.String() + task
}

// Names resolves a tool name of any system: it returns ycbot's own and whether
// the name means anything.
type Names func(name string) (canonical string, known bool)

//go:embed *.md
var builtins embed.FS

// Builtins returns the built-in agents, by name. They have no warnings; a test
// holds that.
func Builtins(names Names) ([]Definition, error) {
	cast := Load(names)
	if len(cast.Problems) > 0 {
		return nil, fmt.Errorf("built-in agents: %w", cast.Problems[0])
	}
	return cast.Definitions, nil
}

// Find returns the definition of a name: the exact one, else the only one that
// differs in capitals, hyphens and underscores, else the one that another
// system calls so.
func Find(defs []Definition, name string) (Definition, bool) {
	all := make([]string, len(defs))
	for i, d := range defs {
		all[i] = d.Name
	}
	if i := nearest(all, name); i >= 0 {
		return defs[i], true
	}
	return Definition{}, false
}

// nearest returns the index of the name that is meant, -1 for none.
func nearest(all []string, name string) int {
	if i := slices.Index(all, name); i >= 0 {
		return i
	}
	found := -1
	for i, n := range all {
		if fold(n) == fold(name) {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	if found < 0 && fold(name) == "general" { // ExAthena and molf
		return slices.Index(all, "general-purpose")
	}
	return found
}

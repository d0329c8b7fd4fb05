package orchestrator

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// A Set is the agents of a run. What it is beside the built-in ones is in the
// journal, so that a run that is continued, checked or replayed has the same,
// whatever became of the folders that it was read from. The names of its fields are
// stored: do not change them.
type Set struct {
	Own      []agents.Definition `json:"own,omitempty"`      // that are not built in
	Disabled []string            `json:"disabled,omitempty"` // built-in ones whose name a file took that is no agent
	Wanted   []string            `json:"wanted"`             // that someone asked for, by the names that they have
	Warnings []string            `json:"warnings,omitempty"` // what is wrong with their files, each with its place
}

// definitions are all agents of the set.
func (c Set) definitions() ([]agents.Definition, error) {
	all, err := agents.Builtins(tool.Resolve)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(d agents.Definition) bool {
		return slices.Contains(c.Disabled, d.Name) || slices.ContainsFunc(c.Own, func(o agents.Definition) bool { return o.Name == d.Name })
	})
	return append(all, c.Own...), nil
}

// projectAgents are the folders of a project that hold agents.
var projectAgents = []string{".agents/agents", ".claude/agents", ".exathena/agents", ".yottacode/agents", ".ycbot/agents"}

// What of agent files is read at most: no project has more.
const mostAgentFiles = 200

// read reads the agents: the built-in ones, over them those of the person who
// runs this, those of the base commit, and those of the operator. Agents that
// someone wants by name and that are not there end the run.
func (l Loading) read(ctx context.Context) (Set, error) {
	tree, problems, err := l.agentTree(ctx)
	if err != nil {
		return Set{}, err
	}
	project, more := agents.ProjectFolders(tree)
	problems = append(problems, more...)
	user, operator, err := l.folders(tree)
	if err != nil {
		return Set{}, err
	}
	found := agents.Load(tool.Resolve, slices.Concat(user, project, operator)...)
	builtins, err := agents.Builtins(tool.Resolve)
	if err != nil {
		return Set{}, err
	}
	c := Set{}
	for _, d := range found.Definitions {
		if d.Origin != agents.Builtin {
			c.Own = append(c.Own, d)
		}
	}
	for _, d := range builtins {
		if !slices.ContainsFunc(found.Definitions, func(o agents.Definition) bool { return o.Name == d.Name }) {
			c.Disabled = append(c.Disabled, d.Name)
		}
	}
	for _, p := range append(problems, found.Problems...) {
		c.Warnings = append(c.Warnings, p.String())
	}
	for _, d := range c.Own {
		if d.Name == Verification && !d.Extends {
			c.Warnings = append(c.Warnings, d.Source+": replaces the built-in agent verification with all of its rules; to add to them, write prompt: append")
		}
	}
	for _, name := range slices.Concat([]string{Verification}, l.Config.Agents.Run, l.Models.Agents) {
		d, err := found.Find(name)
		if err != nil {
			if unknown := config.UnknownAgents(l.ConfigName, l.ConfigData, found.Lacks); len(unknown) > 0 {
				err = unknown
			}
			return Set{}, &rundir.UsageError{Err: err}
		}
		if !slices.Contains(c.Wanted, d.Name) {
			c.Wanted = append(c.Wanted, d.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Config.Agents.Settings)) {
		if _, err := found.Find(name); err != nil {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s: agents.%s: %v", l.ConfigName, name, err))
		}
	}
	for _, w := range c.Warnings {
		_ = l.Emit(agent.Event{Type: agent.EventNote, Text: w})
	}
	return c, nil
}

// folders are those with agent files of the person who runs this, and those of the
// operator. tree is what the base commit has of agent files.
func (l Loading) folders(tree fs.FS) (user, operator []agents.Folder, err error) {
	for _, f := range l.Folders {
		if f.Origin == agents.Operator {
			operator = append(operator, f)
		} else {
			user = append(user, f)
		}
	}
	dir := l.AgentsDir
	if dir == "" {
		return user, operator, nil
	}
	sub, err := fs.Sub(tree, dir)
	if err == nil {
		_, err = fs.Stat(sub, ".")
	}
	if err != nil {
		return nil, nil, &rundir.UsageError{Err: fmt.Errorf("agents-dir %s: the base has no such folder with agent files: only what the base has is read", dir)}
	}
	return user, append(operator, agents.Folder{Origin: agents.Operator, Path: dir, Dialect: agents.DialectOf(dir), FS: sub}), nil
}

// agentTree is what the base commit has of agent files. Links are not followed.
func (l Loading) agentTree(ctx context.Context) (fs.FS, agents.Problems, error) {
	dirs := projectAgents
	if l.AgentsDir != "" {
		dirs = append(slices.Clone(dirs), l.AgentsDir)
	}
	var problems agents.Problems
	n := 0
	tree, err := l.Mirror.FS(ctx, l.Source.Change.BaseSHA, func(e objects.Entry) bool {
		if !agentFile(e, dirs) {
			return false
		}
		switch n++; {
		case n > mostAgentFiles:
			problems = append(problems, agents.Problem{File: e.Path, Text: fmt.Sprintf("not read: there are more than %d agent files", mostAgentFiles), Fatal: true})
		case e.Mode == linkMode:
			problems = append(problems, agents.Problem{File: e.Path, Text: "a symbolic link, which is not followed"})
		case e.Size > agents.MaxSize:
			problems = append(problems, agents.Problem{File: e.Path, Text: fmt.Sprintf("not read: larger than %d KiB", agents.MaxSize>>10), Fatal: true})
		default:
			return true
		}
		return false
	})
	return tree, problems, err
}

// Notes are what a reader of the report should know of the agents, as the journal
// has it: what is wrong with their files, and what people said to them.
func Notes(j *journal.Journal) []string {
	set, _ := rundir.Lookup[Set](j, "run", "agents")
	out := slices.Clone(set.Warnings)
	p, _ := rundir.Lookup[Preflight](j, "stage", "preflight")
	out = append(out, p.Notes...)
	for _, e := range j.Entries(kindChoice) {
		var c choice
		if json.Unmarshal(e.Data, &c) == nil && c.Warning != "" {
			out = append(out, c.Warning)
		}
	}
	out = append(out, effortNotes(j)...)
	for _, text := range received(j) {
		out = append(out, "said to the agents while the run went: "+agent.Cut(strings.Join(strings.Fields(text), " "), 400))
	}
	return out
}

// linkMode is git's mode of a symbolic link.
const linkMode = "120000"

// agentFile finds the files of folders with agents, and links in the place of such
// a folder.
func agentFile(e objects.Entry, dirs []string) bool {
	for _, dir := range dirs {
		if e.Mode == linkMode && (e.Path == dir || strings.HasPrefix(dir, e.Path+"/")) {
			return true
		}
		if path.Dir(e.Path) == dir && path.Ext(e.Path) == ".md" {
			return true
		}
	}
	return false
}

// FoldersChanged names the folders with agents that a change touches.
func FoldersChanged(paths []string) []string {
	var out []string
	for _, dir := range projectAgents {
		if slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, dir+"/") || p == dir }) {
			out = append(out, dir)
		}
	}
	return out
}

// generalAgent is the agent whose text stands before that of a file that appends
// to it.
const generalAgent = "general-purpose"

// spec turns a definition into what the runner takes.
func (a *Agents) spec(d agents.Definition) agent.Spec {
	spec := agent.Spec{
		Name: d.Name, Description: d.Description, Prompt: d.Prompt, Source: string(d.Origin), SourcePath: d.Source,
		Tools: d.Tools, Without: d.DisallowedTools, Model: d.Model, Background: d.Background,
		MaxIterations: d.MaxIterations, Timeout: d.Timeout, OutputTokens: d.MaxOutputTokens, CostUSD: d.MaxBudgetUSD,
		Mode: agent.Mode(d.Mode), Structured: d.Structured, Task: d.Task,
	}
	if d.AllTools {
		spec.Tools = nil
	}
	if d.Appends {
		if general, ok := agents.Find(a.defs, generalAgent); ok && general.Name != d.Name {
			spec.Prompt = strings.TrimRight(general.Prompt, "\n") + "\n\n" + d.Prompt
		}
	}
	return spec
}

// own are the rules that a definition has for its own calls.
func own(d agents.Definition) agent.OwnRules {
	rules := agent.OwnRules{Disallowed: d.DisallowedTools}
	if len(d.Permission) > 0 {
		rules.Permission = func(tool, target string) (action, rule string) {
			a, r := d.Permission.Decide(tool, target)
			if r.Tool == "" {
				return string(a), "no rule of " + d.Source
			}
			return string(a), fmt.Sprintf("%s %q (%s:%d)", r.Tool, r.Pattern, d.Source, r.Line)
		}
	}
	return rules
}

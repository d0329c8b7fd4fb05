package run

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A crew is the agents of a run. What it is beside the built-in ones is in the
// journal, so that a run that is continued, checked or replayed has the same,
// whatever became of the folders that it was read from.
type crew struct {
	Own      []agents.Definition `json:"own,omitempty"`      // that are not built in
	Disabled []string            `json:"disabled,omitempty"` // built-in ones whose name a file took that is no agent
	Wanted   []string            `json:"wanted"`             // that somebody asked for, by the names that they have
	Warnings []string            `json:"warnings,omitempty"` // what is wrong with their files, each with its place
}

// definitions are all agents of the crew.
func (c crew) definitions() ([]agents.Definition, error) {
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

// What of agent files is read at most: more is no project's cast.
const mostAgentFiles = 200

// muster reads the agents: the built-in ones, over them those of the person who
// runs this, those of the base commit, and those of the operator. Agents that
// somebody wants by name and that are not there end the run.
func (s *session) muster(ctx context.Context) (crew, error) {
	if k := s.job.Cast.crew; k != nil {
		return *k, nil
	}
	tree, problems, err := s.agentTree(ctx)
	if err != nil {
		return crew{}, err
	}
	project, more := agents.ProjectFolders(tree)
	problems = append(problems, more...)
	var user, operator []agents.Folder
	for _, f := range s.Agents {
		if f.Origin == agents.Operator {
			operator = append(operator, f)
		} else {
			user = append(user, f)
		}
	}
	if dir := s.job.AgentsDir; dir != "" {
		sub, err := fs.Sub(tree, dir)
		if err == nil {
			_, err = fs.Stat(sub, ".")
		}
		if err != nil {
			return crew{}, &UsageError{fmt.Errorf("agents-dir %s: the base has no such folder with agent files: only what the base has is read", dir)}
		}
		operator = append(operator, agents.Folder{Origin: agents.Operator, Path: dir, Dialect: agents.DialectOf(dir), FS: sub})
	}
	cast := agents.Load(tool.Resolve, slices.Concat(user, project, operator)...)
	builtins, err := agents.Builtins(tool.Resolve)
	if err != nil {
		return crew{}, err
	}
	c := crew{}
	for _, d := range cast.Definitions {
		if d.Origin != agents.Builtin {
			c.Own = append(c.Own, d)
		}
	}
	for _, d := range builtins {
		if !slices.ContainsFunc(cast.Definitions, func(o agents.Definition) bool { return o.Name == d.Name }) {
			c.Disabled = append(c.Disabled, d.Name)
		}
	}
	for _, p := range append(problems, cast.Problems...) {
		c.Warnings = append(c.Warnings, p.String())
	}
	for _, name := range slices.Concat([]string{verificationAgent}, s.config.Agents.Run, s.job.Cast.Agents) {
		d, err := cast.Find(name)
		if err != nil {
			return crew{}, &UsageError{err}
		}
		if !slices.Contains(c.Wanted, d.Name) {
			c.Wanted = append(c.Wanted, d.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.config.Agents.Settings)) {
		if _, err := cast.Find(name); err != nil {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s: agents.%s: %v", s.configName(), name, err))
		}
	}
	for _, w := range c.Warnings {
		s.tell(agent.Event{Type: agent.EventNote, Text: w})
	}
	return c, nil
}

// agentTree is what the base commit has of agent files. Links are not followed.
func (s *session) agentTree(ctx context.Context) (fs.FS, agents.Problems, error) {
	entries, err := s.mirror.Files(ctx, s.src.Change.BaseSHA)
	if err != nil {
		return nil, nil, err
	}
	dirs := projectAgents
	if s.job.AgentsDir != "" {
		dirs = append(slices.Clone(dirs), s.job.AgentsDir)
	}
	var problems agents.Problems
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	n := 0
	for _, e := range entries {
		if !agentFile(e, dirs) {
			continue
		}
		switch n++; {
		case n > mostAgentFiles:
			problems = append(problems, agents.Problem{File: e.Path, Text: fmt.Sprintf("not read: there are more than %d agent files", mostAgentFiles), Fatal: true})
			continue
		case e.Mode == linkMode:
			problems = append(problems, agents.Problem{File: e.Path, Text: "a symbolic link, which is not followed"})
			continue
		case e.Size > agents.MaxSize:
			problems = append(problems, agents.Problem{File: e.Path, Text: fmt.Sprintf("not read: larger than %d KiB", agents.MaxSize>>10), Fatal: true})
			continue
		}
		data, err := s.mirror.ReadFile(ctx, s.src.Change.BaseSHA, e.Path)
		if err != nil {
			return nil, nil, err
		}
		w, err := z.Create(e.Path)
		if err == nil {
			_, err = w.Write(data)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, nil, err
	}
	tree, err := zip.NewReader(bytes.NewReader(buf.Bytes()), int64(buf.Len())) // a tree of files in memory
	return tree, problems, err
}

// agentNotes are what a reader of the report should know of the agents: what is
// wrong with their files, and what people said to them.
func (s *session) agentNotes() []string {
	var c crew
	s.lookup("run", "agents", &c)
	out := slices.Clone(c.Warnings)
	var p preflight
	s.lookup("stage", "preflight", &p)
	out = append(out, p.Notes...)
	for _, e := range s.journal.Entries(kindVoice) {
		var v choice
		if json.Unmarshal(e.Data, &v) == nil && v.Warning != "" {
			out = append(out, v.Warning)
		}
	}
	for _, text := range s.heard() {
		out = append(out, "said to the agents while the run went: "+agent.Cut(strings.Join(strings.Fields(text), " "), 400))
	}
	return out
}

// linkMode is git's mode of a symbolic link.
const linkMode = "120000"

// agentFile tells the files of folders with agents, and links in the place of such
// a folder.
func agentFile(e workspace.Entry, dirs []string) bool {
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

// agentsChanged names the folders with agents that a change touches.
func agentsChanged(paths []string) []string {
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
func (h *host) spec(d agents.Definition) agent.Spec {
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
		if general, ok := agents.Find(h.defs, generalAgent); ok && general.Name != d.Name {
			spec.Prompt = strings.TrimRight(general.Prompt, "\n") + "\n\n" + d.Prompt
		}
	}
	return spec
}

// definition is that of an agent of this run.
func (h *host) definition(name string) (agents.Definition, error) {
	d, ok := agents.Find(h.defs, name)
	if !ok {
		return d, errors.New("there is no agent " + name)
	}
	return d, nil
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

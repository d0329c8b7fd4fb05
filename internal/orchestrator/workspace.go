package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A Workspace is what the commands of one agent work with.
type Workspace struct {
	Tree    *workspace.Tree // its own copy of the head; nil: it runs nothing
	Roots   evidence.Roots  // its folders
	Command sandbox.Command // the template of its commands
	Past    *reproduce.Past // its own files before each of them
}

// Allocate gives an agent its copy of the head and a scratch folder. Both have the
// same place when a run is continued, because its conversation names them.
func Allocate(ctx context.Context, s *reproduce.Sides, id string) (*Workspace, error) {
	w, err := allocateLater(ctx, s, id)
	if err != nil {
		return nil, err
	}
	if err = w.Tree.Lay(ctx); err == nil {
		err = restoreAdded(ctx, s.Layout.Trees, id)
	}
	if err != nil {
		return nil, errors.Join(err, w.Tree.Close())
	}
	return w, nil
}

// allocateLater is Allocate for an agent that was not at work before. Its copy is made
// when its files are needed.
func allocateLater(ctx context.Context, s *reproduce.Sides, id string) (*Workspace, error) {
	w := &Workspace{Roots: s.Layout.Agent(id)}
	tree, err := s.Head.CopyLater(ctx, w.Roots.Tree)
	if err != nil {
		return nil, err
	}
	if w.Command, err = s.Command(ctx, w.Roots); err != nil {
		return nil, errors.Join(err, tree.Close())
	}
	w.Tree, w.Roots.Base = tree, s.Base.Dir
	w.Past = s.NewPast(w.Roots)
	return w, nil
}

// allocate does so for an agent of this run, and records where it works. One that can
// work without a copy knows at once whether there is one.
func (w *work) allocate(ctx context.Context, id string, executes bool) (*Workspace, error) {
	how := Allocate
	if executes && !w.dir.Resumed {
		how = allocateLater
	}
	ws, err := how(ctx, w.sides, id)
	if err != nil {
		return nil, err
	}
	if err := rundir.RecordWorkspace(w.dir.Journal, id, ws.Roots); err != nil {
		return nil, errors.Join(err, ws.Tree.Close())
	}
	return ws, nil
}

// provision gives an agent what it works with: tools that read the prepared snapshots,
// and for one that executes, or that wants it, a copy of the head's, which is its
// own.
func (w *work) provision(ctx context.Context, spec agent.Spec, rec agent.Record) (*agent.Environment, error) {
	d, err := w.agents.definition(spec.Name)
	if err != nil {
		return nil, err
	}
	p := &provisioning{ws: &Workspace{}, def: d, spec: spec, rec: rec, isolation: agents.InProcess}
	p.executes = w.agents.may.Allow(tool.Exec) && d.Executes()
	if p.executes || d.Isolation == agents.Worktree {
		switch ws, err := w.allocate(ctx, rec.ID, p.executes); {
		case err == nil:
			p.ws, p.isolation = ws, agents.Worktree
		case p.executes || ctx.Err() != nil:
			return nil, &agent.IsolationError{Reason: noTree(err, w.layout.Mirror()), Err: err}
		default: // it only reads: the pristine head will do
			w.log.WarnContext(ctx, "agent works without a worktree of its own", "agent", spec.Name, "error", err)
			p.isolation = agents.InProcess + "(" + noTree(err, w.layout.Mirror()) + ")"
		}
	}
	w.mu.Lock()
	w.workspaces[rec.ID] = p.ws
	w.mu.Unlock()
	chosen, err := w.choose(ctx, d, rec.ID)
	if err != nil {
		return nil, err
	}
	effort, err := w.effort(d, rec.ID, chosen.Warning != "")
	if err != nil {
		return nil, err
	}
	roots, err := w.roots()
	if err != nil {
		return nil, err
	}
	tools, submit, may := w.tools(p, roots)
	var fallback *agent.Fallback
	if chosen.Warning != "" {
		fallback = &agent.Fallback{Wanted: chosen.Wanted, Why: chosen.Warning}
	}
	where := p.circumstances(w, tools)
	where.Facts = []string{w.limits(p)}
	if p.executes {
		machine, err := w.machine(p.ws.Command)
		if err != nil {
			roots.close()
			return nil, err
		}
		where.Facts = append(where.Facts, machine...)
		sandbox.Announce(w.sides.Sandbox) // while the model thinks
	}
	return &agent.Environment{
		Fallback: fallback, Place: agents.Place(where),
		Config: agent.Config{
			System: agents.Contract(where) + spec.Prompt,
			Model:  &beside{chosen.Model, w.trees(p.ws)}, Tools: tools, Known: known(), Window: model.Window(chosen.Model.Name()), Aliases: aliases(), Submit: submit,
			Decide: may.Decide, Approved: may.Approved, Price: chosen.Price, Effort: effort,
			Corrective: w.corrective(spec.Name, rec.ID), Repaired: w.repaired(spec.Name, rec.ID),
		},
		Verdict:   func(text string) string { return string(report.ParseAgentReport(text).Verdict) },
		Isolation: p.isolation,
		Close: func(ctx context.Context) error {
			defer roots.close()
			if p.processes == nil {
				return nil
			}
			return p.processes.Close(ctx)
		},
	}, nil
}

// provisioning is what an agent is being given.
type provisioning struct {
	ws        *Workspace
	def       agents.Definition
	spec      agent.Spec
	rec       agent.Record
	executes  bool
	isolation string
	processes *tool.Processes // nil: it holds none
}

// sharedNetwork reports whether the commands of the run share the network of the machine.
func (w *work) sharedNetwork() bool {
	tier := w.sides.Sandbox.Status().Tier
	return tier != sandbox.TierFull && tier != sandbox.TierStrong
}

// tools are those that an agent is given, the name of the one by which it hands in its
// result ("" where it replies), and what it may do with them.
func (w *work) tools(p *provisioning, roots *roots) (tools []tool.Tool, submit string, may agent.Permissions) {
	dirs := []string{w.sides.Head.Dir, w.sides.Base.Dir}
	if p.ws.Tree != nil {
		dirs = append([]string{p.ws.Tree.Dir}, dirs...)
		roots.trees.HeadDir, roots.trees.BaseDir = p.ws.Tree.Dir, w.sides.Base.Dir
	}
	may = w.agents.may.For(p.spec.Name, p.rec.ID).Of(own(p.def), dirs...)
	roots.trees.Hidden, roots.trees.Permit = may.Hidden, may.Behind
	var todos tool.Todos
	tools = slices.Concat(tool.FileTools(roots.trees), tool.GitTools(w.history()), []tool.Tool{tool.TodoWrite(&todos)})
	if w.agents.pull != nil {
		tools = append(tools, tool.PullTools(*w.agents.pull, w.history())...)
	}
	if w.agents.may.Allow(tool.Net) {
		fetcher := w.fetcher
		fetcher.Permit = may.Fetch
		tools = append(tools, tool.FetchURL(fetcher))
	}
	if p.executes {
		shell := w.shell(p.ws, may, p.spec.Name, p.rec.ID)
		tools = append(tools, tool.Bash(shell))
		if w.agents.may.Holds(w.sharedNetwork()) {
			p.processes = tool.NewProcesses(shell, w.heldBefore(p.rec.ID), w.keepHeld(p.rec.ID))
			tools = append(tools, p.processes.Tools()...)
			tools = append(tools, tool.Screenshot(tool.Screen{Shell: shell, Browser: tool.Browser(os.Stat), Keep: w.dir.Write}))
		}
		if suites := suites(w.tests); len(suites) > 0 {
			own := *shell
			own.After = func(ctx context.Context) ([]string, error) { return w.tripwire(ctx, p.ws.Tree, p.rec.ID, true) }
			tools = append(tools, tool.RunTests(tool.Suites{Shell: &own, List: suites, Refuse: may.Tests}))
		}
	}
	tools = w.guarded(p.ws, tools)
	if p.def.Structured {
		t := tool.SubmitResult(&tool.Submission{Attempted: w.attempts(p.rec.ID, tools)})
		return append(tools, t), t.Name, may
	}
	return tools, "", may
}

// attempts has tools note that they were called, and returns whether one was, in
// this process or one before it, or a call was denied: that is what may keep an agent from its task.
func (w *work) attempts(id string, tools []tool.Tool) func() bool {
	var tried atomic.Bool
	for _, e := range w.dir.Journal.Entries("tool") {
		if strings.HasPrefix(e.Key, id+"/") {
			tried.Store(true)
		}
	}
	for i, t := range tools {
		if t.Class == tool.Session {
			continue
		}
		tools[i].Run = func(ctx context.Context, args json.RawMessage) (tool.Result, error) {
			tried.Store(true)
			return t.Run(ctx, args)
		}
	}
	return func() bool {
		return tried.Load() || slices.ContainsFunc(w.dir.Journal.Entries("tool"), func(e journal.Entry) bool {
			var answer struct {
				Denied *tool.Denied `json:"denied"`
			}
			return strings.HasPrefix(e.Key, id+"/") && json.Unmarshal(e.Data, &answer) == nil && answer.Denied != nil
		})
	}
}

// circumstances are what an agent is given to know of where it works.
func (p *provisioning) circumstances(w *work, tools []tool.Tool) agents.Circumstances {
	where := agents.Circumstances{Exec: p.executes}
	if p.executes {
		where.Cwd, where.Base = p.ws.Tree.Dir, w.sides.Base.Dir
	}
	for _, t := range tools {
		if p.def.Structured && t.Name == SubmitTool || p.spec.Offers(t, p.rec.Order) {
			where.Tools = append(where.Tools, t.Name)
		}
	}
	return where
}

// SubmitTool is the tool by which a structured result is handed in.
const SubmitTool = "submit_result"

// roots opens what file tools may read.
type roots struct {
	trees tool.Trees
	open  []*os.Root
}

func (w *work) roots() (*roots, error) {
	r := &roots{}
	for _, d := range []struct {
		dir string
		to  **os.Root
	}{{w.sides.Head.Dir, &r.trees.Head}, {w.sides.Base.Dir, &r.trees.Base}, {filepath.Join(w.dir.Path, "spill"), &r.trees.Spill}} {
		root, err := os.OpenRoot(d.dir)
		if err != nil {
			r.close()
			return nil, err
		}
		*d.to = root
		r.open = append(r.open, root)
	}
	return r, nil
}

func (r *roots) close() {
	for _, root := range r.open {
		_ = root.Close()
	}
}

// trees are those that an agent works with.
func (w *work) trees(ws *Workspace) []*workspace.Tree {
	if ws.Tree != nil {
		return []*workspace.Tree{ws.Tree, w.sides.Head, w.sides.Base}
	}
	return []*workspace.Tree{w.sides.Head, w.sides.Base}
}

// lay waits until an agent's trees are there. Without its own an agent does nothing.
func (w *work) lay(ctx context.Context, ws *Workspace) error {
	for _, t := range w.trees(ws) {
		if err := t.Lay(ctx); err != nil {
			return &agent.IsolationError{Reason: noTree(err, w.layout.Mirror()), Err: err}
		}
	}
	return nil
}

// beside has an agent's trees laid out while its model thinks.
type beside struct {
	model.Model
	trees []*workspace.Tree
}

// Generate asks the model.
func (b *beside) Generate(ctx context.Context, req *model.Request, on func(model.Delta)) (*model.Response, error) {
	for _, t := range b.trees {
		t.Ahead(ctx)
	}
	return b.Model.Generate(ctx, req, on)
}

// history is what the git tools read.
func (w *work) history() tool.Repo {
	c := w.source.Change
	return tool.Repo{Git: w.mirror.Git, Resolve: w.mirror.Resolve, ReadFile: w.mirror.ReadFile, Head: c.HeadSHA, Base: c.BaseSHA, MergeBase: c.MergeBase}
}

// shell runs an agent's commands.
func (w *work) shell(ws *Workspace, may agent.Permissions, name, id string) *tool.Shell {
	command := "" // that runs
	return &tool.Shell{
		Log: w.dir.Evidence, Sandbox: w.sides.Sandbox, Template: ws.Command, Root: ws.Tree.Dir, Tree: ws.Tree.OID, Roots: ws.Roots, Agent: name, Task: id,
		Refuse: may.Shell, Argv: may.Argv,
		Before: func(ctx context.Context, x *evidence.Execution) error {
			ws.Past.Take(ctx, "")
			command = x.Command
			return w.sides.LayScratch(ctx, ws.Roots, x)
		},
		After: func(ctx context.Context) ([]string, error) {
			own := slices.ContainsFunc(w.tests, func(t gate.TestCommand) bool { return t.Unit == "." && t.Text == command })
			command = ""
			return w.tripwire(ctx, ws.Tree, id, own)
		},
	}
}

// tripwire puts back what a command changed that it must not change: tracked files,
// HEAD, the index, refs. What it returns is for the model; the journal keeps it for
// the verdict. Of an own command of the project for its tests that leaves out files which
// those of the base change as well.
func (w *work) tripwire(ctx context.Context, tree *workspace.Tree, id string, own bool) ([]string, error) {
	moved, err := tree.Moved(ctx)
	if err == nil && len(moved) > 0 {
		err = w.dir.Journal.Append(kindMoved, id, moved)
	}
	if err != nil {
		return nil, err
	}
	changed, err := tree.Restore(ctx)
	if own && w.gate != nil {
		changed = slices.DeleteFunc(changed, func(name string) bool { return slices.Contains(w.gate.Rewrote, name) })
	}
	if err == nil && len(changed) > 0 {
		err = w.dir.Journal.Append(kindChanged, id, changed)
	}
	for _, name := range moved {
		changed = append(changed, "git's "+name)
	}
	return changed, err
}

// guarded takes secrets out of what tools answer, before anyone sees or keeps it. None
// runs before the trees are there.
func (w *work) guarded(ws *Workspace, tools []tool.Tool) []tool.Tool {
	out := slices.Clone(tools)
	for i, t := range out {
		out[i].Run = func(ctx context.Context, args json.RawMessage) (tool.Result, error) {
			if err := w.lay(ctx, ws); err != nil {
				return tool.Result{}, err
			}
			res, err := t.Run(ctx, args)
			res.Text = string(w.dir.Redact([]byte(res.Text)))
			return res, err
		}
	}
	return out
}

// known are the tools that there are, whether a run has them or, like those that
// change something, none.
func known() map[string]tool.Class {
	out := map[string]tool.Class{}
	for _, name := range tool.Names() {
		if class, ok := tool.ClassOf(name); ok && tool.Canonical(name) == name {
			out[name] = class
		}
	}
	return out
}

// aliases are the spellings of other systems for the tools.
func aliases() map[string]string {
	out := map[string]string{}
	for _, name := range tool.Names() {
		if canonical := tool.Canonical(name); canonical != name {
			out[name] = canonical
		}
	}
	return out
}

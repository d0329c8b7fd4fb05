package run

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/workspace"
)

// A seat is what one agent works with, and what is remembered of it.
type seat struct {
	tree    *workspace.Tree // its own copy of the head; nil: it runs nothing
	home    string          // HOME of its commands
	temp    string          // TMPDIR of its commands: a short path, because sockets in it must have one
	command sandbox.Command // the template of its commands
}

// provision makes the seat of an agent: tools that read the prepared snapshots,
// and for one that executes, or that wants it, a copy of the head's, which is its
// own.
func (h *host) provision(ctx context.Context, spec agent.Spec, rec agent.Record) (*agent.Seat, error) {
	d, err := h.definition(spec.Name)
	if err != nil {
		return nil, err
	}
	p := &place{st: &seat{}, def: d, spec: spec, rec: rec, isolation: agents.InProcess}
	p.executes = h.may.Allow(tool.Exec) && d.Executes()
	if p.executes || d.Isolation == agents.Worktree {
		switch err := h.lodge(ctx, p.st, rec.ID); {
		case err == nil:
			p.isolation = agents.Worktree
		case p.executes || ctx.Err() != nil:
			return nil, &agent.IsolationError{Reason: h.noTree(err), Err: err}
		default: // it only reads: the pristine head will do
			h.Log.WarnContext(ctx, "agent works without a worktree of its own", "agent", spec.Name, "error", err)
			p.st, p.isolation = &seat{}, agents.InProcess+"("+h.noTree(err)+")"
		}
	}
	voice, err := h.voice(ctx, d, rec.ID)
	if err != nil {
		return nil, err
	}
	roots, err := h.roots()
	if err != nil {
		return nil, err
	}
	tools, submit, may := h.tools(p, roots)
	h.mu.Lock()
	h.seats[rec.ID] = p.st
	h.mu.Unlock()
	var fallback *agent.Fallback
	if voice.Warning != "" {
		fallback = &agent.Fallback{Wanted: voice.Wanted, Why: voice.Warning}
	}
	where := p.circumstances(h, tools)
	return &agent.Seat{
		Fallback: fallback, Place: agents.Place(where),
		Config: agent.Config{
			System: agents.Contract(where) + spec.Prompt,
			Model:  voice.Model, Tools: tools, Known: known(), Aliases: aliases(), Submit: submit,
			Decide: may.Decide, Approved: may.Approved, Price: voice.Price, Corrective: corrective(spec.Name),
		},
		Verdict:   func(text string) string { return string(report.ParseAgentReport(text).Verdict) },
		Isolation: p.isolation,
		Close:     func(context.Context) error { roots.close(); return nil },
	}, nil
}

// A place is a seat that is being made, and whose.
type place struct {
	st        *seat
	def       agents.Definition
	spec      agent.Spec
	rec       agent.Record
	executes  bool
	isolation string
}

// tools are those of an agent's seat, the name of the one by which it hands in its
// result ("" where it replies), and what it may do with them.
func (h *host) tools(p *place, roots *roots) (tools []tool.Tool, submit string, may agent.Permissions) {
	dirs := []string{h.head.Dir, h.base.Dir}
	if p.st.tree != nil {
		dirs = append([]string{p.st.tree.Dir}, dirs...)
		roots.trees.HeadDir, roots.trees.BaseDir = p.st.tree.Dir, h.base.Dir
	}
	may = h.may.For(p.spec.Name, p.rec.ID).Of(own(p.def), dirs...)
	roots.trees.Hidden = may.Hidden
	var todos tool.Todos
	tools = slices.Concat(tool.FileTools(roots.trees), tool.GitTools(h.history()), []tool.Tool{tool.TodoWrite(&todos)})
	if h.pull != nil {
		tools = append(tools, tool.PullTools(*h.pull, h.history())...)
	}
	if h.may.Allow(tool.Net) {
		fetcher := h.Fetcher
		fetcher.Permit = may.Fetch
		tools = append(tools, tool.FetchURL(fetcher))
	}
	if p.executes {
		shell := h.shell(p.st, may, p.spec.Name, p.rec.ID)
		tools = append(tools, tool.Bash(shell))
		if suites := h.suites(); len(suites) > 0 {
			tools = append(tools, tool.RunTests(tool.Suites{Shell: shell, List: suites, Refuse: may.Tests}))
		}
	}
	tools = h.guarded(tools)
	if p.def.Structured {
		t := tool.SubmitResult(&tool.Submission{Attempted: h.attempts(p.rec.ID, tools)})
		return append(tools, t), t.Name, may
	}
	return tools, "", may
}

// attempts has tools tell that they were called, and returns whether one was, in
// this process or one before it.
func (h *host) attempts(id string, tools []tool.Tool) func() bool {
	var tried atomic.Bool
	for _, e := range h.journal.Entries("tool") {
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
	return tried.Load
}

// circumstances are what an agent is told of where it works.
func (p *place) circumstances(h *host, tools []tool.Tool) agents.Circumstances {
	where := agents.Circumstances{Exec: p.executes}
	if p.executes {
		where.Cwd, where.Base = p.st.tree.Dir, h.base.Dir
	}
	for _, t := range tools {
		if p.def.Structured && t.Name == submitTool || p.spec.Offers(t, p.rec.Order) {
			where.Tools = append(where.Tools, t.Name)
		}
	}
	return where
}

// submitTool is the tool by which a structured result is handed in.
const submitTool = "submit_result"

// suites are the test commands of the head that the gate knows.
func (h *host) suites() []tool.Suite {
	var out []tool.Suite
	for _, s := range h.result.Steps {
		if s.Stage != gate.StageTest || s.Side != gate.Head {
			continue
		}
		command, name := s.Command, s.Unit
		if s.Unit != "." {
			command = "cd " + quote(s.Unit) + " && " + s.Command
		}
		if slices.ContainsFunc(out, func(o tool.Suite) bool { return o.Command == command }) {
			continue
		}
		for n := 2; slices.ContainsFunc(out, func(o tool.Suite) bool { return o.Name == name }); n++ {
			name = fmt.Sprintf("%s#%d", s.Unit, n)
		}
		out = append(out, tool.Suite{Name: name, Command: command})
	}
	return out
}

// roots opens what file tools may read.
type roots struct {
	trees tool.Trees
	open  []*os.Root
}

func (h *host) roots() (*roots, error) {
	r := &roots{}
	for _, d := range []struct {
		dir string
		to  **os.Root
	}{{h.head.Dir, &r.trees.Head}, {h.base.Dir, &r.trees.Base}, {filepath.Join(h.dir, "spill"), &r.trees.Spill}} {
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

// history is what the git tools read.
func (h *host) history() tool.Repo {
	c := h.src.Change
	return tool.Repo{Git: h.mirror.Git, Head: c.HeadSHA, Base: c.BaseSHA, MergeBase: c.MergeBase}
}

// lodge gives an agent its copy of the head and a scratch folder. Both have the
// same place when a run is continued, because its conversation names them.
func (h *host) lodge(ctx context.Context, st *seat, id string) error {
	tree, err := h.head.Copy(ctx, filepath.Join(h.trees, agentTrees, id))
	if err != nil {
		return err
	}
	h.mu.Lock()
	h.laid = append(h.laid, tree)
	h.mu.Unlock()
	if err := takeOver(ctx, h.trees, id); err != nil {
		return err
	}
	st.tree, st.home = tree, filepath.Join(h.trees, "scratch", "agents", id)
	st.temp = filepath.Join(h.temps(), first8(id))
	st.command, err = h.template(ctx, tree, st.home, st.temp)
	return err
}

// template is what the commands of an agent have in common.
func (h *host) template(ctx context.Context, tree *workspace.Tree, home, temp string) (sandbox.Command, error) {
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return sandbox.Command{}, err
	}
	c, err := h.gate.Shell(ctx, tree.Dir, h.base.Dir, home)
	if err != nil {
		return sandbox.Command{}, err
	}
	c.Writable = append(c.Writable, temp)
	c.Env = append(c.Env, h.env()...)
	c.Env = append(c.Env, "TMPDIR="+temp, "YCBOT_BASE="+h.base.Dir)
	return c, nil
}

// kindChanged entries of the journal, with an agent's id as key, are tracked
// files that a command of the agent changed and that were put back: what was
// seen once counts, also after a crash. It is stored: do not change it.
const kindChanged = "changed"

// kindMoved entries are what git keeps of an agent's tree and was moved by one of
// its commands, in the same way: HEAD, the index, refs. It is stored as well.
const kindMoved = "moved"

// changed lists the tracked files that commands of an agent changed.
func (h *host) changed(id string) []string { return h.tripped(kindChanged, id) }

// moved lists what else of its repository they changed.
func (h *host) moved(id string) []string { return h.tripped(kindMoved, id) }

func (h *host) tripped(kind, id string) []string {
	var all []string
	for _, e := range h.journal.Entries(kind) {
		var paths []string
		if e.Key == id && json.Unmarshal(e.Data, &paths) == nil {
			all = append(all, paths...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// shell runs an agent's commands.
func (h *host) shell(st *seat, may agent.Permissions, name, id string) *tool.Shell {
	return &tool.Shell{
		Log: h.log, Sandbox: h.Sandbox, Template: st.command, Root: st.tree.Dir, Tree: st.tree.OID, Agent: name, Task: id,
		Refuse: may.Shell, Argv: may.Argv,
		After: func(ctx context.Context) ([]string, error) { return h.tripwire(ctx, st.tree, id) },
	}
}

// tripwire puts back what a command changed that it must not change: tracked files,
// HEAD, the index, refs. What it returns is for the model; the journal keeps it for
// the verdict.
func (h *host) tripwire(ctx context.Context, tree *workspace.Tree, id string) ([]string, error) {
	moved, err := tree.Moved(ctx)
	if err == nil && len(moved) > 0 {
		err = h.journal.Append(kindMoved, id, moved)
	}
	if err != nil {
		return nil, err
	}
	changed, err := tree.Restore(ctx)
	if err == nil && len(changed) > 0 {
		err = h.journal.Append(kindChanged, id, changed)
	}
	for _, name := range moved {
		changed = append(changed, "git's "+name)
	}
	return changed, err
}

// guarded takes secrets out of what tools answer, before anybody sees or keeps it.
func (h *host) guarded(tools []tool.Tool) []tool.Tool {
	out := slices.Clone(tools)
	for i, t := range out {
		out[i].Run = func(ctx context.Context, args json.RawMessage) (tool.Result, error) {
			res, err := t.Run(ctx, args)
			res.Text = string(h.redact([]byte(res.Text)))
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

// corrective asks once for what a reply that owes a verdict lacks.
func corrective(name string) func(string) (string, bool) {
	if helps(name) {
		return nil
	}
	return func(final string) (string, bool) {
		r := report.ParseAgentReport(final)
		if r.Form == report.FormStrict || r.Form == report.FormDecorated && r.Verdict != report.Pass {
			return "", false
		}
		text := "Your reply does not end in a verdict line that can be read. Write the whole report again, with its checks, and end it with one line that is exactly \"VERDICT: PASS\", \"VERDICT: FAIL\" or \"VERDICT: PARTIAL\"."
		for _, p := range r.Problems {
			text += fmt.Sprintf("\n- %s", p)
		}
		return text, true
	}
}

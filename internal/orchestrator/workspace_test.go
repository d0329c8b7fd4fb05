package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/workspace"
)

// asked is a model that looks at the trees when it is asked.
type asked struct {
	model.Model
	look func()
}

func (a asked) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Response, error) {
	a.look()
	return &model.Response{}, nil
}

// A model is asked before the agent's trees are laid out, which begins then; no tool runs
// before they are there, and none where they cannot be had.
func TestTreesWhileModelThinks(t *testing.T) {
	t.Parallel()
	c := newCrowd(t)
	dir, err := rundir.Create(t.TempDir(), rundir.Identity{Run: "run1"}, rundir.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	later := func(name string) *workspace.Tree {
		tree, err := c.m.WorktreeLater(t.Context(), filepath.Join(c.dir, "worktrees", "run", name), c.head.Commit)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tree.Close() })
		return tree
	}
	w := &work{dir: dir, layout: rundir.NewLayout(c.dir, c.dir, "run1"), sides: &reproduce.Sides{Head: later("h"), Base: later("b"), Now: time.Now}}
	own, err := w.sides.Head.CopyLater(t.Context(), filepath.Join(c.dir, "worktrees", "run", "agent"))
	if err != nil {
		t.Fatal(err)
	}
	ws := &Workspace{Tree: own}
	there := func(tree *workspace.Tree) bool {
		_, err := os.Stat(filepath.Join(tree.Dir, "f0"))
		return err == nil
	}
	if there(w.sides.Head) || there(own) {
		t.Fatal("laid out before the first question")
	}
	question := false
	m := &beside{asked{look: func() { question = true }}, w.trees(ws)}
	if _, err := m.Generate(t.Context(), &model.Request{}, nil); err != nil || !question {
		t.Fatalf("asked %t, %v", question, err)
	}
	ran := false
	read := tool.Tool{Name: "read", Run: func(context.Context, json.RawMessage) (tool.Result, error) {
		if ran = true; !there(own) || !there(w.sides.Head) || !there(w.sides.Base) {
			t.Error("a tool ran before the trees were there")
		}
		return tool.Result{}, nil
	}}
	if _, err := w.guarded(ws, []tool.Tool{read})[0].Run(t.Context(), nil); err != nil || !ran {
		t.Errorf("ran %t, %v", ran, err)
	}

	gone := later("gone")
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	ran = false
	_, err = w.guarded(&Workspace{Tree: gone}, []tool.Tool{read})[0].Run(t.Context(), nil)
	if isolated := (*agent.IsolationError)(nil); !errors.As(err, &isolated) || ran {
		t.Errorf("without its tree: ran %t, %v", ran, err)
	}
}

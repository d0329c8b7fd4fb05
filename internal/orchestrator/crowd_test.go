package orchestrator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/model/script"
	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// Eight agents at once, three of them running, on one repository: each has a
// worktree of its own with a clean git, what each did stands in its transcript and
// in no other's, and git never stumbles over a lock.
func TestEightAtOnce(t *testing.T) {
	variants.Only(t) // eight runs at once
	t.Parallel()
	repeats := 50
	if testing.Short() {
		repeats = 5
	}
	c := newCrowd(t)
	for i := range repeats {
		c.repeat(t, i)
		if t.Failed() {
			t.Fatalf("in repeat %d", i)
		}
	}
	out, err := c.m.Git(t.Context(), "worktree", "list", "--porcelain")
	if n := strings.Count(string(out), "worktree "); err != nil || n != 2 { // the mirror and the prepared head
		t.Errorf("the mirror knows %d worktrees, %v:\n%s", n, err, out)
	}
}

// A crowd is a repository with a prepared head, from which agents get their trees.
type crowd struct {
	m    *workspace.Mirror
	head *workspace.Tree
	dir  string
	ask  *script.Model
	log  bytes.Buffer

	mu      sync.Mutex
	working int
	most    int
	trees   map[string]string // agent's id by its folder
	events  []agent.Event
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{dir: t.TempDir()}
	g, err := git.New("git", []string{"PATH=" + os.Getenv("PATH")}, slog.New(slog.NewTextHandler(&lockedWriter{to: &c.log}, nil)))
	if err != nil {
		t.Skipf("git: %v", err)
	}
	g.Temp = t.TempDir()
	repo := t.TempDir()
	gitIn(t, repo, "init", "-q")
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(repo, fmt.Sprintf("f%d", i)), []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	gitIn(t, repo, "add", "-A")
	gitIn(t, repo, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "first")
	r, err := repository.Discover(t.Context(), g, repo)
	if err != nil {
		t.Fatal(err)
	}
	oid, err := r.Resolve(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if c.m, err = workspace.OpenMirror(t.Context(), g, filepath.Join(c.dir, "mirror.git"), r.Format); err != nil {
		t.Fatal(err)
	}
	if err := c.m.Import(t.Context(), r, oid); err != nil {
		t.Fatal(err)
	}
	if c.head, err = c.m.Worktree(t.Context(), filepath.Join(c.dir, "worktrees", "run", "head"), oid); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.head.Close() })
	if c.ask, err = script.Parse([]byte("-- model --\n> run_bash {\"command\": \"look\"}\n---\n> run_bash {\"command\": \"write\"}\n---\nDone: {{output 2}}\n")); err != nil {
		t.Fatal(err)
	}
	return c
}

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
}

// provision gives an agent its tree and one command, which git has a part in.
func (c *crowd) provision(i int) func(context.Context, agent.Spec, agent.Record) (*agent.Environment, error) {
	return func(ctx context.Context, _ agent.Spec, rec agent.Record) (*agent.Environment, error) {
		c.mu.Lock() // before the copy is made, which takes long enough for one too many to be seen
		c.working++
		c.most = max(c.most, c.working)
		c.mu.Unlock()
		tree, err := c.head.Copy(ctx, filepath.Join(c.dir, "worktrees", "run", fmt.Sprintf("%d-%s", i, rec.ID)))
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.trees[tree.Dir] = rec.ID
		n := 0
		bash := tool.Tool{
			Name: "run_bash", Description: "runs", Class: tool.Exec, Schema: json.RawMessage(`{"type":"object"}`),
			Run: func(ctx context.Context, _ json.RawMessage) (tool.Result, error) {
				n++
				text, err := command(ctx, tree, rec.ID)
				id := fmt.Sprintf("E%d", n)
				return tool.Result{Text: fmt.Sprintf("[%s] exit=0 duration=0.1s\n--- stdout ---\n%s\n", id, text), Evidence: []string{id}}, err
			},
		}
		return &agent.Environment{
			Config: agent.Config{System: "You work.", Model: c.ask, Tools: []tool.Tool{bash}}, Isolation: "worktree",
			Close: func(context.Context) error {
				c.mu.Lock()
				c.working--
				c.mu.Unlock()
				return tree.Close()
			},
		}, nil
	}
}

// command is what a command of an agent does: it leaves a mark that no other agent's
// tree may have, and lets git write to the index.
func command(ctx context.Context, tree *workspace.Tree, id string) (string, error) {
	marks, err := filepath.Glob(filepath.Join(tree.Dir, "mark-*"))
	if err != nil || len(marks) > 1 || len(marks) == 1 && filepath.Base(marks[0]) != "mark-"+id {
		return "", fmt.Errorf("marks %q, %w", marks, err)
	}
	if err := os.WriteFile(filepath.Join(tree.Dir, "mark-"+id), nil, 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "git", "status", "--porcelain")
	cmd.Dir = tree.Dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "?? mark-"+id+"\n" {
		return "", fmt.Errorf("git status: %q, %w", out, err)
	}
	moved, err := tree.Moved(ctx)
	if err != nil || len(moved) > 0 {
		return "", fmt.Errorf("moved %q, %w", moved, err)
	}
	changed, err := tree.Restore(ctx)
	if err != nil || len(changed) > 0 {
		return "", fmt.Errorf("changed %q, %w", changed, err)
	}
	return "mark of " + id, nil
}

func (c *crowd) repeat(t *testing.T, i int) {
	t.Helper()
	c.trees, c.events, c.most = map[string]string{}, nil, 0
	r := &agent.Runner{
		RunID: fmt.Sprintf("run-%d", i), Specs: []agent.Spec{{Name: "worker", MaxIterations: 5}}, Provision: c.provision(i),
		Emit: func(e agent.Event) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.events = append(c.events, e)
			return nil
		},
		Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}
	const agents = 8
	for n := range agents {
		if _, err := r.Start(t.Context(), agent.Order{Agent: "worker", Prompt: fmt.Sprint("part ", n), Background: true}); err != nil {
			t.Fatal(err)
		}
	}
	r.Drain()
	all := r.List()
	if len(all) != agents || len(c.trees) != agents || c.most != 3 || c.working != 0 {
		t.Errorf("%d tasks in %d trees, %d at a time, %d left", len(all), len(c.trees), c.most, c.working)
	}
	for _, rec := range all {
		if rec.Result.Outcome != agent.Completed {
			t.Errorf("%s: %+v", rec.ID, rec.Result)
		}
		page := agent.Markdown(c.events, rec.ID)
		if strings.Count(page, "mark of ") != strings.Count(page, "mark of "+rec.ID) || strings.Count(page, "mark of "+rec.ID) < 2 || !strings.Contains(page, rec.Prompt) {
			t.Errorf("the transcript of %s is not its own:\n%s", rec.ID, page)
		}
	}
	if strings.Contains(c.log.String(), "lock") {
		t.Errorf("git: %s", c.log.String())
	}
	if left, err := filepath.Glob(filepath.Join(c.dir, "worktrees", "run", "*")); err != nil || len(left) != 2 { // the lock and the prepared head
		t.Errorf("left: %q, %v", left, err)
	}
}

// A lockedWriter is written to by several goroutines.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

package workspace

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// Crash left-overs are swept, a live run's folder and a young one are kept.
func TestAcceptance23Sweep(t *testing.T) {
	t.Parallel()
	_, m, head := imported(t, newRepo(t))
	home := filepath.Dir(filepath.Dir(filepath.Dir(m.Dir)))
	crashed := must[*Tree](t)(m.Worktree(t.Context(), filepath.Join(runDir(m, "crashed"), "a"), head))
	write(t, crashed.Dir, map[string]string{"ro/x": "x"})
	if err := os.Chmod(filepath.Join(crashed.Dir, "ro"), 0); err != nil {
		t.Fatal(err)
	}
	crashed.lock.Release() // as the end of the process would
	live := worktree(t, m, "live", head)
	idle := must[*Lock](t)(LockRun(t.Context(), runDir(m, "idle"))) // between two trees
	defer idle.Release()
	if err := os.MkdirAll(runDir(m, "never locked"), 0o700); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)

	now := time.Now()
	s := must[Swept](t)(Sweep(t.Context(), home, time.Hour, now, log))
	if d := cmp.Diff(Swept{Young: 4}, s); d != "" {
		t.Errorf("at once (-want +got)\n%s", d)
	}
	s = must[Swept](t)(Sweep(t.Context(), home, time.Hour, now.Add(2*time.Hour), log))
	if d := cmp.Diff(Swept{Runs: 2, Live: 2}, s); d != "" {
		t.Errorf("later (-want +got)\n%s", d)
	}
	if got := must[[]string](t)(live.Changed(t.Context())); len(got) > 0 {
		t.Errorf("the live tree was harmed: %q", got)
	}
	var left []string
	for _, e := range must[[]os.DirEntry](t)(os.ReadDir(filepath.Dir(runDir(m, "x")))) {
		left = append(left, e.Name())
	}
	if d := cmp.Diff([]string{"idle", "run1"}, left); d != "" {
		t.Errorf("runs left: %s", d)
	}
	if s := must[Swept](t)(Sweep(t.Context(), t.TempDir(), 0, now, log)); s != (Swept{}) {
		t.Errorf("an empty home: %+v", s)
	}
}

// Old commits are let go, but for the newest, which the next import builds on.
func TestSweepPins(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	r, m, head := imported(t, dir)
	base := user(t, dir, "rev-parse", "main")
	if err := m.Import(t.Context(), r, base); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(m.path(pinsDir+"/"+base), old, old); err != nil {
		t.Fatal(err)
	}
	home := filepath.Dir(filepath.Dir(filepath.Dir(m.Dir)))
	log := slog.New(slog.DiscardHandler)
	for _, at := range []time.Time{time.Now(), time.Now().Add(72 * time.Hour)} {
		must[Swept](t)(Sweep(t.Context(), home, 24*time.Hour, at, log))
		if d := cmp.Diff([]string{head}, m.pins()); d != "" {
			t.Error(d)
		}
	}
	if err := m.Import(t.Context(), r, base); err != nil {
		t.Fatal(err)
	}
	show(t, m, filepath.Join(runDir(m, "run2"), "history"), base)
	worktree(t, m, "t", base)
}

// Many at once open one mirror that does not exist yet, import, and check out.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	g := newGit(t)
	r := must[*repository.Repository](t)(repository.Discover(t.Context(), g, dir))
	path := filepath.Join(t.TempDir(), "projects", "p", "mirror.git")
	revs := []string{"HEAD", "HEAD~1", "HEAD~2"}
	var wg sync.WaitGroup
	for i := range 9 {
		wg.Go(func() {
			err := func() error {
				m, err := OpenMirror(t.Context(), g, path, r.Format)
				if err != nil {
					return err
				}
				oid, err := r.Resolve(t.Context(), revs[i%len(revs)])
				if err != nil {
					return err
				}
				if err := m.Import(t.Context(), r, oid); err != nil {
					return err
				}
				tree, err := m.Worktree(t.Context(), filepath.Join(runDir(m, fmt.Sprint(i%2)), fmt.Sprint("same", i)), oid)
				if err != nil {
					return err
				}
				c, err := tree.Copy(t.Context(), tree.Dir+"-copy")
				if err != nil {
					return err
				}
				if changed, err := c.Changed(t.Context()); err != nil || len(changed) > 0 {
					return fmt.Errorf("changed: %q, %w", changed, err)
				}
				if err := c.Close(); err != nil {
					return err
				}
				return tree.Close()
			}()
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	user(t, "/", "--git-dir="+path, "fsck", "--strict")
}

// While someone alters the mirror, others wait, as long as they may.
func TestMirrorLock(t *testing.T) {
	t.Parallel()
	dir := newRepo(t)
	r, m, head := imported(t, dir)
	lock := must[*Lock](t)(m.lock(t.Context()))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := m.Import(ctx, r, head); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Import beside another: %v", err)
	}
	lock.Release()
	if err := m.Import(t.Context(), r, head); err != nil {
		t.Error(err)
	}
}

// helperEnv makes this test program open and import, as another process.
const helperEnv = "YCBOT_TEST_IMPORT"

func TestTwoProcesses(t *testing.T) {
	if spec := os.Getenv(helperEnv); spec != "" {
		dir, path, _ := strings.Cut(spec, "|")
		g := newGit(t)
		r := must[*repository.Repository](t)(repository.Discover(t.Context(), g, dir))
		m := must[*Mirror](t)(OpenMirror(t.Context(), g, path, r.Format))
		if err := m.Import(t.Context(), r, must[string](t)(r.Resolve(t.Context(), "HEAD"))); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Parallel()
	dir := newRepo(t)
	path := filepath.Join(t.TempDir(), "p", "mirror.git")
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestTwoProcesses$")
			cmd.Env = append(os.Environ(), helperEnv+"="+dir+"|"+path)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	user(t, "/", "--git-dir="+path, "fsck", "--strict")
}

// A mirror that is used for long does not pile up packs.
func TestTidy(t *testing.T) {
	variants.Only(t) // many worktrees; TestSweepPins has what is kept
	t.Parallel()
	for what, bring := range map[string]func(m *Mirror, r *repository.Repository, head string) error{
		"import": func(m *Mirror, r *repository.Repository, head string) error { return m.Import(t.Context(), r, head) },
		"fetch": func(m *Mirror, r *repository.Repository, head string) error {
			return m.Fetch(t.Context(), git.Remote{URL: "file://" + r.Root}, head)
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := newRepo(t)
			r, m, _ := imported(t, dir)
			var head string
			for i := range maxPacks + 2 {
				write(t, dir, map[string]string{"README": fmt.Sprint(i)})
				head = commit(t, dir, fmt.Sprint(i))
				if err := bring(m, r, head); err != nil {
					t.Fatal(err)
				}
			}
			packs, _ := filepath.Glob(m.path("objects/pack/*.pack"))
			loose, _ := filepath.Glob(m.path("objects/??/*"))
			if len(packs) > maxPacks || len(loose) > 0 {
				t.Errorf("%d packs, %d loose objects", len(packs), len(loose))
			}
			user(t, "/", "--git-dir="+m.Dir, "fsck", "--strict")
			worktree(t, m, "t", head)
		})
	}
}

package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/workspace"
)

// reproduce runs the command of a failing check again, in fresh copies of both
// prepared snapshots and with the agent's scratch files, and tells what that shows.
func (h *host) reproduce(ctx context.Context, res agent.Result, c report.AgentCheck, a evidence.Audited) (report.Reproduction, error) {
	st, err := h.seatOf(ctx, res)
	if err != nil || st.tree == nil || len(a.Records) == 0 {
		return report.NotRun, err
	}
	first, ok := h.log.Record(a.Records[len(a.Records)-1])
	if !ok || !first.Executed {
		return report.NotRun, nil
	}
	head, err := h.again(ctx, st, first, h.head, rerunHead)
	if err != nil {
		return report.NotRun, err
	}
	return h.classify(c, first, head, func() (evidence.Record, error) { return h.again(ctx, st, first, h.base, rerunBase) })
}

// classify tells what a failing check is that was run again on the head, and
// where it failed there on the base.
func (h *host) classify(c report.AgentCheck, first, head evidence.Record, onBase func() (evidence.Record, error)) (report.Reproduction, error) {
	if !h.alike(first, head) || h.lacks(head, first, nil) {
		return report.NotReproduced, nil
	}
	base, err := onBase()
	switch {
	case err != nil:
		return report.NotRun, err
	case h.lacks(base, head, added(h.src.Change.Files)):
		return report.HeadOnly, nil
	case !h.alike(first, base):
		return report.Introduced, nil
	case h.promised(c):
		return report.Unfulfilled, nil
	default:
		return report.PreExisting, nil
	}
}

// seatOf is what an agent worked with. One that had ended before the run was
// continued gets it again.
func (h *host) seatOf(ctx context.Context, res agent.Result) (*seat, error) {
	if st := h.seat(res.ID); st != nil {
		return st, nil
	}
	spec, _ := h.runner.Find(res.Agent)
	again, err := h.provision(ctx, spec, agent.Record{ID: res.ID})
	if err != nil {
		return nil, err
	}
	return h.seat(res.ID), again.Close(ctx)
}

func (h *host) seat(id string) *seat {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seats[id]
}

// The name under which commands that the host runs again stand in the log, and
// what for. They are stored: do not change them.
const (
	hostAgent = "host"
	rerunHead = "rerun/head"
	rerunBase = "rerun/base"
)

// again runs a recorded command in a fresh copy of a prepared snapshot. The copy
// lies where the agent's tree is named in the command, as far as that is text.
func (h *host) again(ctx context.Context, st *seat, r evidence.Record, of *workspace.Tree, task string) (evidence.Record, error) {
	dir := filepath.Join(h.trees, "again", fmt.Sprintf("%s-%s", r.ID, filepath.Base(task)))
	tree, err := h.pool.Copy(ctx, of, dir)
	if err != nil {
		return evidence.Record{}, err
	}
	defer h.pool.Put(tree, of)
	if err := copyProbes(st.tree.Dir, h.head.Dir, tree.Dir); err != nil {
		return evidence.Record{}, err
	}
	home, temp := dir+"-home", filepath.Join(h.temps(), r.ID+filepath.Base(task))
	defer os.RemoveAll(temp)
	if err := errors.Join(os.RemoveAll(temp), copyScratch(st.temp, temp)); err != nil {
		return evidence.Record{}, err
	}
	moved := strings.NewReplacer(st.tree.Dir, tree.Dir, st.home, home, st.temp, temp).Replace(r.Command)
	x := evidence.Execution{Agent: hostAgent, Task: task, Command: moved, Root: tree.Dir, Cwd: r.Cwd, Tree: tree.OID} // what ran is what the log says
	if x.Run, err = h.template(ctx, tree, home, temp); err != nil {
		return evidence.Record{}, err
	}
	x.Run.Argv = []string{"bash", "--noprofile", "--norc", "-o", "pipefail", "-c", moved}
	x.Run.Timeout = rerunTime
	rec, _, err := h.log.Run(ctx, h.Sandbox, x)
	return rec, err
}

// first8 is a short name for a longer one.
func first8(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:4])
}

// rerunShare is the part of the run's time that is left in which checks may be
// run again: a fourth.
const rerunShare = 4

// rerunTime is how long a command may take when it is run again.
const rerunTime = 5 * time.Minute

// Bounds for files that an agent added to its tree and that travel with a check.
const (
	maxProbes    = 200
	maxProbeSize = 1 << 20
)

// copyProbes copies what an agent added to its tree, such as a test beside the
// code: small regular files that the prepared head does not have. What is there
// already in to stays.
func copyProbes(from, prepared, to string) error {
	var roots [3]*os.Root
	for i, dir := range []string{from, prepared, to} {
		r, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		defer r.Close()
		roots[i] = r
	}
	left := maxProbes
	return fs.WalkDir(roots[0].FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == ".git" || left == 0 {
			return skipped(d)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		if _, err := roots[1].Lstat(name); err == nil {
			return nil
		}
		info, err := d.Info()
		if err != nil || info.Size() > maxProbeSize {
			return nil //nolint:nilerr // what cannot be read or is no probe stays behind
		}
		data, err := roots[0].ReadFile(name)
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		left--
		if err := roots[2].MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return nil //nolint:nilerr // base has a file where the agent has a folder
		}
		f, err := roots[2].OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
		if err != nil {
			return nil //nolint:nilerr // it is there already
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Close())
	})
}

// skipped leaves a folder out of a walk.
func skipped(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// copyScratch copies an agent's scratch files, so that one run of a check does
// not see what another one wrote. Links and special files stay behind.
func copyScratch(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what its owner made unreadable cannot travel
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := root.ReadFile(name)
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		return os.WriteFile(filepath.Join(to, name), data, info.Mode().Perm()|0o600)
	})
}

// alike says whether two runs of a command came to the same: both failed, or
// both printed the same.
func (h *host) alike(a, b evidence.Record) bool {
	if a.TimedOut || b.TimedOut {
		return a.TimedOut == b.TimedOut
	}
	if a.Exit != 0 {
		return b.Exit != 0
	}
	return b.Exit == 0 && h.printed(a) == h.printed(b)
}

func (h *host) printed(r evidence.Record) string {
	out, err := evidence.ReadOutput(h.dir, r.Stdout)
	if err != nil {
		return r.Stdout.SHA256
	}
	return comparable(string(out))
}

// promised says whether a check quotes a sentence of the task, so that what
// fails on both sides is what the change was to mend.
func (h *host) promised(c report.AgentCheck) bool {
	task := fold(h.src.Change.Task)
	for _, k := range h.src.Commits {
		task += " " + fold(k.Subject+" "+k.Body)
	}
	text := fold(c.Expected + " " + c.Remark + " " + c.Title)
	for _, q := range quotedText.FindAllStringSubmatch(text, -1) {
		if quote := strings.TrimRight(strings.TrimSpace(q[1]+q[2]), ".,;:!?…"); len(strings.Fields(quote)) >= 3 && strings.Contains(task, quote) {
			return true
		}
	}
	return false
}

var quotedText = pattern.New("\"([^\"]+)\"|“([^”]+)”")

// fold makes a text comparable: one case, single spaces.
func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

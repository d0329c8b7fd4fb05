package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// Why two commits have no merge base.
var (
	ErrNoCommonHistory = errors.New("no common history")
	ErrShallow         = errors.New("history is cut off")
)

// A Commit is what a commit object says. All its text is the author's.
type Commit struct {
	OID     string
	Tree    string
	Parents []string
	Author  string
	Email   string
	Date    time.Time // the author's
	Subject string
	Body    string
}

// MergeBase returns the best common ancestor of two commits.
func (m *Mirror) MergeBase(ctx context.Context, a, b string) (string, error) {
	if err := objects.CheckIDs(a, b); err != nil {
		return "", err
	}
	if _, err := os.Lstat(m.path("shallow")); err != nil { // else parents may be there that the history does not have
		if found, ok := m.objects.LeadsTo(b, a); ok && found {
			return a, nil
		}
	}
	oid, err := m.git.Line(ctx, git.Call{GitDir: m.Dir, Args: []string{"merge-base", a, b}})
	switch {
	case err == nil:
		return oid, nil
	case git.ExitCode(err) != 1:
		return "", fmt.Errorf("merge base of %s and %s: %w", change.Short(a), change.Short(b), err)
	case len(git.Shallow(m.Dir)) > 0:
		return "", fmt.Errorf("merge base of %s and %s: %w: the clone is shallow; git fetch --unshallow (in Actions: fetch-depth: 0) brings the rest",
			change.Short(a), change.Short(b), ErrShallow)
	}
	return "", fmt.Errorf("merge base of %s and %s: %w: name a base that the change started from, --base REF", change.Short(a), change.Short(b), ErrNoCommonHistory)
}

// Diff returns what differs from a to b, with renames found.
func (m *Mirror) Diff(ctx context.Context, a, b string) ([]change.File, error) {
	if err := m.needBetween(ctx, a, b); err != nil {
		return nil, fmt.Errorf("diff: %w", err)
	}
	out, err := m.run(ctx, "diff-tree", "-r", "-z", "--raw", "--numstat", "-M", "--no-abbrev", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", a, b)
	if err != nil {
		return nil, fmt.Errorf("diff %s %s: %w", change.Short(a), change.Short(b), err)
	}
	files, err := git.ParseDiff(out)
	if err != nil {
		return nil, fmt.Errorf("diff %s %s: %w", change.Short(a), change.Short(b), err)
	}
	return files, nil
}

// Patch returns the difference as text, of some paths only when any are named.
// A patch of more than limit bytes is cut at the end of a line and returned
// together with ErrTooLarge.
func (m *Mirror) Patch(ctx context.Context, a, b string, limit int64, paths ...string) ([]byte, error) {
	if err := m.needBetween(ctx, a, b); err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	args := []string{"diff-tree", "-r", "-p", "-M", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--submodule=short", a, b, "--"}
	out, err := m.git.Run(ctx, git.Call{GitDir: m.Dir, Max: max(limit, 1), Args: append(args, paths...)})
	if errors.Is(err, git.ErrTooLarge) {
		out = out[:strings.LastIndexByte(string(out), '\n')+1]
	}
	if err != nil {
		return out, fmt.Errorf("patch %s %s: %w", change.Short(a), change.Short(b), err)
	}
	return out, nil
}

// commitFormat holds the fields of Commit, each ended by NUL.
const commitFormat = "--format=%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%s%x00%b%x00"

// Describe returns what a commit says.
func (m *Mirror) Describe(ctx context.Context, commit string) (Commit, error) {
	if err := objects.CheckIDs(commit); err != nil {
		return Commit{}, err
	}
	commits, err := m.log(ctx, "-1", commit)
	if err == nil && len(commits) != 1 {
		err = fs.ErrNotExist
	}
	if err != nil {
		return Commit{}, fmt.Errorf("describe %s: %w", change.Short(commit), err)
	}
	return commits[0], nil
}

// Log returns the commits that head has and base has not, newest first, at most
// limit of them.
func (m *Mirror) Log(ctx context.Context, base, head string, limit int) ([]Commit, error) {
	if err := objects.CheckIDs(base, head); err != nil {
		return nil, err
	}
	commits, err := m.log(ctx, "--max-count="+strconv.Itoa(limit), base+".."+head)
	if err != nil {
		return nil, fmt.Errorf("log %s..%s: %w", change.Short(base), change.Short(head), err)
	}
	return commits, nil
}

func (m *Mirror) log(ctx context.Context, args ...string) ([]Commit, error) {
	out, err := m.run(ctx, append([]string{"log", "-z", "--no-color", "--no-show-signature", "--no-notes", "--no-mailmap", commitFormat}, args...)...)
	if err != nil {
		return nil, err
	}
	const fields = 8
	parts := strings.Split(string(out), "\x00")
	var commits []Commit
	for len(parts) > fields {
		p := parts[:fields]
		seconds, _ := strconv.ParseInt(p[5], 10, 64)
		commits = append(commits, Commit{
			OID: p[0], Tree: p[1], Parents: strings.Fields(p[2]), Author: p[3], Email: p[4],
			Date: time.Unix(seconds, 0).UTC(), Subject: p[6], Body: strings.TrimRight(p[7], "\n"),
		})
		parts = parts[fields:]
		if parts[0] == "" { // -z ends each record with one more
			parts = parts[1:]
		}
	}
	return commits, nil
}

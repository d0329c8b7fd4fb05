package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/pattern"
)

// node is what a commit leads to.
type node struct {
	tree    string
	parents []string
}

// commit reads a commit object, as far as what it leads to.
func (o *objectStore) commit(name string) (node, error) {
	work := int64(maxWork)
	c, err := o.read(name, &work)
	if err != nil {
		return node{}, err
	}
	if c.kind != plumbing.CommitObject {
		return node{}, fmt.Errorf("%w: %s is a %s", errAskGit, name, c.kind)
	}
	var n node
	for line := range strings.Lines(string(c.data)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case n.tree == "" && key == "tree" && hexOID.MatchString(value):
			n.tree = value
		case n.tree != "" && key == "parent" && hexOID.MatchString(value):
			n.parents = append(n.parents, value)
		case n.tree != "" && key == "author":
			return n, nil
		default:
			return node{}, fmt.Errorf("%w: commit %s: its head is %.80q", errAskGit, name, line)
		}
	}
	return node{}, fmt.Errorf("%w: commit %s has no author", errAskGit, name)
}

// TreeOf is the tree object of a commit.
func (m *Mirror) TreeOf(ctx context.Context, commit string) (string, error) {
	if n, err := m.objects.commit(commit); err == nil {
		return n.tree, nil
	}
	oid, err := m.revParse(ctx, commit+"^{tree}")
	if err != nil {
		return "", fmt.Errorf("the mirror does not have %s: %w", change.Short(commit), fs.ErrNotExist)
	}
	return oid, nil
}

func (m *Mirror) revParse(ctx context.Context, rev string) (string, error) {
	return m.git.line(ctx, call{gitDir: m.Dir, args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", rev}})
}

var (
	revision = pattern.New(`^([0-9a-f]{4,64})((?:[~^][0-9]{0,4})*)$`)
	ancestor = pattern.New(`([~^])([0-9]*)`)
)

// maxSteps is how many commits a revision is followed back for in the process.
const maxSteps = 256

// Resolve returns the commit that a commit's id, which may be shortened, and a suffix of
// ~N and ^N name (gitrevisions(7)). The error wraps fs.ErrNotExist where there is none.
func (m *Mirror) Resolve(ctx context.Context, rev string) (string, error) {
	parts := revision.FindStringSubmatch(rev)
	if parts == nil {
		return "", fmt.Errorf("revision %q: %w", rev, fs.ErrInvalid)
	}
	if oid, ok := m.follow(parts[1], parts[2]); ok {
		return oid, nil
	}
	oid, err := m.revParse(ctx, rev+"^{commit}")
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("revision %q: %w", rev, fs.ErrNotExist)
	}
	return oid, nil
}

// follow goes from a commit to one before it; ok is false where git has to.
func (m *Mirror) follow(oid, suffix string) (_ string, ok bool) {
	if _, err := os.Lstat(m.path("shallow")); suffix != "" && err == nil {
		return "", false // parents may be there that the history does not have
	}
	return m.objects.follow(oid, suffix)
}

// follow is [Mirror.follow] where history is not cut off.
func (o *objectStore) follow(oid, suffix string) (_ string, ok bool) {
	n, err := o.commit(oid)
	steps := 0
	for _, step := range ancestor.FindAllStringSubmatch(suffix, -1) {
		count, nth := 1, 1
		if step[2] != "" {
			count, _ = strconv.Atoi(step[2])
		}
		if step[1] == "^" {
			count, nth = min(count, 1), count
		}
		for ; count > 0 && err == nil; count-- {
			if steps++; steps > maxSteps || nth > len(n.parents) {
				return "", false
			}
			oid = n.parents[nth-1]
			n, err = o.commit(oid)
		}
	}
	return oid, err == nil
}

// leadsTo reports whether old is among the commits that commit builds on, the nearest
// first; ok is false where git has to say.
func (o *objectStore) leadsTo(commit, old string) (found, ok bool) {
	next, seen := []string{commit}, map[string]bool{commit: true}
	for i := 0; i < len(next); i++ {
		if next[i] == old {
			return true, true
		}
		n, err := o.commit(next[i])
		if err != nil || i == maxSteps {
			return false, false
		}
		for _, p := range n.parents {
			if !seen[p] {
				seen[p] = true
				next = append(next, p)
			}
		}
	}
	return false, true
}

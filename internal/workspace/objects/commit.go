package objects

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/ycbot/ycbot/internal/pattern"
)

// A Commit is what a commit leads to.
type Commit struct {
	Tree    string
	Parents []string
}

// Commit reads a commit object, as far as what it leads to.
func (o *Store) Commit(name string) (Commit, error) {
	work := int64(maxWork)
	c, err := o.read(name, &work)
	if err != nil {
		return Commit{}, err
	}
	if c.kind != plumbing.CommitObject {
		return Commit{}, fmt.Errorf("%w: %s is a %s", ErrAskGit, name, c.kind)
	}
	var n Commit
	for line := range strings.Lines(string(c.data)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case n.Tree == "" && key == "tree" && IsID(value):
			n.Tree = value
		case n.Tree != "" && key == "parent" && IsID(value):
			n.Parents = append(n.Parents, value)
		case n.Tree != "" && key == "author":
			return n, nil
		default:
			return Commit{}, fmt.Errorf("%w: commit %s: its head is %.80q", ErrAskGit, name, line)
		}
	}
	return Commit{}, fmt.Errorf("%w: commit %s has no author", ErrAskGit, name)
}

var ancestor = pattern.New(`([~^])([0-9]*)`)

// maxSteps is how many commits a revision is followed back for in the process.
const maxSteps = 256

// Follow goes from a commit to the one before it that a suffix of ~N and ^N names
// (gitrevisions(7)), where history is not cut off; ok is false where git has to.
func (o *Store) Follow(oid, suffix string) (_ string, ok bool) {
	n, err := o.Commit(oid)
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
			if steps++; steps > maxSteps || nth > len(n.Parents) {
				return "", false
			}
			oid = n.Parents[nth-1]
			n, err = o.Commit(oid)
		}
	}
	return oid, err == nil
}

// LeadsTo reports whether old is among the commits that commit builds on, the nearest
// first; ok is false where git has to say.
func (o *Store) LeadsTo(commit, old string) (found, ok bool) {
	next, seen := []string{commit}, map[string]bool{commit: true}
	for i := 0; i < len(next); i++ {
		if next[i] == old {
			return true, true
		}
		n, err := o.Commit(next[i])
		if err != nil || i == maxSteps {
			return false, false
		}
		for _, p := range n.Parents {
			if !seen[p] {
				seen[p] = true
				next = append(next, p)
			}
		}
	}
	return false, true
}

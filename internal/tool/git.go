package tool

import (
	"context"
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/pattern"
)

// What one answer of a git tool holds at most.
const (
	gitBytes   = 64 << 10
	gitCommits = 50
	blameLines = 500
)

// A Repo is the harness's own mirror as agents may read it. Every call has fixed
// arguments; nothing that a model writes is taken for an option.
type Repo struct {
	// Git runs one git command on the mirror with a hardened configuration and
	// literal pathspecs, and returns its standard output.
	Git func(ctx context.Context, args ...string) ([]byte, error)
	// Resolve returns the full id of the commit that an id with a suffix of ~N and ^N
	// names, and ReadFile a file's content at a commit.
	Resolve  func(ctx context.Context, rev string) (string, error)
	ReadFile func(ctx context.Context, commit, path string) ([]byte, error)

	Head, Base, MergeBase string // full commit ids
}

var revision = pattern.New(`^(head|base|merge_base|merge-base|HEAD|[0-9a-fA-F]{4,64})((?:[~^][0-9]{0,4})*)$`)

// commit resolves what a model names to a full commit id.
func (r Repo) commit(ctx context.Context, rev string) (string, error) {
	m := revision.FindStringSubmatch(rev)
	if m == nil {
		return "", Badf("revision %s: it is head, base, merge_base or a commit id, with ~N or ^N behind it", show(rev))
	}
	name := m[1]
	switch name {
	case "head", "HEAD":
		name = r.Head
	case "base":
		name = r.Base
	case "merge_base", "merge-base":
		name = r.MergeBase
	}
	oid, err := r.Resolve(ctx, strings.ToLower(name)+m[2])
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", Badf("revision %s is not known here", show(rev))
	}
	return oid, nil
}

// orDefault resolves a revision that may be left out.
func (r Repo) orDefault(ctx context.Context, rev, otherwise string) (string, error) {
	if rev == "" {
		return otherwise, nil
	}
	return r.commit(ctx, rev)
}

// repoPath checks a path inside a commit.
func repoPath(p string) (string, error) {
	clean := strings.TrimPrefix(p, "./")
	switch {
	case clean == "", strings.HasPrefix(clean, "/"), strings.ContainsAny(clean, "\x00"):
		return "", Badf("path %s: it is relative to the root of the project", show(p))
	}
	for elem := range strings.SplitSeq(strings.TrimSuffix(clean, "/"), "/") {
		if elem == ".." || elem == "" || elem == "." {
			return "", Badf("path %s: it may not have %q in it", show(p), elem)
		}
	}
	if why := Private(clean); why != "" {
		return "", Badf("%s is not read: %s", show(p), why)
	}
	return clean, nil
}

// run runs git and words its answer for the model. What git refuses is the
// model's mistake; that git cannot be run is not.
func (r Repo) run(ctx context.Context, what string, args ...string) (Result, error) {
	out, err := r.Git(ctx, args...)
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	if err != nil && len(out) == 0 {
		return Result{}, Badf("%s: %s", what, clip(err.Error(), 400))
	}
	return Result{Text: gitText(string(out))}, nil
}

// gitText cuts an answer at the end of a line.
func gitText(s string) string {
	if s == "" {
		return "[nothing]\n"
	}
	left := 0
	if len(s) > gitBytes {
		cut := strings.LastIndexByte(s[:gitBytes], '\n') + 1
		if cut == 0 {
			cut = gitBytes
		}
		s, left = s[:cut], len(s)-cut
	}
	s = evidence.Visible(s)
	if left > 0 {
		s += fmt.Sprintf("[… %d bytes left out: ask for less at a time …]\n", left)
	}
	return s
}

// pair resolves the two ends of a comparison, by default those of the change.
func (r Repo) pair(ctx context.Context, from, to string) (string, string, error) {
	a, err := r.orDefault(ctx, from, r.MergeBase)
	if err != nil {
		return "", "", err
	}
	b, err := r.orDefault(ctx, to, r.Head)
	return a, b, err
}

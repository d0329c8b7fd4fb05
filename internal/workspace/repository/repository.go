// Package repository is the user's repository, which never changes.
//
// Git runs inside it for four questions only: where it is, what its settings say, which
// refs there are, what HEAD is. All else goes through a [View]: a short-lived git directory
// of ours with a configuration of ours, which borrows the user's object store by
// alternates and, for what is not committed, works on a copy of the user's index. So no
// hook, filter, helper or monitor that the user's configuration names can be run, and a
// partial clone fetches nothing by itself.
package repository

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// ErrNotRepository means that a folder lies in no git work tree.
var ErrNotRepository = errors.New("not in a git repository")

// A Repository is the user's. It is read, never written.
type Repository struct {
	Root      string     // top folder of the work tree
	GitDir    string     // its own git directory; of a linked worktree, the one inside CommonDir
	CommonDir string     // where objects and configuration are
	Name      string     // "owner/name" from the URL of origin when it looks like one, else Root's last element
	Host      string     // of that URL, without a port; "" where Name is not from it
	Format    string     // object format, "sha1" or "sha256"
	Shallow   bool       // history is cut off
	Partial   bool       // objects are missing that its remote is to supply when asked
	Remote    git.Remote // where a partial clone gets what it lacks

	git     *git.Git
	objects *objects.Store
	refs    refList
	crlf    string // core.autocrlf, as set
	sparse  bool   // core.sparseCheckout
	nomode  bool   // core.fileMode is false
}

// Discover finds the repository that dir lies in. Its refs are those of when it is first
// asked for one: what moves later is seen by who finds it again.
func Discover(ctx context.Context, g *git.Git, dir string) (*Repository, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(abs); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotRepository, err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%w: %s is a file: name a folder", ErrNotRepository, abs)
	}
	r := &Repository{git: g}
	questions := []string{"--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--show-object-format"}
	answers, err := revParse(ctx, g, abs, questions)
	if err != nil {
		return nil, notRepository(ctx, abs, err)
	}
	r.Root, r.GitDir, r.CommonDir, r.Format = answers[0], answers[1], answers[2], answers[3]
	if r.Root == "" {
		return nil, notRepository(ctx, abs, errors.New("must be run in a work tree"))
	}
	shallow, err := os.Stat(filepath.Join(r.CommonDir, "shallow"))
	r.Shallow = err == nil && shallow.Size() > 0
	r.objects = objects.New(r.CommonDir, r.Format)
	return r, r.settings(ctx)
}

// revParse asks git about the repository that dir lies in. A folder's name may hold
// newlines: where the answers cannot be distinguished, each question is asked by itself.
func revParse(ctx context.Context, g *git.Git, dir string, questions []string) ([]string, error) {
	ask := func(args ...string) (string, error) {
		return g.Line(ctx, git.Call{Dir: dir, Args: append([]string{"rev-parse", "--path-format=absolute"}, args...)})
	}
	all, err := ask(questions...)
	if err != nil {
		return nil, err
	}
	if lines := strings.Split(all, "\n"); len(lines) == len(questions) {
		return lines, nil
	}
	var answers []string
	for _, q := range questions {
		one, err := ask(q)
		if err != nil {
			return nil, err
		}
		answers = append(answers, one)
	}
	return answers, nil
}

// notRepository explains why git found nothing at dir.
func notRepository(ctx context.Context, dir string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	text := err.Error()
	switch {
	case strings.Contains(text, "not a git repository"):
		return fmt.Errorf("%w: %s: change to a repository, name one with -C, or run git init and commit", ErrNotRepository, dir)
	case strings.Contains(text, "must be run in a work tree"), strings.Contains(text, "safe.bareRepository"):
		return fmt.Errorf("%w: %s has no work tree: clone it and run there", ErrNotRepository, dir)
	}
	return fmt.Errorf("%w: %s: %w", ErrNotRepository, dir, err)
}

// settings reads, as data, the few settings of the user's that matter here.
func (r *Repository) settings(ctx context.Context) error {
	out, err := r.git.Run(ctx, git.Call{GitDir: r.GitDir, Args: []string{
		"config", "-z", "--get-regexp",
		`^(remote\..*\.(url|promisor)|http\..*extraheader|extensions\.partialclone|core\.(autocrlf|sparsecheckout|filemode))$`,
	}})
	if err != nil && git.ExitCode(err) != 1 { // 1: none of them is set
		return fmt.Errorf("read settings of %s: %w", r.Root, err)
	}
	urls := map[string]string{}
	promisor := ""
	for rec := range strings.SplitSeq(string(out), "\x00") {
		key, value, hasValue := strings.Cut(rec, "\n")
		on := !hasValue || isTrue(value)
		switch {
		case strings.HasSuffix(key, ".extraheader"):
			r.Remote.Settings = append(r.Remote.Settings, key+"="+value)
		case key == "extensions.partialclone":
			promisor = value
		case key == "core.autocrlf":
			r.crlf = value
		case key == "core.sparsecheckout":
			r.sparse = on
		case key == "core.filemode":
			r.nomode = !on
		default:
			name, ok := strings.CutPrefix(key, "remote.")
			if !ok {
				continue
			}
			if n, ok := strings.CutSuffix(name, ".url"); ok && urls[n] == "" {
				urls[n] = value
			} else if n, ok := strings.CutSuffix(name, ".promisor"); ok && on && promisor == "" {
				promisor = n
			}
		}
	}
	r.Partial = promisor != ""
	r.Remote.URL = r.absoluteURL(urls[promisor])
	r.Name = filepath.Base(r.Root)
	if host, name, ok := nameFromURL(urls["origin"]); ok {
		r.Host, r.Name = host, name
	}
	return nil
}

func isTrue(s string) bool {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

// absoluteURL makes a relative path among a repository's remotes absolute.
func (r *Repository) absoluteURL(u string) string {
	if u == "" || strings.Contains(u, ":") || filepath.IsAbs(u) {
		return u
	}
	return filepath.Join(r.Root, u)
}

var (
	scpURL   = pattern.New(`^(?:[^/@]+@)?([^/:]+):([^:]*)$`)
	ownerSeg = pattern.New(`^[A-Za-z0-9_.-]+$`)
)

// nameFromURL returns the host and "owner/name" of a hosted repository's URL.
func nameFromURL(raw string) (host, name string, ok bool) {
	path := ""
	if strings.Contains(raw, "://") {
		u, err := url.Parse(raw)
		if err != nil || u.Host == "" || u.Scheme == "file" {
			return "", "", false
		}
		host, path = u.Hostname(), u.Path
	} else if m := scpURL.FindStringSubmatch(raw); m != nil {
		host, path = m[1], m[2]
	}
	owner, name, ok := strings.Cut(strings.TrimSuffix(strings.Trim(path, "/"), ".git"), "/")
	if !ok || !ownerSeg.MatchString(owner) || !ownerSeg.MatchString(name) {
		return "", "", false
	}
	return host, owner + "/" + name, true
}

package repository

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// ErrFirstCommit means that a commit has nothing before it that it could be compared with.
var ErrFirstCommit = errors.New("has nothing before it")

// A View is a git directory of ours onto the user's objects and refs. Its
// configuration is ours, so that git can be run in it without running anything
// that the user configured, and what a partial clone lacks is just missing.
type View struct {
	Dir  string
	head string            // full name of the branch that HEAD names; empty when detached
	Refs map[string]string // full name to object id
	syms map[string]string // symbolic refs: full name to full name
}

// A Ref is a commit and the name it was found by.
type Ref struct {
	Name string // as a person would say it: "origin/main", "HEAD~1"
	OID  string
}

// A refList is what git says of a repository's refs, from when it was first asked: all
// views of a Repository have the same ones.
type refList struct {
	mu    sync.Mutex
	asked bool
	text  []byte
}

func (r *Repository) listRefs(ctx context.Context) ([]byte, error) {
	r.refs.mu.Lock()
	defer r.refs.mu.Unlock()
	if r.refs.asked {
		return r.refs.text, nil
	}
	out, err := r.git.Run(ctx, git.Call{GitDir: r.GitDir, Args: []string{"for-each-ref", "--format=%(objectname) %(refname) %(symref)"}})
	if err == nil {
		r.refs.asked, r.refs.text = true, out
	}
	return out, err
}

// View makes one; the caller closes it.
func (r *Repository) View(ctx context.Context) (*View, error) {
	dir, err := os.MkdirTemp(r.git.Temp, "ycbot-view-")
	if err != nil {
		return nil, err
	}
	v := &View{Dir: dir, Refs: map[string]string{}, syms: map[string]string{}}
	if err := v.fill(ctx, r); err != nil {
		v.Close()
		return nil, fmt.Errorf("look into %s: %w", r.Root, err)
	}
	return v, nil
}

// Close removes the view.
func (v *View) Close() { _ = os.RemoveAll(v.Dir) }

func (v *View) fill(ctx context.Context, r *Repository) error {
	for _, d := range []string{"objects/info", "objects/pack", "refs/heads", "info"} {
		if err := os.MkdirAll(filepath.Join(v.Dir, d), 0o700); err != nil {
			return err
		}
	}
	if err := v.write("config", git.Config(r.Format, false)); err != nil {
		return err
	}
	if err := v.write("objects/info/alternates", git.Quote(filepath.Join(r.CommonDir, "objects"))+"\n"); err != nil {
		return err
	}
	if err := folder.CopyIfThere(filepath.Join(r.CommonDir, "shallow"), filepath.Join(v.Dir, "shallow")); err != nil {
		return err
	}
	out, err := r.listRefs(ctx)
	if err != nil {
		return err
	}
	var packed strings.Builder
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		f := strings.Split(lines.Text(), " ")
		if len(f) != 3 {
			return fmt.Errorf("git for-each-ref: unexpected line %q", lines.Text())
		}
		v.Refs[f[1]] = f[0]
		if f[2] != "" {
			v.syms[f[1]] = f[2]
		}
		packed.WriteString(f[0] + " " + f[1] + "\n")
	}
	if err := v.write("packed-refs", packed.String()); err != nil {
		return err
	}
	return v.fillHead(ctx, r)
}

func (v *View) fillHead(ctx context.Context, r *Repository) error {
	if head := branchIn(filepath.Join(r.GitDir, "HEAD")); head != "" {
		v.head = head
		return v.write("HEAD", "ref: "+head+"\n")
	}
	head, err := r.git.Line(ctx, git.Call{GitDir: r.GitDir, Args: []string{"symbolic-ref", "-q", "HEAD"}})
	switch {
	case err == nil:
		v.head = head
		return v.write("HEAD", "ref: "+head+"\n")
	case git.ExitCode(err) != 1: // 1: detached
		return err
	}
	oid, err := r.git.Line(ctx, git.Call{GitDir: r.GitDir, Args: []string{"rev-parse", "--verify", "HEAD"}})
	if err != nil {
		return err
	}
	return v.write("HEAD", oid+"\n")
}

// branchIn is the branch that a file HEAD names; "" where it names none that is known
// by looking, as with a store of refs that is no folder.
func branchIn(file string) string {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 4<<10 {
		return ""
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	name, ok := strings.CutPrefix(strings.TrimSuffix(string(data), "\n"), "ref: ")
	if !ok || !strings.HasPrefix(name, "refs/heads/") || strings.HasSuffix(name, ".invalid") || strings.ContainsAny(name, "\n ") {
		return ""
	}
	return name
}

func (v *View) write(name, text string) error {
	return os.WriteFile(filepath.Join(v.Dir, name), []byte(text), 0o600)
}

// Resolve returns the id of the commit that ref names. A branch that only
// origin has may be named without "origin/".
func (r *Repository) Resolve(ctx context.Context, ref string) (string, error) {
	v, err := r.View(ctx)
	if err != nil {
		return "", err
	}
	defer v.Close()
	return r.resolve(ctx, v, ref)
}

// Files returns the paths of the commit that ref names, which need not be there.
func (r *Repository) Files(ctx context.Context, ref string) ([]string, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	defer v.Close()
	oid, err := r.resolve(ctx, v, ref)
	if err != nil {
		return nil, err
	}
	out, err := r.git.Run(ctx, git.Call{GitDir: v.Dir, Args: []string{"ls-tree", "-r", "-z", "--name-only", "--full-tree", oid}})
	if err != nil {
		return nil, fmt.Errorf("files of %s: %w", ref, err)
	}
	return strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 }), nil
}

func (r *Repository) resolve(ctx context.Context, v *View, ref string) (string, error) {
	if ref == "" || strings.ContainsAny(ref, "\x00\n") {
		return "", fmt.Errorf("no commit %q here: that is not the name of one", ref)
	}
	if oid := v.branch(ref); oid != "" {
		return oid, nil
	}
	if i := strings.IndexAny(ref, "~^"); i > 0 && strings.Trim(ref[i:], "~^0123456789") == "" {
		if oid, ok := r.follow(v.branch(ref[:i]), ref[i:]); ok {
			return oid, nil
		}
	}
	var first error
	for _, name := range []string{ref, "origin/" + ref} {
		oid, err := r.git.Line(ctx, git.Call{GitDir: v.Dir, Args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"}})
		if err == nil {
			return oid, nil
		}
		if ctx.Err() != nil {
			return "", err
		}
		if first == nil {
			first = err
		}
	}
	return "", fmt.Errorf("no commit %q here: %s", ref, r.MissingHint(v, ref))
}

// follow goes from a commit to one before it; ok is false where git has to.
func (r *Repository) follow(oid, suffix string) (_ string, ok bool) {
	if oid == "" || r.Shallow {
		return "", false
	}
	return r.objects.Follow(oid, suffix)
}

// branch is the commit of HEAD or of a branch by its full name, which git keeps from
// naming anything else; "" for all other names.
func (v *View) branch(ref string) string {
	if ref == "HEAD" {
		ref = v.head
	}
	if !strings.HasPrefix(ref, "refs/heads/") {
		return ""
	}
	return v.Refs[ref]
}

const wholeClone = "the clone is shallow; git remote set-branches origin '*' && git fetch --unshallow brings all branches and their history"

// MissingHint says what would bring a commit that is not here.
func (r *Repository) MissingHint(v *View, ref string) string {
	switch {
	case strings.Contains(ref, ".."):
		return "that is a range; name its ends, --base A --head B"
	case v.head != "" && v.Refs[v.head] == "" && strings.HasPrefix(ref, "HEAD"):
		return "the branch " + short(v.head) + " has no commit yet; git add and git commit make one"
	case r.Shallow:
		if strings.HasPrefix(ref, "HEAD") || objects.IsID(ref) {
			return "the clone is shallow; git fetch --unshallow brings the rest of its history"
		}
		// A shallow clone is one of a single branch, unless it was asked to be more.
		return wholeClone
	case objects.IsID(ref):
		return "git fetch origin " + ref + " brings it when the remote has it"
	}
	return "git fetch brings new branches and tags; git branch -a and git tag list what is here"
}

// short cuts the well-known beginnings off a ref's full name.
func short(ref string) string {
	for _, p := range []string{"refs/heads/", "refs/remotes/", "refs/tags/"} {
		if s, ok := strings.CutPrefix(ref, p); ok {
			return s
		}
	}
	return ref
}

// DefaultRange returns what is verified when no one says: HEAD, against the
// default branch (origin/HEAD, else main, else master) or, on that branch
// itself, against the commit before.
func (r *Repository) DefaultRange(ctx context.Context) (base, head Ref, err error) {
	v, err := r.View(ctx)
	if err != nil {
		return base, head, err
	}
	defer v.Close()
	head.Name = "HEAD"
	if v.head != "" {
		head.Name = short(v.head)
	}
	if head.OID, err = r.resolve(ctx, v, "HEAD"); err != nil {
		return base, head, err
	}
	on := v.head
	if on == "" {
		on = head.OID
	}
	base, err = r.defaultBase(ctx, v, head, on, "HEAD~1")
	return base, head, err
}

// DefaultBase returns what head is compared with when no one says: the default
// branch or, for that branch itself, the commit before.
func (r *Repository) DefaultBase(ctx context.Context, head Ref) (Ref, error) {
	v, err := r.View(ctx)
	if err != nil {
		return Ref{}, err
	}
	defer v.Close()
	on := head.OID
	for _, p := range []string{"", "refs/", "refs/heads/", "refs/remotes/"} {
		if v.Refs[p+head.Name] != "" {
			on = p + head.Name
		}
	}
	return r.defaultBase(ctx, v, head, on, head.Name+"~1")
}

// defaultBase is [Repository.DefaultBase]; on is the full name of the branch that head
// is, or its commit where it is none, and before what to call the commit before it.
func (r *Repository) defaultBase(ctx context.Context, v *View, head Ref, on, before string) (base Ref, err error) {
	branch := v.defaultBranch()
	if branch == "" {
		text := "no default branch here (no origin/HEAD, main or master): name what to compare with, --base REF"
		if r.Shallow {
			text += "; " + wholeClone
		}
		return base, errors.New(text)
	}
	if branchName(on) != branchName(branch) && on != v.Refs[branch] {
		base.Name = short(branch)
		base.OID, err = r.resolve(ctx, v, branch)
		return base, err
	}
	base.Name = before
	if oid, ok := r.follow(head.OID, "~1"); ok {
		base.OID = oid
		return base, nil
	}
	base.OID, err = r.git.Line(ctx, git.Call{GitDir: v.Dir, Args: []string{"rev-parse", "--verify", "--quiet", head.OID + "~1^{commit}"}})
	if err == nil || ctx.Err() != nil {
		return base, err
	}
	if v.isShallow(head.OID) {
		return base, fmt.Errorf("the commit before %s is not here: the clone is shallow; git fetch --unshallow brings it", change.Short(head.OID))
	}
	return base, fmt.Errorf("%s is the first commit of %s and %w: name what to compare with, --base REF", change.Short(head.OID), head.Name, ErrFirstCommit)
}

func (v *View) defaultBranch() string {
	if to := v.syms["refs/remotes/origin/HEAD"]; to != "" && v.Refs[to] != "" {
		return to
	}
	for _, name := range []string{"main", "master"} {
		for _, p := range []string{"refs/heads/", "refs/remotes/origin/"} {
			if v.Refs[p+name] != "" {
				return p + name
			}
		}
	}
	return ""
}

func branchName(ref string) string { return strings.TrimPrefix(short(ref), "origin/") }

func (v *View) isShallow(oid string) bool {
	for _, s := range git.Shallow(v.Dir) {
		if s == oid {
			return true
		}
	}
	return false
}

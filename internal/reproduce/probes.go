package reproduce

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/sorted"
	"github.com/ycbot/ycbot/internal/workspace"
)

// Bounds for files that an agent added to its tree and that travel with a check.
const (
	maxProbes    = 200
	maxProbeSize = 1 << 20
)

// ownFiles visits the regular files of a tree that a prepared one does not have.
func ownFiles(tree, prepared *os.Root, visit func(name string, d fs.DirEntry) error) error {
	there := map[string]map[string]bool{} // what the folders of the prepared one have
	return fs.WalkDir(tree.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == ".git" {
			return skipped(d)
		}
		if name == "." || !d.IsDir() && !d.Type().IsRegular() {
			return nil
		}
		has, known := there[path.Dir(name)]
		if !known {
			has = map[string]bool{}
			there[path.Dir(name)] = has
			if all, err := fs.ReadDir(prepared.FS(), path.Dir(name)); err == nil {
				for _, e := range all {
					has[e.Name()] = true
				}
			}
		}
		switch {
		case d.IsDir() && d.Name() == "node_modules" && has[d.Name()]:
			return fs.SkipDir // no one adds a test there, and most files of a project lie there
		case d.IsDir() || has[d.Name()]:
			return nil
		}
		return visit(name, d)
	})
}

// A probe is a file that an agent added to its tree, such as a test beside the code.
type probe struct {
	name string
	read func() ([]byte, fs.FileMode, error)
}

// probes are the small files that an agent added to its tree, as they were before its command.
func (o Original) probes(tree, prepared *os.Root) ([]probe, error) {
	var out []probe
	if n, ok := o.Past.before(o.Record); ok {
		for _, f := range o.Past.at(n, inTree) {
			if !f.mode.IsRegular() || f.size > maxProbeSize {
				continue
			}
			out = append(out, probe{f.name, func() ([]byte, fs.FileMode, error) {
				if f.content == "" {
					data, err := small(tree, f.name)
					return data, f.mode, err
				}
				data, err := os.ReadFile(f.content)
				return data, f.mode, err
			}})
		}
		return out, nil
	}
	err := ownFiles(tree, prepared, func(name string, d fs.DirEntry) error {
		if info, err := d.Info(); err == nil && info.Size() <= maxProbeSize {
			out = append(out, probe{name, func() ([]byte, fs.FileMode, error) {
				data, err := small(tree, name)
				return data, info.Mode(), err
			}})
		}
		return nil
	})
	return out, err
}

// small reads a regular file that is no larger than a probe may be.
func small(tree *os.Root, name string) ([]byte, error) {
	f, err := tree.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxProbeSize) {
		err = fs.ErrInvalid
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, maxProbeSize))
}

// A carrying is where the files that an agent added to its tree are taken along to.
type carrying struct {
	prepared string // folder of the head, whose files are not the agent's own
	to       string // folder of a copy
	base     bool   // it is one of the base
	ignored  ignored
}

// copyProbes copies what an agent had added to its tree before its command: small regular
// files that the prepared head does not have. What is there already in the copy stays, and
// nothing that was built of the head goes to the base, where it would stand for the base's:
// the names of such files are returned.
func (o Original) copyProbes(ctx context.Context, c carrying) (left []string, err error) {
	var roots [3]*os.Root
	for i, dir := range []string{o.Workspace.Tree, c.prepared, c.to} {
		r, err := os.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		roots[i] = r
	}
	all, err := o.probes(roots[0], roots[1])
	if err != nil {
		return nil, err
	}
	inOrder(all, roots[1])
	var built map[string]bool
	if c.base {
		names := make([]string, len(all))
		for i, p := range all {
			names[i] = p.name
		}
		built = c.ignored.of(ctx, names)
	}
	room := maxProbes
	for _, p := range all {
		data, mode, err := p.read()
		if err != nil {
			continue // what cannot be read is no probe
		}
		if c.base && (compiled(p.name, data) || built[p.name] && isCode(p.name, data)) {
			left = append(left, p.name)
			continue
		}
		if room--; room < 0 {
			break
		}
		if err := lay(roots[2], p.name, data, mode.Perm()|0o600); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// inOrder puts files first that lie in folders of the head, and then those of new folders,
// of which small ones come first: reports and builds have many files, and probes few.
func inOrder(all []probe, prepared *os.Root) {
	there := map[string]bool{".": true}
	under := map[string]string{} // the outermost new folder of each file; empty: none
	files := map[string]int{}
	for _, p := range all {
		for dir := path.Dir(p.name); dir != "."; dir = path.Dir(dir) {
			has, known := there[dir]
			if !known {
				_, err := prepared.Lstat(dir)
				has = err == nil
				there[dir] = has
			}
			if has {
				break
			}
			under[p.name] = dir
		}
		if dir := under[p.name]; dir != "" {
			files[dir]++
		}
	}
	sorted.By(all, func(a, b probe) int {
		return cmp.Or(files[under[a.name]]-files[under[b.name]], strings.Compare(a.name, b.name))
	})
}

// LayTexts writes the texts that an agent of the last run had added into a copy of a side. What
// is there already stays. What was built of the head of that run is left out: the names of these
// files, and of those that are no texts, are returned.
func (s *Sides) LayTexts(ctx context.Context, tree *workspace.Tree, files Added) (left []string, err error) {
	root, err := os.OpenRoot(tree.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	built := ignored(s.Head.Ignored).of(ctx, slices.Sorted(maps.Keys(files.Texts)))
	left = slices.Clone(files.Others)
	for name, text := range files.Texts {
		if built[name] && isCode(name, []byte(text)) {
			left = append(left, name)
			continue
		}
		if err := lay(root, filepath.FromSlash(name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	slices.Sort(left)
	return left, nil
}

// lay writes a file that an agent had, unless something is there in its place.
func lay(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil //nolint:nilerr // there is a file where the agent had a folder
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil //nolint:nilerr // it is there already
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// Bounds of the texts of a check's own files.
const (
	mostProbeTexts = 50
	mostProbeText  = 64 << 10
)

// probeTexts are the texts of the files that an agent made for a check: those that it
// added to its tree beside the prepared head, and those of its scratch folder that the
// command names.
func probeTexts(from evidence.Roots, prepared, command string) []string {
	var out []string
	for _, dir := range []string{from.Tree, from.Temp} {
		if dir == "" {
			continue
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			continue // it has none
		}
		_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || name == ".git" || len(out) == mostProbeTexts {
				return skipped(d)
			}
			if !d.Type().IsRegular() || dir == from.Temp && !strings.Contains(command, filepath.Base(name)) {
				return nil
			}
			if _, err := os.Lstat(filepath.Join(prepared, name)); dir == from.Tree && err == nil {
				return nil
			}
			info, err := d.Info()
			if err != nil || info.Size() > mostProbeText {
				return nil //nolint:nilerr // what cannot be read, or is no text, says nothing
			}
			if data, err := root.ReadFile(name); err == nil && utf8.Valid(data) {
				out = append(out, string(data))
			}
			return nil
		})
		_ = root.Close()
	}
	return out
}

// skipped leaves a folder out of a walk.
func skipped(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// copyScratch copies an agent's scratch files as they were before its command, so that
// one run of a check does not see what another one wrote. Links and special files stay behind,
// and what was compiled does not go to the base: the names of such files are returned.
func (o Original) copyScratch(ctx context.Context, to string, base bool) (left []string, err error) {
	if err := folder.RemoveAll(ctx, to); err != nil {
		return nil, err
	}
	if err := folder.Make(to); err != nil {
		return nil, err
	}
	if err := folder.CopyFiles(ctx, o.Workspace.Temp, to); err != nil {
		return nil, err
	}
	if n, ok := o.Past.before(o.Record); ok {
		if err := o.Past.putBack(n, to); err != nil {
			return nil, err
		}
	}
	if !base {
		return nil, nil
	}
	return removeCompiled(to)
}

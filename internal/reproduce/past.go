package reproduce

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/sorted"
)

// Bounds of what is kept of an agent's own files.
const (
	mostPast     = 50_000   // files and folders that are looked at before a command
	mostPastSize = 64 << 20 // bytes of contents, of the tree and of the scratch folder each
)

// Where an agent has files of its own: the beginnings of their names in a [Past].
const (
	inTree = "tree/"
	inTemp = "temp/"
)

// A Past is what an agent's own files were before each of its commands, so that a command is
// run again on what it found and not on what it left. It is known to the process that ran
// the commands alone: without it the files are taken as they are in the end.
type Past struct {
	of       evidence.Roots
	prepared string // folder of the head, whose files are not the agent's own
	dir      string // of contents
	now      func() time.Time

	mu      sync.Mutex
	moments []moment
	files   map[string][]*version // by the name with where it lies; of a folder it ends with a slash
	copies  int
	room    map[string]int64 // bytes of contents that may still be kept, by where they lie
	lost    bool             // there were too many files, or they could not be read
}

// A moment is a time at which a command was begun.
type moment struct {
	record string // its id; empty: it is known by the time
	taken  time.Time
}

// A version is a file as it was from one moment until another.
type version struct {
	from, seen int // the first and the last moment
	size       int64
	changed    time.Time
	mode       fs.FileMode
	content    string // name of the file that keeps it; empty: it is not kept, and is taken as it is now
}

// NewPast is a Past of the files of an agent that works in the folders of at.
func (s *Sides) NewPast(at evidence.Roots) *Past {
	return newPast(at, s.Head.Dir, s.Now)
}

func newPast(at evidence.Roots, prepared string, now func() time.Time) *Past {
	return &Past{
		of: at, prepared: prepared, dir: at.Home + "-past", now: now, files: map[string][]*version{},
		room: map[string]int64{inTree: mostPastSize, inTemp: mostPastSize},
	}
}

// Take notes what there is before a command is begun. record is the id of a command that
// was recorded before; of a new one it is empty.
func (p *Past) Take(ctx context.Context, record string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost {
		return
	}
	p.moments = append(p.moments, moment{record, p.now()})
	left := mostPast
	note := func(place string, root *os.Root) func(string, fs.DirEntry) error {
		return func(name string, d fs.DirEntry) error {
			if left--; left < 0 || ctx.Err() != nil {
				return errors.New("too many files")
			}
			return p.note(place, root, name, d)
		}
	}
	if err := errors.Join(p.tree(note), p.temp(note)); err != nil {
		p.lost = true
	}
}

// tree visits the files that the agent added to its tree.
func (p *Past) tree(note func(string, *os.Root) func(string, fs.DirEntry) error) error {
	root, err := os.OpenRoot(p.of.Tree)
	if err != nil {
		return err
	}
	defer root.Close()
	prepared, err := os.OpenRoot(p.prepared)
	if err != nil {
		return err
	}
	defer prepared.Close()
	return ownFiles(root, prepared, note(inTree, root))
}

// temp visits the agent's scratch files.
func (p *Past) temp(note func(string, *os.Root) func(string, fs.DirEntry) error) error {
	root, err := os.OpenRoot(p.of.Temp)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	visit := note(inTemp, root)
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return skipped(d)
		case name == "." || !d.IsDir() && !d.Type().IsRegular():
			return nil
		}
		return visit(name, d)
	})
}

// note notes a file or folder as it is at the last moment.
func (p *Past) note(place string, root *os.Root, name string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return nil //nolint:nilerr // it went in between
	}
	now, key := len(p.moments)-1, place+name
	v := &version{from: now, seen: now, size: info.Size(), changed: info.ModTime(), mode: info.Mode()}
	if d.IsDir() {
		key += "/"
		v.size, v.changed = 0, time.Time{}
	}
	if all := p.files[key]; len(all) > 0 {
		if last := all[len(all)-1]; last.seen == now-1 && last.size == v.size && last.changed.Equal(v.changed) && last.mode == v.mode {
			last.seen = now
			return nil
		}
	}
	if info.Mode().IsRegular() && v.size <= min(maxProbeSize, p.room[place]) {
		if err := p.keep(root, name, v); err != nil {
			return err
		}
		if v.content != "" {
			p.room[place] -= v.size
		}
	}
	p.files[key] = append(p.files[key], v)
	return nil
}

// keep keeps the contents of a file.
func (p *Past) keep(root *os.Root, name string, v *version) error {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil //nolint:nilerr // what cannot be read is not kept
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxProbeSize))
	if err != nil {
		return nil //nolint:nilerr // likewise
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	p.copies++
	v.content = filepath.Join(p.dir, strconv.Itoa(p.copies))
	return os.WriteFile(v.content, data, 0o600)
}

// before is the moment at which the command of a record was begun.
func (p *Past) before(r evidence.Record) (int, bool) {
	if p == nil {
		return 0, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost {
		return 0, false
	}
	at := -1
	for i, m := range p.moments {
		if m.record == r.ID || m.record == "" && !m.taken.After(r.Started) {
			at = i
		}
	}
	return at, at >= 0
}

// at are the files of a place at a moment, in the order of their names.
func (p *Past) at(n int, place string) []pastFile {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []pastFile
	for key, all := range p.files {
		name, ok := strings.CutPrefix(key, place)
		for _, v := range all {
			if ok && v.from <= n && n <= v.seen {
				out = append(out, pastFile{name, v})
			}
		}
	}
	sorted.By(out, func(a, b pastFile) int { return strings.Compare(a.name, b.name) })
	return out
}

// A pastFile is a file or folder with its name in its place.
type pastFile struct {
	name string
	*version
}

// putBack makes of a copy of the scratch files what they were at a moment.
func (p *Past) putBack(n int, dir string) error {
	had := map[string]bool{}
	all := p.at(n, inTemp)
	for _, f := range all {
		had[strings.TrimSuffix(f.name, "/")] = true
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." || had[name] {
			return err
		}
		if err := root.RemoveAll(name); err != nil {
			return err
		}
		return skipped(d)
	})
	if err != nil {
		return err
	}
	for _, f := range all {
		if err := f.put(root); err != nil {
			return err
		}
	}
	return nil
}

// put makes a file or folder what it was, unless it is.
func (f pastFile) put(root *os.Root) error {
	if name, ok := strings.CutSuffix(f.name, "/"); ok {
		return root.MkdirAll(name, 0o755)
	}
	info, err := root.Lstat(f.name)
	if f.content == "" || err == nil && info.Size() == f.size && info.ModTime().Equal(f.changed) {
		return nil
	}
	data, err := os.ReadFile(f.content)
	if err != nil {
		return err
	}
	if err := root.RemoveAll(f.name); err != nil {
		return err
	}
	return root.WriteFile(f.name, data, f.mode.Perm()|0o600)
}

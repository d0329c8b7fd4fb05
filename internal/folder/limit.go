package folder

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// One copy may take as much as a command may write twice over, besides what a large
// repository has. What is more was not meant to be copied; it would fill the disk.
const (
	maxCopyBytes   = 48 << 30
	maxCopyEntries = 3_000_000
)

// ErrLimit means that a folder is too much to be copied.
var ErrLimit = errors.New("too much for a copy")

// limits bound what one copy takes of a disk.
type limits struct {
	bytes   int64 // that are written; shared blocks and holes take none
	entries int64 // files, folders and links by their names
}

// A Budget is what a copy has taken so far.
type Budget struct {
	limit          limits
	bytes, entries atomic.Int64
}

// NewBudget is that of one copy.
func NewBudget() *Budget {
	return &Budget{limit: limits{bytes: maxCopyBytes, entries: maxCopyEntries}}
}

// Entry counts a file, folder or link.
func (b *Budget) Entry() error {
	if n := b.entries.Add(1); n > b.limit.entries {
		return fmt.Errorf("%w: more than %d files and folders", ErrLimit, b.limit.entries)
	}
	return nil
}

// Take counts bytes that are written.
func (b *Budget) Take(bytes int64) error {
	if n := b.bytes.Add(bytes); n > b.limit.bytes {
		return fmt.Errorf("%w: more than %d MiB", ErrLimit, b.limit.bytes>>20)
	}
	return nil
}

// links are the files with several names that a copy has met. Only names inside of what
// is copied meet: a name elsewhere, in a cache or in another tree, is left alone.
type links struct {
	mu   sync.Mutex
	seen map[inode]*link
}

type inode struct{ dev, ino uint64 }

func inodeOf(st *unix.Stat_t) inode {
	return inode{uint64(st.Dev), st.Ino} //nolint:unconvert,gosec,nolintlint // the types differ between systems
}

// A link is one such file.
type link struct {
	mu    sync.Mutex
	path  string // of its first name in the copy; empty: it is not there yet
	from  unix.Stat_t
	names []linkName
}

type linkName struct {
	made *replicaDir
	name string
}

// maxLinks is how many files with several names are remembered. What is beyond is copied
// for each name, and counts.
const maxLinks = 1 << 18

func (l *links) of(id inode) *link {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.seen[id]; f != nil || len(l.seen) >= maxLinks {
		return f
	}
	if l.seen == nil {
		l.seen = map[inode]*link{}
	}
	f := &link{}
	l.seen[id] = f
	return f
}

// linked copies a file with several names, or gives the copy that there is another name.
func (c *copier) linked(src, dst int, name string, id inode, made *replicaDir) error {
	f := c.links.of(id)
	if f == nil {
		_, err := c.file(src, dst, name, made)
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.path != "" {
		err := unix.Linkat(c.root, f.path, dst, name, 0)
		if err == nil {
			f.names = append(f.names, linkName{made, name})
			return nil
		}
		if !errors.Is(err, unix.EMLINK) && !errors.Is(err, unix.ENAMETOOLONG) && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOTSUP) {
			return err
		}
	}
	from, err := c.file(src, dst, name, made)
	if err != nil {
		return err
	}
	if path := made.path + name; f.path == "" {
		f.path, f.from = path, from
		f.names = append(f.names, linkName{made, name})
	}
	return nil
}

// settle notes what the files look like now that they have all their names.
func (c *copier) settle() error {
	for _, f := range c.links.seen {
		if len(f.names) < 2 {
			continue
		}
		var st unix.Stat_t
		if err := unix.Fstatat(c.root, f.path, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
		for _, n := range f.names {
			n.made.file(n.name, &f.from, &st)
		}
	}
	return nil
}

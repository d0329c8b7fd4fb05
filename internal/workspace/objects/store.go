// Package objects reads the objects of a git repository in the process.
//
// That takes microseconds where a git command takes milliseconds. A [Store] answers a
// question only where the answer is beyond doubt: each object is checked against its id,
// and what is too large, cannot be read or is not as git writes it is left to the git
// command ([ErrAskGit]). So it never finds anything else than git would, whatever lies in
// the files that it reads.
package objects

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Store is the objects of one repository. It is safe for concurrent use.
type Store struct {
	dir string // the folder objects of a repository of the format sha1; empty: all is left to git

	mu    sync.Mutex
	packs map[string]*pack // by the name of their index
}

// New returns the store of a git directory, which leaves all to git unless the format
// of the ids is sha1.
func New(gitDir, format string) *Store {
	if format != "sha1" { // what go-git v5 can read
		return &Store{}
	}
	return &Store{dir: filepath.Join(gitDir, "objects")}
}

// Reopen forgets what was opened, after a fetch or an import. That someone else has
// changed the repository is noticed where an object is missing.
func (o *Store) Reopen() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.packs {
		_ = p.close()
	}
	o.packs = nil
}

// scan opens the packs that are there now.
func (o *Store) scan() error {
	found, err := os.ReadDir(filepath.Join(o.dir, "pack"))
	if err != nil {
		return err
	}
	before := o.packs
	o.packs = map[string]*pack{}
	for _, e := range found {
		name := e.Name()
		if filepath.Ext(name) != ".idx" {
			continue
		}
		p := before[name]
		if p == nil {
			if p, err = openPack(filepath.Join(o.dir, "pack", name)); err != nil {
				continue // what it has is not found here, and left to git
			}
		}
		o.packs[name] = p
		delete(before, name)
	}
	for _, p := range before {
		_ = p.close()
	}
	return nil
}

// find returns the pack that has an object, and where.
func (o *Store) find(id oid) (*pack, int64, error) {
	for again := range 2 {
		if o.packs == nil || again > 0 {
			if err := o.scan(); err != nil {
				return nil, 0, err
			}
		}
		for _, p := range o.packs {
			if offset, ok, err := p.find(id); ok || err != nil {
				return p, offset, err
			}
		}
	}
	return nil, 0, fmt.Errorf("%w: object %x: %w", ErrAskGit, id, fs.ErrNotExist)
}

// read returns an object. What it costs is taken from work, in bytes.
func (o *Store) read(name string, work *int64) (object, error) {
	var out object
	err := o.guard(name, func(id oid) error {
		loose, err := o.openLoose(id)
		if err == nil {
			defer loose.Close()
			out, err = readLoose(loose, work)
		} else if errors.Is(err, fs.ErrNotExist) {
			var p *pack
			var offset int64
			if p, offset, err = o.find(id); err == nil {
				out, err = p.read(offset, work)
			}
		}
		if err == nil && sumOf(out) != id {
			err = fmt.Errorf("its content is another's")
		}
		return err
	})
	return out, err
}

// size returns how many bytes an object has, as its head says.
func (o *Store) size(name string) (size int64, err error) {
	err = o.guard(name, func(id oid) error {
		loose, err := o.openLoose(id)
		if err == nil {
			defer loose.Close()
			_, _, size, err = looseHead(loose)
			return err
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		p, offset, err := o.find(id)
		if err == nil {
			size, err = p.size(offset)
		}
		return err
	})
	return size, err
}

// guard calls f for an object that is named in full. Whatever goes wrong, also in the
// library, is left to git.
func (o *Store) guard(name string, f func(id oid) error) (err error) {
	var id oid
	if n, err := hex.Decode(id[:], []byte(name[:min(len(name), 2*len(id))])); o.dir == "" || err != nil || n != len(id) || len(name) != 2*n {
		return ErrAskGit
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("reading it panicked: %v", r)
		}
		if err != nil && !errors.Is(err, ErrAskGit) {
			err = fmt.Errorf("%w: object %s: %w", ErrAskGit, name, err)
		}
	}()
	return f(id)
}

// sumOf is the id of what an object holds.
func sumOf(o object) oid {
	h := sha1.New() //nolint:gosec // git's object ids
	fmt.Fprintf(h, "%s %d\x00", o.kind, len(o.data))
	h.Write(o.data)
	return oid(h.Sum(nil))
}

func (o *Store) openLoose(id oid) (*os.File, error) {
	name := hex.EncodeToString(id[:])
	return openRegular(filepath.Join(o.dir, name[:2], name[2:]))
}

// openRegular opens a file and never waits for the other end of a pipe.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: path, Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func readLoose(f io.Reader, work *int64) (object, error) {
	kind, content, size, err := looseHead(f)
	if err != nil {
		return object{}, err
	}
	if err := spend(work, size); err != nil {
		return object{}, err
	}
	var buf bytes.Buffer
	if n, err := buf.ReadFrom(io.LimitReader(content, size+1)); err != nil {
		return object{}, err
	} else if n != size {
		return object{}, fmt.Errorf("an object of %d bytes has %d or more", size, n)
	}
	return object{kind, buf.Bytes()}, nil
}

// looseHead reads the head of an object in a file of its own: the type, a space, the
// size in bytes and a NUL. The content follows.
func looseHead(f io.Reader) (plumbing.ObjectType, io.Reader, int64, error) {
	z, err := zlib.NewReader(f)
	if err != nil {
		return 0, nil, 0, err
	}
	content := bufio.NewReaderSize(z, 64) // more no head has
	head, err := content.ReadSlice(0)
	if err != nil {
		return 0, nil, 0, err
	}
	typ, digits, _ := strings.Cut(string(head[:len(head)-1]), " ")
	kind, err := plumbing.ParseObjectType(typ)
	if err != nil {
		return 0, nil, 0, err
	}
	size, err := strconv.ParseUint(digits, 10, 62)
	return kind, content, int64(size), err //nolint:gosec // of 62 bits
}

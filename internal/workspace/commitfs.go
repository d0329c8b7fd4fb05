package workspace

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// FS is a file system of those files of a commit that keep wants. Content is read when
// a file is opened, for as long as ctx lasts. Symbolic links are not followed: to open one is an
// error that wraps fs.ErrInvalid. Submodules are not in it.
func (m *Mirror) FS(ctx context.Context, commit string, keep func(objects.Entry) bool) (fs.FS, error) {
	entries, err := m.Files(ctx, commit)
	if err != nil {
		return nil, err
	}
	nodes := map[string]*fileInfo{".": {name: ".", entry: objects.Entry{Mode: objects.ModeTree}}}
	for _, e := range entries {
		if e.Mode == objects.ModeGitlink || !fs.ValidPath(e.Path) || !keep(e) {
			continue
		}
		below := &fileInfo{name: path.Base(e.Path), entry: e}
		nodes[e.Path] = below
		for dir := path.Dir(e.Path); ; dir = path.Dir(dir) {
			up, ok := nodes[dir]
			if !ok {
				up = &fileInfo{name: path.Base(dir), entry: objects.Entry{Path: dir, Mode: objects.ModeTree}}
				nodes[dir] = up
			}
			up.below = append(up.below, below)
			if ok {
				break
			}
			below = up
		}
	}
	read := func(name string) ([]byte, error) { return m.ReadFile(ctx, commit, name) }
	return commitFS{nodes, read}, nil
}

type commitFS struct {
	nodes map[string]*fileInfo
	read  func(name string) ([]byte, error)
}

func (c commitFS) Open(name string) (fs.File, error) {
	fail := func(err error) (fs.File, error) { return nil, &fs.PathError{Op: "open", Path: name, Err: err} }
	if !fs.ValidPath(name) {
		return fail(fs.ErrInvalid)
	}
	info := c.nodes[name]
	switch {
	case info == nil:
		return fail(fs.ErrNotExist)
	case info.IsDir():
		return &openFolder{fileInfo: info}, nil
	case info.entry.Mode == objects.ModeLink:
		return fail(fs.ErrInvalid)
	}
	data, err := c.read(name)
	if err != nil {
		return fail(err)
	}
	return &openContent{fileInfo: info, Reader: bytes.NewReader(data)}, nil
}

// A fileInfo is a file or a folder of a commit, and what it has below.
type fileInfo struct {
	name  string
	entry objects.Entry
	below []*fileInfo
}

func (i *fileInfo) Name() string               { return i.name }
func (i *fileInfo) Size() int64                { return i.entry.Size }
func (i *fileInfo) ModTime() time.Time         { return time.Time{} }
func (i *fileInfo) IsDir() bool                { return i.entry.Mode == objects.ModeTree }
func (i *fileInfo) Sys() any                   { return nil }
func (i *fileInfo) Type() fs.FileMode          { return i.Mode().Type() }
func (i *fileInfo) Info() (fs.FileInfo, error) { return i, nil }
func (i *fileInfo) Stat() (fs.FileInfo, error) { return i, nil }
func (i *fileInfo) Close() error               { return nil }

func (i *fileInfo) Mode() fs.FileMode {
	switch i.entry.Mode {
	case objects.ModeTree:
		return fs.ModeDir | 0o555
	case objects.ModeExec:
		return 0o555
	case objects.ModeLink:
		return fs.ModeSymlink | 0o444
	}
	return 0o444
}

type openContent struct {
	*fileInfo
	*bytes.Reader
}

func (o *openContent) Size() int64 { return o.fileInfo.Size() }

type openFolder struct {
	*fileInfo
	next int // of what it has below, sorted, to be returned
}

func (o *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: o.entry.Path, Err: fs.ErrInvalid}
}

func (o *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	all := slices.Clone(o.below)
	slices.SortFunc(all, func(a, b *fileInfo) int { return strings.Compare(a.name, b.name) })
	rest := all[o.next:]
	if n > 0 && len(rest) == 0 {
		return nil, io.EOF
	}
	if n > 0 {
		rest = rest[:min(n, len(rest))]
	}
	o.next += len(rest)
	out := make([]fs.DirEntry, len(rest))
	for i, e := range rest {
		out[i] = e
	}
	return out, nil
}

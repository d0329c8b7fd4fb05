package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// A Pointer is a file under Git LFS as a commit has it: the id and the size of a content
// that lies elsewhere. See
// https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md.
type Pointer struct {
	Path string
	OID  string // sha256 of the content, in hexadecimal
	Size int64  // bytes of the content
}

// pointerHead is how a pointer begins.
const pointerHead = "version https://git-lfs.github.com/spec/v1\n"

// maxPointer is less than a pointer has, in bytes.
const maxPointer = 1024

var pointerText = pattern.New(`^(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize ([0-9]{1,15})\n$`)

// parsePointer reads a pointer; false: it is none.
func parsePointer(path string, data []byte) (Pointer, bool) {
	rest, ok := strings.CutPrefix(string(data), pointerHead)
	m := pointerText.FindStringSubmatch(rest)
	if !ok || m == nil {
		return Pointer{}, false
	}
	size, err := strconv.ParseInt(m[2], 10, 64)
	return Pointer{Path: path, OID: m[1], Size: size}, err == nil
}

func (w *want) maybePointer() bool {
	return w.isFile() && w.Size > int64(len(pointerHead)) && w.Size < maxPointer
}

// Pointers are the files of a commit under Git LFS: none where no .gitattributes of it
// names the filter.
func (m *Mirror) Pointers(ctx context.Context, commit string) ([]Pointer, error) {
	entries, err := m.Files(ctx, commit)
	if err != nil {
		return nil, err
	}
	uses := false
	for _, e := range entries {
		if filepath.Base(e.Path) != ".gitattributes" || e.Mode == objects.ModeGitlink || e.Size > 1<<20 {
			continue
		}
		data, err := m.ReadFile(ctx, commit, e.Path)
		if err != nil {
			return nil, err
		}
		uses = uses || strings.Contains(string(data), "filter=lfs")
	}
	if !uses {
		return nil, nil
	}
	var out []Pointer
	for _, e := range entries {
		if w := (want{Entry: e}); !w.maybePointer() {
			continue
		}
		data, err := m.ReadFile(ctx, commit, e.Path)
		if err != nil {
			return nil, err
		}
		if p, ok := parsePointer(e.Path, data); ok {
			out = append(out, p)
		}
	}
	return out, nil
}

// UseContents has trees of this Mirror get the contents that it keeps, in place of
// pointers.
func (m *Mirror) UseContents() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.contents = true
}

func (m *Mirror) usesContents() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.contents
}

// contentPath is where a content is kept, as Git LFS keeps it in a clone.
func (m *Mirror) contentPath(p Pointer) string { return filepath.Join(m.Dir, ContentPath(p.OID)) }

// ContentPath is where the content of an id lies below the git directory of a clone.
func ContentPath(oid string) string {
	return filepath.Join("lfs", "objects", oid[:2], oid[2:4], oid)
}

// HasContent reports whether the content of a pointer is kept.
func (m *Mirror) HasContent(p Pointer) bool {
	info, err := os.Lstat(m.contentPath(p))
	return err == nil && info.Mode().IsRegular() && info.Size() == p.Size
}

// KeepContent keeps the content of a pointer. Another content than the pointer's is an
// error, and not kept.
func (m *Mirror) KeepContent(p Pointer, from io.Reader) error {
	if err := m.keepContent(p, from); err != nil {
		return fmt.Errorf("content of %q under Git LFS: %w", p.Path, err)
	}
	return nil
}

func (m *Mirror) keepContent(p Pointer, from io.Reader) error {
	at := m.contentPath(p)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(at), "part-")
	if err != nil {
		return err
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(part, h), io.LimitReader(from, p.Size+1))
	if err = errors.Join(err, part.Close()); err == nil && (n != p.Size || hex.EncodeToString(h.Sum(nil)) != p.OID) {
		err = errors.New("what came is not what the pointer names")
	}
	if err == nil {
		err = os.Rename(part.Name(), at)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return nil
}

// layContents puts the contents that are kept in the place of pointers into a folder in
// which nothing has run yet. It returns the pointers that stay, and the paths that were
// replaced.
func (m *Mirror) layContents(dir string, wants []want) (stay, laid []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	for _, w := range wants {
		if !w.maybePointer() {
			continue
		}
		data, err := root.ReadFile(w.Path)
		if err != nil {
			return nil, nil, err
		}
		if !strings.HasPrefix(string(data), pointerHead) {
			continue
		}
		err = fs.ErrNotExist
		if p, ok := parsePointer(w.Path, data); ok && m.usesContents() {
			err = m.layContent(root, p)
		}
		switch {
		case err == nil:
			laid = append(laid, w.Path)
		case errors.Is(err, fs.ErrNotExist):
			stay = append(stay, w.Path)
		default:
			return nil, nil, fmt.Errorf("content of %q under Git LFS: %w", w.Path, err)
		}
	}
	return stay, laid, nil
}

func (m *Mirror) layContent(root *os.Root, p Pointer) error {
	in, err := os.Open(m.contentPath(p))
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := root.OpenFile(p.Path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

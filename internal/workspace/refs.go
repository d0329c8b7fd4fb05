package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// recordName is what the name of a mirror is followed by in the name of the file
// that has its refs as the harness left them. It is not there while they change.
const recordName = ".refs"

// packedRefs is the file of a git directory that has all refs which have none of their own.
const packedRefs = "packed-refs"

// notRef stands for what lies in the place of a ref and is none.
const notRef = "no ref"

// readRefs returns HEAD and all refs of a git directory as they lie on disk; git
// is not asked.
func readRefs(dir string) (map[string]string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	refs := map[string]string{}
	packed, _ := text(root, packedRefs, 1<<28)
	for line := range strings.Lines(packed) {
		if oid, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok && objects.IsID(oid) {
			refs[name] = oid
		}
	}
	take := func(name string) {
		if value, ok := text(root, name, 4<<10); ok {
			refs[name] = strings.TrimSuffix(value, "\n")
		} else {
			refs[name] = notRef
		}
	}
	err = fs.WalkDir(root.FS(), "refs", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // meanwhile, or there are none
		case err != nil:
			return err
		case !d.IsDir() && !strings.HasSuffix(name, ".lock"):
			take(name)
		}
		return nil
	})
	take("HEAD")
	return refs, err
}

// text reads a regular file of a git directory.
func text(root *os.Root, name string, limit int64) (string, bool) {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return "", false
	}
	data, err := root.ReadFile(name)
	return string(data), err == nil
}

func readRecord(mirror string) (map[string]string, bool) {
	data, err := os.ReadFile(mirror + recordName)
	if err != nil {
		return nil, false
	}
	refs := map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		refs[name] = value
	}
	return refs, true
}

func writeRecord(mirror string, refs map[string]string) error {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		fmt.Fprintf(&b, "%s\t%s\n", name, strings.ReplaceAll(refs[name], "\n", " "))
	}
	if err := os.WriteFile(mirror+recordName+".new", b.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(mirror+recordName+".new", mirror+recordName)
}

// altering is to be called with the mirror's lock held, before its refs change,
// and what it returns after that. What someone else changed before is not made
// right by it: see [Tree.Moved].
func altering(mirror string) (done func() error, err error) {
	before, _ := readRefs(mirror) // of a mirror that is made again there are none
	record, known := readRecord(mirror)
	if err := os.Remove(mirror + recordName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return func() error {
		after, err := readRefs(mirror)
		if err != nil {
			return err
		}
		if known {
			for _, name := range differing(record, before) {
				if before[name] != after[name] {
					continue
				}
				delete(after, name)
				if was, ok := record[name]; ok {
					after[name] = was
				}
			}
		}
		return writeRecord(mirror, after)
	}, nil
}

// alter takes the mirror's lock for someone who changes refs; done gives it up.
func (m *Mirror) alter(ctx context.Context) (done func() error, err error) {
	lock, err := m.lock(ctx)
	if err != nil {
		return nil, err
	}
	record, err := altering(m.Dir)
	if err != nil {
		lock.Release()
		return nil, err
	}
	return func() error {
		defer lock.Release()
		m.objects.Reopen()
		return record()
	}, nil
}

// recorded makes sure that there is a record of the refs. The mirror's lock is held.
func (m *Mirror) recorded() error {
	if _, known := readRecord(m.Dir); known {
		return nil
	}
	refs, err := readRefs(m.Dir)
	if err != nil {
		return err
	}
	return writeRecord(m.Dir, refs)
}

// differing names the refs that are not the same, sorted.
func differing(a, b map[string]string) []string {
	out := map[string]bool{}
	for name, value := range a {
		if other, ok := b[name]; !ok || other != value {
			out[name] = true
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			out[name] = true
		}
	}
	return slices.Sorted(maps.Keys(out))
}

// restoreRefs makes the refs of a git directory again what they were when the harness
// changed them last, and returns those that were something else.
func restoreRefs(ctx context.Context, dir string) ([]string, error) {
	record, known := readRecord(dir)
	refs, err := readRefs(dir)
	if err != nil {
		return nil, err
	}
	if known && maps.Equal(record, refs) {
		return nil, nil
	}
	lock, err := acquire(ctx, dir+".lock", syscall.LOCK_EX) // someone may be bringing commits just now
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	if refs, err = readRefs(dir); err != nil {
		return nil, err
	}
	if record, known = readRecord(dir); !known {
		return nil, writeRecord(dir, refs) // its writer was killed
	}
	names := differing(record, refs)
	if len(names) == 0 {
		return nil, nil
	}
	file := filepath.Join(dir, packedRefs)
	if packed, ok := packedWithout(file, record); !ok {
		if err := os.WriteFile(file, packed, 0o600); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		if err := putRef(dir, name, record); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// packedWithout is packed-refs without what the record does not have, and whether
// it was like that.
func packedWithout(path string, record map[string]string) (data []byte, same bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, true
	}
	var out bytes.Buffer
	drop := false
	for line := range bytes.Lines(data) {
		oid, name, ok := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		switch {
		case ok && objects.IsID(oid):
			_, known := record[name]
			drop = !known
		case !bytes.HasPrefix(line, []byte("^")): // what a tag leads to goes with the tag
			drop = false
		}
		if !drop {
			out.Write(line)
		}
	}
	return out.Bytes(), out.Len() == len(data)
}

// putRef writes one ref as the record has it.
func putRef(dir, name string, record map[string]string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	local := filepath.FromSlash(name)
	if err := root.RemoveAll(local); err != nil {
		return err
	}
	value, ok := record[name]
	if !ok {
		return nil
	}
	if err := root.MkdirAll(filepath.Dir(local), 0o700); err != nil {
		return err
	}
	return root.WriteFile(local, []byte(value+"\n"), 0o600)
}

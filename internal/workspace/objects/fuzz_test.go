package objects

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// What is written as an object of a file of its own is read back; anything else is an
// error, within the bounds of what may be inflated.
func FuzzLoose(f *testing.F) {
	f.Add([]byte("blob 3\x00abc"), true)
	f.Add([]byte("tree 9999999999999\x00x"), true)
	f.Add([]byte("blob 2\x00abc"), true)
	f.Add([]byte("\x78\x9c\x4b"), false)
	f.Fuzz(func(t *testing.T, data []byte, deflate bool) {
		stored := data
		if deflate {
			var b bytes.Buffer
			z := zlib.NewWriter(&b)
			_, _ = z.Write(data) // to memory
			_ = z.Close()
			stored = b.Bytes()
		}
		work := int64(1 << 16)
		o, err := readLoose(bytes.NewReader(stored), &work)
		if err != nil {
			return
		}
		if used := 1<<16 - work; int64(len(o.data)) != used || used < 0 {
			t.Errorf("%d bytes, %d counted", len(o.data), used)
		}
		if deflate {
			head, _, _ := bytes.Cut(data, []byte{0})
			if want := fmt.Appendf(nil, "%s\x00%s", head, o.data); !bytes.Equal(want, data) {
				t.Errorf("%q is read as %q of %v", data, o.data, o.kind)
			}
		}
	})
}

// Whatever is in a pack and its index, an object that is read is the one that was asked
// for, and all else is left to git.
func FuzzPack(f *testing.F) {
	content := []byte("a content\n")
	id := sumOf(object{plumbing.BlobObject, content})
	var file bytes.Buffer
	file.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00\x01" + string([]byte{byte(plumbing.BlobObject)<<4 | byte(len(content))}))
	z := zlib.NewWriter(&file)
	_, _ = z.Write(content) // to memory
	_ = z.Close()
	index := []byte(indexHead)
	for i := range 256 {
		count := byte(0)
		if i >= int(id[0]) {
			count = 1
		}
		index = append(index, 0, 0, 0, count)
	}
	index = append(append(index, id[:]...), 0, 0, 0, 0, 0, 0, 0, 12)
	f.Add(index, file.Bytes())
	f.Add(index, append(file.Bytes()[:12:12], 0x6f, 0x01, 0x78, 0x9c))
	whole := slices.Concat(index, file.Bytes())
	f.Fuzz(func(t *testing.T, index, file []byte) {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "pack"), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{"pack-1.idx": index, "pack-1.pack": file} {
			if err := os.WriteFile(filepath.Join(dir, "pack", name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o := &Store{dir: dir}
		defer o.Reopen()
		work := int64(1 << 20)
		got, err := o.read(fmt.Sprintf("%x", id[:]), &work)
		switch {
		case err == nil && (got.kind != plumbing.BlobObject || !bytes.Equal(got.data, content)):
			t.Errorf("read %v %q", got.kind, got.data)
		case err != nil && !errors.Is(err, ErrAskGit):
			t.Errorf("not left to git: %v", err)
		}
		if err != nil && bytes.Equal(slices.Concat(index, file), whole) {
			t.Errorf("what git writes is not read: %v", err)
		}
		if work < 0 {
			t.Errorf("%d bytes are left", work)
		}
	})
}

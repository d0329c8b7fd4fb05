package verdict

import (
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// zipped is an archive with files of these names, or links where they end in "@".
func zipped(f *testing.F, names ...string) []byte {
	f.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate}
		if name[len(name)-1] == '@' {
			h.SetMode(fs.ModeSymlink | 0o777)
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = io.WriteString(w, "../../outside")
		}
		if err != nil {
			f.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		f.Fatal(err)
	}
	return b.Bytes()
}

// An archive makes regular files in its folder, and nothing else anywhere.
func FuzzUnpack(f *testing.F) {
	for _, names := range [][]string{{"report.json", "logs/E1"}, {"../outside"}, {"/outside"}, {"a/../../outside"}, {"link@", "link@/x"}, {"a", "a"}, {"a", "a/b"}, {`..\outside`}} {
		f.Add(zipped(f, names...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		archive, err := os.Create(filepath.Join(dir, "a.zip"))
		if err != nil {
			t.Fatal(err)
		}
		defer archive.Close()
		if _, err := archive.Write(data); err != nil {
			t.Fatal(err)
		}
		err = unpack(archive, filepath.Join(dir, "to"))
		beside, _ := os.ReadDir(dir)
		if len(beside) > 2 {
			t.Errorf("beside the folder: %v", beside)
		}
		made := 0
		walked := filepath.WalkDir(filepath.Join(dir, "to"), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				made++
				if !d.Type().IsRegular() {
					t.Errorf("%s: %v", path, d.Type())
				}
			}
			return err
		})
		if err != nil {
			return
		}
		z, zipErr := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if walked != nil || zipErr != nil {
			t.Fatal(walked, zipErr)
		}
		files := 0
		for _, one := range z.File {
			if !one.Mode().IsDir() {
				files++
			}
		}
		if made != files {
			t.Errorf("%d files of %d", made, files)
		}
	})
}

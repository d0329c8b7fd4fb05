package web

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// While blobs cannot be read pages say so, and that it is worth trying again; one that was
// changed where it lies is never shown.
func TestPagesWithoutBlobs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.finished("open", 2)
	folder := filepath.Join(filepath.Dir(w.db.Path()), "blobs")
	if err := os.Rename(folder, folder+".away"); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Dir(folder), "blobs", "in the way")
	for _, page := range []string{"/runs/open", "/runs/open/files/report.json"} {
		if status, text := w.browser().get(page); status != http.StatusServiceUnavailable || !strings.Contains(text, "cannot be read now") {
			t.Errorf("%s: %d\n%s", page, status, text)
		}
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(folder+".away", folder); err != nil {
		t.Fatal(err)
	}
	if status, _ := w.browser().get("/runs/open/files/report.json"); status != http.StatusOK {
		t.Errorf("when it is back: %d", status)
	}
	err := filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		data[len(data)-6] ^= 1 // of gzip's checksum
		return os.WriteFile(name, data, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"/runs/open", "/runs/open/files/report.json"} {
		if status, text := w.browser().get(page); status != http.StatusInternalServerError {
			t.Errorf("%s, changed: %d\n%s", page, status, text)
		}
	}
}

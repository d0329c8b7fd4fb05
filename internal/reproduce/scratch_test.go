package reproduce

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ycbot/ycbot/internal/folder"
)

// TestScratchOfHoles holds that an agent's scratch files take no more room in a copy than they
// have, whatever commands wrote there, and that what is no file stays behind.
func TestScratchOfHoles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	at := func(name string) string { return filepath.Join(from, name) }
	deep := at(strings.Repeat("d/", 300))
	for _, err := range []error{
		folder.Make(at("in"), deep),
		os.WriteFile(at("in/note"), []byte("note"), 0o400),
		os.WriteFile(at("first"), make([]byte, 1<<20), 0o600),
		os.WriteFile(at("hole"), nil, 0o600), os.Truncate(at("hole"), 2<<30),
		os.Symlink("/etc/hostname", at("link")),
		syscall.Mkfifo(at("pipe"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := range 30 {
		if err := os.Link(at("first"), at("name"+strings.Repeat("x", n))); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(at("in"), 0o500), copyScratch(t.Context(), from, to)); err != nil {
		t.Fatal(err)
	}
	if used, err := folder.Usage(t.Context(), to); err != nil || used > 3<<20 {
		t.Errorf("the copy takes %d bytes, %v", used, err)
	}
	if info, err := os.Stat(filepath.Join(to, "hole")); err != nil || info.Size() != 2<<30 {
		t.Errorf("%v, %v", info, err)
	}
	note := filepath.Join(to, "in/note")
	if data, err := os.ReadFile(note); err != nil || string(data) != "note" {
		t.Errorf("%q, %v", data, err)
	}
	for _, name := range []string{"in", "in/note"} { // of its own, to be changed
		if info, err := os.Stat(filepath.Join(to, name)); err != nil || info.Mode().Perm()&0o600 != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	for _, name := range []string{"link", "pipe"} {
		if _, err := os.Lstat(filepath.Join(to, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
	}
}

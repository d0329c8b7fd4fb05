package regular_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ycbot/ycbot/internal/regular"
)

// What is not a regular file of a bounded size is an error at once, and what leads out of a
// folder is, too.
func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.Mkdir(at("in"), 0o755),
		os.WriteFile(at("file"), []byte("text"), 0o600),
		os.WriteFile(at("in/large"), nil, 0o600), os.Truncate(at("in/large"), 1<<40),
		os.WriteFile(at("in/file"), []byte("text"), 0o600),
		syscall.Mkfifo(at("in/pipe"), 0o600),
		os.Symlink("/dev/zero", at("in/zero")),
		os.Symlink("../file", at("in/out")),
		os.Symlink("file", at("in/link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string][2]string{
		"file":  {"", ""},
		"link":  {"", ""},
		"out":   {"", "path escapes"},
		"zero":  {"not a regular file", "path escapes"},
		"pipe":  {"not a regular file", "not a regular file"},
		"large": {"1099511627776 bytes", "1099511627776 bytes"},
		".":     {"is a directory", "is a directory"},
	} {
		read := func(data []byte, err error, want string) {
			if want == "" && (err != nil || string(data) != "text") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %q %v, want %q", name, data, err, want)
			}
		}
		data, err := regular.Read(at("in/" + name))
		read(data, err, want[0])
		data, err = regular.ReadIn(at("in"), name)
		read(data, err, want[1])
	}
	for _, dir := range []string{at("in"), at("none")} {
		if _, err := regular.ReadIn(dir, "none"); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}

// The same holds for what is read of a tree.
func TestReadFS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600),
		os.WriteFile(filepath.Join(dir, "large"), nil, 0o600), os.Truncate(filepath.Join(dir, "large"), 1<<40),
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600),
		os.Symlink("/dev/zero", filepath.Join(dir, "zero")),
		os.Symlink("file", filepath.Join(dir, "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, want := range map[string]string{"file": "", "link": "", "pipe": "not a regular file", "zero": "path escapes", "large": "bytes"} {
		data, err := fs.ReadFile(regular.FS(root), name)
		if want == "" && (err != nil || string(data) != "text") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q %v, want %q", name, data, err, want)
		}
	}
}

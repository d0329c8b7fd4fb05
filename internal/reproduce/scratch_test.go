package reproduce

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/evidence"
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
	if err := errors.Join(os.Chmod(at("in"), 0o500), Original{Workspace: evidence.Roots{Temp: from}}.copyScratch(t.Context(), to)); err != nil {
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

// TestPast holds that a command is run again beside the files that its agent had before it,
// as they were, and that no program of the head goes to the base.
func TestPast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	write := func(files map[string]string) {
		t.Helper()
		for name, text := range files {
			if err := errors.Join(folder.Make(filepath.Dir(in(name))), os.WriteFile(in(name), []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(map[string]string{"head/main.c": "", "tree/main.c": "", "home/x": ""})
	past := newPast(evidence.Roots{Tree: in("tree"), Temp: in("temp"), Home: in("home")}, in("head"), time.Now)
	past.Take(t.Context(), "E1")
	write(map[string]string{"tree/probe.c": "first", "tree/demo": "\x7fELF", "temp/users": "alice", "temp/gone": "x"})
	past.Take(t.Context(), "E2")
	write(map[string]string{"tree/probe.c": "second", "tree/made.c": "", "temp/users": "alice bob", "temp/d/out": ""})
	if err := os.Remove(in("temp/gone")); err != nil {
		t.Fatal(err)
	}
	past.Take(t.Context(), "E3")
	for _, tc := range []struct {
		record string
		base   bool
		want   map[string]string
	}{
		{"E1", false, map[string]string{}},
		{"E2", false, map[string]string{"tree/probe.c": "first", "tree/demo": "\x7fELF", "temp/users": "alice", "temp/gone": "x"}},
		{"E2", true, map[string]string{"tree/probe.c": "first", "temp/users": "alice", "temp/gone": "x"}},
		{"E3", true, map[string]string{"tree/probe.c": "second", "tree/made.c": "", "temp/users": "alice bob", "temp/d/out": ""}},
	} {
		to := filepath.Join(t.TempDir(), "to")
		o := Original{Record: evidence.Record{ID: tc.record}, Workspace: past.of, Past: past}
		if err := errors.Join(folder.Make(filepath.Join(to, "tree")), o.copyProbes(in("head"), filepath.Join(to, "tree"), tc.base)); err != nil {
			t.Fatal(err)
		}
		if err := folder.Make(in("temp")); err != nil {
			t.Fatal(err)
		}
		if err := o.copyScratch(t.Context(), filepath.Join(to, "temp")); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		err := fs.WalkDir(os.DirFS(to), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(filepath.Join(to, name))
			got[name] = string(data)
			return err
		})
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%s, base %t: %v (-want +got):\n%s", tc.record, tc.base, err, diff)
		}
		if _, err := os.Lstat(filepath.Join(to, "temp/d")); (err == nil) != (tc.record == "E3") {
			t.Errorf("%s: the folder that a command made: %v", tc.record, err)
		}
	}
}

// TestPastRoom holds that a probe for whose contents there was no room is taken as it is now,
// and that scratch files take no room from those of the tree.
func TestPastRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(folder.Make(filepath.Dir(in(name))), os.WriteFile(in(name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("head/main.c", "")
	write("tree/main.c", "")
	write("tree/probe.c", strings.Repeat("p", 20))
	write("tree/seen.c", "before")
	write("temp/copy", strings.Repeat("c", 10))
	past := newPast(evidence.Roots{Tree: in("tree"), Temp: in("temp"), Home: in("home")}, in("head"), time.Now)
	past.room = map[string]int64{inTree: 10, inTemp: 10}
	past.Take(t.Context(), "E1")
	write("tree/seen.c", "after all")
	o := Original{Record: evidence.Record{ID: "E1"}, Workspace: past.of, Past: past}
	if err := errors.Join(folder.Make(in("to")), o.copyProbes(in("head"), in("to"), false)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"probe.c": strings.Repeat("p", 20), "seen.c": "before"} {
		if data, err := os.ReadFile(in("to/" + name)); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if kept, err := os.ReadDir(past.dir); err != nil || len(kept) != 2 {
		t.Errorf("%d contents are kept, %v", len(kept), err)
	}
}

// TestProbesInOrder holds that a test beside the code goes before a report of many files.
func TestProbesInOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := folder.Make(filepath.Join(dir, "test")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var all []probe
	for _, name := range []string{"coverage/a.html", "coverage/b/c.html", "new/probe.js", "test/z.js"} {
		all = append(all, probe{name: name})
	}
	inOrder(all, root)
	var got []string
	for _, p := range all {
		got = append(got, p.name)
	}
	if diff := cmp.Diff([]string{"test/z.js", "new/probe.js", "coverage/a.html", "coverage/b/c.html"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

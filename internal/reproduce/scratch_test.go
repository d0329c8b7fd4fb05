package reproduce

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
	if err := os.Chmod(at("in"), 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := (Original{Workspace: evidence.Roots{Temp: from}}).copyScratch(t.Context(), to, false); err != nil {
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
// as they were, and that nothing that was built of the head goes to the base.
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
	built := map[string]string{"temp/bin/demo": "\x7fELF", "temp/app.jar": "PK\x03\x04", "temp/app.wasm": "\x00asm", "tree/demo": "\x7fELF", "tree/dist/cli.js": "run()"}
	before := map[string]string{"tree/probe.c": "first", "tree/dist/data.json": "{}", "temp/users": "alice", "temp/gone": "x", "temp/in.zip": "PK\x03\x04"}
	write(built)
	write(before)
	past.Take(t.Context(), "E2")
	after := map[string]string{"tree/probe.c": "second", "tree/made.c": "", "temp/users": "alice bob", "temp/d/out": ""}
	write(after)
	if err := os.Remove(in("temp/gone")); err != nil {
		t.Fatal(err)
	}
	past.Take(t.Context(), "E3")
	with := func(all ...map[string]string) map[string]string {
		out := map[string]string{}
		for _, files := range all {
			maps.Copy(out, files)
		}
		return out
	}
	for _, tc := range []struct {
		record string
		base   bool
		want   map[string]string
	}{
		{"E1", false, map[string]string{}},
		{"E2", false, with(before, built)},
		{"E2", true, before},
		{"E3", true, with(after, map[string]string{"tree/dist/data.json": "{}", "temp/in.zip": "PK\x03\x04"})},
	} {
		to := filepath.Join(t.TempDir(), "to")
		o := Original{Record: evidence.Record{ID: tc.record}, Workspace: past.of, Past: past}
		if err := folder.Make(filepath.Join(to, "tree"), in("temp")); err != nil {
			t.Fatal(err)
		}
		ofTree, err := o.copyProbes(t.Context(), carrying{in("head"), filepath.Join(to, "tree"), tc.base, inDist})
		if err != nil {
			t.Fatal(err)
		}
		ofTemp, err := o.copyScratch(t.Context(), filepath.Join(to, "temp"), tc.base)
		if err != nil {
			t.Fatal(err)
		}
		left := append(stillMissing(filepath.Join(to, "tree"), ofTree), stillMissing(filepath.Join(to, "temp"), ofTemp)...)
		if want := []string{"demo", "dist/cli.js", "app.jar", "app.wasm", "bin/demo"}; tc.base && !slices.Equal(left, want) || !tc.base && len(left) > 0 {
			t.Errorf("%s, base %t: left out: %q", tc.record, tc.base, left)
		}
		got := map[string]string{}
		err = fs.WalkDir(os.DirFS(to), ".", func(name string, d fs.DirEntry, err error) error {
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

// inDist ignores what lies in dist.
func inDist(_ context.Context, paths []string) (map[string]bool, error) {
	out := map[string]bool{}
	for _, p := range paths {
		out[p] = strings.HasPrefix(p, "dist/")
	}
	return out, nil
}

// TestNamedIn holds which of the files that the base had not a command is about.
func TestNamedIn(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text    string
		missing []string
		want    []string
	}{
		{"./app -5", []string{"app", "pay.o"}, []string{"app"}},
		{"cc -c pay.c", []string{"app", "pay.o"}, nil},
		{"java -cp out shop.Pay -5", []string{"out/shop/Pay.class", "out/shop/", "out/"}, []string{"out/shop/Pay.class"}},
		{"node ./dist/cli -5.", []string{"dist/cli.js", "dist/", "dist/lib/x.js"}, []string{"dist/cli.js"}},
		{`node -e "require('./dist').pay(-5)"`, []string{"dist/index.js", "dist/"}, []string{"dist/"}},
		{`node -e "require('./src').pay(-5)"`, []string{"dist/index.js", "dist/"}, nil},
		{"python3 -m pytest", []string{"__pycache__/shop.cpython-312.pyc", "__pycache__/"}, nil},
	} {
		if got := namedIn(tc.text, tc.missing); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.text, got, tc.want)
		}
	}
}

// TestStillMissing holds that what a command built again counts as there.
func TestStillMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := errors.Join(folder.Make(filepath.Join(dir, "out")), os.WriteFile(filepath.Join(dir, "app"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	got := stillMissing(dir, []string{"app", "out/a.class", "lib/x/b.class", "lib/x/c.class"})
	if want := []string{"out/a.class", "lib/x/b.class", "lib/x/", "lib/", "lib/x/c.class"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
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
	if err := folder.Make(in("to")); err != nil {
		t.Fatal(err)
	}
	if _, err := o.copyProbes(t.Context(), carrying{prepared: in("head"), to: in("to")}); err != nil {
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

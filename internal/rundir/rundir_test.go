package rundir

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
)

func clock() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// begin opens a run directory as a run does.
func begin(t *testing.T, path string, identity Identity) *Dir {
	t.Helper()
	d, err := Create(path, identity, Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if !d.Resumed {
		if err := d.Journal.Append("run", "circumstances", Settings{Format: Format}); err != nil {
			t.Fatal(err)
		}
		if err := d.Journal.Append("run", "identity", identity); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// The same job broken off is continued under its name; another job, and a run that is
// finished, begin again in an emptied folder.
func TestCreate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	if err := os.Mkdir(path, 0o755); err != nil { //nolint:gosec // as people make a folder
		t.Fatal(err)
	}
	first := begin(t, path, Identity{Run: "r1", Head: "a"})
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("an empty folder that was there is open to others: %v %v", info.Mode(), err)
	}
	if !first.Fresh || first.Resumed {
		t.Errorf("a new one: %+v", first)
	}
	closed(t, first)
	again := begin(t, path, Identity{Run: "r2", Head: "a"})
	if again.Fresh || !again.Resumed || again.ID != "r1" {
		t.Errorf("the same job: fresh %t, resumed %t, run %s", again.Fresh, again.Resumed, again.ID)
	}
	if err := again.Seal(); err != nil {
		t.Fatal(err)
	}
	closed(t, again)
	finished := begin(t, path, Identity{Run: "r3", Head: "a"})
	if finished.Resumed || finished.ID != "r3" || IsFinished(path) {
		t.Errorf("a finished run: resumed %t, run %s", finished.Resumed, finished.ID)
	}
	closed(t, finished)
	other := begin(t, path, Identity{Run: "r4", Head: "b"})
	if other.Resumed || other.ID != "r4" {
		t.Errorf("another job: resumed %t, run %s", other.Resumed, other.ID)
	}
	closed(t, other)
	closed(t, begin(t, path, Identity{Run: "r5", Head: "topic", Range: "1..2"}))
	named := begin(t, path, Identity{Run: "r6", Base: "1", Head: "2", Range: "1..2"})
	if !named.Resumed {
		t.Error("the same commits by other names: begun from the start")
	}
	closed(t, named)
	moved := begin(t, path, Identity{Run: "r7", Head: "topic", Range: "1..3"})
	if moved.Resumed {
		t.Error("the same name for another commit: gone on with")
	}
	closed(t, moved)
	if err := os.WriteFile(filepath.Join(path, "thesis.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path, Identity{Run: "r5"}, Options{Now: clock}); err == nil || !strings.Contains(err.Error(), "thesis.txt") {
		t.Errorf("another's folder: %v", err)
	}
}

func closed(t *testing.T, d *Dir) {
	t.Helper()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// A directory that a run writes to is no other's: neither the same job nor another one
// changes anything of it, nor is it concluded.
func TestDirectoryOfALiveRun(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	live := begin(t, path, Identity{Run: "r1", Head: "a"})
	for _, head := range []string{"a", "b"} {
		var usage *UsageError
		_, err := Create(path, Identity{Run: "r2", Head: head}, Options{Now: clock})
		if !errors.Is(err, ErrInUse) || !errors.As(err, &usage) || !strings.Contains(err.Error(), path) {
			t.Errorf("head %s: %v", head, err)
		}
	}
	if _, _, err := Reopen(path, Options{Now: clock}); !errors.Is(err, ErrInUse) {
		t.Errorf("concluded: %v", err)
	}
	if err := live.Journal.Append("stage", "gate", 1); err != nil {
		t.Fatal(err)
	}
	closed(t, live)
	again := begin(t, path, Identity{Run: "r3", Head: "a"})
	if _, ok := again.Journal.Lookup("stage", "gate"); !ok || !again.Resumed {
		t.Errorf("after its end: resumed %t, what it noted is there %t", again.Resumed, ok)
	}
}

// What another run left is taken out of a directory only where that may be: else it is all
// still there, and can go on.
func TestEmptyIsAsked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	first := begin(t, path, Identity{Run: "r1", Head: "a"})
	if err := first.Write(AnswersFile, []byte("{}\n")); err != nil {
		t.Fatal(err)
	}
	closed(t, first)
	no := errors.New("no")
	var asked []bool
	options := Options{Now: clock, Empty: func(answered bool) error { asked = append(asked, answered); return no }}
	if _, err := Create(path, Identity{Run: "r2", Head: "b"}, options); !errors.Is(err, no) {
		t.Errorf("another job: %v", err)
	}
	again := begin(t, path, Identity{Run: "r3", Head: "a"})
	if !again.Resumed {
		t.Error("the first job does not go on")
	}
	if err := again.Seal(); err != nil {
		t.Fatal(err)
	}
	closed(t, again)
	if _, err := Create(path, Identity{Run: "r4", Head: "a"}, options); !errors.Is(err, no) {
		t.Errorf("a finished run: %v", err)
	}
	if _, problems, err := Verify(path); err != nil || len(problems) > 0 {
		t.Errorf("the finished run: %q, %v", problems, err)
	}
	if err := os.Remove(filepath.Join(path, journalFile)); err != nil { // nothing can go on with that
		t.Fatal(err)
	}
	if _, err := Create(path, Identity{Run: "r5", Head: "a"}, options); !errors.Is(err, no) {
		t.Errorf("a part of one: %v", err)
	}
	fresh, err := Create(filepath.Join(path, "new"), Identity{Run: "r6"}, options)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, fresh)
	if want := []bool{true, false, false}; !slices.Equal(asked, want) {
		t.Errorf("asked %v, want %v", asked, want)
	}
}

// A folder that is no run directory gets no file by being named.
func TestAnotherFolderIsLeftAlone(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, "thesis.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path, Identity{Run: "r1"}, Options{Now: clock}); err == nil {
		t.Error("taken")
	}
	if _, err := os.Lstat(filepath.Join(path, journalFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a journal: %v", err)
	}
}

// What is changed in a sealed directory is named.
func TestVerify(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	d := begin(t, path, Identity{Run: "r1"})
	for _, name := range []string{"brief.md", "report.md", "spill/E1.stdout"} {
		if err := d.Write(name, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Seal(); err != nil {
		t.Fatal(err)
	}
	if digest, problems, err := Verify(path); err != nil || len(problems) > 0 || len(digest) != 64 {
		t.Fatalf("intact: %s, %q, %v", digest, problems, err)
	}
	for name, edit := range map[string]func() error{
		"brief.md: not what the run wrote": func() error { return os.WriteFile(filepath.Join(path, "brief.md"), []byte("x"), 0o600) },
		"report.md: missing":               func() error { return os.Remove(filepath.Join(path, "report.md")) },
		"more.md: the run did not write it": func() error {
			return os.WriteFile(filepath.Join(path, "more.md"), nil, 0o600)
		},
		"spill/E1.stdout: no regular file": func() error {
			name := filepath.Join(path, "spill", "E1.stdout")
			if err := os.Remove(name); err != nil {
				return err
			}
			return os.Symlink("/etc/hostname", name)
		},
	} {
		if err := edit(); err != nil {
			t.Fatal(err)
		}
		if _, problems, err := Verify(path); err != nil || !slices.Contains(problems, name) {
			t.Errorf("%s is not among %q, %v", name, problems, err)
		}
	}
}

// Where the folders of a run lay is what it recorded, attempt by attempt.
func TestLayouts(t *testing.T) {
	t.Parallel()
	d := begin(t, filepath.Join(t.TempDir(), "out"), Identity{Run: "r1", Trees: "/h/projects/p/worktrees/r1"})
	first, second := NewLayout("/h", "p", "r1"), NewLayout("/other", "p", "r1")
	for _, l := range []Layout{first, first, second} {
		if err := d.RecordLayout(l); err != nil {
			t.Fatal(err)
		}
	}
	if got := Layouts(d.Journal); !slices.Equal(got, []Layout{first, second}) {
		t.Errorf("recorded %+v", got)
	}
	here := NewLayout("/here", "p", "r1")
	for _, l := range []Layout{first, second} {
		if got := here.Relocate(Layouts(d.Journal)).Replace("cat " + l.Agent("a").Tree + "/f " + l.Temp + "/g"); got != "cat "+here.Agent("a").Tree+"/f "+here.Temp+"/g" {
			t.Errorf("moved to %q", got)
		}
	}
	recorded := evidence.Roots{Tree: "/t", Base: "/b"}
	if err := RecordWorkspace(d.Journal, "a", recorded); err != nil {
		t.Fatal(err)
	}
	if got := Bases(d.Journal, "a"); !slices.Equal(got, []string{"/b"}) {
		t.Errorf("bases %q", got)
	}
	if got := RootsOf(d.Journal, evidence.Record{Task: "a", Roots: &recorded}); got != recorded {
		t.Errorf("roots of a record: %+v", got)
	}
	if got := RootsOf(d.Journal, evidence.Record{Task: "a"}); got != first.Agent("a") {
		t.Errorf("roots of an older record: %+v", got)
	}
}

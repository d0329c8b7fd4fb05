package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// state is all of a folder that later commands could see, by path. Names of what
// is one file by two names are noticed, too.
func state(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if rel == ".git" {
			return nil
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		says := fmt.Sprintf("mode %o size %d", st.Mode, st.Size)
		if !d.IsDir() {
			says += fmt.Sprintf(" links %d", st.Nlink)
		}
		if rel != "." { // of the top, .git is written again
			says += " time " + fmt.Sprint(st.Mtim)
		}
		buf := make([]byte, 1000)
		if n, err := unix.Llistxattr(path, buf); err == nil {
			for name := range strings.SplitSeq(string(buf[:n]), "\x00") {
				if name != "" && !strings.HasPrefix(name, "security.") {
					says += " has " + name
				}
			}
		}
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			says += " holds " + string(data)
		}
		if d.Type()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			says += " leads to " + to
		}
		if d.IsDir() {
			says = strings.Replace(says, fmt.Sprintf(" size %d", st.Size), "", 1)
		}
		out[rel] = says
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// untouchedLong waits until the record of a replica can say something of files that were
// just written, and makes it.
func untouchedLong(t *testing.T, r *Replica) {
	t.Helper()
	start := must[time.Time](t)(Clock(filepath.Dir(r.To)))
	for must[time.Time](t)(Clock(filepath.Dir(r.To))).Sub(start) < 2*tick { // the clock goes on by itself
	}
	r.made = recordOf(t, r.From, r.To)
	r.made.settled(must[time.Time](t)(Clock(filepath.Dir(r.To))).UnixNano())
	if len(r.made.files) == 0 || !timely(r.To) {
		t.Skip("this file system's change times are not known to be fine")
	}
}

func recordOf(t *testing.T, from, to string) *replicaDir {
	t.Helper()
	stat := func(path string) *unix.Stat_t {
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			t.Fatal(err)
		}
		return &st
	}
	d := newReplicaDir()
	d.self(stat(from), stat(to))
	for _, e := range must[[]os.DirEntry](t)(os.ReadDir(from)) {
		a, b := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		switch {
		case e.Name() == ".git":
		case e.IsDir():
			d.dirs[e.Name()] = recordOf(t, a, b)
		default:
			d.file(e.Name(), stat(a), stat(b))
		}
	}
	return d
}

// forge writes a file again in place and puts its time back.
func forge(path, content string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close(), os.Chtimes(path, info.ModTime(), info.ModTime()))
}

// resetAttacks are what a command can leave in a tree for the next command there.
func resetAttacks() map[string]func(dir, outside string) error {
	in := func(f func(at func(string) string) error) func(string, string) error {
		return func(dir, _ string) error {
			return f(func(name string) string { return filepath.Join(dir, name) })
		}
	}
	return map[string]func(dir, outside string) error{
		"content of the same length and time": in(func(at func(string) string) error { return forge(at("src/a.txt"), "AAAA") }),
		"a mapped file": in(func(at func(string) string) error {
			f, err := os.OpenFile(at("src/a.txt"), os.O_RDWR, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			data, err := unix.Mmap(int(f.Fd()), 0, 4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
			if err != nil {
				return err
			}
			copy(data, "MMMM")
			return unix.Munmap(data)
		}),
		"two files that changed places": in(func(at func(string) string) error {
			return errors.Join(os.Rename(at("src/a.txt"), at("x")), os.Rename(at("src/b.txt"), at("src/a.txt")), os.Rename(at("x"), at("src/b.txt")))
		}),
		"two folders that changed places": in(func(at func(string) string) error {
			return errors.Join(os.Rename(at("one"), at("x")), os.Rename(at("two"), at("one")), os.Rename(at("x"), at("two")))
		}),
		"two names of one file": in(func(at func(string) string) error {
			return errors.Join(os.Remove(at("src/b.txt")), os.Link(at("src/a.txt"), at("src/b.txt")))
		}),
		"a name of a file outside": func(dir, outside string) error {
			return os.Link(filepath.Join(dir, "src/a.txt"), filepath.Join(outside, "kept"))
		},
		"a link in place of a file": func(dir, outside string) error {
			name := filepath.Join(dir, "src/a.txt")
			return errors.Join(os.Remove(name), os.Symlink(filepath.Join(outside, "secret"), name))
		},
		"a link in place of a folder": func(dir, outside string) error {
			name := filepath.Join(dir, "one")
			return errors.Join(os.RemoveAll(name), os.Symlink(outside, name))
		},
		"a file in place of a folder": in(func(at func(string) string) error {
			return errors.Join(os.RemoveAll(at("one")), os.WriteFile(at("one"), nil, 0o600))
		}),
		"a folder in place of a file": in(func(at func(string) string) error {
			return errors.Join(os.Remove(at("src/a.txt")), os.MkdirAll(at("src/a.txt/b"), 0o700))
		}),
		"another target of a link": in(func(at func(string) string) error {
			return errors.Join(os.Remove(at("link")), os.Symlink("src/b.txt", at("link")))
		}),
		"ignored files": in(func(at func(string) string) error {
			return errors.Join(os.MkdirAll(at("node_modules/.cache"), 0o755), os.WriteFile(at("node_modules/.cache/x"), nil, 0o600), os.WriteFile(at(".env"), nil, 0o600))
		}),
		"files out of build output": in(func(at func(string) string) error { return os.Remove(at("build/out.o")) }),
		"modes": in(func(at func(string) string) error {
			return errors.Join(os.Chmod(at("src/a.txt"), 0o777), os.Chmod(at("one"), 0o777), os.Chmod(at("two/deep"), 0), os.Chmod(at("src/b.txt"), 0))
		}),
		"a folder that cannot be entered": in(func(at func(string) string) error {
			return errors.Join(os.MkdirAll(at("one/more"), 0o700), os.Chmod(at("one"), 0), os.Chmod(at("."), 0))
		}),
		"a pipe and a socket": in(func(at func(string) string) error {
			return errors.Join(syscall.Mkfifo(at("one/pipe"), 0o600), os.Remove(at("src/a.txt")), syscall.Mkfifo(at("src/a.txt"), 0o600))
		}),
		"attributes": in(func(at func(string) string) error {
			err := errors.Join(unix.Setxattr(at("src/a.txt"), "user.x", []byte("1"), 0), unix.Setxattr(at("one"), "user.x", []byte("1"), 0), unix.Setxattr(at("."), "user.x", []byte("1"), 0))
			if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EPERM) {
				return nil
			}
			return err
		}),
		"a repository in the tree": in(func(at func(string) string) error {
			return errors.Join(os.MkdirAll(at("sub/.git/hooks"), 0o700), os.WriteFile(at("sub/.git/config"), nil, 0o600))
		}),
	}
}

// What commands left in a tree is gone when it was reset, also where they covered
// their tracks, and nothing outside of it was touched. What they left alone is not
// copied again.
func TestResetLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, attack := range resetAttacks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			from, to, outside := filepath.Join(dir, "from"), filepath.Join(dir, "to"), filepath.Join(dir, "outside")
			write(t, from, map[string]string{
				"src/a.txt": "aaaa", "src/b.txt": "bbbb", "one/f": "1111", "two/f": "2222", "one/deep/g": "3", "two/deep/g": "4",
				"build/out.o": "obj", "sub/empty": "", "kept/k": "k",
			})
			then := time.Now().Add(-time.Hour)
			for _, f := range []string{"src/a.txt", "src/b.txt", "one/f", "two/f", "one", "two"} { // alike in all that stat says
				if err := os.Chtimes(filepath.Join(from, f), then, then); err != nil {
					t.Fatal(err)
				}
			}
			symlink(t, "src/a.txt", filepath.Join(from, "link"))
			write(t, outside, map[string]string{"secret": "s", "f": "f", "deep/g": "g"})
			r := &Replica{From: from, To: to}
			if err := r.Reset(t.Context()); err != nil {
				t.Fatal(err)
			}
			want, others := state(t, from), state(t, outside)
			if d := cmp.Diff(want, state(t, to)); d != "" {
				t.Fatalf("the first copy differs:\n%s", d)
			}
			untouchedLong(t, r)
			inode := func() uint64 {
				var st unix.Stat_t
				if err := unix.Lstat(filepath.Join(to, "kept/k"), &st); err != nil {
					t.Fatal(err)
				}
				return st.Ino
			}
			before := inode()
			if err := attack(to, outside); err != nil {
				t.Fatal(err)
			}
			if err := r.Reset(t.Context()); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, state(t, to)); d != "" {
				t.Errorf("-want +left:\n%s", d)
			}
			if d := cmp.Diff(want, state(t, from)); d != "" {
				t.Errorf("what it was copied from is another:\n%s", d)
			}
			now := state(t, outside)
			delete(now, "kept")
			delete(others, ".")
			delete(now, ".")
			if d := cmp.Diff(others, now); d != "" {
				t.Errorf("something outside was touched:\n%s", d)
			}
			if inode() != before && name != "attributes" && name != "a folder that cannot be entered" {
				t.Error("a file that was not touched was copied again")
			}
		})
	}
}

// A folder is made again below another one whatever lies in its place or on the way.
func TestRemake(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	for name, before := range map[string]func(home string) error{
		"nothing": func(string) error { return nil },
		"a link":  func(home string) error { return os.Symlink(outside, filepath.Join(home, "a")) },
		"a link to it": func(home string) error {
			return errors.Join(Make(filepath.Join(home, "a")), os.Symlink(outside, filepath.Join(home, "a/b")))
		},
		"a file":   func(home string) error { return os.WriteFile(filepath.Join(home, "a"), nil, 0o600) },
		"a folder": func(home string) error { return Make(filepath.Join(home, "a/b/c")) },
		"a closed folder": func(home string) error {
			return errors.Join(Make(filepath.Join(home, "a/b/c")), os.Chmod(filepath.Join(home, "a/b"), 0), os.Chmod(filepath.Join(home, "a"), 0))
		},
	} {
		home := t.TempDir()
		err := before(home)
		if err == nil {
			err = Remake(t.Context(), home, "a/b")
		}
		if entries, rerr := os.ReadDir(filepath.Join(home, "a/b")); err != nil || rerr != nil || len(entries) > 0 || !IsBelow(home, "a/b") {
			t.Errorf("%s: %v %v %v", name, entries, err, rerr)
		}
		if info, err := os.Lstat(filepath.Join(home, "a")); err != nil || !info.IsDir() {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside there is %v %v", entries, err)
	}
}

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
	"golang.org/x/sys/unix"
)

// A mount is one path of the host in the sandbox, under the same name.
type mount struct {
	path   string
	access access
	seen   *seen // where it lies in something writable
}

type access int

const (
	hidden access = iota + 1
	readable
	writable
)

// systemArgs mounts the system directories.
func systemArgs() []string {
	var args []string
	for _, dir := range toolchains.SystemDirs() {
		info, err := os.Lstat(dir)
		if err != nil {
			continue
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			if target, err := os.Readlink(dir); err == nil {
				args = append(args, "--symlink", target, dir)
			}
			continue
		}
		args = append(args, "--ro-bind", dir, dir)
	}
	return args
}

// texts are the files that bubblewrap copies in the place of those that are hidden.
type texts struct {
	first int // the number that bubblewrap has for the first
	files []*os.File
}

// add is the number of a file with this text.
func (t *texts) add(text string) (string, error) {
	f, err := memoryFile([]byte(text))
	if err != nil {
		return "", err
	}
	t.files = append(t.files, f)
	return strconv.Itoa(t.first + len(t.files) - 1), nil
}

// hideArgs covers paths: settings with ones that say nothing, other files with a device that
// no one can open, directories with empty ones.
func (t *texts) hideArgs(paths []string) ([]string, error) {
	var args []string
	for _, path := range paths {
		info, err := os.Lstat(path)
		switch {
		case err != nil || info.Mode()&fs.ModeSymlink != 0:
		case info.IsDir():
			args = append(args, "--tmpfs", path)
		default:
			text, ok := toolchains.StandIn(path)
			if !ok {
				args = append(args, "--ro-bind", "/dev/null", path)
				continue
			}
			fd, err := t.add(text)
			if err != nil {
				return nil, err
			}
			args = append(args, "--ro-bind-data", fd, path)
		}
	}
	return args, nil
}

// bindArgs mounts what [named] gives.
func (t *texts) bindArgs(mounts []mount) ([]string, error) {
	var args []string
	for _, m := range mounts {
		switch m.access {
		case writable:
			args = append(args, "--bind", m.path, m.path)
		case hidden:
			hide, err := t.hideArgs([]string{m.path})
			if err != nil {
				return nil, err
			}
			args = append(args, hide...)
		default:
			args = append(args, "--ro-bind", m.path, m.path)
		}
	}
	return args, nil
}

// named is what a command names, and the toolchains without what is private in
// them, parents before what lies in them, without what lies in something of the
// same access anyway.
func named(c Command, tools, private []string) ([]mount, error) {
	want := map[string]access{}
	for _, path := range private {
		if !toolchains.UnderSystem(path) {
			want[path] = hidden
		}
	}
	for _, path := range tools {
		if _, err := os.Lstat(path); err == nil && want[path] != hidden {
			want[path] = readable
		}
	}
	for _, path := range c.ReadOnly {
		if _, err := os.Lstat(path); err == nil {
			want[filepath.Clean(path)] = readable
		}
	}
	if c.Network == NetworkHost {
		// Names are resolved by a file that is often a link into /run.
		if path := toolchains.Resolve("/etc/resolv.conf"); isFile(path) {
			want[path] = readable
		}
	}
	for _, dir := range c.Writable {
		want[filepath.Clean(dir)] = writable
	}
	if c.Home != "" {
		want[filepath.Clean(c.Home)] = writable
	}
	above := coverage(private)
	var out []mount
	for _, path := range slices.Sorted(maps.Keys(want)) {
		over := above.nearest(path)
		if want[path] == hidden && over.access != readable {
			continue // it is not there, or the command's own
		}
		m := mount{path: path, access: want[path]}
		if top := above.writable(path); top != "" {
			var err error
			// What is there already may be missing: the command makes it.
			if m.seen, err = look(top, path); err != nil && (m.access != over.access || !errors.Is(err, fs.ErrNotExist)) {
				return nil, fmt.Errorf("command %s: %w", c.Argv[0], err)
			}
		}
		if m.access == over.access {
			continue // it is there already
		}
		out = append(out, m)
		above = append(above, m)
	}
	return out, nil
}

// byBothNames are toolchains as mounts are made of them: one behind a link finds itself
// by its real name, too, and what lies in another one comes with that.
func byBothNames(tools []string) []string {
	var all []string
	for _, dir := range tools {
		for _, path := range []string{filepath.Clean(dir), toolchains.Resolve(dir)} {
			if filepath.IsAbs(path) && !toolchains.UnderSystem(path) {
				all = append(all, path)
			}
		}
	}
	slices.Sort(all)
	var out []string
	for _, path := range slices.Compact(all) { // parents first
		if !slices.ContainsFunc(out, func(dir string) bool { return toolchains.Within(dir, path) }) {
			out = append(out, path)
		}
	}
	return out
}

// look refuses a path below the writable top that leads elsewhere: an earlier command
// could have put a link there.
func look(top, path string) (*seen, error) {
	s := &seen{Top: top, Path: path}
	fd, st, err := s.open()
	if err != nil {
		return nil, err
	}
	s.Dev, s.Ino = st.Dev, st.Ino
	return s, unix.Close(fd)
}

// open opens the path for its name alone and follows no link below the top.
func (s *seen) open() (int, unix.Stat_t, error) {
	var st unix.Stat_t
	rel, err := filepath.Rel(s.Top, s.Path)
	if err != nil {
		return -1, st, err
	}
	top, err := unix.Open(s.Top, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, st, fmt.Errorf("%s: %w", s.Top, err)
	}
	defer unix.Close(top)
	fd, err := unix.Openat2(top, rel, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS})
	if errors.Is(err, unix.ELOOP) {
		return -1, st, fmt.Errorf("%s: a link inside the writable %s", s.Path, s.Top)
	}
	if err != nil {
		return -1, st, fmt.Errorf("%s: %w", s.Path, err)
	}
	if err := unix.Fstat(fd, &st); err != nil {
		return -1, st, errors.Join(fmt.Errorf("%s: %w", s.Path, err), unix.Close(fd))
	}
	return fd, st, nil
}

// again opens what was seen. What is there now and was not then is refused.
func (s *seen) again() (int, error) {
	fd, st, err := s.open()
	if err != nil {
		return -1, err
	}
	if st.Dev != s.Dev || st.Ino != s.Ino {
		return -1, errors.Join(fmt.Errorf("%s: exchanged after it was looked at", s.Path), unix.Close(fd))
	}
	return fd, nil
}

// covers is the mounts so far, parents before what lies in them.
type covers []mount

func coverage(private []string) covers {
	var all covers
	for _, dir := range []string{"/", boxedTemp, boxedHome, "/dev", "/proc"} {
		all = append(all, mount{path: dir, access: hidden})
	}
	for _, dir := range toolchains.SystemDirs() {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			all = append(all, mount{path: dir, access: readable})
		}
	}
	for _, path := range private {
		if toolchains.UnderSystem(path) {
			all = append(all, mount{path: path, access: hidden})
		}
	}
	return all
}

// nearest is the mount that path lies in.
func (m covers) nearest(path string) mount {
	var best mount
	for _, x := range m {
		if toolchains.Within(x.path, path) && len(x.path) >= len(best.path) {
			best = x
		}
	}
	return best
}

// writable is the highest writable folder above path; empty: none is.
func (m covers) writable(path string) string {
	for _, x := range m { // parents first
		if x.access == writable && toolchains.Within(x.path, path) {
			return x.path
		}
	}
	return ""
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

package sandbox

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// A mount is one path of the host in the sandbox, under the same name.
type mount struct {
	path   string
	access access
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
	for _, dir := range systemDirs {
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

// hideArgs covers paths: files with a device that nobody can open, directories
// with empty ones.
func hideArgs(paths []string) []string {
	var args []string
	for _, path := range paths {
		info, err := os.Lstat(path)
		switch {
		case err != nil || info.Mode()&fs.ModeSymlink != 0:
		case info.IsDir():
			args = append(args, "--tmpfs", path)
		default:
			args = append(args, "--ro-bind", "/dev/null", path)
		}
	}
	return args
}

// bindArgs mounts what [named] gives.
func bindArgs(mounts []mount) []string {
	var args []string
	for _, m := range mounts {
		switch m.access {
		case writable:
			args = append(args, "--bind", m.path, m.path)
		case hidden:
			args = append(args, hideArgs([]string{m.path})...)
		default:
			args = append(args, "--ro-bind", m.path, m.path)
		}
	}
	return args
}

// named is what a command names, and the toolchains without what is private in
// them, parents before what lies in them, without what lies in something of the
// same access anyway.
func named(c Command, toolchains, private []string) ([]mount, error) {
	want := map[string]access{}
	for _, path := range private {
		if !underSystem(path) {
			want[path] = hidden
		}
	}
	for _, dir := range toolchains {
		// A toolchain behind a link finds itself by its real name, too.
		for _, path := range []string{filepath.Clean(dir), resolved(dir)} {
			if _, err := os.Lstat(path); err == nil && filepath.IsAbs(path) && want[path] != hidden {
				want[path] = readable
			}
		}
	}
	for _, path := range c.ReadOnly {
		if _, err := os.Lstat(path); err == nil {
			want[filepath.Clean(path)] = readable
		}
	}
	if c.Network == NetworkHost {
		// Names are resolved by a file that is often a link into /run.
		if path := resolved("/etc/resolv.conf"); isFile(path) {
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
		if err := stable(path, over); err != nil {
			return nil, fmt.Errorf("command %s: %w", c.Argv[0], err)
		}
		if want[path] == over.access {
			continue // it is there already
		}
		out = append(out, mount{path, want[path]})
		above = append(above, mount{path, want[path]})
	}
	return out, nil
}

// stable refuses a path below a writable one that leads elsewhere: an earlier
// command could have put a link there, and the mount would follow it.
func stable(path string, over mount) error {
	if over.access != writable {
		return nil
	}
	rel, err := filepath.Rel(over.path, path)
	if err != nil {
		return err
	}
	if resolved(path) != filepath.Join(resolved(over.path), rel) {
		return fmt.Errorf("%s: a link inside the writable %s", path, over.path)
	}
	return nil
}

// covers is the mounts so far, parents before what lies in them.
type covers []mount

func coverage(private []string) covers {
	all := covers{{"/", hidden}, {boxedTemp, hidden}, {boxedHome, hidden}, {"/dev", hidden}, {"/proc", hidden}}
	for _, dir := range systemDirs {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			all = append(all, mount{dir, readable})
		}
	}
	for _, path := range private {
		if underSystem(path) {
			all = append(all, mount{path, hidden})
		}
	}
	return all
}

// nearest is the mount that path lies in.
func (m covers) nearest(path string) mount {
	var best mount
	for _, x := range m {
		if within(x.path, path) && len(x.path) >= len(best.path) {
			best = x
		}
	}
	return best
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

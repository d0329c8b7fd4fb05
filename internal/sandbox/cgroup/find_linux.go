package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// delegatedCgroup finds where commands' cgroups may be made: beside the one that
// this program was put in, in the one that was made for root, or below its own
// when it is alone there.
func delegatedCgroup(root string, own func() func(pid int) bool) (string, error) {
	mount, at, err := ownCgroup(root)
	if err != nil {
		return "", err
	}
	if filepath.Base(at) == Harness && writableCgroup(filepath.Dir(at)) {
		return filepath.Dir(at), nil
	}
	if top := filepath.Join(mount, Name); os.Geteuid() == 0 && len(enabledControllers(top)) > 0 {
		return top, nil
	}
	if !givenCgroup(at, at == mount) {
		return "", fmt.Errorf("%s is not delegated to this user", strings.TrimPrefix(at, root))
	}
	return at, settle(at, own)
}

// ownCgroup returns where version 2 is mounted, and the directory of this
// program's cgroup there.
func ownCgroup(root string) (_, own string, _ error) {
	top, mount := Mount(root)
	if mount == "" {
		return "", "", errors.New("no cgroup file system of version 2 is mounted")
	}
	text, err := os.ReadFile(filepath.Join(root, "/proc/self/cgroup"))
	if err != nil {
		return "", "", err
	}
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			rel, err := filepath.Rel(top, path)
			if err != nil || slices.Contains(strings.Split(path+"/"+rel, "/"), "..") {
				return "", "", fmt.Errorf("cgroup %s lies outside of the mounted %s", path, top)
			}
			mount = filepath.Join(root, mount)
			return mount, filepath.Join(mount, rel), nil
		}
	}
	return "", "", errors.New("this process is in no cgroup of version 2")
}

func writableCgroup(dir string) bool {
	return unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) == nil &&
		unix.Access(filepath.Join(dir, "cgroup.subtree_control"), unix.W_OK) == nil && unix.Access(dir, unix.W_OK) == nil
}

// givenCgroup reports whether dir is this program's to divide; top is the root of
// what is mounted. Root may write all of them, and the manager of the machine
// says which are meant.
func givenCgroup(dir string, top bool) bool {
	if !writableCgroup(dir) || !there(filepath.Join(dir, "cgroup.type")) { // the root of all has no type
		return false
	}
	info, err := os.Stat(dir)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if uid := os.Geteuid(); uid != 0 {
		return ok && int(st.Uid) == uid
	}
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		b := make([]byte, 8)
		if n, err := unix.Getxattr(dir, name, b); err == nil && string(b[:n]) == "1" {
			return true
		}
	}
	return top // of a container's own hierarchy
}

// settle makes this program's own cgroup one that can have others below it.
func settle(dir string, own func() func(pid int) bool) error {
	mine := own()
	pids := processesIn(dir)
	for _, pid := range pids {
		if !mine(pid) {
			return fmt.Errorf("%s holds other processes, too: start ycbot in a cgroup of its own "+
				"(systemd-run --user --scope -p Delegate=yes ycbot …)", dir)
		}
	}
	inner := filepath.Join(dir, Harness)
	if err := os.Mkdir(inner, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, pid := range pids {
		err := Write(inner, "cgroup.procs", strconv.Itoa(pid))
		if err != nil && !errors.Is(err, unix.ESRCH) { // it has ended
			return err
		}
	}
	offered := Words(dir, "cgroup.controllers")
	for _, name := range Controllers() {
		if slices.Contains(offered, name) {
			if err := Write(dir, "cgroup.subtree_control", "+"+name); err != nil {
				return err
			}
		}
	}
	return nil
}

func enabledControllers(dir string) []string { return Words(dir, "cgroup.subtree_control") }

func processesIn(dir string) []int {
	var out []int
	for _, word := range Words(dir, "cgroup.procs") {
		if pid, err := strconv.Atoi(word); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

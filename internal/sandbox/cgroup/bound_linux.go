package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Bound is the memory that the kernel gives all processes together in whose cgroup, or in
// one below it, this program is: those of a container, or of a unit of systemd.
type Bound struct {
	Limit int64 // in bytes
	dir   string
	use   string   // the file that says how much is in use
	files string   // what of that is in files of memory, in the file memory.stat
	again []string // what of that can be had at once, in the file memory.stat
}

// MemoryBound finds the smallest of them below root, which is empty but in tests; nil: the
// processes of the machine share its memory and no less.
func MemoryBound(root string) *Bound {
	var out *Bound
	least := func(mount, own, limit string, b Bound) {
		for dir := own; mount != "" && (dir == mount || strings.HasPrefix(dir, mount+"/")); dir = filepath.Dir(dir) {
			words := Words(dir, limit)
			if len(words) != 1 {
				continue
			}
			n, err := strconv.ParseInt(words[0], 10, 64) // "max" is none
			if err == nil && n > 0 && (out == nil || n < out.Limit) {
				b.Limit, b.dir = n, dir
				found := b
				out = &found
			}
		}
	}
	if mount, own, err := ownCgroup(root); err == nil {
		least(mount, own, "memory.max", Bound{use: "memory.current", files: "shmem", again: []string{"active_file", "inactive_file", "slab_reclaimable"}})
	}
	mount, own := memoryOfFirst(root)
	least(mount, own, "memory.limit_in_bytes", Bound{use: "memory.usage_in_bytes", files: "total_shmem", again: []string{"total_active_file", "total_inactive_file"}})
	return out
}

// memoryOfFirst is the hierarchy of version 1 that limits memory, where it is mounted, and the
// cgroup that this program is in there.
func memoryOfFirst(root string) (mount, own string) {
	text, err := os.ReadFile(filepath.Join(root, "/proc/self/mountinfo"))
	if err != nil {
		return "", ""
	}
	top := ""
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if i := slices.Index(f, "-"); i > 4 && len(f) > i+3 && f[i+1] == "cgroup" && slices.Contains(strings.Split(f[i+3], ","), "memory") {
			top, mount = f[3], filepath.Join(root, f[4])
		}
	}
	text, err = os.ReadFile(filepath.Join(root, "/proc/self/cgroup"))
	if err != nil || mount == "" {
		return "", ""
	}
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 || !slices.Contains(strings.Split(f[1], ","), "memory") {
			continue
		}
		if rel, err := filepath.Rel(top, f[2]); err == nil && filepath.IsLocal(rel) {
			return mount, filepath.Join(mount, rel)
		}
	}
	return mount, mount // in a container that sees its own cgroup alone
}

// Used is how much is in use and cannot be had at once, and how much of that is in files of
// memory; used is 0 where that is not known.
func (b *Bound) Used() (used, files int64) {
	words := Words(b.dir, b.use)
	if len(words) != 1 {
		return 0, 0
	}
	used, err := strconv.ParseInt(words[0], 10, 64)
	if err != nil {
		return 0, 0
	}
	stat := Words(b.dir, "memory.stat")
	for i := 0; i+1 < len(stat); i += 2 {
		n, _ := strconv.ParseInt(stat[i+1], 10, 64)
		switch {
		case stat[i] == b.files:
			files = n
		case slices.Contains(b.again, stat[i]):
			used -= n
		}
	}
	return max(used, 0), files
}

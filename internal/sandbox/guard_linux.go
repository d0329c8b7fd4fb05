package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/sandbox/cgroup"
	"golang.org/x/sys/unix"
)

// guardEvery is how often a running command is looked at.
const guardEvery = 50 * time.Millisecond

// How often the directories are measured, whatever the free space says, which others may
// give back as fast as a command takes it: each second, and seldom enough that it takes at
// most a twentieth of the time.
const (
	measureEvery = time.Second
	measureShare = 20
)

// A guard watches what no limit of the kernel holds: how much a command writes
// in all, how many files it makes, how much memory its processes have in use, and how many
// they are, because RLIMIT_NPROC does not bind root and counts all processes of a user where
// there is no user namespace.
type guard struct {
	memory  int64         // 0: not watched
	bound   *cgroup.Bound // of this program and all commands together; nil: the machine's memory
	disk    int64         // 0: not watched
	inodes  int64         // 0: not watched
	procs   int           // 0: not watched
	now     func() time.Time
	started time.Time
	volumes []volume
}

// A volume is one file system that a command may write to.
type volume struct {
	dirs []string
	dev  uint64
	free int64                         // the most that there was since the command started
	left int64                         // inodes, the same; some file systems have no such number and always say 0
	next struct{ bytes, inodes int64 } // how much of both may go before the directories are measured again
	due  time.Time                     // when they are measured in any case
	dark time.Time                     // since when more is gone than was found, and the command has what cannot be looked at
}

// reserve is the free space that must remain, no matter who used it up.
const reserve = 256 << 20

// guard watches a command in c that may write to dirs.
func (m means) guard(c *cgroup.Group, now func() time.Time, dirs []string) *guard {
	g := newGuard(m.limits, c, now, dirs)
	g.bound = m.bound
	return g
}

// newGuard watches a command in c that may write to dirs.
func newGuard(l Limits, c *cgroup.Group, now func() time.Time, dirs []string) *guard {
	g := &guard{now: now, started: now(), procs: max(l.Processes, 0), memory: max(l.Memory, 0)}
	if c != nil && c.Pids {
		g.procs = 0 // the kernel refuses more, which a command can see and survive
	}
	if c != nil && c.Memory {
		g.memory = 0
	}
	g.disk, g.inodes = max(l.Disk, 0), int64(max(l.Inodes, 0))
	if g.disk > 0 || g.inodes > 0 {
		for _, dir := range dirs {
			g.add(dir)
		}
	}
	return g
}

func (g *guard) add(dir string) {
	info, err := os.Stat(dir)
	if err != nil {
		return
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	for i := range g.volumes {
		if g.volumes[i].dev == st.Dev {
			for _, have := range g.volumes[i].dirs {
				if dir == have || strings.HasPrefix(dir, have+"/") {
					return // what is in it counts already
				}
			}
			g.volumes[i].dirs = append(g.volumes[i].dirs, dir)
			return
		}
	}
	if free, left, ok := freeSpace(dir); ok {
		v := volume{dirs: []string{dir}, dev: st.Dev, free: free, left: left, due: g.started.Add(measureEvery)}
		v.next.bytes, v.next.inodes = g.disk, g.inodes
		g.volumes = append(g.volumes, v)
	}
}

// freeSpace is how many bytes and inodes a file system has left.
func freeSpace(dir string) (bytes, inodes int64, ok bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0, 0, false
	}
	return int64(st.Bavail) * st.Bsize, int64(min(st.Ffree, 1<<62)), true //nolint:gosec // it is less
}

// exceeded names the limit that the command of m has passed; empty: none.
func (g *guard) exceeded(m *member) string {
	if g.procs > 0 && threads() > g.procs && family.threads(m) > g.procs {
		return "processes"
	}
	if used, files := g.used(); g.memory > 0 && used > g.memory {
		if own := family.memory(m); own > g.memory || own+files > g.memory && family.withFiles(m) > g.memory {
			return "memory"
		}
	}
	if g.fills(m) {
		return "memory"
	}
	for i := range g.volumes {
		if limit := g.volumes[i].exceeded(g, m); limit != "" {
			return limit
		}
	}
	return ""
}

// Of the memory that this program and all commands have together: how much must remain, no
// matter who used it up, and how much a command has that is ended for that, as parts of it.
// Where none remains, the kernel ends a process of its choice, which may be this one.
const (
	memoryReserve = 16
	memoryMuch    = 8
)

// fills says whether little remains of the memory of all together, and m has much of it.
func (g *guard) fills(m *member) bool {
	b := g.bound
	if b == nil {
		return false
	}
	used, _ := b.Used()
	return used > b.Limit-b.Limit/memoryReserve && family.withFiles(m) > b.Limit/memoryMuch
}

// used is how much memory is in use of that which the command shares with others, and what of
// it is in files of memory: a command has no more than that. It is the container's where there
// is one, which says nothing of the machine around it, and in which what processes share
// counts once.
func (g *guard) used() (used, files int64) {
	if g.bound != nil {
		if used, files = g.bound.Used(); used > 0 {
			return used, files
		}
	}
	return usedMemory()
}

// exceeded names the limit that was passed on one volume.
func (v *volume) exceeded(g *guard, m *member) string {
	free, left, ok := freeSpace(v.dirs[0])
	if !ok {
		return ""
	}
	v.free, v.left = max(v.free, free), max(v.left, left) // what others free must not hide what is written
	gone, made := v.free-free, v.left-left
	switch {
	case g.disk > 0 && free < min(reserve, v.free/2) && gone > reserve/4:
		return "disk"
	case g.inodes > 0 && left < min(reserveInodes, v.left/2) && made > reserveInodes/4:
		return "inodes"
	case !g.now().Before(v.due): // also what was freed between two looks hides nothing for long
	case g.disk > 0 && gone >= v.next.bytes, g.inodes > 0 && made >= v.next.inodes:
		// Others write there, too: what counts is what changed since the start.
	default:
		return ""
	}
	began := g.now()
	bytes, entries, closed := g.measure(*v)
	if g.disk > 0 && bytes < g.disk && gone >= g.disk {
		more, all := family.unlinked(m, v.dev)
		bytes, closed = bytes+more, closed || !all
	}
	ended := g.now()
	v.due = ended.Add(max(measureEvery, measureShare*ended.Sub(began)))
	v.next.bytes, v.next.inodes = gone+max(g.disk-bytes, 1<<20), made+max(g.inodes-entries, 1000)
	switch {
	case g.inodes > 0 && entries >= g.inodes:
		return "inodes"
	case g.disk > 0 && bytes >= g.disk:
		return "disk"
	case !closed || gone-bytes < max(g.disk, 1) && made-entries < max(g.inodes, 1):
		v.dark = time.Time{}
	case v.dark.IsZero():
		v.dark = ended
	case ended.Sub(v.dark) < darkFor:
	case g.disk > 0 && gone-bytes >= g.disk:
		return "disk"
	case g.inodes > 0 && made-entries >= g.inodes:
		return "inodes"
	}
	return ""
}

// darkFor is for how long what the free space says of a command that hides what it wrote must
// last: others write to the disk, too, and what they write is not held against it for less.
const darkFor = 3 * time.Second

// reserveInodes must remain, no matter who used them up.
const reserveInodes = 20_000

// stampGrain is by how much a file's time stamp may lag behind the clock: Linux takes it
// from the last tick, which is 10 ms old at most. Any more would charge a command for
// what the one before it wrote.
const stampGrain = 20 * time.Millisecond

// settle waits, after a command was ended for what it wrote, until no stamp of it can be
// taken for one of the command that runs next in the same folders.
func (*guard) settle(limit string) {
	if limit == "disk" || limit == "inodes" {
		<-time.After(stampGrain)
	}
}

// measure is the size of what was written to v since the command started, and how many
// entries of folders that is. The time of a file's change of status cannot be set by
// anyone. A file counts once in each folder that the command was given, because that is
// what a copy of the folder takes; each of its names is an entry. It ends where there
// are too many of them. closed says that the command has a folder that cannot be looked into.
func (g *guard) measure(v volume) (bytes, entries int64, closed bool) {
	since := g.started.Add(-stampGrain)
	for _, dir := range v.dirs {
		seen := map[uint64]bool{} // of files with several names
		folder.Each(dir, func(st *unix.Stat_t, unseen bool) bool {
			switch {
			case time.Unix(st.Ctim.Unix()).Before(since):
				return true
			case unseen:
				closed = true
				return true
			}
			if entries++; g.inodes > 0 && entries >= g.inodes {
				return false
			}
			if st.Nlink > 1 && st.Mode&unix.S_IFMT != unix.S_IFDIR {
				if seen[st.Ino] {
					return true
				}
				seen[st.Ino] = true
			}
			bytes += st.Blocks * 512
			return true
		})
	}
	return bytes, entries, closed
}

// threads is how many threads the machine has, from one small file.
func threads() int {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(text)) // the fourth is "running/all"
	if len(f) < 4 {
		return 0
	}
	_, all, _ := strings.Cut(f[3], "/")
	n, _ := strconv.Atoi(all)
	return n
}

// threads is how many threads the processes of m have.
func (k *processFamily) threads(m *member) int {
	n := 0
	for _, p := range k.processes(m) {
		n += p.threads
	}
	return n
}

// usedMemory is how much memory of the machine is in use and cannot be had at once, in bytes,
// from one small file. files is what of it is in files of memory.
func usedMemory() (used, files int64) {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, 0
	}
	kilobytes := func(name string) int64 {
		_, rest, _ := strings.Cut(string(text), name)
		f := strings.Fields(rest[:min(len(rest), 40)])
		if len(f) == 0 {
			return 0
		}
		n, _ := strconv.ParseInt(f[0], 10, 64)
		return n
	}
	return (kilobytes("MemTotal:") - kilobytes("MemAvailable:")) << 10, kilobytes("Shmem:") << 10
}

// memory is how much of the machine's memory the processes of m have in use, in bytes. What
// several of them share counts for each.
func (k *processFamily) memory(m *member) int64 {
	pages := int64(0)
	for _, p := range k.processes(m) {
		pages += p.pages
	}
	return pages * int64(os.Getpagesize())
}

// unlinked is how much the processes of m have on a device in open files without a name, and
// whether that is all: a process can keep others from looking at its files, and have one in
// its memory alone.
func (k *processFamily) unlinked(m *member, dev uint64) (size int64, all bool) {
	mine := k.processes(m)
	size, all = nameless(mine, func(_ string, st *unix.Stat_t) bool { return st.Dev == dev })
	mapped := fmt.Appendf(nil, " %02x:%02x ", unix.Major(dev), unix.Minor(dev))
	for _, p := range mine {
		maps, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/maps")
		all = all && !errors.Is(err, fs.ErrPermission)
		for line := range bytes.Lines(maps) {
			if bytes.Contains(line, mapped) && bytes.HasSuffix(line, []byte(" (deleted)\n")) {
				all = false
			}
		}
	}
	return size, all
}

// withFiles is [processFamily.memory] with what the processes of m have in the file systems in
// memory that they were given, and in open files of memory that have no name, beside what
// they have mapped.
func (k *processFamily) withFiles(m *member) int64 {
	mine := k.processes(m)
	// Both before the files, and both at once: of a process that ends meanwhile, and has
	// nothing mapped any more while its files are open, nothing counts twice.
	used, mapped := int64(0), int64(0)
	for _, p := range mine {
		statm, err := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/statm")
		if f := strings.Fields(string(statm)); err == nil && len(f) > 2 { // the third is what may be of files
			pages, _ := strconv.ParseInt(f[1], 10, 64)
			ofFiles, _ := strconv.ParseInt(f[2], 10, 64)
			used += pages * int64(os.Getpagesize())
			mapped += ofFiles * int64(os.Getpagesize())
		}
	}
	size, _ := nameless(mine, func(path string, _ *unix.Stat_t) bool {
		var on unix.Statfs_t
		return unix.Statfs(path, &on) == nil && on.Type == unix.TMPFS_MAGIC
	})
	return used + max(size+scratchOf(mine)-mapped, 0)
}

// scratchOf is how much lies in the file systems in memory that bubblewrap has made for
// processes.
func scratchOf(procs []proc) (size int64) {
	dirs := []string{boxedTemp, systemTemp, "/dev/shm", boxedHome}
	ours := map[uint64]bool{}
	for _, dir := range dirs {
		var st unix.Stat_t
		if unix.Stat(dir, &st) == nil {
			ours[st.Dev] = true
		}
	}
	for _, p := range slices.Backward(procs) { // the first ones are bubblewrap's own
		for _, dir := range dirs {
			dir = "/proc/" + strconv.Itoa(p.pid) + "/root" + dir
			var st unix.Stat_t // of no link, which would lead from here
			var on unix.Statfs_t
			if unix.Lstat(dir, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR || ours[st.Dev] || unix.Statfs(dir, &on) != nil || on.Type != unix.TMPFS_MAGIC {
				continue
			}
			ours[st.Dev] = true
			size += int64(on.Blocks-on.Bfree) * on.Bsize //nolint:gosec // it is less than the machine has
		}
		if size > 0 {
			break // all see the same
		}
	}
	return size
}

func (k *processFamily) processes(m *member) []proc {
	k.mu.Lock()
	defer k.mu.Unlock()
	mine, _ := k.of(m, processes())
	return mine
}

// nameless is how much processes have in open files without a name that count, and whether all
// of them let their files be looked at.
func nameless(procs []proc, counts func(path string, st *unix.Stat_t) bool) (size int64, all bool) {
	all = true
	seen := map[inodeOn]bool{}
	for _, p := range procs {
		dir := "/proc/" + strconv.Itoa(p.pid) + "/fd/"
		fds, err := os.ReadDir(dir)
		all = all && !errors.Is(err, fs.ErrPermission)
		for _, fd := range fds {
			var st unix.Stat_t
			if unix.Stat(dir+fd.Name(), &st) != nil || st.Nlink > 0 || st.Mode&unix.S_IFMT != unix.S_IFREG {
				continue
			}
			if id := (inodeOn{st.Dev, st.Ino}); !seen[id] && counts(dir+fd.Name(), &st) {
				seen[id] = true
				size += st.Blocks * 512
			}
		}
	}
	return size, all
}

type inodeOn struct{ dev, ino uint64 }

// machineMemory is how much memory the machine has.
func machineMemory() (int64, error) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0, err
	}
	n := int64(info.Totalram) * int64(info.Unit)
	if n <= 0 {
		return 0, errors.New("no memory")
	}
	return n, nil
}

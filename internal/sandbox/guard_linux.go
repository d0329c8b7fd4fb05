package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// guardEvery is how often a running command is looked at.
const guardEvery = 50 * time.Millisecond

// measureEvery is after how many looks the directories are measured, whatever the
// free space says: five seconds.
const measureEvery = 100

// A guard watches what no limit of the kernel holds: how much a command writes
// in all, and how many processes it has, because RLIMIT_NPROC does not bind root
// and counts all processes of a user where there is no user namespace.
type guard struct {
	disk    int64 // 0: not watched
	procs   int   // 0: not watched
	started time.Time
	volumes []volume
	next    int64 // how much free space may go before the directories are measured again
	looks   int
}

// A volume is one file system that a command may write to.
type volume struct {
	dirs []string
	dev  uint64
	free int64 // the most that there was since the command started
}

// reserve is the free space that must remain, whoever used it up.
const reserve = 256 << 20

// newGuard watches a command in c that may write to dirs.
func newGuard(l Limits, c *cgroup, started time.Time, dirs []string) *guard {
	g := &guard{started: started, procs: max(l.Processes, 0)}
	if c != nil && c.pids {
		g.procs = 0 // the kernel refuses more, which a command can see and survive
	}
	if l.Disk > 0 {
		g.disk, g.next = l.Disk, l.Disk
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
			g.volumes[i].dirs = append(g.volumes[i].dirs, dir)
			return
		}
	}
	if free, ok := freeSpace(dir); ok {
		g.volumes = append(g.volumes, volume{dirs: []string{dir}, dev: st.Dev, free: free})
	}
}

func freeSpace(dir string) (int64, bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0, false
	}
	return int64(st.Bavail) * st.Bsize, true
}

// exceeded names the limit that the command of m has passed; empty: none.
func (g *guard) exceeded(m *member) string {
	if g.procs > 0 && threads() > g.procs && family.threads(m) > g.procs {
		return "processes"
	}
	g.looks++
	for i := range g.volumes {
		v := &g.volumes[i]
		free, ok := freeSpace(v.dirs[0])
		v.free = max(v.free, free) // what others free must not hide what is written
		gone := v.free - free
		switch {
		case !ok:
		case g.looks%measureEvery == 0: // also what was freed between two looks hides nothing for long
			if g.measure(*v) >= g.disk {
				return "disk"
			}
		case gone < g.next && (free > reserve || gone < reserve/4):
		case free < min(reserve, v.free/2) && gone > reserve/4:
			return "disk"
		case gone >= g.next:
			// Others write there, too: what counts is what changed since the start.
			wrote := g.measure(*v)
			if wrote >= g.disk {
				return "disk"
			}
			g.next = gone + max(g.disk-wrote, 1<<20)
		}
	}
	return ""
}

// measure is the size of what was written to v since the command started. The
// time of a file's change of status cannot be set by anybody.
func (g *guard) measure(v volume) int64 {
	var sum int64
	since := g.started.Add(-time.Second) // time stamps are coarser than the clock
	seen := map[uint64]bool{}
	for _, dir := range v.dirs {
		// A part is better than nothing, and the command is at work there.
		_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return nil
			}
			st, ok := info.Sys().(*syscall.Stat_t)
			if !ok || seen[st.Ino] || time.Unix(st.Ctim.Unix()).Before(since) {
				return nil
			}
			seen[st.Ino] = true
			sum += st.Blocks * 512
			return nil
		})
	}
	return sum
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
func (k *kin) threads(m *member) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := 0
	mine, _ := k.of(m, processes())
	for _, p := range mine {
		n += p.threads
	}
	return n
}

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

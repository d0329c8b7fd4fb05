package cgroup

import (
	"os"
	"path/filepath"
	"testing"
)

// The memory of a container or a unit is that of the smallest limit on the way up from this
// program's cgroup, in both versions of cgroups; what the kernel can have back is not in use.
func TestMemoryBound(t *testing.T) {
	t.Parallel()
	const stat = "anon 1\nfile 9\nshmem 5\ninactive_file 100\nactive_file 20\nslab_reclaimable 3\n"
	first := "24 1 0:22 / /proc rw - proc proc rw\n31 24 0:27 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n" +
		"32 24 0:28 /docker/abc /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory\n"
	for name, tt := range map[string]struct {
		own   string
		files map[string]string
		mount string // in place of the one of version 2
		procs string // the same of /proc/self/cgroup
		limit int64
		used  int64
		inRAM int64 // what of that is in files of memory
	}{
		"the machine itself": {own: "/", files: map[string]string{"cgroup.procs": ""}},
		"no limit":           {own: "/user.slice/a", files: map[string]string{"user.slice/a/memory.max": "max\n", "user.slice/memory.max": "max\n"}},
		"a container":        {own: "/", files: map[string]string{"memory.max": "8589934592\n", "memory.current": "1000\n", "memory.stat": stat}, limit: 8 << 30, used: 877, inRAM: 5},
		"the unit above": {
			own: "/pod/c/ycbot-harness", limit: 4096, used: 500,
			files: map[string]string{"pod/c/ycbot-harness/memory.max": "max\n", "pod/c/memory.max": "4096\n", "pod/c/memory.current": "500\n", "pod/memory.max": "8192\n", "pod/memory.current": "7000\n"},
		},
		"version 1": {
			mount: first, procs: "5:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n", limit: 4096, used: 600, inRAM: 7,
			files: map[string]string{"memory/memory.limit_in_bytes": "4096\n", "memory/memory.usage_in_bytes": "1000\n", "memory/memory.stat": "total_inactive_file 300\ntotal_active_file 100\ntotal_shmem 7\nshmem 2\ninactive_file 1\n"},
		},
		"version 1, of another mount": {
			mount: first, procs: "4:memory:/kubepods/x\n", limit: 4096,
			files: map[string]string{"memory/memory.limit_in_bytes": "4096\n"},
		},
	} {
		root := fakeCgroups(t, tt.own, tt.files)
		for file, text := range map[string]string{"mountinfo": tt.mount, "cgroup": tt.procs} {
			if text == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(root, "proc/self", file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		b := MemoryBound(root)
		if b == nil && tt.limit == 0 {
			continue
		}
		if b == nil || b.Limit != tt.limit {
			t.Errorf("%s: %+v, want %d", name, b, tt.limit)
			continue
		}
		if used, files := b.Used(); used != tt.used || files != tt.inRAM {
			t.Errorf("%s: %d are in use, %d of them in files, want %d and %d", name, used, files, tt.used, tt.inRAM)
		}
	}
	if b := MemoryBound(t.TempDir()); b != nil {
		t.Errorf("found %+v where nothing is mounted", b)
	}
}

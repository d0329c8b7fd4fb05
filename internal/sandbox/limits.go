package sandbox

import "time"

// Limits are what one command may use. A zero field is the default, a negative
// one is no limit. Processor time is counted for a process, memory for all of a
// command: by a cgroup where one is delegated, else it is watched. Address space is not
// limited, as sanitizers map terabytes that they never use.
type Limits struct {
	Memory    int64 // bytes in use; default three quarters of the machine's memory, at least 2 GiB
	Processes int   // processes and threads at one time; default 4096
	FileSize  int64 // bytes of one file; default 8 GiB
	OpenFiles int   // of a process; default 65536
	Disk      int64 // bytes that may be written to the writable directories and to scratch; default 20 GiB
	Inodes    int   // files, folders and links, by their names, that may be made there; default 2 000 000
	// CPU is the processor time of a process; the default follows from the
	// command's timeout and the number of processors.
	CPU time.Duration
}

const (
	defaultProcesses = 4096
	defaultFileSize  = 8 << 30
	defaultOpenFiles = 1 << 16
	defaultDisk      = 20 << 30
	leastMemory      = 2 << 30
	// The node_modules of a large monorepo have 300 000 to 500 000 entries, and pnpm has each
	// file in its store, too.
	defaultInodes = 2_000_000
)

// complete fills in the defaults for a machine with memory bytes.
func (l Limits) complete(memory int64) Limits {
	if l.Memory == 0 {
		l.Memory = max(memory/4*3, leastMemory)
	}
	if l.Processes == 0 {
		l.Processes = defaultProcesses
	}
	if l.FileSize == 0 {
		l.FileSize = defaultFileSize
	}
	if l.OpenFiles == 0 {
		l.OpenFiles = defaultOpenFiles
	}
	if l.Disk == 0 {
		l.Disk = defaultDisk
	}
	if l.Inodes == 0 {
		l.Inodes = defaultInodes
	}
	return l
}

// kernel is what the kernel enforces of l for one command. Others is how many
// processes the user has that are not the command's but count as such.
func (l Limits) kernel(timeout time.Duration, processors, others int) limits {
	positive := func(n int64) uint64 { return uint64(max(n, 0)) }
	out := limits{
		File: positive(l.FileSize), Open: positive(int64(l.OpenFiles)), Core: true,
	}
	if l.Processes > 0 {
		out.Procs = uint64(l.Processes + others)
	}
	cpu := l.CPU
	if cpu == 0 && timeout > 0 {
		// What all processors can give until the wall clock ends it, and more:
		// this limit is for a command that no one watches any more.
		cpu = timeout*time.Duration(processors) + time.Minute
	}
	if cpu > 0 {
		out.CPU = uint64((cpu + time.Second - 1) / time.Second)
	}
	return out
}

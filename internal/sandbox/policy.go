package sandbox

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/netip"
	"os/exec"
	"syscall"

	"github.com/ycbot/ycbot/internal/sandbox/seccomp"
)

// A policy is what the shim enforces on itself before it becomes the command.
// It reaches the shim through a file that only the shim is given: an argument
// list can be read in the process table.
type policy struct {
	Argv     []string       `json:"argv"`
	Env      []string       `json:"env"`
	Dir      string         `json:"dir"`            // where the command starts; a shim that does not stay is there already
	Stay     bool           `json:"stay,omitempty"` // stay the command's parent and end what it leaves behind
	Limits   limits         `json:"limits"`
	Landlock grants         `json:"landlock"`
	Seccomp  seccomp.Filter `json:"seccomp"`
	Services *handout       `json:"services,omitempty"` // nil: none
	Net      uint64         `json:"net,omitempty"`      // inode of the network namespace that it must be in; 0: any
	Seen     []*seen        `json:"seen,omitempty"`     // what must be what it was
}

// A seen is what was found at a path inside something writable. Another command may put
// a link there before the path is mounted, or before Landlock allows it, and both go by
// names: so the shim looks again, from within, and keeps what it then sees open.
type seen struct {
	Top  string `json:"top"` // the writable folder
	Path string `json:"path"`
	Dev  uint64 `json:"dev"`
	Ino  uint64 `json:"ino"`
}

// A handout is what the shim listens on for the relay, and where it gives it.
type handout struct {
	Socket int              `json:"socket"` // file that goes to the relay
	Listen []netip.AddrPort `json:"listen"` // one for each service
}

// grants is what Landlock leaves to a command.
type grants struct {
	ABI   int      `json:"abi"`             // version whose rights are handled; 0: no Landlock
	List  []string `json:"list,omitempty"`  // directories whose names may be read, and nothing else below them
	Dirs  []string `json:"dirs,omitempty"`  // directories to read and to execute
	Read  []string `json:"read,omitempty"`  // what else there is to read and to execute, directory or not
	Write []string `json:"write,omitempty"` // to change
}

// limits are the resource limits of one command's processes; 0 leaves one as it is.
type limits struct {
	Procs uint64 `json:"procs,omitempty"`
	File  uint64 `json:"file,omitempty"`
	Open  uint64 `json:"open,omitempty"`
	CPU   uint64 `json:"cpu,omitempty"` // seconds
	Core  bool   `json:"core,omitempty"`
}

// A said is one document of the shim about what it did. The command cannot
// write any: it is started without the file.
type said struct {
	Layers []string `json:"layers,omitempty"` // what is in force; the command comes next
	Failed string   `json:"failed,omitempty"` // why the command was not started
	Exec   bool     `json:"exec,omitempty"`   // it is the program that could not be executed
	Lost   bool     `json:"lost,omitempty"`   // the program was not found in PATH
	Errno  int      `json:"errno,omitempty"`  // of executing it
	Ended  *int     `json:"ended,omitempty"`  // exit code, from a shim that stays
	Signal int      `json:"signal,omitempty"`
}

// hear merges what the shim said into one document.
func hear(r io.Reader) (said, error) {
	var all said
	docs := json.NewDecoder(io.LimitReader(r, 1<<16))
	for {
		// The documents have different fields, so one value takes them all.
		err := docs.Decode(&all)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}

// cause is why the program could not be executed, in the words of [Result.notRun].
func (s said) cause() error {
	switch errno := syscall.Errno(s.Errno); {
	case s.Lost:
		return exec.ErrNotFound
	case errno == syscall.ENOENT:
		return fs.ErrNotExist
	case errno == syscall.EACCES, errno == syscall.EPERM:
		return fs.ErrPermission
	default:
		return errno
	}
}

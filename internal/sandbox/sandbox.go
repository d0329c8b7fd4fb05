// Package sandbox runs untrusted commands and says honestly how well they were
// contained.
//
// A command's process tree ends with Run: when Run returns, no process that the
// command started is alive, however it was started and whatever it ignores.
// A command never sees the environment of the harness, only what a Command
// names on top of a small fixed list. Command.Env comes from the harness and is
// trusted: nothing is filtered out of it here, so code that fills it from a
// repository's settings must do that.
//
// [Detect] gives one of three implementations. The bubblewrap one (tier full)
// runs commands in namespaces of their own, where they find the system
// directories, the toolchains and what the Command names, and nothing else of
// the host. Inside it a shim, which is this program started again (see
// [RunShim]), sets limits and enters Landlock and seccomp before it becomes the
// command. The second one (tier basic) is the shim without namespaces. The third
// (tier none) gives a clean environment, a session and scratch directories, and
// hides nothing. Bubblewrap where a layer of the shim is missing is basic, too.
//
// A command's processes are found through the process table: this program makes
// itself the subreaper of its descendants and ends whatever was orphaned by a
// command (see family). The rest of the program must therefore start its own
// children in its own session, which os/exec does unless asked otherwise.
//
// Below are what needs no sandbox to be understood: toolchains, what is shown of the
// machine's files; seccomp and cgroup, two of the layers; setup, what root does once.
//
// A command that exits with 128+n is taken for one that was ended by signal n
// in bubblewrap, which reports both in the same way.
package sandbox

import (
	"context"
	"io"
	"time"
)

// A Sandbox runs commands at one tier of isolation.
// Implementations are safe for concurrent use.
type Sandbox interface {
	// Run runs c until it ends, its timeout passes or ctx is cancelled.
	// A command that fails, is killed or times out is a Result, not an error;
	// an error means that the command could not be started or watched, or that
	// ctx was cancelled (the Result then holds what there was).
	Run(ctx context.Context, c Command) (Result, error)
	// Status says what this sandbox gives, as found by really running it.
	Status() Status
}

// Announce says that commands of sb will come, for one that has yet to be tried out.
func Announce(sb Sandbox) {
	if s, ok := sb.(interface{ Announced() }); ok {
		s.Announced()
	}
}

// A Command is one program to run. Paths are absolute paths of the host and
// have the same names inside the sandbox.
type Command struct {
	Argv     []string      // program and arguments; the program is looked up in the sandbox's PATH
	Dir      string        // working directory, inside one of Writable or ReadOnly
	Env      []string      // "NAME=value" on top of the sandbox's own list; later entries win
	Home     string        // HOME; empty: a scratch directory that ends with the command
	Writable []string      // directories that the command may change (Dir is not implied)
	ReadOnly []string      // directories outside the system ones that the command may read
	Network  Network       // default NetworkNone
	Services []Service     // what the command may reach with NetworkNone beside its own loopback
	Loopback *Loopback     // with NetworkNone: the loopback interface that it shares with others; nil: it has one of its own
	Timeout  time.Duration // wall clock; 0: only ctx limits it
	Stdout   io.Writer     // sees the whole standard output as it comes, beside what Result keeps; may be nil
	Recorded string        // the command as the evidence log has it, by which a recorded one is found again; it changes nothing that runs
}

// Network says what a command may reach.
type Network int

// What a command may reach. Its own loopback interface always works.
const (
	NetworkNone Network = iota // own loopback only
	NetworkHost                // what the host reaches
)

// A Result is how a command ended.
type Result struct {
	Exit     int    // exit code; 128 + signal number when killed by a signal; -1 when it never ran
	Signal   string // name of the signal that ended it, such as "SIGKILL"; empty otherwise
	TimedOut bool   // killed because Timeout passed
	// Limit names the limit for which the command was killed while it ran, "disk", "inodes",
	// "memory", "processes" or LimitOutput; empty otherwise. Limits of the kernel's own show in
	// what the command says about them.
	Limit    string
	Started  time.Time
	Duration time.Duration
	Stdout   Output
	Stderr   Output
}

// LimitOutput is the limit of what a command may write to one of its streams
// (Options.OutputLimit).
const LimitOutput = "output"

// KeepLimit is how many bytes of each stream a Result keeps.
const KeepLimit = 1 << 20

// An Output is what a command wrote to one stream. Where it wrote more than
// KeepLimit, Bytes holds the beginning and the end with one line between them
// that says how much was left out.
type Output struct {
	Bytes []byte
	Total int64 // bytes written in all
}

// A Tier is a degree of isolation. The strings are stored: do not change them.
type Tier string

// The tiers of ycbot, best first.
const (
	TierFull   Tier = "full"
	TierStrong Tier = "strong"
	TierBasic  Tier = "basic"
	TierNone   Tier = "none"
)

// A Status is what a sandbox gives on this machine, for the report.
type Status struct {
	Tier     Tier     `json:"tier"`
	Layers   []string `json:"layers"`    // what is active, such as "pid namespace"
	Missing  []string `json:"missing"`   // what is not, each with the reason
	SelfTest []Canary `json:"self_test"` // what was tried before the first untrusted command
	// Search are the directories in which commands look for programs, where none is
	// named for them; they have the same names outside.
	Search []string `json:"search,omitempty"`
}

// A Canary is one thing that was tried inside the sandbox and must not work.
type Canary struct {
	Name string `json:"name"`
	Held bool   `json:"held"`
	Note string `json:"note,omitempty"`
}

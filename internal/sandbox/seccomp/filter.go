// Package seccomp refuses system calls to a process and to all that it starts.
//
// A [Filter] is decided call by call: what reaches into other processes, into the kernel or
// around the other layers of a sandbox is refused, what came after the rules were written
// does not exist for commands, and all that builds and tests are known to use goes through.
package seccomp

// A Filter says which system calls seccomp refuses.
type Filter struct {
	On bool `json:"on"`
	// Shared is true without network and IPC namespaces, where sockets and
	// shared memory are those of the host.
	Shared bool `json:"shared,omitempty"`
	NoUDP  bool `json:"no_udp,omitempty"`
	NoUnix bool `json:"no_unix,omitempty"`
}

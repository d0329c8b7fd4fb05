package sandbox

// shimFailed is the exit code of a shim that did not become its command.
const shimFailed = 125

// canaryArg asks the shim for its canaries instead of a command.
const canaryArg = "canary"

// The layers that the shim puts in force, as Status names them.
const (
	layerLandlock = "landlock"
	layerSeccomp  = "seccomp"
	layerLimits   = "limits"
)

// The layers that a delegated cgroup puts in force.
const (
	layerCgroup          = "cgroup"
	layerCgroupMemory    = "cgroup memory"
	layerCgroupProcesses = "cgroup processes"
)

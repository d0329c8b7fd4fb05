package sandbox

import (
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// What versions of Landlock brought.
const (
	abiRefer   = 2 // renames between directories
	abiIoctl   = 5 // ioctl of devices
	abiScopes  = 6 // signals and abstract sockets end at the domain
	abiUnix    = 9 // sockets with a path
	abiHighest = 11
)

// landlockABI is the version that the kernel has; 0 is none.
func landlockABI() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil || v < 1 {
		return 0
	}
	return min(v, abiHighest)
}

// restrict puts this process and all that it starts under g. It does not ask
// for the best effort of the library: with one rule that the kernel cannot
// express, that is to enforce nothing, without an error.
func (g grants) restrict() error {
	configs := []landlock.Config{
		landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5, landlock.V6,
		landlock.V7, landlock.V8, landlock.V9, landlock.V10, landlock.V11,
	}
	if g.ABI < 1 || g.ABI > len(configs) {
		return fmt.Errorf("landlock: no version %d", g.ABI)
	}
	config := configs[g.ABI-1]
	// Ports say nothing about hosts, and tests need their own servers: the
	// network is the namespace's matter.
	config.HandledAccessNet = 0
	rules := make([]landlock.Rule, 0, len(g.List)+len(g.Dirs)+len(g.Read)+len(g.Write))
	for _, path := range g.Dirs {
		rules = append(rules, landlock.RODirs(path).IgnoreIfMissing())
	}
	for _, path := range g.List {
		rules = append(rules, landlock.PathAccess(ll.AccessFSReadDir, path).IgnoreIfMissing())
	}
	for _, path := range g.Read {
		switch info, err := os.Stat(path); {
		case err != nil:
		case info.IsDir():
			rules = append(rules, landlock.RODirs(path))
		default:
			rules = append(rules, landlock.ROFiles(path))
		}
	}
	for _, path := range g.Write {
		switch info, err := os.Stat(path); {
		case err != nil:
		case info.IsDir():
			rules = append(rules, g.writable(landlock.RWDirs(path)))
		default:
			rule := landlock.RWFiles(path)
			if g.ABI >= abiIoctl {
				rule = rule.WithIoctlDev()
			}
			rules = append(rules, rule)
		}
	}
	if err := config.Restrict(rules...); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}

// writable adds the rights of a directory that RWDirs leaves out.
func (g grants) writable(rule landlock.FSRule) landlock.FSRule {
	if g.ABI >= abiRefer {
		rule = rule.WithRefer()
	}
	if g.ABI >= abiIoctl {
		rule = rule.WithIoctlDev()
	}
	if g.ABI >= abiUnix {
		rule = rule.WithResolveUnix()
	}
	return rule
}

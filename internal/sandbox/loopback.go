package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A Loopback is a loopback interface that several commands share, so that one of them
// can be a server and the next ones its clients. In the bubblewrap tiers it is a network
// of its own, which leads nowhere else; the commands share nothing besides. In the other
// tiers, and with [NetworkHost], commands share the host's anyway.
type Loopback struct {
	user, net *os.File // the namespaces; nil: the host's
	inode     uint64   // of the network namespace
	tables    []*os.File
	enter     string // the program nsenter
	recorded  bool   // what came of commands is known: nothing is waited for

	mu   sync.Mutex
	kept []keptRelay
}

// A keptRelay is a relay that serves all commands of an interface.
type keptRelay struct {
	services []Service
	end      func()
}

// keep leaves a relay to l, whose other commands may have connections through it.
func (l *Loopback) keep(services []Service, end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.net == nil { // it was given back
		end()
		return
	}
	l.kept = append(l.kept, keptRelay{services, end})
}

// serves reports whether a relay to just these services is kept, so that a further command
// needs none.
func (l *Loopback) serves(services []Service) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.kept, func(r keptRelay) bool { return slices.EqualFunc(r.services, services, Service.equal) })
}

// RecordedLoopback stands for an interface in a run that is played from its record.
func RecordedLoopback() *Loopback { return &Loopback{recorded: true} }

// A networker is a sandbox whose commands have networks of their own.
type networker interface {
	OpenLoopback(ctx context.Context) (*Loopback, error)
}

// OpenLoopback makes a loopback interface for commands of sb that have this network.
// The caller closes it when no command uses it any more.
func OpenLoopback(ctx context.Context, sb Sandbox, n Network) (*Loopback, error) {
	own, ok := sb.(networker)
	if !ok || n == NetworkHost {
		return &Loopback{}, nil
	}
	l, err := own.OpenLoopback(ctx)
	if err != nil {
		return nil, fmt.Errorf("shared loopback interface: %w", err)
	}
	return l, nil
}

// Shared says that l is the host's own interface: other programs of the machine listen
// there, too.
func (l *Loopback) Shared() bool { return l == nil || l.net == nil }

// Close gives l back; it ends with the last command that uses it.
func (l *Loopback) Close() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range append([]*os.File{l.user, l.net}, l.tables...) {
		if f != nil {
			f.Close()
		}
	}
	l.user, l.net, l.tables = nil, nil, nil
	for _, r := range l.kept {
		r.end()
	}
	l.kept = nil
}

// dialTime is how long a connection to the host's loopback interface may take.
const dialTime = 500 * time.Millisecond

// Listens reports whether something listens on a TCP port of l.
func (l *Loopback) Listens(ctx context.Context, port int) (bool, error) {
	if l.recorded {
		return true, nil
	}
	return l.Taken(ctx, port)
}

// Taken reports whether a port is not free for a process that is to be started.
func (l *Loopback) Taken(ctx context.Context, port int) (bool, error) {
	if l.recorded {
		return false, nil
	}
	if !l.Shared() {
		return l.listed(port)
	}
	d := net.Dialer{Timeout: dialTime}
	for _, host := range []string{"127.0.0.1", "::1"} {
		c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil {
			c.Close()
			return true, nil
		}
	}
	return false, nil
}

// FreePort is a TCP port on which nothing listens.
func (l *Loopback) FreePort(ctx context.Context) (int, error) {
	const first, last = 8080, 8999
	switch {
	case l.recorded:
		return first, nil
	case l.Shared():
		var lc net.ListenConfig
		at, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		defer at.Close()
		return at.Addr().(*net.TCPAddr).Port, nil
	}
	for port := first; port <= last; port++ {
		if busy, err := l.listed(port); err != nil || !busy {
			return port, err
		}
	}
	return 0, fmt.Errorf("no free port from %d to %d", first, last)
}

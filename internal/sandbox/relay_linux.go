package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A relay takes connections that a command makes to services on its own loopback
// interface to where the services are. The shim opens the listening sockets in
// the command's network namespace and hands them out; the command never has them,
// so there is no process or file of the relay for it to meddle with.
type relay struct {
	services []Service
	conn     *net.UnixConn // brings the listeners
	child    *os.File      // the shim's end of it
	cancel   context.CancelFunc
	wg       sync.WaitGroup
	slots    chan struct{} // bounds how many connections there are at a time
	heard    atomic.Int32  // how many listeners came
}

const (
	relayConnections = 256
	relayDialTime    = 10 * time.Second
)

// newRelay makes the relay of one command; it takes connections until close.
func newRelay(ctx context.Context, services []Service) (*relay, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	ours, child := os.NewFile(uintptr(fds[0]), "relay"), os.NewFile(uintptr(fds[1]), "relay")
	conn, err := net.FileConn(ours)
	ours.Close()
	if err != nil {
		child.Close()
		return nil, fmt.Errorf("relay: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &relay{
		services: services, conn: conn.(*net.UnixConn), child: child, cancel: cancel,
		slots: make(chan struct{}, relayConnections),
	}
	r.wg.Go(func() { r.receive(ctx) })
	return r, nil
}

// close ends all connections and returns when nothing of the relay is left.
func (r *relay) close() {
	r.cancel()
	r.conn.Close()
	r.child.Close()
	r.wg.Wait()
}

// receive takes the listeners over, until the shim has become the command.
func (r *relay) receive(ctx context.Context) {
	text, oob := make([]byte, 16), make([]byte, unix.CmsgSpace(4))
	for {
		n, oobn, _, _, err := r.conn.ReadMsgUnix(text, oob)
		if err != nil || n == 0 {
			return
		}
		l, s, err := r.listener(string(text[:n]), oob[:oobn])
		if err != nil {
			return // the shim speaks no other language
		}
		r.heard.Add(1)
		r.wg.Go(func() { r.accept(ctx, l, s) })
	}
}

// listener is the socket of one message, and which service it is for.
func (r *relay) listener(text string, oob []byte) (net.Listener, Service, error) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(messages) != 1 {
		return nil, Service{}, errors.Join(errors.New("want one message"), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, Service{}, errors.Join(errors.New("want one socket"), err)
	}
	f := os.NewFile(uintptr(fds[0]), "service")
	defer f.Close()
	i, err := strconv.Atoi(text)
	if err != nil || i < 0 || i >= len(r.services) {
		return nil, Service{}, fmt.Errorf("no service %q", text)
	}
	l, err := net.FileListener(f)
	return l, r.services[i], err
}

// accept serves the connections of one listener.
func (r *relay) accept(ctx context.Context, l net.Listener, s Service) {
	defer context.AfterFunc(ctx, func() { l.Close() })()
	defer l.Close()
	for {
		select {
		case r.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		c, err := l.Accept()
		if err != nil {
			<-r.slots
			if errors.Is(err, net.ErrClosed) {
				return
			}
			select { // such as too many open files, which passes
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
			}
			continue
		}
		r.wg.Go(func() {
			defer func() { <-r.slots }()
			s.carry(ctx, c.(*net.TCPConn))
		})
	}
}

// carry joins one connection of the command with one to the service.
func (s Service) carry(ctx context.Context, c *net.TCPConn) {
	defer c.Close()
	up, err := s.dial(ctx)
	if err != nil {
		// As a port where nothing listens answers, as far as that is still possible.
		_ = c.SetLinger(0)
		return
	}
	defer up.Close()
	defer context.AfterFunc(ctx, func() { c.Close(); up.Close() })()
	var wg sync.WaitGroup
	for _, way := range [][2]*net.TCPConn{{c, up}, {up, c}} {
		wg.Go(func() {
			// A side that breaks off is passed on to the other as an end.
			_, _ = io.Copy(way[1], way[0])
			_ = way[1].CloseWrite()
		})
	}
	wg.Wait()
}

func (s Service) dial(ctx context.Context) (*net.TCPConn, error) {
	d := net.Dialer{Timeout: relayDialTime}
	var errs []error
	for _, at := range s.At {
		c, err := d.DialContext(ctx, "tcp", netip.AddrPortFrom(at, s.Port).String())
		if err == nil {
			return c.(*net.TCPConn), nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func newHandout(socket int, services []Service) *handout {
	h := &handout{Socket: socket}
	for _, s := range services {
		h.Listen = append(h.Listen, s.here)
	}
	return h
}

// give opens the listeners and hands them to the relay.
func (h handout) give() error {
	defer unix.Close(h.Socket)
	for i, at := range h.Listen {
		also := []netip.AddrPort{at}
		if at.Addr() == netip.AddrFrom4([4]byte{127, 0, 0, 1}) {
			// The other address of localhost, on machines that have IPv6.
			also = append(also, netip.AddrPortFrom(netip.IPv6Loopback(), at.Port()))
		}
		for n, at := range also {
			err := h.open(i, at)
			absent := errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EADDRNOTAVAIL) || errors.Is(err, unix.EADDRINUSE)
			if err != nil && (n == 0 || !absent) {
				return fmt.Errorf("service at %s: %w", at, err)
			}
		}
	}
	return nil
}

func (h handout) open(service int, at netip.AddrPort) error {
	family, to := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()})
	if at.Addr().Is4() {
		family, to = unix.AF_INET, &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if family == unix.AF_INET6 {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1); err != nil {
			return err
		}
	}
	// Commands that share a loopback interface have a relay each.
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return err
	}
	if err := unix.Bind(fd, to); err != nil {
		return err
	}
	if err := unix.Listen(fd, unix.SOMAXCONN); err != nil {
		return err
	}
	return unix.Sendmsg(h.Socket, []byte(strconv.Itoa(service)), unix.UnixRights(fd), nil, 0)
}

// services is what of c needs a relay: with the host's network nothing does, and
// nothing can be had without a shim.
func (b *bubblewrap) services(c Command) []Service {
	if c.Network == NetworkHost || len(b.means.shim) == 0 {
		return nil
	}
	return c.Services
}

// serve starts the relay for services; the files for it begin with number first.
// It returns the number of the file with their names, "" where there are none. On an
// interface that commands share, a connection of one may come to the relay of another:
// the relay stays as long as the interface, and one is enough.
func (l *launch) serve(ctx context.Context, services []Service, shared *Loopback, first int) (hostsFD string, err error) {
	if len(services) == 0 {
		return "", nil
	}
	if !shared.Shared() {
		l.shared, ctx = shared, context.WithoutCancel(ctx)
	}
	if l.shared == nil || !l.shared.serves(services) {
		if l.relay, err = newRelay(ctx, services); err != nil {
			return "", err
		}
		l.relayed = append(l.relayed, l.relay.child)
	}
	data, err := os.ReadFile("/etc/hosts")
	if err != nil {
		return "", fmt.Errorf("names of services: %w", err)
	}
	if data = hostsFile(data, services); data == nil {
		return "", nil
	}
	f, err := memoryFile(data)
	if err != nil {
		return "", err
	}
	l.relayed = append(l.relayed, f)
	return strconv.Itoa(first + len(l.relayed) - 1), nil
}

// endRelay ends the relay with its command, or leaves it to the interface that it serves.
func (l *launch) endRelay() {
	switch {
	case l.relay == nil:
	case l.shared != nil && int(l.relay.heard.Load()) >= len(l.relay.services):
		l.shared.keep(l.relay.services, l.relay.close)
	default:
		l.relay.close()
	}
}

// Package proxy leads programs that may not have the network to some hosts by name,
// and to nothing else: an HTTP proxy of the harness, on its loopback interface.
package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	dialTime   = 30 * time.Second
	headerTime = 30 * time.Second
	// maxConnections bounds what is carried at a time.
	maxConnections = 256
	maxHosts       = 64
	maxHost        = 253 + len(":65535") // the longest name of a host, with its port
)

// Options say where a proxy leads.
type Options struct {
	// Public are names of hosts, reached by TLS on port 443 and at public addresses
	// only. A name is resolved once for a connection, which goes to what was looked at.
	Public []string
	// Named are "host:port" of the operator's, wherever they are: by TLS, and those in
	// Plain by HTTP too.
	Named, Plain []string
	// Way is the operator's own proxy for a URL, nil where there is none.
	Way func(*url.URL) (*url.URL, error)

	Resolver Resolver
	// Dial makes connections; nil: [net.Dialer].
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// A Resolver looks names up, as [net.Resolver] does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// A Proxy is one that takes connections, until Close.
type Proxy struct {
	// Addr is where it listens.
	Addr netip.AddrPort

	o       Options
	server  *http.Server
	cancel  context.CancelFunc
	serving sync.WaitGroup
	slots   chan struct{}

	mu     sync.Mutex
	hosts  []Host
	closed bool
}

// A Host is one that was asked for.
type Host struct {
	Name        string // with its port; of what was refused as it was asked for, cut
	Connections int
	Up, Down    int64  // bytes that were sent there, and that came back
	Refused     string // why it was not led to, the last reason; empty: it was reached
}

// Start begins to listen on a port of the loopback interface.
func Start(o Options) (*Proxy, error) {
	if o.Dial == nil {
		o.Dial = (&net.Dialer{Timeout: dialTime}).DialContext
	}
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("proxy to registries: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Proxy{Addr: l.Addr().(*net.TCPAddr).AddrPort(), o: o, cancel: cancel, slots: make(chan struct{}, maxConnections)}
	forward := &httputil.ReverseProxy{
		Rewrite:   func(*httputil.ProxyRequest) {}, // the request names its host itself
		Transport: &http.Transport{Proxy: p.way, DialContext: p.dialNamed, DisableKeepAlives: true},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusBadGateway)
		},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	p.server = &http.Server{
		ReadHeaderTimeout: headerTime, DisableGeneralOptionsHandler: true, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return ctx },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if p.begin() {
				defer p.serving.Done()
				p.serve(w, r, forward)
			}
		}),
	}
	p.serving.Go(func() { _ = p.server.Serve(l) }) // ends with Close
	return p, nil
}

// begin counts a request in, unless Close has begun.
func (p *Proxy) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.serving.Add(1)
	}
	return !p.closed
}

// Close ends all connections, and waits until they have ended.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	_ = p.server.Close()
	p.serving.Wait()
}

// Hosts are those that were asked for, the first ones, in the order in which they were.
// The counts are final after Close.
func (p *Proxy) Hosts() []Host {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.hosts)
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request, forward http.Handler) {
	connect := r.Method == http.MethodConnect
	switch to, err := target(r); {
	case err != nil:
		p.refuse(w, to, err.Error())
	case connect && (p.public(to) || p.named(to)):
		p.carry(w, r, to)
	case !connect && p.plain(to):
		counted := &counter{ReadCloser: r.Body, ResponseWriter: w}
		r.Body = counted
		forward.ServeHTTP(counted, r)
		p.note(Host{Name: to, Connections: 1, Up: counted.up, Down: counted.down})
	default:
		p.refuse(w, to, "no package registry")
	}
}

// target is the "host:port" that a request is for, in lower case. The beginning of the
// request has to name it, and nothing beside it; a Host header counts for nothing.
func target(r *http.Request) (string, error) {
	host := r.URL.Host
	asked := r.RequestURI
	if r.Method != http.MethodConnect {
		rest, ok := strings.CutPrefix(asked, "http://")
		if !ok {
			return cmp.Or(host, r.Host), errors.New("not http://")
		}
		asked, _, _ = strings.Cut(rest, "/")
		if asked, _, _ = strings.Cut(asked, "?"); host == asked && !strings.Contains(asked, ":") {
			host, asked = host+":80", asked+":80"
		}
	}
	if host == "" || asked != host || r.URL.User != nil || !ascii(host) {
		return asked, errors.New("not the name of a host with its port")
	}
	return strings.ToLower(host), nil
}

// ascii says that s consists of what can be in a host's name or address, with its port.
// Lower case of other letters could be one of these.
func ascii(s string) bool {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:[]"
	return !strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune(plain, r) })
}

func (p *Proxy) public(to string) bool {
	host, port, err := net.SplitHostPort(to)
	return err == nil && port == "443" && slices.Contains(p.o.Public, host)
}

func (p *Proxy) named(to string) bool { return slices.Contains(p.o.Named, to) }

// plain says that a host is the operator's, and may be spoken with without TLS.
func (p *Proxy) plain(to string) bool { return slices.Contains(p.o.Plain, to) && p.named(to) }

// refuse ends a request for a host that is not led to.
func (p *Proxy) refuse(w http.ResponseWriter, to, why string) {
	p.note(Host{Name: to, Connections: 1, Refused: why})
	http.Error(w, "only package registries can be reached: "+why, http.StatusForbidden)
}

// note adds h to what is known of its host.
func (p *Proxy) note(h Host) {
	h.Name = strings.ToValidUTF8(h.Name[:min(len(h.Name), maxHost)], "?")
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, k := range p.hosts {
		if k.Name == h.Name && (k.Refused == "") == (h.Refused == "") {
			p.hosts[i] = Host{Name: k.Name, Connections: k.Connections + h.Connections, Up: k.Up + h.Up, Down: k.Down + h.Down, Refused: h.Refused}
			return
		}
	}
	if len(p.hosts) < maxHosts {
		p.hosts = append(p.hosts, h)
	}
}

// carry joins the connection of a CONNECT with one to where it leads, if what comes is
// TLS for it.
func (p *Proxy) carry(w http.ResponseWriter, r *http.Request, to string) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	default:
		http.Error(w, "too many connections", http.StatusServiceUnavailable)
		return
	}
	ctx := r.Context()
	up, err := p.open(ctx, to)
	if err != nil {
		p.note(Host{Name: to, Connections: 1, Refused: "out of reach"})
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer up.Close()
	down, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer down.Close()
	defer context.AfterFunc(ctx, func() { down.Close(); up.Close() })()
	if _, err := io.WriteString(down, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	h := Host{Name: to, Connections: 1}
	host, _, _ := net.SplitHostPort(to)
	var both sync.WaitGroup
	both.Go(func() {
		var err error
		if p.plain(to) {
			h.Up, err = io.Copy(up, buffered)
		} else {
			h.Up, err = send(ctx, up, down, buffered.Reader, host)
		}
		if refused := refusal(""); errors.As(err, &refused) {
			h.Refused = string(refused)
			down.Close()
			up.Close()
		}
		finish(up)
	})
	both.Go(func() { h.Down, _ = io.Copy(down, up); finish(down) })
	both.Wait()
	p.note(h)
}

// A counter counts the bytes of a request and of its answer.
type counter struct {
	io.ReadCloser
	http.ResponseWriter
	up, down int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.ReadCloser.Read(b)
	c.up += int64(n)
	return n, err
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.down += int64(n)
	return n, err
}

// finish signals the other side that nothing more comes.
func finish(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	_ = c.Close()
}

// open connects with where a CONNECT leads, by the operator's proxy where there is one.
func (p *Proxy) open(ctx context.Context, to string) (net.Conn, error) {
	way, err := p.way(&http.Request{URL: &url.URL{Scheme: "https", Host: to}})
	switch {
	case err != nil:
		return nil, err
	case way != nil:
		return p.through(ctx, way, to)
	case p.named(to):
		return p.dialNamed(ctx, "tcp", to)
	}
	return p.dialPublic(ctx, to)
}

func (p *Proxy) way(r *http.Request) (*url.URL, error) {
	if p.o.Way == nil {
		return nil, nil //nolint:nilnil // as http.ProxyFromEnvironment says that there is none
	}
	return p.o.Way(r.URL)
}

func (p *Proxy) dialNamed(ctx context.Context, network, to string) (net.Conn, error) {
	return p.o.Dial(ctx, network, to)
}

// dialPublic connects with an address that everybody can reach.
func (p *Proxy) dialPublic(ctx context.Context, to string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(to)
	if err != nil {
		return nil, err
	}
	found, err := p.o.Resolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	errs := []error{fmt.Errorf("%s has no public address", host)}
	for _, a := range found {
		if a = a.Unmap(); !Public(a) {
			continue
		}
		c, err := p.o.Dial(ctx, "tcp", net.JoinHostPort(a.String(), port))
		if err == nil {
			return c, nil
		}
		errs[0] = fmt.Errorf("%s cannot be reached", host)
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

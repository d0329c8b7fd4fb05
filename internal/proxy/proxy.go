// Package proxy leads programs that may not have the network to some hosts by name,
// and to nothing else: an HTTP proxy of the harness, on its loopback interface.
package proxy

import (
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
	maxRefused     = 8
	maxHost        = 253 // the longest name of a host
)

// Options say where a proxy leads.
type Options struct {
	// Public are names of hosts, reached by TLS on port 443 and at public addresses
	// only. A name is resolved once for a connection, which goes to what was looked at.
	Public []string
	// Named are "host:port" of the operator's, wherever they are.
	Named []string
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

	o      Options
	server *http.Server
	cancel context.CancelFunc
	tunnel sync.WaitGroup
	slots  chan struct{}

	mu      sync.Mutex
	refused []string
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
		ReadHeaderTimeout: headerTime, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return ctx },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p.serve(w, r, forward)
		}),
	}
	p.tunnel.Go(func() { _ = p.server.Serve(l) }) // ends with Close
	return p, nil
}

// Close ends all connections.
func (p *Proxy) Close() {
	p.cancel()
	_ = p.server.Close()
	p.tunnel.Wait()
}

// Refused are hosts that were asked for and are not led to, the first few.
func (p *Proxy) Refused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.refused)
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request, forward http.Handler) {
	connect := r.Method == http.MethodConnect
	switch to := target(r); {
	case connect && (p.public(to) || p.named(to)):
		p.carry(w, r, to)
	case !connect && r.URL.Scheme == "http" && p.named(to):
		forward.ServeHTTP(w, r)
	default:
		p.refuse(to)
		http.Error(w, "only package registries can be reached", http.StatusForbidden)
	}
}

// target is the "host:port" that a request is for, in lower case.
func target(r *http.Request) string {
	host := r.Host
	if r.URL.Host != "" {
		host = r.URL.Host
	}
	if _, _, err := net.SplitHostPort(host); err != nil {
		host = net.JoinHostPort(strings.Trim(host, "[]"), "80")
	}
	return strings.ToLower(host)
}

func (p *Proxy) public(to string) bool {
	host, port, err := net.SplitHostPort(to)
	return err == nil && port == "443" && slices.Contains(p.o.Public, host)
}

func (p *Proxy) named(to string) bool { return slices.Contains(p.o.Named, to) }

func (p *Proxy) refuse(to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if to = to[:min(len(to), maxHost)]; len(p.refused) < maxRefused && !slices.Contains(p.refused, to) {
		p.refused = append(p.refused, to)
	}
}

// carry joins the connection of a CONNECT with one to where it leads.
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
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(up, buffered); finish(up) })
	both.Go(func() { _, _ = io.Copy(down, up); finish(down) })
	both.Wait()
}

// finish tells the other side that nothing more comes.
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
		if a = a.Unmap(); !public(a) {
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

// shared are addresses behind the router of a provider, or of a cloud.
var shared = netip.MustParsePrefix("100.64.0.0/10")

func public(a netip.Addr) bool {
	return a.IsGlobalUnicast() && !a.IsPrivate() && !shared.Contains(a) && a.Zone() == ""
}

package execution

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/proxy"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// A registryAccess is what setup commands get in place of the network with
// [NetworkRegistries]: their own loopback interface, and on it a proxy of the
// harness that leads to package registries alone. Each command has a proxy of its own.
type registryAccess struct {
	o     proxy.Options
	names sandbox.Resolver
	own   []sandbox.Service // registries of this machine: many tools ask no proxy for those

	mu      sync.Mutex
	refused []string
}

// Restricted is m whose setup has a registryAccess, where it needs one.
func (m Machine) Restricted(ctx context.Context) Machine {
	if m.Network != NetworkRegistries {
		return m
	}
	names := &net.Resolver{}
	named, plain := languages.NamedRegistries(m.Tools)
	m.registries = &registryAccess{o: proxy.Options{Resolver: names, Named: named, Plain: plain}, names: names}
	if m.Tools != nil {
		m.registries.o.Way = m.Tools.Upstream()
	}
	for _, name := range named {
		if own, err := sandbox.FindServices(ctx, names, []string{name}); err == nil && loopback(own[0]) {
			m.registries.own = append(m.registries.own, own...)
		}
	}
	return m
}

// A registryProxy is the proxy of one command; nil: it has none.
type registryProxy struct {
	registryAccess *registryAccess
	proxy          *proxy.Proxy
}

// start starts a proxy for a command of an ecosystem, or of any where that has no name.
func (l *registryAccess) start(ctx context.Context, eco string, c *sandbox.Command) (*registryProxy, error) {
	o := l.o
	for _, e := range languages.All() {
		if eco == "" || eco == e.Name {
			o.Public = append(o.Public, e.Hosts...)
		}
	}
	p, err := proxy.Start(o)
	if err != nil {
		return nil, err
	}
	way, err := sandbox.FindServices(ctx, l.names, []string{p.Addr.String()})
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("proxy to registries: %w", err)
	}
	c.Services = slices.Concat(c.Services, way, l.own)
	c.Env = slices.Concat(c.Env, languages.ThroughProxy(p.Addr.String()))
	return &registryProxy{registryAccess: l, proxy: p}, nil
}

// hosts ends the proxy, and returns the hosts that were asked for.
func (l *registryProxy) hosts() []evidence.Host {
	if l == nil {
		return nil
	}
	l.proxy.Close()
	var out []evidence.Host
	l.registryAccess.mu.Lock()
	defer l.registryAccess.mu.Unlock()
	for _, h := range l.proxy.Hosts() {
		out = append(out, evidence.Host{Name: h.Name, Connections: h.Connections, Up: h.Up, Down: h.Down, Refused: h.Refused})
		if h.Refused != "" && !slices.Contains(l.registryAccess.refused, h.Name) {
			l.registryAccess.refused = append(l.registryAccess.refused, h.Name)
		}
	}
	return out
}

func (l *registryProxy) close() {
	if l != nil {
		l.proxy.Close()
	}
}

func loopback(s sandbox.Service) bool {
	return !slices.ContainsFunc(s.At, func(a netip.Addr) bool { return !a.IsLoopback() })
}

// restrain takes the network from a setup command of a head that is not trusted, and
// leads it to registries where it runs nothing that the head names.
func (e *Executor) restrain(ctx context.Context, side results.Side, c ecosystem.Command, run *sandbox.Command) (*registryProxy, error) {
	if e.Network != NetworkRegistries || c.Stage != results.StageSetup {
		return nil, nil //nolint:nilnil // no proxy is an answer
	}
	run.Network = sandbox.NetworkNone
	run.Env = slices.Concat(run.Env, languages.ClosedEnv(run.Home, c.Eco))
	if !c.Reaches(side) {
		// What a repository pins for itself is run as its other programs are.
		run.Env = slices.Concat(run.Env, languages.OfflineEnv(run.Home))
		return nil, nil //nolint:nilnil // as above
	}
	if !c.OwnProgram {
		run.Env = append(run.Env, "YARN_IGNORE_PATH=1")
	}
	if e.registries != nil {
		return e.registries.start(ctx, c.Eco, run)
	}
	return nil, nil //nolint:nilnil // as above
}

// Refused are the hosts that setup asked for and was kept from, and whether its network was
// package registries alone.
func (m *Machine) Refused() (hosts []string, restricted bool) {
	if m.registries == nil {
		return nil, false
	}
	m.registries.mu.Lock()
	defer m.registries.mu.Unlock()
	return m.registries.refused, true
}

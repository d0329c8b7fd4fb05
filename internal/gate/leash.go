package gate

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/http/httpproxy"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/proxy"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// A leash is what setup commands get in place of the network with
// [NetworkRegistries]: their own loopback interface, and on it a proxy of the
// harness that leads to package registries alone. Each command has a proxy of its own.
type leash struct {
	o     proxy.Options
	names sandbox.Resolver
	own   []sandbox.Service // registries of this machine: many tools ask no proxy for those

	mu      sync.Mutex
	refused []string
}

// leashed is g with a leash, where it needs one.
func (g *Gate) leashed(ctx context.Context) *Gate {
	if g.Network != NetworkRegistries {
		return g
	}
	led := *g
	names := &net.Resolver{}
	named, plain := g.Tools.namedRegistries()
	led.leash = &leash{o: proxy.Options{Resolver: names, Named: named, Plain: plain}, names: names}
	if g.Tools != nil {
		led.leash.o.Way = g.Tools.upstream()
	}
	for _, name := range named {
		if own, err := sandbox.FindServices(ctx, names, []string{name}); err == nil && loopback(own[0]) {
			led.leash.own = append(led.leash.own, own...)
		}
	}
	return &led
}

// A lead is the proxy of one command; nil: it has none.
type lead struct {
	leash *leash
	proxy *proxy.Proxy
}

// lead starts a proxy for a command of an ecosystem, or of any where that has no name.
func (l *leash) lead(ctx context.Context, eco string, c *sandbox.Command) (*lead, error) {
	o := l.o
	for _, e := range ecosystems() {
		if eco == "" || eco == e.name {
			o.Public = append(o.Public, e.hosts...)
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
	c.Env = slices.Concat(c.Env, throughProxy(p.Addr.String()))
	return &lead{leash: l, proxy: p}, nil
}

// hosts ends the proxy, and returns the hosts that were asked for.
func (l *lead) hosts() []evidence.Host {
	if l == nil {
		return nil
	}
	l.proxy.Close()
	var out []evidence.Host
	l.leash.mu.Lock()
	defer l.leash.mu.Unlock()
	for _, h := range l.proxy.Hosts() {
		out = append(out, evidence.Host{Name: h.Name, Connections: h.Connections, Up: h.Up, Down: h.Down, Refused: h.Refused})
		if h.Refused != "" && !slices.Contains(l.leash.refused, h.Name) {
			l.leash.refused = append(l.leash.refused, h.Name)
		}
	}
	return out
}

func (l *lead) close() {
	if l != nil {
		l.proxy.Close()
	}
}

func loopback(s sandbox.Service) bool {
	return !slices.ContainsFunc(s.At, func(a netip.Addr) bool { return !a.IsLoopback() })
}

// throughProxy are variables by which tools find the proxy at addr; they stand
// above what files of settings say.
func throughProxy(addr string) []string {
	u := "http://" + addr
	host, port, _ := strings.Cut(addr, ":")
	java := fmt.Sprintf("-Dhttp.proxyHost=%[1]s -Dhttp.proxyPort=%[2]s -Dhttps.proxyHost=%[1]s -Dhttps.proxyPort=%[2]s "+
		"-Dhttp.nonProxyHosts= -Daether.connector.http.useSystemProperties=true", host, port)
	var out []string
	for _, name := range strings.Fields("HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy npm_config_proxy npm_config_https_proxy " +
		"YARN_HTTP_PROXY YARN_HTTPS_PROXY PIP_PROXY CARGO_HTTP_PROXY") {
		out = append(out, name+"="+u)
	}
	return append(out, "CARGO_REGISTRIES_CRATES_IO_PROTOCOL=sparse", "NO_PROXY=", "no_proxy=", "npm_config_noproxy=", "MAVEN_OPTS="+java, "GRADLE_OPTS="+java)
}

// restrain takes the network from a setup command of a head that is not trusted, and
// leads it to registries where it runs nothing that the head names.
func (r *runner) restrain(ctx context.Context, side Side, c command, run *sandbox.Command) (*lead, error) {
	if r.Network != NetworkRegistries || c.stage != StageSetup {
		return nil, nil //nolint:nilnil // no lead is an answer
	}
	run.Network = sandbox.NetworkNone
	run.Env = slices.Concat(run.Env, closed(run.Home, c.eco))
	if !c.reaches(side) {
		// What a repository pins for itself is run as its other programs are.
		run.Env = slices.Concat(run.Env, offlineEnv(run.Home))
		return nil, nil //nolint:nilnil // as above
	}
	if !c.ownYarn {
		run.Env = append(run.Env, "YARN_IGNORE_PATH=1")
	}
	if r.leash != nil {
		return r.leash.lead(ctx, c.eco, run)
	}
	return nil, nil //nolint:nilnil // as above
}

// noteLeash says what setup was kept from.
func (r *runner) noteLeash() {
	if r.leash == nil {
		return
	}
	if refused := r.leash.refused; len(refused) > 0 {
		r.note("setup asked for %s and was refused: for a head that is not trusted only package registries can be reached", listed(refused, 3))
	}
	if slices.ContainsFunc(r.res.Steps, func(s Step) bool { return s.Stage == StageSetup && s.Failed() }) {
		r.note("setup ran without install scripts, and with package registries as the only network of what fetches, because the head is not trusted")
	}
}

// address is the beginning of a URL: its scheme and its host.
var address = pattern.New(`(https?)://(?:[^/@\s]*@)?([A-Za-z0-9_.-]+)(:[0-9]+)?`)

// namedRegistries are "host:port" of the registries that the operator has set, and those
// of them that are set to be asked without TLS.
func (t *Toolchains) namedRegistries() (named, plain []string) {
	if t == nil {
		return nil, nil
	}
	var texts []string
	env, _ := t.registries()
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if !isProxy(name) {
			texts = append(texts, value)
		}
	}
	if t.Go != nil {
		name, _, _ := strings.Cut(t.Go.sumDB, "+") // its key follows, and perhaps another URL
		texts = append(texts, t.Go.proxy, t.Go.sumDB, "https://"+name)
	}
	for _, eco := range ecosystems() {
		for _, f := range eco.settingsFiles {
			for line := range strings.Lines(f.read(t)) {
				if key, value, _ := strings.Cut(line, "="); !isProxy(key) {
					texts = append(texts, value)
				}
			}
		}
	}
	for _, text := range texts {
		for _, m := range address.FindAllStringSubmatch(text, -1) {
			port := m[3]
			if port == "" {
				port = map[string]string{"http": ":80", "https": ":443"}[m[1]]
			}
			named = append(named, strings.ToLower(m[2])+port)
			if m[1] == "http" {
				plain = append(plain, strings.ToLower(m[2])+port)
			}
		}
	}
	slices.Sort(named)
	return slices.Compact(named), plain
}

// isProxy tells settings of the way to registries from those of registries.
func isProxy(name string) bool { return strings.Contains(strings.ToLower(name), "proxy") }

// upstream is the operator's own proxy.
func (t *Toolchains) upstream() func(*url.URL) (*url.URL, error) {
	first := func(names ...string) string {
		for _, n := range names {
			if v := t.getenv(n); v != "" {
				return v
			}
		}
		return ""
	}
	c := httpproxy.Config{
		HTTPProxy: first("HTTP_PROXY", "http_proxy"), HTTPSProxy: first("HTTPS_PROXY", "https_proxy"), NoProxy: first("NO_PROXY", "no_proxy"),
	}
	return c.ProxyFunc()
}

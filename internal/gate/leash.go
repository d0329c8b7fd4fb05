package gate

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/proxy"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// A leash is what setup commands get in place of the network with
// [NetworkRegistries]: their own loopback interface, and on it a proxy of the
// harness that leads to package registries alone.
type leash struct {
	proxy *proxy.Proxy
	way   []sandbox.Service
	env   []string
}

// scriptsOff has package managers leave out the scripts of packages. Where one
// cannot, the network is not there for them either.
var scriptsOff = []string{"npm_config_ignore_scripts=true", "YARN_ENABLE_SCRIPTS=false"}

// scriptsOffFlags do so where no variable does, for the gate's own commands.
var scriptsOffFlags = map[string]string{
	"yarn install --frozen-lockfile":                  " --ignore-scripts",
	"bun install --frozen-lockfile":                   " --ignore-scripts",
	"composer install --no-interaction --no-progress": " --no-scripts --no-plugins",
}

// newLeash starts the proxy.
func (g *Gate) newLeash(ctx context.Context) (*leash, error) {
	names := &net.Resolver{}
	o := proxy.Options{Resolver: names, Named: g.Tools.namedRegistries()}
	for _, eco := range ecosystems() {
		o.Public = append(o.Public, eco.hosts...)
	}
	if g.Tools != nil {
		o.Way = g.Tools.upstream()
	}
	p, err := proxy.Start(o)
	if err != nil {
		return nil, err
	}
	way, err := sandbox.FindServices(ctx, names, []string{p.Addr.String()})
	if err != nil {
		p.Close()
		return nil, fmt.Errorf("proxy to registries: %w", err)
	}
	for _, name := range o.Named {
		// A registry of this machine: many tools ask no proxy for those.
		if own, err := sandbox.FindServices(ctx, names, []string{name}); err == nil && loopback(own[0]) {
			way = append(way, own...)
		}
	}
	return &leash{proxy: p, way: way, env: append(slices.Clone(scriptsOff), throughProxy(p.Addr.String())...)}, nil
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

// restrain puts the leash on a command that would have the network; text is what
// people see of it, and the end of what a shell is given.
func (r *runner) restrain(c *sandbox.Command, text string) {
	if r.Network != NetworkRegistries || c.Network != sandbox.NetworkHost {
		return
	}
	c.Network = sandbox.NetworkNone
	if flags := scriptsOffFlags[text]; flags != "" {
		c.Argv = slices.Clone(c.Argv)
		c.Argv[len(c.Argv)-1] += flags
	}
	if r.leash != nil {
		c.Services = slices.Concat(c.Services, r.leash.way)
		c.Env = slices.Concat(c.Env, r.leash.env)
	}
}

// noteLeash tells what setup was kept from.
func (r *runner) noteLeash() {
	if r.leash == nil {
		return
	}
	if refused := r.leash.proxy.Refused(); len(refused) > 0 {
		r.note("setup asked for %s and was refused: for a head that is not trusted only package registries can be reached", listed(refused, 3))
	}
	if slices.ContainsFunc(r.res.Steps, func(s Step) bool { return s.Stage == StageSetup && s.Failed() }) {
		r.note("setup ran without install scripts, and with package registries as its only network, because the head is not trusted")
	}
}

// address is the beginning of a URL: its scheme and its host.
var address = pattern.New(`(https?)://(?:[^/@\s]*@)?([A-Za-z0-9_.-]+)(:[0-9]+)?`)

// namedRegistries are "host:port" of the registries that the operator has set.
func (t *Toolchains) namedRegistries() []string {
	if t == nil {
		return nil
	}
	var texts, out []string
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
			out = append(out, strings.ToLower(m[2])+port)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
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

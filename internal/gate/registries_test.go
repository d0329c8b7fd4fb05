package gate

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/execution"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/test/bench"
)

// A victim is a service of this machine that answers everybody; it counts.
func victim(t *testing.T) (url string, asked *atomic.Int32) {
	t.Helper()
	asked = &atomic.Int32{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		fmt.Fprint(w, "secret")
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

// Setup of a head that is not trusted gets its dependencies from the operator's
// registry, runs no install scripts whatever its own settings say, and reaches no
// service of this machine. With the network of a trusted head all of that works.
func TestSetupOfAStranger(t *testing.T) {
	t.Parallel()
	path := systemPath()
	if runners, err := bench.Runners(t.Context()); err == nil {
		path += ":" + filepath.Join(runners, ".bin")
	}
	for _, manager := range []string{"npm", "pnpm", "yarn"} {
		variants.Run(t, manager, manager != "npm", func(t *testing.T) { // seconds each to begin, several times
			t.Parallel()
			for network, open := range map[Network]bool{NetworkSetup: true, NetworkRegistries: false} {
				setupOfAStranger(t, manager, path, network, open)
			}
		})
	}
}

// setupOfAStranger judges a change with an install script; open says whether it runs
// and reaches a service of this machine.
func setupOfAStranger(t *testing.T, manager, path string, network Network, open bool) {
	t.Helper()
	r := newRegistry(t)
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".npmrc"), []byte("registry="+r.URL+"/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tools := &Toolchains{Env: []string{"PATH=" + path, "HOME=" + home}}
	if !tools.Has("npm") || !tools.Has(manager) {
		t.Skipf("%s is needed", manager)
	}
	box := fullSandboxOf(t, path)
	url, asked := victim(t)
	base, head := r.project(manager, "1.0.0"), r.project(manager, "1.0.0")
	head["package.json"] = []byte(strings.Replace(string(head["package.json"]), `"scripts": {`,
		`"scripts": {"preinstall": "touch scripted; node -e \"fetch('`+url+`')\" || true", `, 1))
	head[".npmrc"] = []byte("ignore-scripts=false\nnoproxy=127.0.0.1\nproxy=null\nhttps-proxy=null\n")
	scripted := false
	res := judge(t, tools, &scenario{base: base, head: head}, func(g *Gate) {
		g.Sandbox, g.Network, g.Limits = box, network, Limits{Mutation: -1}
		g.Progress = func(p Progress) {
			if p.Done && p.Side == Head && p.Stage == StageSetup {
				scripted = scripted || len(wrote(t, filepath.Dir(g.Scratch), "scripted")) > 0
			}
		}
	})
	if res.Verdict != Pass || r.count("1.0.0") == 0 {
		for _, s := range res.Steps {
			t.Logf("%s %s %s exit %d\n%s", s.Side, s.Stage, s.Command, s.Exit, s.Output)
		}
		t.Errorf("%s: %s %q %q", network, res.Verdict, res.Reasons, res.Notes)
	}
	if got := asked.Load() > 0; got != open || scripted != open {
		t.Errorf("%s: the service was asked: %v, install scripts ran: %v", network, got, scripted)
	}
}

// wrote are the files of that name below dir.
func wrote(t *testing.T, dir, name string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "trees", "*", name))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Code that setup runs anyway, as a build backend is, has no way out but the proxy, and
// that one leads to no service and no address.
func TestSetupHasNoWayAround(t *testing.T) {
	t.Parallel()
	box := fullSandbox(t)
	url, asked := victim(t)
	address := strings.TrimPrefix(url, "http://")
	direct := `exec 3<>/dev/tcp/` + strings.Replace(address, ":", "/", 1) + ` && printf 'GET / HTTP/1.0\r\n\r\n' >&3 && cat <&3`
	byProxy := `p=${HTTP_PROXY#http://}; exec 3<>/dev/tcp/${p%:*}/${p#*:} && printf 'GET ` + url + `/ HTTP/1.0\r\nHost: ` + address + `\r\n\r\n' >&3 && cat <&3`
	for name, tt := range map[string]struct {
		network          Network
		script           string
		fetches, reaches bool
	}{
		"with the network":            {NetworkSetup, direct, false, true},
		"directly":                    {NetworkRegistries, direct, true, false},
		"by the proxy":                {NetworkRegistries, byProxy, true, false},
		"where it runs what is there": {NetworkRegistries, `test -z "$HTTP_PROXY"; ` + direct, false, false},
	} {
		dir := t.TempDir()
		log, err := evidence.Open(dir, "run", evidence.Options{Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		g := &Gate{
			Machine: Machine{
				Sandbox:  box,
				Log:      log,
				Mirror:   &workspace.Mirror{Dir: t.TempDir()},
				Network:  tt.network,
				CacheDir: t.TempDir(),
				Shared:   t.TempDir(),
				Scratch:  t.TempDir(),
				Now:      time.Now,
			},
		}
		r := newRunner(g.restricted(t.Context()), Input{}, task{})
		r.sides.Plans[Head] = &sides.Plan{}
		asked.Store(0)
		c := ecosystem.Command{Stage: StageSetup, Network: sandbox.NetworkHost, Argv: []string{"bash", "-c", tt.script}}
		if tt.fetches {
			c.Data = func(*ecosystem.Survey) map[string][]byte { return nil }
		}
		step, err := r.executor.RunAt(t.Context(), Head, execution.Place{Tree: &workspace.Tree{Dir: t.TempDir()}, Home: t.TempDir()}, c, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := asked.Load() > 0; got != tt.reaches {
			t.Errorf("%s: the service was asked: %v: %s", name, got, step.Output)
		}
		rec, _ := log.Record(step.Evidence)
		if named := len(rec.Hosts) == 1 && rec.Hosts[0].Name == address && rec.Hosts[0].Refused != ""; named != (name == "by the proxy") {
			t.Errorf("%s: in the log: %+v", name, rec.Hosts)
		}
		if refused, _ := r.executor.Refused(); slices.Contains(refused, address) != (name == "by the proxy") {
			t.Errorf("%s: refused %q", name, refused)
		}
		log.Close()
		if _, err := evidence.Verify(dir, "run"); err != nil {
			t.Error(err)
		}
	}
}

// The operator's registries are proxied to by host and port, and the operator's proxies
// are no registries: through them a change would reach everything.
func TestNamedRegistries(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for name, text := range map[string]string{
		".npmrc":             "registry=https://me:secret@npm.corp/x/\n@acme:registry=http://acme.corp:4873\nproxy=http://out.corp:3128\nhttps-proxy=http://out.corp:3128\n",
		".cargo/config.toml": "[source.corp]\nregistry = \"sparse+https://crates.corp/index/\"\n[http]\nproxy = \"out.corp:3128\"\n",
	} {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tools := &Toolchains{Go: &GoToolchain{Proxy: "https://go.corp|http://goproxy.corp:3000,direct", SumDB: "sum.corp+1a2b https://db.corp/sumdb"}, Env: []string{
		"HOME=" + home, "PIP_EXTRA_INDEX_URL=https://a.corp/simple http://b.corp/simple",
		"UV_INDEX=own=https://uv.corp:8443/x", "HTTPS_PROXY=http://out.corp:3128", "npm_config_https_proxy=http://out.corp:3128", "YARN_HTTP_PROXY=http://out.corp:3128",
	}}
	want := []string{"a.corp:443", "acme.corp:4873", "b.corp:80", "crates.corp:443", "db.corp:443", "go.corp:443", "goproxy.corp:3000", "npm.corp:443", "sum.corp:443", "uv.corp:8443"}
	named, plain := languages.NamedRegistries(tools)
	if diff := cmp.Diff(want, named); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"acme.corp:4873", "b.corp:80", "goproxy.corp:3000"}, slices.Sorted(slices.Values(plain))); diff != "" {
		t.Error(diff)
	}
}

// Commands of a change that run its code in the setup phase, such as install scripts,
// cannot write to the module cache that the project builds with; the download of
// modules, which runs none, can, and heeds nothing that they left in HOME.
func TestSetupCannotPoisonModules(t *testing.T) {
	t.Parallel()
	box := fullSandbox(t)
	log, err := evidence.Open(t.TempDir(), "run", evidence.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for _, network := range []Network{NetworkSetup, NetworkRegistries} {
		g := &Gate{
			Machine: Machine{
				Sandbox:  box,
				Log:      log,
				Mirror:   &workspace.Mirror{Dir: t.TempDir()},
				Network:  network,
				Tools:    &Toolchains{Go: &GoToolchain{}},
				CacheDir: t.TempDir(),
				Shared:   t.TempDir(),
				Scratch:  t.TempDir(),
				Now:      time.Now,
			},
		}
		lay(t, g.Store().ModCache(), map[string][]byte{"example.org/x@v1.0.0/x.go": []byte("good")})
		poison := `{ for d in "$GOMODCACHE" ` + g.Store().ModCache() + `; do mkdir -p $d/example.org/x@v1.0.0; echo evil >$d/example.org/x@v1.0.0/x.go; echo evil >$d/new; done; } || true`
		for _, c := range []ecosystem.Command{
			{Stage: StageSetup, Network: sandbox.NetworkHost, Argv: []string{"bash", "-c", poison}, Text: "npm ci"},
			languages.ShellCommand(StageSetup, poison),
		} {
			r := newRunner(g, Input{}, task{})
			step, err := r.executor.RunAt(t.Context(), Head, execution.Place{Tree: &workspace.Tree{Dir: t.TempDir()}, Home: t.TempDir()}, c, nil)
			if err != nil || step.Failed() {
				t.Fatalf("%v: %s", err, step.Output)
			}
			data, err := os.ReadFile(filepath.Join(g.Store().ModCache(), "example.org/x@v1.0.0/x.go"))
			if err != nil || string(data) != "good" || folder.Exists(filepath.Join(g.Store().ModCache(), "new")) {
				t.Errorf("%s: the cache of the project has %q (%v)", network, data, err)
			}
			if !folder.Exists(filepath.Join(g.Scratch, string(Head), "go-mod", "new")) {
				t.Errorf("%s: the command has no module cache of its own", network)
			}
		}
		download := ecosystem.Command{Stage: StageSetup, Argv: []string{"go", "mod", "download"}}
		run := sandbox.Command{}
		if err := g.Store().SetupModCache(Head, download, &run); err != nil || !slices.Contains(run.Writable, g.Store().ModCache()) {
			t.Errorf("the download cannot write: %q, %v", run.Writable, err)
		}
		if env := g.Store().GoEnv(Head, "", download); !slices.Contains(env, "GOENV=off") || !slices.Contains(env, "GIT_CONFIG_GLOBAL=/dev/null") {
			t.Errorf("the download is steered from HOME: %q", env)
		}
	}
}

// Setup of the configuration is no reason not to have the modules that builds need.
func TestConfiguredSetupKeepsModules(t *testing.T) {
	t.Parallel()
	for mod, want := range map[string]string{"module m\n": "make deps", "module m\nrequire example.org/x v1.0.0\n": "make deps|go mod download"} {
		dir := t.TempDir()
		lay(t, dir, map[string][]byte{"go.mod": []byte(mod)})
		s := ecosystem.NewSurvey(ecosystem.InTree(dir), []string{"go.mod"}, &Toolchains{Go: &GoToolchain{}}, t.Logf)
		var got []string
		for _, c := range newPlan(languages.FindProjects(s), Commands{Setup: []string{"make deps"}}).Setup {
			got = append(got, c.Text)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, want %s", mod, got, want)
		}
		if none := newPlan(languages.FindProjects(s), Commands{Setup: []string{}}).Setup; len(none) > 0 {
			t.Errorf("%q: %d commands where the configuration wants none", mod, len(none))
		}
	}
}

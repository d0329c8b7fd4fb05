package gate

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/tester"
	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/test/bench"
)

// A registry is npm's, with one package of two versions.
type registry struct {
	*httptest.Server
	balls map[string][]byte // by version

	mu    sync.Mutex
	asked map[string]int // tarballs, by version
	auth  []string       // credentials that came along
}

func newRegistry(t *testing.T) *registry {
	t.Helper()
	r := &registry{balls: map[string][]byte{}, asked: map[string]int{}}
	for _, version := range []string{"1.0.0", "1.0.1"} {
		r.balls[version] = tarball(t, version)
	}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func tarball(t *testing.T, version string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range map[string]string{
		"package/package.json": fmt.Sprintf(`{"name": "tiny", "version": %q, "main": "index.js"}`, version),
		"package/index.js":     "exports.one = 1;\n",
	} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (r *registry) integrity(version string) string {
	sum := sha512.Sum512(r.balls[version])
	return "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
}

func (r *registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := req.Header.Get("Authorization"); a != "" {
		r.auth = append(r.auth, a)
	}
	if version, ok := strings.CutPrefix(req.URL.Path, "/tiny/-/tiny-"); ok {
		version = strings.TrimSuffix(version, ".tgz")
		r.asked[version]++
		_, _ = w.Write(r.balls[version])
		return
	}
	if req.URL.Path != "/tiny" {
		http.NotFound(w, req)
		return
	}
	versions := map[string]any{}
	for v := range r.balls {
		versions[v] = map[string]any{"name": "tiny", "version": v, "dist": map[string]string{
			"tarball": r.URL + "/tiny/-/tiny-" + v + ".tgz", "integrity": r.integrity(v),
		}}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"name": "tiny", "dist-tags": map[string]string{"latest": "1.0.1"}, "versions": versions})
}

// count returns how often a version's tarball was asked for, and forgets it.
func (r *registry) count(version string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.asked[version]
	delete(r.asked, version)
	return n
}

// kept is a file of a version's tarball in what a project keeps, by the names that npm
// and yarn give them.
func (r *registry) kept(t *testing.T, cache, version string) (found string) {
	t.Helper()
	sum := fmt.Sprintf("%x", sha512.Sum512(r.balls[version]))
	err := filepath.WalkDir(cache, func(name string, _ fs.DirEntry, err error) error {
		if strings.Contains(name, "tiny-"+version) || strings.HasSuffix(name, filepath.Join(sum[:2], sum[2:4], sum[4:])) {
			found = name
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// project is a package that needs a version of tiny, with a package manager's lockfile.
func (r *registry) project(manager, version string) map[string][]byte {
	out := map[string][]byte{
		"package.json": fmt.Appendf(nil, `{"name": "m", "version": "1.0.0", "scripts": {"test": "node --test"}, "dependencies": {"tiny": %q}}`, version),
		"lib.js":       []byte("exports.two = () => require('tiny').one + 1;\n"),
		"test/lib.test.js": []byte("const { test } = require('node:test');\nconst assert = require('node:assert');\n" +
			"test('two', () => assert.strictEqual(require('../lib.js').two(), 2));\n"),
	}
	switch manager {
	case "npm":
		out["package-lock.json"] = fmt.Appendf(nil, `{"name": "m", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {
			"": {"name": "m", "version": "1.0.0", "dependencies": {"tiny": %[1]q}},
			"node_modules/tiny": {"version": %[1]q, "resolved": "%[2]s/tiny/-/tiny-%[1]s.tgz", "integrity": %[3]q}}}`, version, r.URL, r.integrity(version))
	case "pnpm":
		out["pnpm-lock.yaml"] = fmt.Appendf(nil, "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      tiny:\n        specifier: %[1]s\n        version: %[1]s\n\n"+
			"packages:\n\n  tiny@%[1]s:\n    resolution: {integrity: %[2]s}\n\nsnapshots:\n\n  tiny@%[1]s: {}\n", version, r.integrity(version))
	case "yarn":
		out["yarn.lock"] = fmt.Appendf(nil, "# yarn lockfile v1\n\n\ntiny@%[1]s:\n  version \"%[1]s\"\n  resolved \"%[2]s/tiny/-/tiny-%[1]s.tgz\"\n  integrity %[3]s\n", version, r.URL, r.integrity(version))
	}
	return out
}

// What the base needs is fetched once for a project: by one run for all later
// ones. What only the change needs is fetched in each of its runs, because
// nothing that a change brings is kept for others. The operator's registry is
// asked, without the operator's credentials.
func TestFetchedOnce(t *testing.T) {
	variants.Only(t) // package managers take seconds, and TestFetchedIsNotTheHeads shows the half of it
	t.Parallel()
	path := systemPath()
	if runners, err := bench.Runners(t.Context()); err == nil {
		path += ":" + filepath.Join(runners, ".bin")
	}
	for _, manager := range []string{"npm", "pnpm", "yarn"} {
		t.Run(manager, func(t *testing.T) {
			t.Parallel()
			fetchedOnce(t, manager, path)
		})
	}
}

func fetchedOnce(t *testing.T, manager, path string) {
	t.Helper()
	r := newRegistry(t)
	home := t.TempDir()
	npmrc := "registry=" + r.URL + "/\n//" + strings.TrimPrefix(r.URL, "http://") + "/:_authToken=secret\n_auth=c2VjcmV0\nscript-shell=/bin/false\n"
	if err := os.WriteFile(filepath.Join(home, ".npmrc"), []byte(npmrc), 0o600); err != nil {
		t.Fatal(err)
	}
	tools := &Toolchains{Env: []string{"PATH=" + path, "HOME=" + home}}
	if !tools.Has("npm") || !tools.Has(manager) {
		t.Skipf("%s is needed", manager)
	}
	cache := t.TempDir()
	run := func(head map[string][]byte) *Result {
		t.Helper()
		head["lib.js"] = []byte("exports.two = () => 1 + require('tiny').one;\n")
		res := judge(t, tools, &scenario{base: r.project(manager, "1.0.0"), head: head}, func(g *Gate) {
			g.CacheDir, g.Network = cache, NetworkSetup
			g.Limits = tester.Limits{Mutation: -1}
		})
		if res.Verdict != Pass {
			for _, s := range res.Steps {
				t.Logf("%s %s %s exit %d\n%s", s.Side, s.Stage, s.Command, s.Exit, s.Output)
			}
			t.Fatalf("%s %q %q", res.Verdict, res.Reasons, res.Notes)
		}
		return res
	}
	run(r.project(manager, "1.0.0"))
	if n := r.count("1.0.0"); n != 1 { // by the base; the head begins with what that has fetched
		t.Errorf("the first run asked %d times for the package", n)
	}
	run(r.project(manager, "1.0.0"))
	if n := r.count("1.0.0"); n != 0 {
		t.Errorf("the second run asked %d times for the package", n)
	}
	for n := range 2 {
		res := run(r.project(manager, "1.0.1"))
		if was, now := r.count("1.0.0"), r.count("1.0.1"); was != 0 || now != 1 {
			t.Errorf("change %d of the version asked %d times for the base's and %d times for its own", n+1, was, now)
			for _, s := range res.Steps {
				t.Logf("%s %s %s exit %d %v\n%s", s.Side, s.Stage, s.Command, s.Exit, s.Duration, s.Output)
			}
		}
		if left := r.kept(t, cache, "1.0.1"); left != "" {
			t.Errorf("what change %d fetched is kept: %s", n+1, left)
		}
	}
	if len(r.auth) > 0 {
		t.Errorf("credentials of the operator reached setup: %q", r.auth)
	}
}

// Nothing that the head's setup or tests write is in what later runs begin with.
func TestFetchedIsNotTheHeads(t *testing.T) {
	t.Parallel()
	tools := &Toolchains{Env: []string{"PATH=" + systemPath(), "HOME=" + t.TempDir()}}
	if !tools.Has("npm") {
		t.Skip("npm is needed")
	}
	cache := t.TempDir()
	project := func(setup string) map[string][]byte {
		return map[string][]byte{
			"package.json":      fmt.Appendf(nil, `{"name": "m", "version": "1.0.0", "scripts": {"preinstall": %q, "test": "node --test"}, "dependencies": {"tiny": "file:tiny"}}`, setup),
			"tiny/package.json": []byte(`{"name": "tiny", "version": "1.0.0"}`),
			"lib.js":            []byte("exports.one = 1;\n"),
			"test/a.test.js": []byte("const { test } = require('node:test');\nconst fs = require('node:fs');\n" +
				"test('a', () => { const d = process.env.HOME + '/.npm/_cacache'; fs.mkdirSync(d, { recursive: true }); fs.writeFileSync(d + '/of-a-test', 'x'); });\n"),
		}
	}
	poison := "mkdir -p $HOME/.npm/_cacache; echo x > $HOME/.npm/_cacache/of-the-head"
	good := "mkdir -p $HOME/.npm/_cacache; echo x > $HOME/.npm/_cacache/of-the-base"
	for range 2 {
		judge(t, tools, &scenario{base: project(good), head: project(poison)}, func(g *Gate) {
			g.CacheDir, g.Network = cache, NetworkSetup
			g.Limits = tester.Limits{Mutation: -1}
		})
	}
	var kept []string
	entries, err := os.ReadDir(filepath.Join(cache, "fetched", ".npm", "_cacache"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			kept = append(kept, e.Name())
		}
	}
	if strings.Join(kept, " ") != "of-the-base" {
		t.Errorf("kept for later runs: %q", kept)
	}
}

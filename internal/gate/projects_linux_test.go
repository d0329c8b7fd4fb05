package gate

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/mod/sumdb/dirhash"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/caches"
	gotest "github.com/ycbot/ycbot/internal/testing/gocache"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// privateKey stands in a module that one project alone may have.
var privateKey = strings.Join([]string{"KEY", "OF", "CORP"}, "-")

// privateModule lays a module into a module cache of the operator's, as it is there when it
// was downloaded, and returns what a go.mod and a go.sum say of it.
func privateModule(t *testing.T, cache string) (mod, sum string) {
	t.Helper()
	const path, version = "corp.example/secret", "v1.2.0"
	at := filepath.Join(cache, "cache", "download", path, "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(at, version+".zip")
	f, err := os.Create(archive)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, text := range map[string]string{"go.mod": "module " + path + "\n", "secret.go": "package secret\n\nvar Key = \"" + privateKey + "\"\n"} {
		w, err := z.Create(path + "@" + version + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	lay(t, at, map[string][]byte{version + ".info": []byte(`{"Version":"` + version + `"}`), version + ".mod": []byte("module " + path + "\n")})
	whole, err := dirhash.HashZip(archive, dirhash.Hash1)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return os.Open(filepath.Join(at, version+".mod")) })
	if err != nil {
		t.Fatal(err)
	}
	return "require " + path + " " + version + "\n", fmt.Sprintf("%[1]s %[2]s %[3]s\n%[1]s %[2]s/go.mod %[4]s\n", path, version, whole, alone)
}

// seeker is a test that looks for the private module in all that it is given of Go's caches.
const seeker = `package b

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSeek(t *testing.T) {
	key := []byte(strings.Join([]string{"KEY", "OF", "CORP"}, "-"))
	n := 0
	for _, dir := range []string{os.Getenv("GOMODCACHE"), os.Getenv("GOCACHE"), %q, %q, %q} {
		_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if strings.Contains(name, "corp.example") {
				t.Errorf("found %%s", name)
			}
			if data, err := os.ReadFile(name); err == nil {
				n++
				if bytes.Contains(data, key) {
					t.Errorf("found in %%s: %%s", name, key)
				}
			}
			return nil
		})
	}
	if n == 0 {
		t.Error("there is nothing to be seen")
	}
}
`

// A module that one project was given, and what it was compiled to, is nothing that commands of
// another can read, whether they look for it in what projects share or require it.
func TestProjectsShareNoSources(t *testing.T) {
	variants.Only(t) // two projects of each language are set up
	t.Parallel()
	projectsShareNoSources(t, func(seed string) {
		if err := gotest.Std(t.Context(), seed); err != nil {
			t.Fatal(err)
		}
	})
}

// The same holds of the first project on a machine, which has the standard library compiled for
// the others.
func TestFirstProjectSharesNoSources(t *testing.T) {
	variants.Only(t) // the standard library takes a while
	t.Parallel()
	projectsShareNoSources(t, func(string) {})
}

func projectsShareNoSources(t *testing.T, prepare func(seed string)) {
	t.Helper()
	w := newWorld(t)
	box := fullSandboxOf(t, os.Getenv("PATH"))
	dir := t.TempDir()
	t.Cleanup(func() { // what is in a module cache can only be read
		if err := folder.RemoveAll(context.Background(), dir); err != nil {
			t.Error(err)
		}
	})
	host, shared := filepath.Join(dir, "host"), filepath.Join(dir, "shared")
	prepare(caches.Store{Shared: shared, Go: w.tools.Go}.Seed(false))
	require, sum := privateModule(t, host)
	mod := func(more string) []byte { return []byte("module example.com/b\n\ngo 1.21\n\n" + more) }
	judged := func(project string, s *scenario) *Result {
		t.Helper()
		s.input["until"] = []string{"yes"}
		one := &world{git: w.git, box: box, tools: w.tools, cache: filepath.Join(dir, project), shared: shared, as: func(g *Gate) {
			g.Tools.Go.ModCache, g.Tools.Go.Proxy = host, "off"
		}}
		if err := folder.Make(one.cache); err != nil {
			t.Fatal(err)
		}
		return one.run(t, s)
	}
	a := judged("a", &scenario{
		input: map[string][]string{},
		base: map[string][]byte{
			"go.mod": mod(require), "go.sum": []byte(sum),
			"b.go":      []byte("package b\n\nimport \"corp.example/secret\"\n\nfunc Key() string { return secret.Key }\n"),
			"b_test.go": []byte("package b\n\nimport \"testing\"\n\nfunc TestKey(t *testing.T) {\n\tif Key() == \"\" {\n\t\tt.Fatal()\n\t}\n}\n"),
		},
		head: map[string][]byte{"b.go": []byte("package b\n\nimport \"corp.example/secret\"\n\n// Key is the key.\nfunc Key() string { return secret.Key }\n")},
	})
	if a.Verdict != Pass {
		t.Fatalf("the project itself:\n%s", facts(a))
	}
	if at := keyIn(t, shared); at != "" {
		t.Errorf("all projects of the machine have %s", at)
	}
	if seeds, err := filepath.Glob(filepath.Join(shared, "go-std", "*", "tests", "*", "*-d")); err != nil || len(seeds) == 0 {
		t.Errorf("the standard library was compiled for no one else: %v", err)
	}
	if keyIn(t, filepath.Join(dir, "a")) == "" {
		t.Error("the project's own caches do not have it")
	}
	base := map[string][]byte{"go.mod": mod(""), "b.go": []byte("package b\n"), "b_test.go": []byte("package b\n\nimport \"testing\"\n\nfunc TestNothing(t *testing.T) {}\n")}
	for name, head := range map[string]map[string][]byte{
		"seeks":    {"seek_test.go": fmt.Appendf(nil, seeker, shared, filepath.Join(dir, "a"), host)},
		"requires": {"go.mod": mod(require), "go.sum": []byte(sum), "b_test.go": []byte("package b\n\nimport (\n\t\"testing\"\n\n\t\"corp.example/secret\"\n)\n\nfunc TestNothing(t *testing.T) { t.Log(secret.Key) }\n")},
	} {
		for _, who := range []string{"stranger", "trusted"} {
			if name == "requires" && who == "trusted" { // one who may have what the operator has
				continue
			}
			input := map[string][]string{}
			if who == "stranger" {
				input["untrusted"], input["network"] = []string{"yes"}, []string{string(NetworkRegistries)}
			}
			res := judged("b", &scenario{input: input, base: base, head: head})
			if name == "seeks" && res.Verdict != Pass {
				t.Errorf("%s who %s:\n%s", who, name, facts(res))
			}
			if name == "requires" && res.Verdict == Pass {
				t.Errorf("%s who %s: what the module is missing from has passed", who, name)
			}
			for _, s := range res.Steps {
				if strings.Contains(s.Output, privateKey) {
					t.Errorf("%s who %s has the key from %q:\n%s", who, name, s.Command, s.Output)
				}
			}
			if at := keyIn(t, filepath.Join(dir, "b")); at != "" {
				t.Errorf("%s who %s left %s", who, name, at)
			}
		}
	}
}

// keyIn is a file below a folder that has the private key; empty: none.
func keyIn(t *testing.T, dir string) string {
	t.Helper()
	found := ""
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if strings.Contains(string(data), privateKey) {
			found = name
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The same holds where ycbot runs as an ordinary user.
func TestProjectsShareNoSourcesAsOrdinaryUser(t *testing.T) {
	variants.Only(t) // it runs the others again
	if os.Geteuid() != 0 {
		t.Skip("not root, so the other test showed it")
	}
	t.Parallel()
	const uid = 65534
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	exe, temp := filepath.Join(dir, "gate.test"), filepath.Join(dir, "tmp")
	if err := os.WriteFile(exe, program, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(temp, uid, uid); err != nil {
		t.Fatal(err)
	}
	run := func(argv ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Dir = temp
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + temp, "HOME=" + temp}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("go", "version"); err != nil {
		t.Skipf("an ordinary user has no go: %v\n%s", err, out)
	}
	out, err := run(exe, "-variants", "-test.v", "-test.run=^TestFirstProjectSharesNoSources$")
	if err != nil || !strings.Contains(out, "--- PASS: TestFirstProjectSharesNoSources ") {
		t.Errorf("%v\n%s", err, out)
	}
}

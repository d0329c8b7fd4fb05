package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

const npmLock = `{"name": "m", "lockfileVersion": 3, "packages": {"": {"dependencies": {"dep": "file:dep"}}, "dep": {}, "node_modules/dep": {"resolved": "dep", "link": true}}}`

const nodeTest = `
const http = require("http"), { fork, execFileSync } = require("child_process"), { Worker, isMainThread } = require("worker_threads");
if (process.argv[2] === "child") { process.send(require("dep")); process.exit(); }
if (!isMainThread) return;
new Worker(__filename).on("exit", () => {});
const s = http.createServer((q, r) => r.end("hi")).listen(0, "127.0.0.1", () =>
	http.get({ port: s.address().port }, r => r.on("data", d => { if (String(d) !== "hi") process.exit(3); s.close(); })));
fork(__filename, ["child"]).on("message", m => { if (m !== 7) process.exit(4); });
if (String(execFileSync("echo", ["ok"])) !== "ok\n") process.exit(5);
new WebAssembly.Memory({ initial: 1, maximum: 65536 });
`

const pythonTest = `
import http.server, threading, urllib.request, subprocess, tempfile, concurrent.futures, socket
def square(x): return x * x
def test_server():
    s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=s.serve_forever, daemon=True).start()
    assert urllib.request.urlopen("http://127.0.0.1:%d/" % s.server_port).status == 200
    s.shutdown()
def test_process():
    assert subprocess.check_output(["echo", "ok"]) == b"ok\n"
    a, b = socket.socketpair(); a.send(b"x"); assert b.recv(1) == b"x"
    with tempfile.TemporaryDirectory() as d: open(d + "/x", "w").close()
def test_pool():
    with concurrent.futures.ProcessPoolExecutor(2) as p: assert list(p.map(square, [1, 2])) == [1, 4]
if __name__ == "__main__":
    test_server(); test_process()
    import sys
    if "pool" in sys.argv: test_pool()
`

const javaTest = `public class T { public static void main(String[] a) throws Exception {
	var s = new java.net.ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress());
	var c = new java.net.Socket(s.getInetAddress(), s.getLocalPort());
	var t = new Thread(() -> {}); t.start(); t.join();
	new ProcessBuilder("true").start().waitFor();
	System.out.println("ok"); } }
`

// Test runners of other languages work as they do outside, under the least
// of the default limits: servers with their clients, child processes, threads, much address space.
func tools(t *testing.T, newSandbox maker) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"package.json": `{"name": "m", "dependencies": {"dep": "file:dep"}, "scripts": {"test": "node test.js"}}`, "package-lock.json": npmLock,
		"dep/package.json": `{"name": "dep", "version": "1.0.0"}`, "dep/index.js": "module.exports = 7\n", "test.js": nodeTest,
		"test_m.py": pythonTest, "T.java": javaTest,
		"go.mod": "module m\n\ngo 1.25\n", "m_test.go": moduleTest,
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	sb := newSandbox(t, func(o *sandbox.Options) { o.Limits.Memory = 2 << 30 }) // the least that is a default
	python := []string{"python3", "test_m.py"}
	if strings.Contains(strings.Join(sb.Status().Layers, ","), "mount namespace") {
		python = append(python, "pool") // needs a /dev/shm of its own
	}
	for _, argv := range [][]string{
		{"npm", "ci", "--offline", "--no-audit", "--no-fund"},
		{"npm", "test"},
		python,
		{"python3", "-m", "pytest", "-q", "-k", "not pool"},
		{"java", "T.java"},
	} {
		if err := exec.Command("env", append([]string{"-i", "PATH=" + systemPath, "HOME=" + dir, "which"}, argv[0])...).Run(); err != nil {
			t.Logf("no %s on this machine", argv[0])
			continue
		}
		if len(argv) > 2 && argv[1] == "-m" && exec.Command("env", "-i", "PATH="+systemPath, argv[0], "-c", "import "+argv[2]).Run() != nil {
			t.Logf("no %s on this machine", argv[2])
			continue
		}
		res := run(t, sb, sandbox.Command{Argv: argv, Dir: dir, Writable: []string{dir}, Timeout: 2 * time.Minute})
		if res.Exit != 0 {
			t.Errorf("%q: exit %d\n%s%s", argv, res.Exit, res.Stdout.Bytes, res.Stderr.Bytes)
		}
	}
}

const rustTest = `
#[test]
fn server() {
    use std::io::{Read, Write};
    let l = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let a = l.local_addr().unwrap();
    let t = std::thread::spawn(move || l.accept().unwrap().0.write_all(b"hi").unwrap());
    let mut s = String::new();
    std::net::TcpStream::connect(a).unwrap().read_to_string(&mut s).unwrap();
    t.join().unwrap();
    assert_eq!(s, "hi");
    assert!(std::process::Command::new("true").status().unwrap().success());
}
`

// A crate is built and tested, offline, as it is outside.
func TestCargo(t *testing.T) {
	variants.Only(t) // a crate is compiled
	t.Parallel()
	out, err := exec.Command("rustc", "--print", "sysroot").Output()
	if err != nil {
		t.Skip("no Rust on this machine")
	}
	sysroot := strings.TrimSpace(string(out))
	if _, err := os.Stat(filepath.Join(sysroot, "bin", "cargo")); err != nil {
		t.Skip("no cargo beside rustc in " + sysroot)
	}
	for _, mode := range []string{"basic", "full"} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "src"), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"Cargo.toml": "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "src/lib.rs": rustTest} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		sb := detect(t, mode, func(o *sandbox.Options) { o.Toolchains = toolchains.At(sysroot) })
		res := run(t, sb, sandbox.Command{
			Argv: []string{"cargo", "test", "--offline", "--quiet"}, Dir: dir, Writable: []string{dir}, Timeout: 5 * time.Minute,
		})
		if res.Exit != 0 || !strings.Contains(string(res.Stdout.Bytes), "1 passed") {
			t.Errorf("%s: exit %d\n%s%s", mode, res.Exit, res.Stdout.Bytes, res.Stderr.Bytes)
		}
	}
}

// A test binary with the race detector runs under the default limits, although
// it maps more address space than any machine has memory.
func TestRaceDetector(t *testing.T) {
	variants.Only(t) // a program is compiled with it
	t.Parallel()
	out, err := exec.Command("go", "env", "CGO_ENABLED").Output()
	if err != nil || strings.TrimSpace(string(out)) != "1" {
		t.Skip("no go command with cgo, which the race detector needs")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.25\n", "m_test.go": moduleTest} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "test", "-race", "-c", "-o", "m.test", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("the race detector does not build here: %s", out)
	}
	for _, mode := range []string{"basic", "full"} {
		sb := detect(t, mode, func(o *sandbox.Options) { o.Limits.Memory = 2 << 30 }) // the least that is a default
		res := run(t, sb, sandbox.Command{Argv: []string{"./m.test"}, Dir: dir, Writable: []string{dir}})
		if res.Exit != 0 {
			t.Errorf("%s: exit %d\n%s%s", mode, res.Exit, res.Stdout.Bytes, res.Stderr.Bytes)
		}
	}
}

// A program with the address sanitizer runs under the default limits, although it maps more
// address space than any machine has memory.
func TestAddressSanitizer(t *testing.T) {
	variants.Only(t) // a program is compiled with it
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.c"), []byte("#include <stdlib.h>\n\nint main(int n, char **v) {\n\tchar *p = malloc(8);\n\tint bad = p[n - 1 + (n > 1) * 8];\n\tfree(p);\n\treturn bad * 0;\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("cc", "-fsanitize=address", "-o", "a", "a.c")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("no C compiler with the address sanitizer: %s", out)
	}
	for _, mode := range []string{"basic", "full"} {
		sb := detect(t, mode, func(o *sandbox.Options) { o.Limits.Memory = 2 << 30 }) // the least that is a default
		env := []string{"ASAN_OPTIONS=detect_leaks=0"}
		res := run(t, sb, sandbox.Command{Argv: []string{"./a"}, Dir: dir, Writable: []string{dir}, Env: env})
		if res.Exit != 0 {
			t.Errorf("%s: exit %d\n%s%s", mode, res.Exit, res.Stdout.Bytes, res.Stderr.Bytes)
		}
		res = run(t, sb, sandbox.Command{Argv: []string{"./a", "more"}, Dir: dir, Writable: []string{dir}, Env: env})
		if res.Exit == 0 || !strings.Contains(string(res.Stderr.Bytes), "heap-buffer-overflow") {
			t.Errorf("%s: what it finds: exit %d\n%s", mode, res.Exit, res.Stderr.Bytes)
		}
	}
}

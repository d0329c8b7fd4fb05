package sandbox_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// serve starts an HTTP server as a command and returns when it listens; the server has
// ended when the test has.
func serve(t *testing.T, sb sandbox.Sandbox, l *sandbox.Loopback, port int, text string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	var res sandbox.Result
	var failed error
	go func() {
		const server = `import http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(sys.argv[2].encode())
    def log_message(self, *a): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), H).serve_forever()`
		defer close(ended)
		res, failed = sb.Run(ctx, sandbox.Command{Argv: []string{"python3", "-c", server, fmt.Sprint(port), text}, Loopback: l})
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	for until := time.Now().Add(time.Minute); time.Now().Before(until); <-time.After(20 * time.Millisecond) {
		if on, err := l.Listens(ctx, port); err != nil {
			t.Fatal(err)
		} else if on {
			return
		}
		select {
		case <-ended:
			t.Fatalf("the server ended: %+v %v", res, failed)
		default:
		}
	}
	t.Fatal("the server does not listen")
}

func open(t *testing.T, sb sandbox.Sandbox) *sandbox.Loopback {
	t.Helper()
	l, err := sandbox.OpenLoopback(t.Context(), sb, sandbox.NetworkNone)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

const get = `curl -sS --max-time 5 http://127.0.0.1:$1/`

// A server outlives the command that asks it, and is reached by those that share its
// loopback interface alone: two agents may use the same port.
func TestLoopback(t *testing.T) {
	t.Parallel()
	sb := detect(t, "full", nil)
	one, two := open(t, sb), open(t, sb)
	const port = 8080
	serve(t, sb, one, port, "one")
	serve(t, sb, two, port, "two")
	for range 3 {
		for want, l := range map[string]*sandbox.Loopback{"one": one, "two": two} {
			if res := run(t, sb, sandbox.Command{Argv: bash(get, fmt.Sprint(port)), Loopback: l}); res.Exit != 0 || string(res.Stdout.Bytes) != want {
				t.Errorf("agent %s: %+v", want, res)
			}
		}
	}
	if res := run(t, sb, sandbox.Command{Argv: bash(get, fmt.Sprint(port))}); res.Exit != 7 {
		t.Errorf("a command beside them: %+v", res)
	}
	if free, err := one.FreePort(t.Context()); err != nil || free == port {
		t.Errorf("free port %d, %v", free, err)
	}
}

// In tier basic the interface is the host's.
func TestLoopbackBasic(t *testing.T) {
	t.Parallel()
	sb := detect(t, "basic", nil)
	l := open(t, sb)
	port, err := l.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	serve(t, sb, l, port, "basic")
	if res := run(t, sb, sandbox.Command{Argv: bash(get, fmt.Sprint(port)), Loopback: l}); string(res.Stdout.Bytes) != "basic" {
		t.Errorf("%+v", res)
	}
}

// A command that shares an interface is contained like one that has its own: no host
// network, no rights over the network, no namespaces of its own making, no file of the
// harness, no sight of the other commands.
func TestAttackSharedLoopback(t *testing.T) {
	t.Parallel()
	sb := detect(t, "full", nil)
	l := open(t, sb)
	host, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer host.Close()
	serve(t, sb, l, 8080, "inside")
	for name, text := range map[string]string{
		"the host's port":    fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", host.Addr().(*net.TCPAddr).Port),
		"another interface":  `test "$(grep -c : /proc/net/dev)" -gt 1`,
		"a capability":       `grep -E '^Cap(Prm|Eff|Inh|Amb):' /proc/self/status | grep -v 0000000000000000`,
		"a user namespace":   "unshare -U true",
		"the interface down": "ip link set lo down || ifconfig lo down",
		"a raw socket":       `python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'`,
		"an inherited file":  `ls /proc/self/fd | grep -vE '^[0123]$'`,
		"the server":         `grep -l "ht[t]p.server" /proc/[0-9]*/cmdline`,
		"its environment":    `find /proc -maxdepth 2 -name environ | xargs cat | tr '\0' '\n' | grep YCBOT`,
	} {
		if res := run(t, sb, sandbox.Command{Argv: bash(text), Loopback: l}); res.Exit == 0 {
			t.Errorf("%s: %s%s", name, res.Stdout.Bytes, res.Stderr.Bytes)
		}
	}
	l.Close()
	if res := run(t, sb, sandbox.Command{Argv: bash(get, "8080"), Loopback: l}); res.Exit != 7 {
		t.Errorf("with an interface that was given back: %+v", res)
	}
	if res := run(t, sb, sandbox.Command{Argv: bash(`test "$(grep -c : /proc/net/dev)" -gt 1`), Loopback: l}); res.Exit == 0 {
		t.Errorf("with an interface that was given back the host's is there: %s", res.Stdout.Bytes)
	}
}

// Services of the job stay reachable for several commands at once.
func TestLoopbackServices(t *testing.T) {
	t.Parallel()
	sb := detect(t, "full", nil)
	l := open(t, sb)
	e := newEcho(t)
	list := e.services(t, "database")
	serve(t, sb, l, 8080, "x")
	text := fmt.Sprintf("exec 3<>/dev/tcp/database/%d; echo hello >&3; head -n 1 <&3", e.port)
	done := make(chan string, 3)
	for range cap(done) {
		go func() {
			res, err := sb.Run(t.Context(), sandbox.Command{Argv: bash(text), Loopback: l, Services: list, Timeout: time.Minute})
			done <- fmt.Sprint(string(res.Stdout.Bytes), string(res.Stderr.Bytes), err)
		}()
	}
	for range cap(done) {
		if got := <-done; strings.TrimSpace(got) != "hello\n<nil>" {
			t.Errorf("%q", got)
		}
	}
}

// A connection to a service outlasts other commands on the same interface, also one whose
// relay it came to.
func TestLoopbackServicesOfOthers(t *testing.T) {
	t.Parallel()
	sb := detect(t, "full", nil)
	l := open(t, sb)
	e := newEcho(t)
	list, dir := e.services(t, "database"), t.TempDir()
	started := func(text string) <-chan sandbox.Result {
		done := make(chan sandbox.Result, 1)
		go func() {
			res, err := sb.Run(t.Context(), sandbox.Command{Argv: bash(text), Loopback: l, Services: list, Writable: []string{dir}, Timeout: time.Minute})
			if err != nil {
				t.Error(err)
			}
			done <- res
		}()
		return done
	}
	wait := func(name string) string { return fmt.Sprintf("until [ -e %s/%s ]; do :; done\n", dir, name) }
	// The first one stays until the second has connected, the second until the first has ended.
	first := started(fmt.Sprintf("touch %s/listens\n", dir) + wait("connected"))
	const connections = 16
	var text strings.Builder
	text.WriteString(wait("listens"))
	for i := range connections {
		fmt.Fprintf(&text, "exec %d<>/dev/tcp/database/%d\n", 10+i, e.port)
	}
	fmt.Fprintf(&text, "touch %s/connected\n%s", dir, wait("ended"))
	for i := range connections {
		fmt.Fprintf(&text, "echo hello >&%[1]d; read -r word <&%[1]d; echo \"$word\"\n", 10+i)
	}
	second := started(text.String())
	<-first
	if err := os.WriteFile(filepath.Join(dir, "ended"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if res := <-second; string(res.Stdout.Bytes) != strings.Repeat("hello\n", connections) {
		t.Errorf("exit %d: %q %q", res.Exit, res.Stdout.Bytes, res.Stderr.Bytes)
	}
}

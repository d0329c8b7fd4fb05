package sandbox_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// An echo is a server of the job, on the loopback interface of the host.
type echo struct {
	port  int
	taken atomic.Int64  // connections in all
	ended chan struct{} // gets one for each that ended
}

func newEcho(t *testing.T) *echo {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	e := &echo{port: l.Addr().(*net.TCPAddr).Port, ended: make(chan struct{}, 100)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			e.taken.Add(1)
			go func() {
				_, _ = io.Copy(c, c)
				c.Close()
				e.ended <- struct{}{}
			}()
		}
	}()
	return e
}

// services is what a command gets that may reach e under these names.
func (e *echo) services(t *testing.T, names ...string) []sandbox.Service {
	t.Helper()
	known := book{}
	var list []string
	for _, name := range names {
		known[name] = "127.0.0.1"
		list = append(list, fmt.Sprintf("%s:%d", name, e.port))
	}
	out, err := sandbox.FindServices(t.Context(), known, list)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A service of the host is reached inside under its name and both addresses of
// the loopback interface, with its data both ways.
func TestServices(t *testing.T) {
	t.Parallel()
	sb := detect(t, "full", nil)
	e := newEcho(t)
	const text = `for host in 127.0.0.1 localhost database $(test -s /proc/net/if_inet6 && echo ::1); do
	exec 3<>/dev/tcp/$host/$1 || exit 3
	head -c 3000000 /dev/zero >&3 & head -c 3000000 <&3 | wc -c
	exec 3>&-
done | sort | uniq -c | sed 's/ *//'; getent hosts database`
	want := "3 3000000\n127.0.0.1       database\n"
	if res := run(t, sb, sandbox.Command{Argv: bash("test -s /proc/net/if_inet6")}); res.Exit == 0 {
		want = "4" + want[1:]
	}
	list, err := sandbox.FindServices(t.Context(), book{"localhost": "127.0.0.1"}, []string{"localhost:" + fmt.Sprint(e.port)})
	if err != nil {
		t.Fatal(err)
	}
	res := run(t, sb, sandbox.Command{Argv: bash(text, fmt.Sprint(e.port)), Services: e.services(t, "database")})
	if string(res.Stdout.Bytes) != want || res.Exit != 0 {
		t.Errorf("exit %d, %q, want %q: %s", res.Exit, res.Stdout.Bytes, want, res.Stderr.Bytes)
	}
	if res = run(t, sb, sandbox.Command{Argv: bash(`exec 3<>/dev/tcp/localhost/$1`, fmt.Sprint(e.port)), Services: list}); res.Exit != 0 {
		t.Errorf("localhost: %s", res.Stderr.Bytes)
	}
}

// With a service beside it, everything else stays out of reach: another port of
// the same host, the same port for a command without the service, and a service
// that is not running is a connection that ends.
func TestServicesOnly(t *testing.T) {
	t.Parallel()
	sb := detect(t, "full", nil)
	e, other := newEcho(t), newEcho(t)
	const reach = `for p in "$@"; do exec 3<>/dev/tcp/127.0.0.1/$p && echo x >&3 && read -ru 3 line && echo "reached $line"; done 2>/dev/null; exit 0`
	ports := []string{fmt.Sprint(other.port), fmt.Sprint(e.port)}
	for name, c := range map[string]struct {
		services []sandbox.Service
		want     string
	}{
		"one":  {e.services(t, "database"), "reached x\n"},
		"none": {nil, ""},
	} {
		res := run(t, sb, sandbox.Command{Argv: bash(reach, ports...), Services: c.services})
		if got := string(res.Stdout.Bytes); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if n := other.taken.Load(); n != 0 {
		t.Errorf("%d connections to what is not a service", n)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := &echo{port: l.Addr().(*net.TCPAddr).Port}
	l.Close()
	res := run(t, sb, sandbox.Command{Argv: bash(reach, fmt.Sprint(dead.port)), Services: dead.services(t, "dead")})
	if got := string(res.Stdout.Bytes); got != "" {
		t.Errorf("a service that is not there: %q", got)
	}
}

// Many connections at a time are carried, each with its own data.
func TestServicesConcurrently(t *testing.T) {
	t.Parallel()
	sb := detect(t, "full", nil)
	e := newEcho(t)
	const text = `for i in {1..40}; do (exec 3<>/dev/tcp/database/$1; echo "$i" >&3; read -ru 3 x; test "$x" = "$i" && echo ok) & done; wait`
	res := run(t, sb, sandbox.Command{Argv: bash(text, fmt.Sprint(e.port)), Services: e.services(t, "database")})
	if got := strings.Count(string(res.Stdout.Bytes), "ok\n"); got != 40 {
		t.Errorf("%d of 40: %s", got, res.Stderr.Bytes)
	}
}

// When the command has ended, so have its connections, also those of daemons.
func TestServicesEnd(t *testing.T) {
	t.Parallel()
	sb := detect(t, "full", nil)
	e := newEcho(t)
	const text = `exec 3<>/dev/tcp/127.0.0.1/$1; echo x >&3; read -ru 3 x; setsid sleep 600 & disown; echo "$x"`
	res := run(t, sb, sandbox.Command{Argv: bash(text, fmt.Sprint(e.port)), Services: e.services(t, "database")})
	if got := string(res.Stdout.Bytes); got != "x\n" {
		t.Fatalf("%q: %s", got, res.Stderr.Bytes)
	}
	select {
	case <-e.ended:
	case <-t.Context().Done():
		t.Error("the connection is still there")
	}
}

// A command has none of the files of the relay, and no environment of it.
func TestServicesLeaveNoTrace(t *testing.T) {
	t.Parallel()
	sb := detect(t, "full", nil)
	e := newEcho(t)
	services := e.services(t, "database")
	const text = `ls -l /proc/self/fd | sed 's/.* //' | grep -c socket; env | sort; ps -e --no-headers | wc -l`
	var seen []string
	for _, s := range [][]sandbox.Service{nil, services} {
		seen = append(seen, string(run(t, sb, sandbox.Command{Argv: bash(text), Services: s}).Stdout.Bytes))
	}
	if seen[0] != seen[1] {
		t.Errorf("without services\n%s\nwith\n%s", seen[0], seen[1])
	}
	// With the host's network there is nothing to relay, and the port is taken.
	res := run(t, sb, sandbox.Command{Argv: bash(`exec 3<>/dev/tcp/127.0.0.1/$1`, fmt.Sprint(e.port)), Services: services, Network: sandbox.NetworkHost})
	if res.Exit != 0 {
		t.Errorf("host's network: %s", res.Stderr.Bytes)
	}
	if _, err := sb.Run(t.Context(), sandbox.Command{Argv: []string{"true"}, Services: []sandbox.Service{{Name: "a:1", Host: "a", Port: 1}}}); err == nil {
		t.Error("a service that was not looked up is accepted")
	}
}

package proxy_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/proxy"
)

// A book resolves the names that it has.
type book map[string]string

func (b book) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	var out []netip.Addr
	for text := range strings.FieldsSeq(b[host]) {
		out = append(out, netip.MustParseAddr(text))
	}
	if out == nil {
		return nil, fmt.Errorf("no such host: %s", host)
	}
	return out, nil
}

// A world is all that can be dialled: it notes the addresses, and answers TLS with the name
// that it was asked for, and what it is sent then.
type world struct {
	tls *tls.Config

	mu     sync.Mutex
	dialed []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	return &world{tls: s.TLS}
}

func (w *world) dial(_ context.Context, _, address string) (net.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dialed = append(w.dialed, address)
	near, far := net.Pipe()
	go w.echo(far)
	return near, nil
}

// echo answers a line.
func (w *world) echo(far net.Conn) {
	defer far.Close()
	c := tls.Server(far, w.tls)
	line, err := bufio.NewReader(c).ReadString('\n')
	if err == nil {
		_, _ = io.WriteString(c, c.ConnectionState().ServerName+" "+line)
	}
}

func (w *world) took() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.dialed
	w.dialed = nil
	return out
}

func start(t *testing.T, o proxy.Options) *proxy.Proxy {
	t.Helper()
	p, err := proxy.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// ask sends a request as it stands, and returns the status and what follows line, which is
// sent by TLS for name.
func ask(t *testing.T, p *proxy.Proxy, request, name, line string) (status int, answer string) {
	t.Helper()
	c, in, status := open(t, p, request)
	if status != http.StatusOK || name == "" {
		return status, ""
	}
	client := tls.Client(&leftOver{Conn: c, in: in}, &tls.Config{ServerName: name, InsecureSkipVerify: true}) //nolint:gosec // the name is what is tried
	_, err := fmt.Fprintf(client, "%s\n", line)
	if err == nil {
		answer, err = bufio.NewReader(client).ReadString('\n')
	}
	if err != nil {
		answer = ""
	}
	return status, answer
}

// leftOver is a connection of which a part was read already.
type leftOver struct {
	net.Conn
	in io.Reader
}

func (l *leftOver) Read(b []byte) (int, error) { return l.in.Read(b) }

// open sends a request as it stands, and returns the connection after the answer's head.
func open(t *testing.T, p *proxy.Proxy, request string) (net.Conn, *bufio.Reader, int) {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "%s\r\n\r\n", strings.ReplaceAll(request, "\n", "\r\n"))
	in := bufio.NewReader(c)
	res, err := http.ReadResponse(in, &http.Request{Method: strings.Fields(request)[0]})
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	defer res.Body.Close()
	return c, in, res.StatusCode
}

// What is named is reached, and nothing else is, whatever a request says: no other
// port, no address, no service of the machine, and no name that leads inside.
func TestLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := start(t, proxy.Options{
		Public: []string{"registry.example.org", "inside.example.org", "half.example.org", "metadata.example.org", "mapped.example.org"},
		Named:  []string{"nexus.corp:8081"}, Dial: w.dial,
		Resolver: book{
			"registry.example.org": "93.184.216.34", "inside.example.org": "10.0.0.7", "half.example.org": "127.0.0.1 100.64.0.9 93.184.216.35",
			"metadata.example.org": "169.254.169.254 168.63.129.16 fe80::1 fd00:ec2::254 64:ff9b::a9fe:a9fe", "mapped.example.org": "::ffff:192.168.0.1 0.0.0.0 ::1",
		},
	})
	connect := func(to string) string { return "CONNECT " + to + " HTTP/1.1\nHost: " + to }
	for request, want := range map[string]string{ // the address that is dialled; empty: none
		connect("registry.example.org:443"): "93.184.216.34:443",
		connect("REGISTRY.example.org:443"): "93.184.216.34:443",
		connect("half.example.org:443"):     "93.184.216.35:443",
		connect("nexus.corp:8081"):          "nexus.corp:8081",

		connect("registry.example.org:22"):                                               "",
		connect("registry.example.org:80"):                                               "",
		connect("evil.registry.example.org:443"):                                         "",
		connect("registry.example.org.evil.example:443"):                                 "",
		connect("nexus.corp:443"):                                                        "",
		connect("inside.example.org:443"):                                                "",
		connect("metadata.example.org:443"):                                              "",
		connect("mapped.example.org:443"):                                                "",
		connect("169.254.169.254:80"):                                                    "",
		connect("93.184.216.34:443"):                                                     "",
		connect("[::1]:443"):                                                             "",
		connect("localhost:443"):                                                         "",
		"CONNECT evil.example:443 HTTP/1.1\nHost: registry.example.org:443":              "",
		"GET http://169.254.169.254/latest/meta-data/ HTTP/1.1\nHost: nexus.corp:8081":   "",
		"GET http://registry.example.org/ HTTP/1.1\nHost: registry.example.org":          "",
		"GET https://registry.example.org:443/ HTTP/1.1\nHost: registry.example.org:443": "",
		"GET / HTTP/1.1\nHost: registry.example.org":                                     "",
		"GET ftp://nexus.corp:8081/ HTTP/1.1\nHost: nexus.corp:8081":                     "",
		"POST http://127.0.0.1:2375/containers/create HTTP/1.1\nHost: 127.0.0.1:2375":    "",
	} {
		host, _, _ := net.SplitHostPort(strings.Fields(request)[1])
		status, answer := ask(t, p, request, host, "hello")
		if diff := cmp.Diff(strings.Fields(want), append([]string{}, w.took()...)); diff != "" {
			t.Errorf("%s: dialled (-want +got): %s", request, diff)
		}
		if want != "" && (status != http.StatusOK || answer != host+" hello\n") || want == "" && status < 400 {
			t.Errorf("%s: %d %q", request, status, answer)
		}
	}
}

// A registry of the operator's may speak plain HTTP.
func TestPlain(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path) }))
	defer s.Close()
	p := start(t, proxy.Options{Named: []string{strings.TrimPrefix(s.URL, "http://")}, Plain: []string{strings.TrimPrefix(s.URL, "http://")}})
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: p.Addr.String()})}}
	defer client.CloseIdleConnections()
	res, err := client.Get(s.URL + "/tiny")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err != nil || string(text) != "/tiny" {
		t.Errorf("%q, %v", text, err)
	}
}

// Where the operator has a proxy it is asked, with the credentials that the change
// does not see, and it resolves the names.
func TestThroughAnother(t *testing.T) {
	t.Parallel()
	asked, far := make(chan string, 2), newWorld(t)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.Host + " " + r.Header.Get("Proxy-Authorization")
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		far.echo(c)
	}))
	defer other.Close()
	way, err := url.Parse(strings.Replace(other.URL, "://", "://me:secret@", 1))
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, proxy.Options{Public: []string{"registry.example.org"}, Resolver: book{}, Way: func(*url.URL) (*url.URL, error) { return way, nil }})
	const request = "CONNECT registry.example.org:443 HTTP/1.1\nHost: x"
	if status, answer := ask(t, p, request, "registry.example.org", "hello"); status != http.StatusOK || answer != "registry.example.org hello\n" {
		t.Errorf("%d %q", status, answer)
	}
	if got, want := <-asked, "CONNECT registry.example.org:443 Basic "+base64.StdEncoding.EncodeToString([]byte("me:secret")); got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
	if _, answer := ask(t, p, request, "evil.example", "hello"); answer != "" {
		t.Errorf("TLS for another host went there: %q", answer)
	}
	<-asked
	if status, _ := ask(t, p, "CONNECT evil.example:443 HTTP/1.1\nHost: x", "", ""); status != http.StatusForbidden || len(asked) > 0 {
		t.Errorf("what is not named went to the other proxy: %d", status)
	}
}

// Nothing goes on after Close.
func TestClose(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, err := proxy.Start(proxy.Options{Named: []string{"nexus.corp:443"}, Dial: w.dial})
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", p.Addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "CONNECT nexus.corp:443 HTTP/1.1\r\nHost: x\r\n\r\n")
	in := bufio.NewReader(c)
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatalf("%q, %v", line, err)
	}
	p.Close()
	if _, err := io.ReadAll(in); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the connection is still there: %v", err)
	}
	if c, err := net.Dial("tcp", p.Addr.String()); err == nil {
		c.Close()
		t.Error("it still listens")
	}
}

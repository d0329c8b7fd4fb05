package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

type fixed string

func (f fixed) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr(string(f))}, nil
}

// No request gets a connection with a host that it does not name in so many letters, and
// with none that is not of the list.
func FuzzRequest(f *testing.F) {
	for _, line := range []string{
		"CONNECT registry.example.org:443", "CONNECT REGISTRY.example.org:443", "CONNECT registry.example.org.:443", "CONNECT registry.example.org:0443",
		"CONNECT [::ffff:10.0.0.1]:443", "CONNECT me@registry.example.org:443", "CONNECT xn--registry-.example.org:443", "CONNECT registry.e\u212ample.org:443",
		"CONNECT registry.example.org:443@evil.example:443", "CONNECT nexus.corp:8443", "GET http://nexus.corp:8081/x", "GET http://me@nexus.corp:8081/", "GET http://nexus.corp:8081#@evil.example/",
		"GET /", "GET //nexus.corp:8081/", "GET http://nexus.corp%2e:8081/", "POST http://nexus.corp:8081?x", "GET http://plain.corp/", "OPTIONS *",
	} {
		f.Add(line + " HTTP/1.1\r\nHost: nexus.corp:8081\r\n\r\n")
	}
	f.Add("GET http://nexus.corp:8081/ HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nCONNECT evil.example:443 HTTP/1.1\r\n\r\n")
	f.Fuzz(func(t *testing.T, request string) {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(request)))
		if err != nil {
			return
		}
		var dialed []string
		p := &Proxy{slots: make(chan struct{}, 1), o: Options{
			Public: []string{"registry.example.org"}, Named: []string{"nexus.corp:8443", "nexus.corp:8081", "plain.corp:80"}, Plain: []string{"nexus.corp:8081", "plain.corp:80"},
			Resolver: fixed("93.184.216.34"),
			Dial: func(_ context.Context, _, to string) (net.Conn, error) {
				dialed = append(dialed, to)
				return nil, errors.New("dialed")
			},
		}}
		forwarded := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = p.dialNamed(r.Context(), "tcp", address(r.URL.Host)) // as its transport does
		})
		w := httptest.NewRecorder()
		p.serve(w, r, forwarded)
		line, _, _ := strings.Cut(strings.TrimLeft(request, "\r\n"), "\n")
		line = strings.Map(func(c rune) rune { // of ASCII alone
			if c >= 'A' && c <= 'Z' {
				return c + 'a' - 'A'
			}
			return c
		}, line)
		for _, to := range dialed {
			said := map[string][]string{
				"93.184.216.34:443": {"connect registry.example.org:443 "},
				"nexus.corp:8443":   {"connect nexus.corp:8443 "},
				"nexus.corp:8081":   {"connect nexus.corp:8081 ", " http://nexus.corp:8081/", " http://nexus.corp:8081?", " http://nexus.corp:8081 "},
				"plain.corp:80":     {"connect plain.corp:80 ", " http://plain.corp:80", " http://plain.corp/", " http://plain.corp?", " http://plain.corp "},
			}[to]
			if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(line, s) }) {
				t.Errorf("%q leads to %s", request, to)
			}
		}
		if len(dialed) == 0 && w.Code < 400 {
			t.Errorf("%q: status %d", request, w.Code)
		}
		if hosts := p.Hosts(); len(dialed) == 0 && (len(hosts) != 1 || hosts[0].Refused == "" || len(hosts[0].Name) > maxHost+2) {
			t.Errorf("%q: noted %+v", request, hosts)
		}
	})
}

func address(host string) string {
	if !strings.Contains(host, ":") {
		host += ":80"
	}
	return host
}

// No byte of what a client sends goes on unless the first message is a ClientHello for the
// host of the tunnel; what goes on is what came, in its order.
func FuzzHello(f *testing.F) {
	own, other := hello(f, "registry.example.org"), hello(f, "evil-one.example.com")
	for _, data := range [][]byte{own, other, slices.Concat(own, other), slices.Concat(own, []byte{20, 3, 3, 0, 1, 1}, own), own[:len(own)-1], []byte("GET / HTTP/1.1\r\n\r\n"), slices.Concat(own, []byte{23, 3, 3, 0, 1, 9})} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		near, far := net.Pipe()
		defer near.Close()
		defer far.Close()
		var up bytes.Buffer
		sent, err := send(t.Context(), &up, near, bufio.NewReader(bytes.NewReader(data)), "registry.example.org")
		if int(sent) != up.Len() || !bytes.HasPrefix(data, up.Bytes()) {
			t.Fatalf("%d bytes went on, %d are counted, of %x", up.Len(), sent, data)
		}
		if up.Len() == 0 {
			if err == nil {
				t.Errorf("nothing went on, and no error: %x", data)
			}
			return
		}
		if len(data) < recordHeader || data[0] != handshake || !bytes.Contains(bytes.ToLower(withoutHeaders(up.Bytes())), []byte("registry.example.org")) {
			t.Errorf("this went on: %x", up.Bytes())
		}
	})
}

// withoutHeaders is what records hold.
func withoutHeaders(data []byte) []byte {
	var out []byte
	for len(data) >= recordHeader {
		n := min(length(data), len(data)-recordHeader)
		out, data = append(out, data[recordHeader:recordHeader+n]...), data[recordHeader+n:]
	}
	return out
}

// hello is a ClientHello in its record.
func hello(f *testing.F, name string) []byte {
	f.Helper()
	near, far := net.Pipe()
	defer far.Close()
	go func() {
		defer near.Close()
		_ = tls.Client(near, &tls.Config{ServerName: name, MinVersion: tls.VersionTLS12}).HandshakeContext(f.Context()) // no server answers
	}()
	head := make([]byte, recordHeader)
	if _, err := io.ReadFull(far, head); err != nil {
		f.Fatal(err)
	}
	body := make([]byte, binary.BigEndian.Uint16(head[3:]))
	if _, err := io.ReadFull(far, body); err != nil {
		f.Fatal(err)
	}
	return append(head, body...)
}

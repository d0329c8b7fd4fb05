package proxy_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ycbot/ycbot/internal/proxy"
)

const (
	registry  = "registry.example.org"
	elsewhere = "evil-one.example.com" // as long as that
)

// helloFor is a ClientHello in its record, as crypto/tls sends it.
func helloFor(t *testing.T, name string) []byte {
	t.Helper()
	near, far := net.Pipe()
	defer far.Close()
	go func() {
		defer near.Close()
		_ = tls.Client(near, &tls.Config{ServerName: name, InsecureSkipVerify: name == ""}).HandshakeContext(t.Context()) //nolint:gosec // no server answers
	}()
	head := make([]byte, 5)
	if _, err := io.ReadFull(far, head); err != nil {
		t.Fatal(err)
	}
	body := make([]byte, binary.BigEndian.Uint16(head[3:]))
	if _, err := io.ReadFull(far, body); err != nil {
		t.Fatal(err)
	}
	return append(head, body...)
}

// extended is a ClientHello with another extension at its end.
func extended(hello []byte, id uint16, data []byte) []byte {
	out := slices.Clone(hello)
	more := binary.BigEndian.AppendUint16(nil, id)
	more = append(binary.BigEndian.AppendUint16(more, uint16(len(data))), data...)
	grow := func(at int) {
		binary.BigEndian.PutUint16(out[at:], binary.BigEndian.Uint16(out[at:])+uint16(len(more)))
	}
	grow(3) // of the record
	grow(7) // of the message, of whose length there are three bytes
	at := 9 + 2 + 32
	at += 1 + int(out[at])
	at += 2 + int(binary.BigEndian.Uint16(out[at:]))
	at += 1 + int(out[at])
	grow(at)
	return append(out, more...)
}

// pieces puts a record's content into records of n bytes.
func pieces(hello []byte, n int) []byte {
	var out []byte
	for part := range slices.Chunk(hello[5:], n) {
		out = append(out, hello[0], hello[1], hello[2], byte(len(part)>>8), byte(len(part)))
		out = append(out, part...)
	}
	return out
}

// A tunnel carries TLS for the host that it was made for. Nothing else gets one byte to
// the other side: no other name, none that is hidden, no other protocol.
func TestTunnelsAreForTheirHost(t *testing.T) {
	t.Parallel()
	own, other := helloFor(t, registry), helloFor(t, elsewhere)
	upper := bytes.Replace(own, []byte(registry), []byte(strings.ToUpper(registry)), 1)
	ccs := []byte{20, 3, 3, 0, 1, 1}
	warning := []byte{21, 3, 3, 0, 2, 1, 90}
	for name, tt := range map[string]struct {
		sent []byte
		want int // of it arrives; what follows does not
	}{
		"the host":                          {own, len(own)},
		"in upper case":                     {upper, len(upper)},
		"in pieces":                         {pieces(own, 7), len(pieces(own, 7))},
		"with unknown extensions":           {extended(own, 0x5a5a, []byte{0}), len(own) + 5},
		"and what is encrypted":             {slices.Concat(own, ccs, []byte{23, 3, 3, 0, 1, 9}), len(own) + 12},
		"and the next message of TLS 1.2":   {slices.Concat(own, []byte{22, 3, 3, 0, 5, 16, 0, 0, 1, 9}), len(own) + 10},
		"and a second ClientHello":          {slices.Concat(own, ccs, own), 2*len(own) + 6},
		"another host":                      {other, 0},
		"another host, in pieces":           {pieces(other, 1), 0},
		"no name":                           {helloFor(t, ""), 0},
		"a name with a null byte":           {bytes.Replace(own, []byte("example.org"), []byte("example\x00org"), 1), 0},
		"a longer name":                     {helloFor(t, registry+".evil.example"), 0},
		"Encrypted ClientHello":             {extended(own, 0xfe0d, []byte{0, 0, 1, 0, 1, 7, 0, 0, 0, 0}), 0},
		"an encrypted server name":          {extended(own, 0xffce, []byte{0}), 0},
		"early data":                        {extended(own, 42, nil), 0},
		"then another host":                 {slices.Concat(own, other), len(own)},
		"then another host, in pieces":      {slices.Concat(own, pieces(other, 1)), len(own)},
		"then another host, after a record": {slices.Concat(own, ccs, warning, other), len(own) + len(ccs) + len(warning)},
		"two in one record": {func() []byte {
			both := slices.Concat(own, other[5:])
			binary.BigEndian.PutUint16(both[3:], uint16(len(both)-5))
			return both
		}(), 0},
		"three of them":      {slices.Concat(own, own, own), 2 * len(own)},
		"HTTP":               {[]byte("GET / HTTP/1.1\r\nHost: " + registry + "\r\n\r\n"), 0},
		"SSH":                {[]byte("SSH-2.0-OpenSSH_9.9\r\n"), 0},
		"SOCKS":              {[]byte("\x05\x01\x00"), 0},
		"an empty record":    {slices.Concat([]byte{22, 3, 1, 0, 0}, other), 0},
		"an endless one":     {bytes.Repeat(slices.Concat([]byte{22, 3, 1, 1, 0, 1, 0, 255, 0}, make([]byte, 252)), 200), 0},
		"half a ClientHello": {own[:len(own)/2], 0},
		"nothing":            {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			near, far := net.Pipe()
			p := start(t, proxy.Options{
				Public: []string{registry}, Resolver: book{registry: "93.184.216.34"},
				Dial: func(context.Context, string, string) (net.Conn, error) { return near, nil },
			})
			var arrived bytes.Buffer
			var reading sync.WaitGroup
			reading.Go(func() { _, _ = io.Copy(&arrived, far) })
			c, in, status := open(t, p, "CONNECT "+registry+":443 HTTP/1.1\nHost: x")
			if status != http.StatusOK {
				t.Fatalf("status %d", status)
			}
			_, _ = c.Write(tt.sent)
			if tt.want == len(tt.sent) || len(tt.sent) < 6 || strings.HasPrefix(name, "half") {
				_ = c.(*net.TCPConn).CloseWrite()
			}
			reading.Wait()
			_, _ = io.Copy(io.Discard, in) // it is closed
			p.Close()
			if !bytes.Equal(arrived.Bytes(), tt.sent[:tt.want]) {
				t.Errorf("%d bytes of %d arrived, want %d", arrived.Len(), len(tt.sent), tt.want)
			}
			hosts := p.Hosts()
			if len(hosts) != 1 || hosts[0].Name != registry+":443" || hosts[0].Up != int64(tt.want) || (hosts[0].Refused == "") != (tt.want == len(tt.sent)) {
				t.Errorf("noted: %+v", hosts)
			}
		})
	}
}

// The beginning of a request names one host and nothing beside it; what is odd is refused,
// and noted.
func TestOddNames(t *testing.T) {
	t.Parallel()
	p := start(t, proxy.Options{
		Public: []string{"registry.yarnpkg.com"}, Named: []string{"nexus.corp:8081"}, Plain: []string{"nexus.corp:8081"}, Resolver: book{"registry.yarnpkg.com": "93.184.216.34"},
		Dial: func(_ context.Context, _, to string) (net.Conn, error) { return nil, fmt.Errorf("%s was dialled", to) },
	})
	for _, request := range []string{
		"CONNECT registry.yarnpkg.com:443\x00.evil.example:443", "CONNECT registry.yarnpkg.com\x00.evil.example:443", "CONNECT registry.yarnpkg.com%00.evil.example:443",
		"CONNECT registry.yarnpkg.com.:443", "CONNECT registry.yarnp\u212ag.com:443", "CONNECT registry.yarnp%E2%84%AAg.com:443", "CONNECT registry%2eyarnpkg.com:443",
		"CONNECT evil.example@registry.yarnpkg.com:443", "CONNECT registry.yarnpkg.com:443@evil.example:443", "CONNECT registry.yarnpkg.com:443/x", "CONNECT registry.yarnpkg.com:443?x",
		"CONNECT registry.yarnpkg.com", "CONNECT registry.yarnpkg.com:0443", "CONNECT registry.yarnpkg.com:https", "CONNECT registry.yarnpkg.com:443#x",
		"CONNECT https://registry.yarnpkg.com:443", "CONNECT [fe80::1%25eth0]:443", "CONNECT /registry.yarnpkg.com:443", "CONNECT *",
		"GET http://me@nexus.corp:8081/", "GET http://nexus.corp:8081@evil.example/", "GET http://nexus.corp:8081#@evil.example/", "GET http://nexus.corp.:8081/",
		"GET http://nexus%2ecorp:8081/", "GET http:nexus.corp:8081/", "GET //nexus.corp:8081/", "GET /", "OPTIONS *",
	} {
		c, err := net.Dial("tcp", p.Addr.String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "%s HTTP/1.1\r\nHost: nexus.corp:8081\r\nConnection: close\r\n\r\n", request)
		answer, err := io.ReadAll(c)
		if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 40")) {
			t.Errorf("%q: %.60q, %v", request, answer, err)
		}
		c.Close()
	}
	for _, h := range p.Hosts() {
		if h.Refused == "" || h.Up != 0 {
			t.Errorf("noted: %+v", h)
		}
	}
}

// A registry of the operator's that speaks plain HTTP is asked by its own name, whatever
// the Host header of the client says; one that is named with https:// gets TLS only.
func TestPlainIsOfItsHost(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host) }))
	defer s.Close()
	own := strings.TrimPrefix(s.URL, "http://")
	for _, plain := range [][]string{{own}, nil} {
		p := start(t, proxy.Options{Named: []string{own}, Plain: plain})
		c, in, status := open(t, p, "GET "+s.URL+"/ HTTP/1.1\nHost: evil.example")
		if (status == http.StatusOK) != (plain != nil) {
			t.Errorf("plain %v: status %d", plain, status)
		}
		c.Close()
		_ = in
		c, in, status = open(t, p, "CONNECT "+own+" HTTP/1.1\nHost: x")
		if status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
		fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", own)
		answer, _ := io.ReadAll(in)
		if bytes.HasSuffix(answer, []byte(own)) != (plain != nil) {
			t.Errorf("plain %v: a tunnel without TLS brought %q", plain, answer)
		}
	}
}

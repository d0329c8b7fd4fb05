package proxy_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/proxy"
)

// Spellings of a host that one part of a proxy takes for a name that is allowed, and
// another for an address of the attacker's: a NUL, as in the SOCKS and HTTP proxies of
// other agents, and the like. None of them has anything dialled.
func TestHostsThatMeanTwoThings(t *testing.T) {
	t.Parallel()
	w := &world{}
	p := start(t, proxy.Options{
		Public: []string{"registry.example.org"}, Named: []string{"nexus.corp:8081"}, Dial: w.dial,
		Resolver: book{"registry.example.org": "93.184.216.34", "evil.example": "93.184.216.99", "evil.example\x00.registry.example.org": "93.184.216.99", "registry.example.org\x00": "93.184.216.99"},
	})
	for _, host := range []string{
		"evil.example\x00.registry.example.org:443", "registry.example.org\x00.evil.example:443", "registry.example.org\x00:443", "\x00registry.example.org:443", "registry.example.org:443\x00",
		"evil.example%00.registry.example.org:443", "evil.example%2eregistry.example.org:443", "evil.example%23.registry.example.org:443", "evil.example#registry.example.org:443", "evil.example?registry.example.org:443",
		"evil.example/registry.example.org:443", `evil.example\registry.example.org:443`, "registry.example.org@evil.example:443", "registry.example.org:443@evil.example:443", "evil.example;registry.example.org:443",
		"registry.example.org:443,evil.example:443", "evil.example\tregistry.example.org:443", "evil.example registry.example.org:443", "evil.example\rregistry.example.org:443", "registry.example.org\x7f:443",
		"registry.example.org..:443", "registry.example.org:0443", "registry.example.org:+443", "registry.example.org:443:443", "registry.example.org:65979", "registry.example.org:https", "registry.example.org:",
		"ｒegistry.example.org:443", "registry。example。org:443", "regıstry.example.org:443", "xn--registry.example.org:443", "[registry.example.org]:443", "[::ffff:93.184.216.99]:443", "0x5db8d863:443", "1572395107:443", "0.0.0.0:443", "[::]:443",
		"*.example.org:443", "*:443", ".:443", ":443",
		"nexus.corp\x00:8081", "nexus.corp:8081\x00", "nexus.corp:08081", "evil.example\x00nexus.corp:8081",
	} {
		for _, request := range []string{
			"CONNECT " + host + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n", "CONNECT " + host + " HTTP/1.1\r\nHost: registry.example.org:443\r\n\r\n", "GET http://" + host + "/ HTTP/1.1\r\nHost: nexus.corp:8081\r\n\r\n",
			"GET https://" + host + "/ HTTP/1.1\r\nHost: " + host + "\r\n\r\n",
		} {
			if status := raw(t, p, request); strings.Contains(status, " 200 ") {
				t.Errorf("%q: %s", request, status)
			}
			if got := w.took(); len(got) > 0 {
				t.Errorf("%q: dialled %q", request, got)
			}
		}
	}
}

// Spellings that are taken for a name that is allowed lead to that name alone.
func TestHostsThatMeanTheSame(t *testing.T) {
	t.Parallel()
	w := &world{}
	p := start(t, proxy.Options{Public: []string{"registry.example.org"}, Named: []string{"nexus.corp:8081"}, Dial: w.dial, Resolver: book{"registry.example.org": "93.184.216.34"}})
	for _, host := range []string{"REGİSTRY.example.org:443", "u:p@nexus.corp:8081", "evil.example@nexus.corp:8081", "NEXUS.corp:8081"} {
		raw(t, p, "CONNECT "+host+" HTTP/1.1\r\nHost: evil.example:443\r\n\r\n")
		raw(t, p, "GET http://"+host+"/ HTTP/1.1\r\nHost: evil.example\r\n\r\n")
		for _, to := range w.took() {
			if to != "93.184.216.34:443" && !strings.EqualFold(to, "nexus.corp:8081") {
				t.Errorf("%q: dialled %q", host, to)
			}
		}
	}
}

// One connection is not two requests to the proxy and one to who is behind it, and a
// request of another protocol is none: SOCKS with a NUL in the name.
func TestRequestsThatAreTwo(t *testing.T) {
	t.Parallel()
	w := &world{}
	p := start(t, proxy.Options{Public: []string{"registry.example.org"}, Named: []string{"nexus.corp:8081"}, Dial: w.dial, Resolver: book{"registry.example.org": "93.184.216.34", "evil.example": "93.184.216.99"}})
	for _, request := range []string{
		"\x05\x01\x00\x05\x01\x00\x03\x21evil.example\x00.registry.example.org\x01\xbb", "\x04\x01\x01\xbb\x00\x00\x00\x01u\x00evil.example\x00registry.example.org\x00",
		"CONNECT evil.example:443 HTTP/1.1\r\nHost: registry.example.org:443\r\nHost: evil.example:443\r\n\r\n",
		"GET http://evil.example/ HTTP/1.1\r\nHost: nexus.corp:8081\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"GET http://evil.example/ HTTP/0.9\r\n\r\n", "GET //nexus.corp:8081/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", "GET /http://nexus.corp:8081/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET http://evil.example/ HTTP/1.1\r\nHost: nexus.corp:8081\r\nX-Forwarded-Host: nexus.corp:8081\r\nForwarded: host=nexus.corp:8081\r\n\r\n",
		"CONNECT\u00a0evil.example:443 HTTP/1.1\r\n\r\n", " CONNECT registry.example.org:443@evil.example HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		if status := raw(t, p, request); strings.Contains(status, " 200 ") {
			t.Errorf("%q: %s", request, status)
		}
		if got := w.took(); len(got) > 0 {
			t.Errorf("%q: dialled %q", request, got)
		}
	}
}

// raw sends bytes as they are, and returns the first line of the answer, empty where
// the connection ends without one.
func raw(t *testing.T, p *proxy.Proxy, request string) string {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, request); err != nil {
		return ""
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		return ""
	}
	line, _ := bufio.NewReader(c).ReadString('\n') // what is no answer is none
	return line
}

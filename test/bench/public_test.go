package bench_test

import (
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// publicURL is the address that the documentation uses.
const publicURL = "https://ycbot.example.com"

// A proxy leads publicURL to where the server listens, and speaks https. It is on the
// network for browsers and programs that are configured to find it.
type proxy struct {
	tls   *httptest.Server
	finds *httptest.Server // an HTTP proxy that knows no other host

	mu sync.Mutex
	to string
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	p := &proxy{}
	p.tls = httptest.NewTLSServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		p.mu.Lock()
		defer p.mu.Unlock()
		r.SetURL(&url.URL{Scheme: "http", Host: p.to})
	}})
	p.finds = httptest.NewServer(http.HandlerFunc(p.connect))
	t.Cleanup(func() {
		p.finds.CloseClientConnections()
		p.finds.Close()
		p.tls.CloseClientConnections()
		p.tls.Close()
	})
	return p
}

// leads has the address lead to where a server listens.
func (p *proxy) leads(to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to = to
}

// connect is what an HTTP proxy does for https.
func (p *proxy) connect(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect || r.Host != "ycbot.example.com:443" {
		http.Error(w, r.Host+" is not known here", http.StatusBadGateway)
		return
	}
	there, err := new(net.Dialer).DialContext(r.Context(), "tcp", p.tls.Listener.Addr().String())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer there.Close()
	w.WriteHeader(http.StatusOK)
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer here.Close()
	go func() { _, _ = io.Copy(there, buffered) }() // it ends when either is closed
	_, _ = io.Copy(here, there)
}

// env lets a program find the address, and trust it.
func (p *proxy) env(t *testing.T) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "public.pem")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.tls.Certificate().Raw})
	if err := os.WriteFile(file, cert, 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"SSL_CERT_FILE=" + file, "HTTPS_PROXY=" + p.finds.URL}
}

// flags let a browser find the address, and trust it.
func (p *proxy) flags() []chromedp.ExecAllocatorOption {
	rule := "MAP ycbot.example.com " + p.tls.Listener.Addr().String()
	return []chromedp.ExecAllocatorOption{chromedp.Flag("host-resolver-rules", rule), chromedp.IgnoreCertErrors}
}

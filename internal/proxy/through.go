package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
)

// through connects by the operator's proxy, with the operator's credentials for it,
// which nothing of the change sees.
func (p *Proxy) through(ctx context.Context, way *url.URL, to string) (_ net.Conn, err error) {
	at := way.Host
	if way.Port() == "" {
		at = net.JoinHostPort(way.Hostname(), map[string]string{"http": "80", "https": "443"}[way.Scheme])
	}
	c, err := p.o.Dial(ctx, "tcp", at)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	if way.Scheme == "https" {
		c = tls.Client(c, &tls.Config{ServerName: way.Hostname(), MinVersion: tls.VersionTLS12})
	}
	r := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: to}, Host: to, Header: http.Header{}}
	if way.User != nil {
		password, _ := way.User.Password()
		r.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(way.User.Username()+":"+password)))
	}
	if err := r.Write(c); err != nil {
		return nil, err
	}
	in := bufio.NewReader(c)
	res, err := http.ReadResponse(in, r) //nolint:bodyclose // what follows is the connection itself
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the proxy of this machine answers %s", res.Status)
	}
	return &rest{Conn: c, in: in}, nil
}

// rest is a connection of which a part was read already.
type rest struct {
	net.Conn
	in *bufio.Reader
}

func (r *rest) Read(b []byte) (int, error) { return r.in.Read(b) }

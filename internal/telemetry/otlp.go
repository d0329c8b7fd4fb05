package telemetry

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/ycbot/ycbot/internal/redirect"
	"github.com/ycbot/ycbot/internal/regular"
)

// An otlpClient sends traces by OTLP over HTTP, with the settings of
// https://opentelemetry.io/docs/specs/otel/protocol/exporter/. The library's own client
// of the kind brings gRPC along, which is a tenth of the program.
type otlpClient struct {
	endpoint string
	header   http.Header
	compress bool
	timeout  time.Duration // of one batch, tries included
	client   *http.Client
}

// defaultOTLPTimeout is the specification's.
const defaultOTLPTimeout = 10 * time.Second

// newOTLPClient reads the settings of the exporter. Each may have TRACES in its name,
// which then goes before.
func newOTLPClient(getenv func(string) string) (*otlpClient, error) {
	setting := func(name string) (variable, value string) {
		for _, prefix := range []string{"OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_"} {
			if v := strings.TrimSpace(getenv(prefix + name)); v != "" {
				return prefix + name, v
			}
		}
		return "", ""
	}
	c := &otlpClient{endpoint: "http://localhost:4318/v1/traces", header: http.Header{}, timeout: defaultOTLPTimeout}
	if name, v := setting("ENDPOINT"); v != "" {
		u, err := url.Parse(v)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("%s %q: want http://HOST:PORT or https://HOST:PORT", name, v)
		}
		if name == "OTEL_EXPORTER_OTLP_ENDPOINT" { // of all signals
			u = u.JoinPath("v1", "traces")
		}
		c.endpoint = u.String()
	}
	if name, v := setting("HEADERS"); v != "" {
		for pair := range strings.SplitSeq(v, ",") {
			key, value, ok := strings.Cut(pair, "=")
			value, err := url.PathUnescape(strings.TrimSpace(value))
			if !ok || err != nil {
				return nil, fmt.Errorf("%s: want NAME=VALUE,…, with values percent-encoded", name) // not the value: it may be a key
			}
			c.header.Set(strings.TrimSpace(key), value)
		}
	}
	if name, v := setting("TIMEOUT"); v != "" {
		ms, err := strconv.Atoi(v)
		if err != nil || ms <= 0 {
			return nil, fmt.Errorf("%s %q: want milliseconds", name, v)
		}
		c.timeout = time.Duration(ms) * time.Millisecond
	}
	switch name, v := setting("COMPRESSION"); v {
	case "", "none":
	case "gzip":
		c.compress = true
	default:
		return nil, fmt.Errorf("%s %q: want gzip or none", name, v)
	}
	config, err := otlpTLS(setting)
	if err != nil {
		return nil, err
	}
	c.client = redirect.Client(&http.Client{ // the headers are often a key
		Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, ForceAttemptHTTP2: true},
	})
	return c, nil
}

// otlpTLS reads the files that name whom to trust and who this is; nil: the system's.
func otlpTLS(setting func(string) (string, string)) (*tls.Config, error) {
	name, file := setting("CERTIFICATE")
	_, certificate := setting("CLIENT_CERTIFICATE")
	_, key := setting("CLIENT_KEY")
	if file == "" && certificate == "" {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if file != "" {
		text, err := regular.Read(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s %s: no certificate in it", name, file)
		}
	}
	if certificate != "" {
		own, err := regular.Read(certificate)
		secret, missing := regular.Read(key)
		pair, wrong := tls.X509KeyPair(own, secret)
		if err := cmp.Or(err, missing, wrong); err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// Start implements otlptrace.Client.
func (c *otlpClient) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *otlpClient) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client: it sends one batch, and again where the
// collector asks for that, until the timeout.
func (c *otlpClient) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// TracesData is on the wire what the request of an export is.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("encode traces: %w", err)
	}
	if c.compress {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(body); err != nil {
			return fmt.Errorf("compress traces: %w", err)
		}
		if err := w.Close(); err != nil {
			return fmt.Errorf("compress traces: %w", err)
		}
		body = b.Bytes()
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	for pause := time.Second; ; pause *= 2 {
		after, err := c.send(ctx, body)
		if err == nil || after < 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(max(after, pause)):
		}
	}
}

// send makes one try. after is how long to wait before the next one at least;
// negative: another would fail too.
func (c *otlpClient) send(ctx context.Context, body []byte) (after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	req.Header = c.header.Clone()
	req.Header.Set("Content-Type", "application/x-protobuf")
	if c.compress {
		req.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return -1, err
	}
	defer func() { _ = resp.Body.Close() }() // the status has been read
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
			after = time.Duration(seconds) * time.Second
		}
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return 0, nil
	default:
		after = -1
	}
	return after, errors.New(resp.Status + ": " + string(bytes.TrimSpace(text)))
}

package telemetry

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

func environ(env map[string]string) func(string) string {
	return func(name string) string { return env[name] }
}

// The collector's headers, which often are a key, go to no host that it leads to.
func TestUploadIsNotLedOn(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s with %v", r.Method, r.URL, r.Header)
	}))
	defer other.Close()
	srv := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer srv.Close()
	c, err := newOTLPClient(environ(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": srv.URL, "OTEL_EXPORTER_OTLP_HEADERS": "x-team=secret"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.send(t.Context(), []byte("x")); err == nil || !strings.Contains(err.Error(), other.URL) {
		t.Errorf("%v", err)
	}
}

// A batch arrives as the specification has it: path, type, headers, compression; and is
// sent again where the collector was busy, and not where it refused.
func TestUploadTraces(t *testing.T) {
	t.Parallel()
	var statuses, paths []string
	answers := []int{http.StatusServiceUnavailable, http.StatusOK, http.StatusBadRequest}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		zr, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body, err := io.ReadAll(zr)
		var got tracepb.TracesData
		if err != nil || proto.Unmarshal(body, &got) != nil || len(got.GetResourceSpans()) != 1 {
			t.Errorf("a body of %d bytes: %v", len(body), err)
		}
		if r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("X-Team") != "a b" {
			t.Errorf("header %v", r.Header)
		}
		paths = append(paths, r.URL.Path)
		statuses = append(statuses, http.StatusText(answers[0]))
		w.WriteHeader(answers[0])
		_, _ = io.WriteString(w, "no such tenant\n")
		answers = answers[1:]
	}))
	t.Cleanup(srv.Close)
	c, err := newOTLPClient(environ(map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": srv.URL + "/base/", "OTEL_EXPORTER_OTLP_HEADERS": "x-other=1, x-team=a%20b",
		"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
	}))
	if err != nil {
		t.Fatal(err)
	}
	spans := []*tracepb.ResourceSpans{{SchemaUrl: "x"}}
	if err := c.UploadTraces(t.Context(), spans); err != nil {
		t.Errorf("a collector that was busy once: %v", err)
	}
	if err := c.UploadTraces(t.Context(), spans); err == nil || !strings.Contains(err.Error(), "400 Bad Request: no such tenant") {
		t.Errorf("a refusal: %v", err)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if len(statuses) != 3 || paths[0] != "/base/v1/traces" {
		t.Errorf("answers %q to %q", statuses, paths)
	}
}

func TestOTLPSettings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, value, want string
	}{
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://c:1/x", ""},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "c:4317", `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT "c:4317": want http://HOST:PORT`},
		{"OTEL_EXPORTER_OTLP_HEADERS", "authorization secret", "OTEL_EXPORTER_OTLP_HEADERS: want NAME=VALUE"},
		{"OTEL_EXPORTER_OTLP_TIMEOUT", "10s", `OTEL_EXPORTER_OTLP_TIMEOUT "10s": want milliseconds`},
		{"OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "zstd", `OTEL_EXPORTER_OTLP_TRACES_COMPRESSION "zstd": want gzip or none`},
		{"OTEL_EXPORTER_OTLP_CERTIFICATE", "/does/not/exist", "OTEL_EXPORTER_OTLP_CERTIFICATE: open /does/not/exist"},
	} {
		c, err := newOTLPClient(environ(map[string]string{tc.name: tc.value}))
		switch {
		case tc.want == "" && (err != nil || c.endpoint != tc.value):
			t.Errorf("%s=%s: %v, endpoint %v", tc.name, tc.value, err, c)
		case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "secret")):
			t.Errorf("%s=%s: %v, want %s", tc.name, tc.value, err, tc.want)
		}
	}
}

package web

import (
	"compress/gzip"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// packers are gzip writers that are used again.
var packers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// compress packs answers of text for clients that accept it. Streams of events leave as they are.
func compress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept-Encoding")
		if r.Method == http.MethodHead || !acceptsGzip(r.Header.Values("Accept-Encoding")) {
			next.ServeHTTP(w, r)
			return
		}
		p := &packed{ResponseWriter: w}
		next.ServeHTTP(p, r)
		p.end() // not after a panic: a part must not look like the whole
	})
}

// acceptsGzip reads the header as RFC 9110 section 12.5.3 has it, but for "*".
func acceptsGzip(values []string) bool {
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, parameters, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		weight, ok := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(parameters), " ", ""), "q=")
		q, err := strconv.ParseFloat(weight, 64)
		return !ok || err == nil && q > 0
	}
	return false
}

// A packed answer is compressed if its kind is worth it.
type packed struct {
	http.ResponseWriter
	begun bool
	gz    *gzip.Writer // nil: it leaves as it is
}

// Unwrap lets [http.ResponseController] reach the connection.
func (p *packed) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (p *packed) WriteHeader(status int) {
	if !p.begun {
		p.begun = true
		h := p.Header()
		kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
		body := status != http.StatusNoContent && status != http.StatusNotModified && status >= http.StatusOK
		switch kind {
		case "text/html", "text/plain", "text/css", "text/javascript", "application/json", "image/svg+xml":
			if body && h.Get("Content-Encoding") == "" {
				h.Set("Content-Encoding", "gzip")
				h.Del("Content-Length")
				p.gz = packers.Get().(*gzip.Writer)
				p.gz.Reset(p.ResponseWriter)
			}
		}
	}
	p.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (p *packed) Write(b []byte) (int, error) {
	if !p.begun {
		p.WriteHeader(http.StatusOK)
	}
	if p.gz != nil {
		return p.gz.Write(b)
	}
	return p.ResponseWriter.Write(b)
}

func (p *packed) end() {
	if p.gz != nil {
		_ = p.gz.Close() // the client may be gone
		packers.Put(p.gz)
	}
}

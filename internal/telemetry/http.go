package telemetry

import (
	"net/http"
	"strconv"
)

// HTTP returns h with its answers timed by route: what the [http.ServeMux] below it
// calls the pattern of a request.
func (m *Metrics) HTTP(h http.Handler) http.Handler {
	if m == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := m.now()
		seen := &status{ResponseWriter: w, code: http.StatusOK}
		h.ServeHTTP(seen, r)
		route := r.Pattern
		if route == "" {
			route = "none"
		}
		m.httpTime.WithLabelValues(route, strconv.Itoa(seen.code)).Observe(m.now().Sub(began).Seconds())
	})
}

// status remembers the status of an answer.
type status struct {
	http.ResponseWriter
	code  int
	wrote bool
}

// WriteHeader implements [http.ResponseWriter].
func (s *status) WriteHeader(code int) {
	if !s.wrote && code >= 200 {
		s.code, s.wrote = code, true
	}
	s.ResponseWriter.WriteHeader(code)
}

// Write implements [http.ResponseWriter].
func (s *status) Write(p []byte) (int, error) {
	s.wrote = true
	return s.ResponseWriter.Write(p)
}

// Flush implements [http.Flusher], for answers that go on.
func (s *status) Flush() {
	if f, ok := s.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// Unwrap is for [http.ResponseController].
func (s *status) Unwrap() http.ResponseWriter { return s.ResponseWriter }

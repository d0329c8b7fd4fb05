package githubtest

import (
	"net/http"
	"strconv"
)

// A Fault is what happens to an API call instead of, or beside, what should.
type Fault struct {
	// Drop ends the connection without an answer: "before" the call took
	// effect, or "after" it did.
	Drop string
	// Status answers with this instead of doing anything.
	Status int
	Header http.Header
	Body   string
	// Hook is called with the call's number (see Call.N) and the phase: "before"
	// anything happened and "after" it did, when nothing was answered yet. With
	// Drop it is called in that phase alone. It runs in a goroutine of the server.
	Hook func(n int, r *http.Request, phase string)
}

// Before drops the connection; nothing happened.
func Before() Fault { return Fault{Drop: "before"} }

// After drops the connection when the call took effect; the answer is lost.
func After() Fault { return Fault{Drop: "after"} }

// Status answers with a status and headers, given as name and value in turn.
func Status(code int, header ...string) Fault {
	f := Fault{Status: code, Header: http.Header{}}
	for i := 0; i+1 < len(header); i += 2 {
		f.Header.Set(header[i], header[i+1])
	}
	return f
}

// Hook calls f before and after the call takes effect.
func Hook(f func(n int, r *http.Request, phase string)) Fault { return Fault{Hook: f} }

// FailAt has a fault happen to the n-th API call from now, 1 being the next.
// Zero means every call that has no fault of its own, until [Server.Heal].
func (s *Server) FailAt(n int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n == 0 {
		s.every = &f
		return
	}
	s.faults[len(s.calls)+n] = f
}

// Heal takes back all faults that are still to happen.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.faults)
	s.every = nil
}

// fault is what happens to a call, taken once.
func (s *Server) fault(n int) Fault {
	if f, ok := s.faults[n]; ok {
		delete(s.faults, n)
		return f
	}
	if s.every != nil {
		return *s.every
	}
	return Fault{}
}

func (f Fault) set() bool { return f.Drop != "" || f.Status != 0 || f.Hook != nil }

// before runs the part of a fault that comes before the call, and reports whether
// it takes the call's place.
func (f Fault) before(n int, w http.ResponseWriter, r *http.Request) (status int, handled bool) {
	if f.Hook != nil && f.Drop != "after" {
		f.Hook(n, r, "before")
	}
	if f.Drop == "before" {
		panic(http.ErrAbortHandler)
	}
	if f.Status == 0 {
		return 0, false
	}
	for k, v := range f.Header {
		w.Header()[k] = v
	}
	body := f.Body
	if body == "" {
		body = `{"message":` + strconv.Quote(http.StatusText(f.Status)) + `}`
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(f.Status)
	_, _ = w.Write([]byte(body)) // the client may be gone
	return f.Status, true
}

// after runs the part of a fault that comes when the call took effect.
func (f Fault) after(n int, r *http.Request) {
	if f.Hook != nil && f.Drop != "before" {
		f.Hook(n, r, "after")
	}
	if f.Drop == "after" {
		panic(http.ErrAbortHandler)
	}
}

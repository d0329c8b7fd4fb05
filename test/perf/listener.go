package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// A listener answers one program's questions in whichever API it speaks, by a
// script without delay. A question that does not offer the tool that reads is no turn:
// some programs ask for a title, or whether anyone is there.
type listener struct {
	*httptest.Server
	tool   string
	script func(n int) (text string, calls []call)
	seen   func() // on each turn, before it is answered

	mu    sync.Mutex
	turns []turn
}

func newListener(tool string, script func(int) (string, []call), seen func()) *listener {
	l := &listener{tool: tool, script: script, seen: seen}
	l.Server = httptest.NewServer(l)
	return l
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	speech, ok := speechOf(r.URL.Path)
	if r.Method != http.MethodPost || !ok {
		http.Error(w, "{}", http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	came := time.Now()
	w.Header().Set("Content-Type", "text/event-stream")
	var in struct{ Tools json.RawMessage }
	if json.Unmarshal(body, &in) != nil || !bytes.Contains(in.Tools, []byte(`"name":"`+l.tool+`"`)) {
		w.Write(speech.answer("ok", nil, 0, 10)) //nolint:errcheck // the caller notices
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.turns)
	l.seen()
	text, calls := l.script(n)
	if _, err := w.Write(speech.answer(text, calls, n, len(body)/4)); err != nil {
		return
	}
	w.(http.Flusher).Flush()
	l.turns = append(l.turns, turn{body: body, came: came, answered: time.Now()})
}

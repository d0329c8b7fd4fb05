package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// A turn is one question that the endpoint got.
type turn struct {
	body          []byte
	came          time.Time // when the question was complete
	answered      time.Time // when the answer had been written
	agent, system string
}

// A call is one tool call of a scripted answer.
type call struct{ name, args string }

// An endpoint speaks chat completions and answers by a script without delay. It
// keeps every question.
type endpoint struct {
	*httptest.Server
	script func(agent string, n int) (text string, calls []call) // n counts an agent's questions from 0
	seen   func()                                                // on each question, before it is answered; may be nil

	mu    sync.Mutex
	turns []turn
	count map[string]int
}

func newEndpoint(script func(string, int) (string, []call)) *endpoint {
	e := &endpoint{script: script, count: map[string]int{}}
	e.Server = httptest.NewServer(http.HandlerFunc(e.serve))
	return e
}

func (e *endpoint) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "{}", http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	came := time.Now()
	var in struct {
		Stream   bool
		Messages []struct{ Role, Content string }
	}
	if err := json.Unmarshal(body, &in); err != nil || len(in.Messages) == 0 {
		http.Error(w, "not a question", http.StatusBadRequest)
		return
	}
	if !strings.Contains(in.Messages[0].Content, "VERDICT") { // whether anyone is there
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write(answer("ok", nil, 0, 10)) //nolint:errcheck // the caller notices
		return
	}
	system, who := in.Messages[0].Content, fmt.Sprint(len(in.Messages[0].Content))
	e.mu.Lock()
	n := e.count[who]
	e.count[who]++
	e.mu.Unlock()
	if e.seen != nil {
		e.seen()
	}
	text, calls := e.script(who, n)
	w.Header().Set("Content-Type", "text/event-stream")
	_, err = w.Write(answer(text, calls, n, len(body)/4))
	if err != nil {
		return
	}
	w.(http.Flusher).Flush()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.turns = append(e.turns, turn{body: body, came: came, answered: time.Now(), agent: who, system: system})
}

// answer is the n-th whole streamed answer of a conversation.
func answer(text string, calls []call, n, tokens int) []byte {
	var b bytes.Buffer
	send := func(choices []any, usage any) {
		data, err := json.Marshal(map[string]any{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, "usage": usage})
		if err != nil {
			panic(err) // plain maps
		}
		fmt.Fprintf(&b, "data: %s\n\n", data)
	}
	choice := func(delta map[string]any, finish any) []any {
		return []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}
	}
	send(choice(map[string]any{"role": "assistant", "content": text}, nil), nil)
	finish := "stop"
	for i, c := range calls {
		finish = "tool_calls"
		send(choice(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": fmt.Sprintf("call_%d_%d", n, i), "type": "function", "function": map[string]any{"name": c.name, "arguments": c.args},
		}}}, nil), nil)
	}
	send(choice(map[string]any{}, finish), nil)
	send([]any{}, map[string]any{"prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10})
	b.WriteString("data: [DONE]\n\n")
	return b.Bytes()
}

// gaps are the times from an answer to the next question.
func (e *endpoint) gaps() []time.Duration { return gaps(e.turns) }

func gaps(turns []turn) []time.Duration {
	var out []time.Duration
	for i := 1; i < len(turns); i++ {
		out = append(out, turns[i].came.Sub(turns[i-1].answered))
	}
	return out
}

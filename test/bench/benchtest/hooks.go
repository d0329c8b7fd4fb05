package benchtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"
)

// A Delivery is a webhook as it came.
type Delivery struct {
	Event, Action, ID string
	Body              []byte
}

// hooks receives webhooks and keeps them all.
type hooks struct {
	url string

	mu   sync.Mutex
	on   string // where they are passed on to; empty: nowhere
	all  []Delivery
	came chan struct{} // closed, and made again, with each delivery
}

func receiveHooks(tb testing.TB) *hooks {
	tb.Helper()
	h := &hooks{came: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if err := github.ValidateSignature(r.Header.Get(github.SHA256SignatureHeader), body, []byte("s3cr3t")); err != nil {
			tb.Errorf("webhook %s: %v", github.WebHookType(r), err)
		}
		var text struct{ Action string }
		_ = json.Unmarshal(body, &text) // a push has none
		h.mu.Lock()
		on := h.on
		h.mu.Unlock()
		if on != "" {
			passOn(tb, on, r, body)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.all = append(h.all, Delivery{github.WebHookType(r), text.Action, github.DeliveryID(r), body})
		close(h.came)
		h.came = make(chan struct{})
	}))
	tb.Cleanup(server.Close)
	h.url = server.URL
	return h
}

// passOn gives a webhook to a server of ours as it came; who is not there hears nothing.
func passOn(tb testing.TB, to string, r *http.Request, body []byte) {
	tb.Helper()
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		tb.Error(err)
		return
	}
	req.Header = r.Header.Clone()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		tb.Errorf("webhook %s is answered with %d", github.WebHookType(r), resp.StatusCode)
	}
}

// Await returns the first webhook of that event and action that is accepted by
// match, also one that came before; nil accepts any.
func (g *GitHub) Await(event, action string, match func(Delivery) bool) Delivery {
	g.t.Helper()
	late := time.After(patience)
	for {
		g.hooks.mu.Lock()
		came := g.hooks.came
		for _, d := range g.hooks.all {
			if d.Event == event && d.Action == action && (match == nil || match(d)) {
				g.hooks.mu.Unlock()
				return d
			}
		}
		g.hooks.mu.Unlock()
		select {
		case <-came:
		case <-late:
			g.t.Fatalf("no webhook %s %s came in %v", event, action, patience)
		}
	}
}

// AwaitComment returns the webhook of what happened to a comment.
func (g *GitHub) AwaitComment(action string, id int64) Delivery {
	g.t.Helper()
	return g.Await("issue_comment", action, func(d Delivery) bool {
		var text struct{ Comment struct{ ID int64 } }
		return json.Unmarshal(d.Body, &text) == nil && text.Comment.ID == id
	})
}

// AwaitPull returns the webhook of what happened to a pull request at a head;
// repositories of one test are distinguished by the head.
func (g *GitHub) AwaitPull(action, head string) Delivery {
	g.t.Helper()
	return g.Await("pull_request", action, func(d Delivery) bool {
		var text struct {
			PullRequest struct{ Head struct{ SHA string } } `json:"pull_request"`
		}
		return json.Unmarshal(d.Body, &text) == nil && text.PullRequest.Head.SHA == head
	})
}

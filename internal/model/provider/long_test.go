package provider_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/modeltest"
)

// answering is a transport that reads a request and gives the same answer to all.
type answering struct{ stream string }

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Request: r, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(a.stream)),
	}, nil
}

// longConversation is what an agent knows after 100 rounds with 8 KiB of output each.
func longConversation() *model.Request {
	req := &model.Request{
		ID: "one", System: "You verify.", Messages: []model.Message{user("Verify.")},
		Tools: []model.ToolSpec{{Name: "run_bash", Description: "Runs.", Schema: []byte(`{"type":"object","properties":{"command":{"type":"string"}}}`)}},
	}
	output := strings.Repeat("ok  \tpackage/of/a/test\t0.01s \"quoted\" <tag>\n", 190)
	for i := range 100 {
		id := fmt.Sprintf("c%d", i)
		req.Messages = append(req.Messages,
			model.Message{Role: model.Assistant, Calls: []model.Call{{ID: id, Name: "run_bash", Args: `{"command":"go test ./..."}`}}},
			model.Message{Role: model.Tool, CallID: id, Text: output})
	}
	return req
}

// answered is a model behind a, and no network.
func answered(tb testing.TB, a modeltest.API) model.Model {
	tb.Helper()
	var stream strings.Builder
	for _, e := range a.Render(modeltest.Answer{Text: []string{"Yes."}, Usage: usage}) {
		stream.WriteString(e.String())
	}
	o := options()
	o.HTTPClient = &http.Client{Transport: answering{stream.String()}}
	m, err := target(a, "http://127.0.0.1/v1").Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// BenchmarkLongConversation asks one more question, as the loop does.
func BenchmarkLongConversation(b *testing.B) {
	for _, a := range modeltest.APIs() {
		b.Run(a.Name, func(b *testing.B) {
			m, req := answered(b, a), longConversation()
			ask := func(messages []model.Message) {
				q := *req
				q.Messages = messages
				if _, err := m.Generate(b.Context(), &q, nil); err != nil {
					b.Fatal(err)
				}
			}
			ask(req.Messages[:len(req.Messages)-2])
			for b.Loop() {
				ask(req.Messages)
			}
		})
	}
}

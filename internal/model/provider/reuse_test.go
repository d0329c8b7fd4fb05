package provider_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/modeltest"
)

// What is kept of a conversation's earlier questions changes no byte of the next:
// not where it grows, nor where its last message, an old one or the tools are
// other ones than before.
func TestKeptIsWhatIsWrittenAnew(t *testing.T) {
	t.Parallel()
	for _, a := range modeltest.APIs() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			call := model.Message{Role: model.Assistant, Text: "Next.", Calls: []model.Call{{ID: "c1", Name: "grep", Args: `{"pattern":"<a>"}`}}}
			result := model.Message{Role: model.Tool, CallID: "c1", Text: strings.Repeat("line\n", 50)}
			tools := []model.ToolSpec{{Name: "grep", Description: "Finds.", Schema: []byte(`{"type":"object","properties":{"pattern":{"type":"string"}}}`)}}
			more := append(slices.Clone(tools), model.ToolSpec{Name: "glob", Description: "Lists.", Schema: []byte(`{"type":"object","properties":{}}`)})
			questions := []model.Request{
				{Tools: tools, Messages: []model.Message{user("Verify.")}},
				{Tools: tools, Messages: []model.Message{user("Verify.\n\nAnd that.")}},
				{Tools: tools, Messages: []model.Message{user("Verify.\n\nAnd that."), call, result}},
				{Tools: tools, Messages: []model.Message{user("Verify.\n\nAnd that."), call, {Role: model.Tool, CallID: "c1", Text: "shortened"}}},
				{Tools: more, Messages: []model.Message{user("Verify.\n\nAnd that."), call, {Role: model.Tool, CallID: "c1", Text: "shortened"}}, NoCalls: true},
				{Tools: tools, Messages: []model.Message{user("Something else.")}, System: "Another."},
			}
			fine := modeltest.Stream(a.Render(modeltest.Answer{Text: []string{"Yes."}, Usage: usage})...)
			var answers []http.HandlerFunc
			for range 2 * len(questions) {
				answers = append(answers, fine)
			}
			d := modeltest.Serve(t, a, answers...)
			kept, err := target(a, d.URL).Open(options())
			if err != nil {
				t.Fatal(err)
			}
			for i := range questions {
				fresh, err := target(a, d.URL).Open(options())
				if err != nil {
					t.Fatal(err)
				}
				q := &questions[i]
				q.ID = "one"
				if q.System == "" {
					q.System = "You verify."
				}
				for _, m := range []model.Model{kept, fresh} {
					if _, err := m.Generate(t.Context(), q, nil); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(d.Bodies()[2*i+1], d.Bodies()[2*i]); diff != "" {
					t.Errorf("question %d (-fresh +kept):\n%s", i+1, diff)
				}
			}
		})
	}
}

// A conversation needs one connection, although no one reads what stands behind the
// last event of an answer.
func TestConnectionIsUsedAgain(t *testing.T) {
	t.Parallel()
	for _, a := range modeltest.APIs() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			var opened atomic.Int32
			answer := modeltest.Stream(a.Render(modeltest.Answer{Text: []string{"Yes."}, Usage: usage})...)
			srv := httptest.NewUnstartedServer(answer)
			srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
				if s == http.StateNew {
					opened.Add(1)
				}
			}
			srv.Start()
			t.Cleanup(srv.Close)
			o := options()
			o.HTTPClient = &http.Client{Transport: &http.Transport{}}
			t.Cleanup(o.HTTPClient.CloseIdleConnections)
			m, err := target(a, srv.URL+"/v1").Open(o)
			if err != nil {
				t.Fatal(err)
			}
			for range 10 {
				if _, err := m.Generate(t.Context(), &model.Request{System: "You verify.", Messages: []model.Message{user("Verify.")}}, nil); err != nil {
					t.Fatal(err)
				}
			}
			if n := opened.Load(); n > 5 { // under load the end of an answer may come too late to be waited for
				t.Errorf("%d connections for ten questions", n)
			}
		})
	}
}

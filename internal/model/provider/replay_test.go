package provider_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/modeltest"
	"github.com/ycbot/ycbot/internal/model/provider"
	"github.com/ycbot/ycbot/internal/model/script"
)

// TestRecordedConversation holds for each API that a model.jsonl whose requests
// are recorded by what they add has every body as it went over the wire, and that a
// replay gives the same answers from it, with what the provider wants back.
func TestRecordedConversation(t *testing.T) {
	t.Parallel()
	const asked = 12
	for _, a := range modeltest.APIs() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			var answers []http.HandlerFunc
			for i := range asked {
				answers = append(answers, modeltest.Stream(a.Render(modeltest.Answer{
					Thought: fmt.Sprintf("Thought %d.", i), Text: []string{"Next <", "&>."}, Usage: usage,
					Calls: []model.Call{{ID: fmt.Sprintf("call_%d", i), Name: "grep", Args: `{"pattern":"<ü>"}`}},
				})...))
			}
			d := modeltest.Serve(t, a, answers...)
			var log bytes.Buffer
			var deltas model.Deltas
			o := options()
			o.Record = func(_ context.Context, e model.Exchange) error {
				cut := deltas.Cut(e)
				enc := json.NewEncoder(&log)
				enc.SetEscapeHTML(false)
				if err := enc.Encode(cut); err != nil {
					return err
				}
				_, err := deltas.Restore(cut)
				return err
			}
			m, err := target(a, d.URL).Open(o)
			if err != nil {
				t.Fatal(err)
			}
			converse := func(m model.Model) (said []*model.Response) {
				history := []model.Message{user(strings.Repeat("Verify this. ", 300))}
				for range asked {
					resp, err := m.Generate(t.Context(), &model.Request{
						System: "You verify.", Agent: "verification", ID: "1", Messages: history,
						Tools: []model.ToolSpec{{Name: "grep", Description: "Finds.", Schema: []byte(`{"type":"object","properties":{"pattern":{"type":"string"}}}`)}},
					}, nil)
					if err != nil {
						t.Fatal(err)
					}
					said = append(said, resp)
					history = append(history, resp.Message, model.Message{Role: model.Tool, CallID: resp.Message.Calls[0].ID, Text: strings.Repeat("line é\n", 200)})
				}
				return said
			}
			said := converse(m)
			if a.Name != string(provider.Chat) && len(said[0].Message.Kept) == 0 {
				t.Error("nothing is kept of what it reasoned")
			}
			replay, err := script.NewReplay(bytes.NewReader(log.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(said, converse(replay)); diff != "" {
				t.Errorf("answers -first +replayed\n%s", diff)
			}
			whole, n := 0, 0
			err = model.ReadExchanges(bytes.NewReader(log.Bytes()), func(e model.Exchange) error {
				if n < len(d.Bodies()) && string(e.Request) != d.Bodies()[n] {
					t.Errorf("request %d is not the one that was sent", n+1)
				}
				whole += len(e.Request)
				n++
				return nil
			})
			if err != nil || n != asked || log.Len()*2 > whole {
				t.Errorf("%d requests, %v; %d bytes for %d of requests", n, err, log.Len(), whole)
			}
			t.Logf("%d bytes for %d of requests", log.Len(), whole)
		})
	}
}

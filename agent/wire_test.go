package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/modeltest"
	"github.com/ycbot/ycbot/internal/model/provider"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// A wired model is one of a scenario behind the client of a provider and its
// strict server.
type wired struct {
	t       *testing.T
	api     modeltest.API
	says    model.Model
	thought string // what it reasons before each answer
}

func (w *wired) Name() string { return "wired" }

func (w *wired) Generate(ctx context.Context, req *model.Request, on func(model.Delta)) (*model.Response, error) {
	return w.open(w.answer(req)).Generate(ctx, req, on)
}

// open is a client of a server that gives one answer.
func (w *wired) open(answer http.HandlerFunc) model.Model {
	target := provider.Target{Preset: provider.Preset{Name: "test"}, API: provider.API(w.api.Name), BaseURL: modeltest.Serve(w.t, w.api, answer).URL, Key: modeltest.Key}
	m, err := target.Open(provider.Options{Model: "test-model", Now: noon, Retry: model.Retry{Tries: 1}})
	if err != nil {
		w.t.Error(err)
	}
	return m
}

// answer says over the wire what the scenario says to req: what it streams goes
// out at once, whatever becomes of the rest.
func (w *wired) answer(req *model.Request) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		sent := 0
		send := func(events []modeltest.Event) {
			modeltest.Stream(events[sent:]...)(rw, r)
			sent = len(events)
		}
		resp, err := w.says.Generate(r.Context(), req, func(d model.Delta) {
			events := w.api.Render(w.said(&model.Response{Message: model.Message{Text: d.Text}, Usage: model.Usage{Input: 100, Output: 10}}))
			quoted, err := json.Marshal(d.Text)
			if err != nil {
				w.t.Error(err)
			}
			first := slices.IndexFunc(events, func(e modeltest.Event) bool { return strings.Contains(e.Data, string(quoted)) })
			send(events[:first+1])
		})
		switch {
		case err == nil:
			send(w.api.Render(w.said(resp)))
		case sent > 0:
			panic(http.ErrAbortHandler) // the stream broke off
		case errors.Is(err, model.ErrOverflow):
			w.api.Overflow[0](rw, r)
		default:
			status := http.StatusBadRequest
			for is, code := range map[error]int{model.ErrAuth: http.StatusUnauthorized, model.ErrDown: http.StatusServiceUnavailable} {
				if errors.Is(err, is) {
					status = code
				}
			}
			rw.WriteHeader(status)
			_, _ = rw.Write([]byte(w.api.Refusal("", err.Error())))
		}
	}
}

func (w *wired) said(resp *model.Response) modeltest.Answer {
	a := modeltest.Answer{Thought: w.thought, Calls: resp.Message.Calls, Usage: resp.Usage, Length: resp.Stop == model.StopLength, Filter: resp.Stop == model.StopFilter}
	if resp.Message.Text != "" {
		a.Text = []string{resp.Message.Text}
	}
	return a
}

// takes reports to the test what a strict server refuses of a conversation that
// goes on.
func (w *wired) takes(history []model.Message) {
	w.t.Helper()
	history = slices.Clone(history)
	if history[len(history)-1].Role != model.User {
		history = append(history, model.Message{Role: model.User, Text: "Go on."})
	}
	fine := modeltest.Stream(w.api.Render(modeltest.Answer{Text: []string{"Fine."}})...)
	resp, err := w.open(fine).Generate(w.t.Context(), &model.Request{System: "You verify.", Messages: history}, nil)
	if err != nil || resp.Message.Text != "Fine." {
		w.t.Errorf("the conversation does not go on: %v %+v", err, resp)
	}
}

// Played over the wire, each scenario leaves a history that the strict server of
// its API accepts, whatever interrupted it and wherever: each request on the way
// is held against the rules, and one more that goes on with what is left. By each
// API the history is the one that the scenario wants, and with a model that
// reasons before it answers the rules hold as well. (What a provider says of its
// own failure is the scripted one's in the scenario, and not compared.)
func TestScenarioOnTheWire(t *testing.T) {
	t.Parallel()
	for name, s := range scenarios(t) {
		for _, api := range modeltest.APIs() {
			for _, thought := range []string{"", "Let me see."} {
				variants.Run(t, name+"/"+api.Name+"/"+map[bool]string{true: "plain", false: "reasoning"}[thought == ""], thought == "", func(t *testing.T) {
					t.Parallel()
					w := &wired{t: t, api: api, says: parse(t, s.says), thought: thought}
					got, history := s.play(t, w)
					w.takes(history)
					if err := model.Validate(history); err != nil {
						t.Error(err)
					}
					want := historyOf(string(s.want.Data))
					if own := strings.Contains(want, "script: "); thought == "" && !own && historyOf(got) != want {
						t.Errorf("history\n%s\nwant\n%s", historyOf(got), want)
					}
				})
			}
		}
	}
}

// historyOf is the part of a want section about the history.
func historyOf(want string) string {
	_, rest, _ := strings.Cut(want, "\nhistory\n")
	history, _, _ := strings.Cut(rest, "\n\n")
	return history
}

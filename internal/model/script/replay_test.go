package script_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/script"
)

// An agent that is given something else has another id, and gets the answers of
// the same agent in the same place; a question that failed fails in the same way.
func TestReplayOfAnother(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	say := func(e model.Exchange) {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		log.Write(append(line, '\n'))
	}
	answer := func(text string) *model.Response {
		return &model.Response{Message: model.Message{Role: model.Assistant, Text: text}}
	}
	say(model.Exchange{Agent: "look", ID: "1", N: 1, Response: answer("first")})
	say(model.Exchange{Agent: "look", ID: "2", N: 1, Response: answer("second")})
	say(model.Exchange{Agent: "try", ID: "3", N: 1, Error: fmt.Sprintf("m: %v: 401", model.ErrAuth)})
	r, err := script.NewReplay(strings.NewReader(log.String()))
	if err != nil {
		t.Fatal(err)
	}
	gen := func(agent, id string) (*model.Response, error) {
		return r.Generate(t.Context(), &model.Request{Agent: agent, ID: id, Messages: []model.Message{{Role: model.User, Text: "go"}}}, nil)
	}
	for _, tc := range []struct{ id, was, text string }{
		{"2", "2", "second"}, // its own, although it comes first
		{"x", "1", "first"},
		{"x", "1", "first"}, // once more
	} {
		resp, err := gen("look", tc.id)
		if err != nil || resp.Message.Text != tc.text || r.Recorded("look", tc.id) != tc.was {
			t.Errorf("%s: %+v %v, stands for %s", tc.id, resp, err, r.Recorded("look", tc.id))
		}
	}
	if resp, err := gen("look", "y"); !errors.Is(err, model.ErrRequest) {
		t.Errorf("one more than recorded: %+v %v", resp, err)
	}
	if _, err := gen("try", "z"); !errors.Is(err, model.ErrAuth) || !strings.HasPrefix(err.Error(), "m: ") {
		t.Errorf("a recorded fault: %v", err)
	}
}

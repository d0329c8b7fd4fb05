package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/wire"
)

func TestOrder(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{`{"messages":[1, {"a":"]}"}],"model":"m","tools":[],"x":1.50}`, `{"model":"m","x":1.50,"tools":[],"messages":[1, {"a":"]}"}]}`},
		{`{"model":"m"}`, `{"model":"m"}`},
		{`{"messages":[]}`, `{"messages":[]}`},
		{`{}`, `{}`},
	} {
		got, err := wire.Order([]byte(tc.in), nil, "tools", "messages", "max")
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: %s %v, want %s", tc.in, got, err, tc.want)
		}
	}
	for _, bad := range []string{``, `[]`, `{"a":`, `{"a" 1}`} {
		if got, err := wire.Order([]byte(bad), nil); err == nil {
			t.Errorf("%s: %s", bad, got)
		}
	}
}

// What is kept goes back where it stood, to its own API alone, and never as the
// last part of an answer.
func TestInterleave(t *testing.T) {
	t.Parallel()
	kept := func(api string, at int) model.Kept {
		return model.Kept{API: api, At: at, Raw: json.RawMessage(string(rune('0' + at)))}
	}
	call := []model.Call{{ID: "a"}, {ID: "b"}}
	all := []model.Kept{kept("x", 0), kept("y", 0), kept("x", 1), kept("x", 2), kept("x", 3)}
	for _, tc := range []struct {
		m    model.Message
		want string
	}{
		{model.Message{Text: "T", Calls: call, Kept: all}, "0 T 1 a 2 b"},
		{model.Message{Calls: call, Kept: all}, "0 1 a 2 b"},
		{model.Message{Text: " \n", Calls: call[:1], Kept: all}, "0 1 a"},
		{model.Message{Text: "T", Kept: all}, "0 T"}, // the calls were not taken
		{model.Message{Kept: all}, ""},
	} {
		var got []string
		wire.Interleave(tc.m, "x", func(raw json.RawMessage) { got = append(got, string(raw)) },
			func(text string) { got = append(got, text) }, func(c model.Call) { got = append(got, c.ID) })
		if s := strings.Join(got, " "); s != tc.want {
			t.Errorf("%+v: %s, want %s", tc.m, s, tc.want)
		}
	}
}

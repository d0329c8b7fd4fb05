package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/script"
)

func parse(t *testing.T, text string) *script.Model {
	t.Helper()
	m, err := script.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ran is a conversation in which two commands ran.
func ran() []model.Message {
	call := func(id string) model.Message {
		return model.Message{Role: model.Assistant, Calls: []model.Call{{ID: id, Name: "run_bash", Args: "{}"}}}
	}
	return []model.Message{
		{Role: model.User, Text: "Verify task=beef01."},
		call("1"),
		{Role: model.Tool, CallID: "1", Text: "[E3] exit=0 in 1.2s\n--- stdout ---\nok \"x\"\n--- stderr ---\nwarn\n"},
		call("2"),
		{Role: model.Tool, CallID: "2", Text: "[E7] exit=1 in 2s\nno headers\n"},
	}
}

func ask(t *testing.T, m model.Model, agent string, messages []model.Message) (*model.Response, error) {
	t.Helper()
	return m.Generate(t.Context(), &model.Request{System: "You are it.", Agent: agent, ID: "1", Messages: messages}, nil)
}

// Which turn is next follows from the conversation, whatever was asked before.
func TestTurns(t *testing.T) {
	t.Parallel()
	m := parse(t, `Why it exists.
-- model --
First.
---
Second.
---
Third.

\> quoted
\---
\! not a fault
<details> is text
-- Explore --
> read {"path": "a"}
> grep
Beside.
---
! length
! usage 7 8 9
Cut
`)
	three := ran()
	for range 2 {
		resp, err := ask(t, m, "verification", three)
		if err != nil || resp.Message.Text != "Third.\n\n> quoted\n---\n! not a fault\n<details> is text" || resp.Stop != model.StopEnd {
			t.Errorf("third: %+v %v", resp, err)
		}
	}
	resp, err := ask(t, m, "Explore", three[:1])
	want := &model.Response{
		Message: model.Message{Role: model.Assistant, Text: "Beside.", Calls: []model.Call{
			{ID: "call_1_1", Name: "read", Args: `{"path": "a"}`}, {ID: "call_1_2", Name: "grep"},
		}},
		Stop: model.StopCalls, Usage: model.Usage{Input: 100, Output: 10},
	}
	if diff := cmp.Diff(want, resp); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	resp, err = ask(t, m, "Explore", three[:3])
	if err != nil || resp.Stop != model.StopLength || resp.Usage != (model.Usage{Input: 7, Output: 8, Cached: 9}) {
		t.Errorf("%+v %v", resp, err)
	}
	if _, err := ask(t, m, "Explore", three); err == nil || !strings.Contains(err.Error(), "asks for turn 3, but section Explore has 2") {
		t.Errorf("a turn too many: %v", err)
	}
}

// A report can quote what really came out; in calls it is escaped.
func TestPlaceholders(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{{evidence 1}} {{evidence 2}} {{evidence -1}}": "E3 E7 E7",
		"{{exit 1}}/{{exit 2}}":                         "0/1",
		"{{result 1}}/{{result 2}}":                     "PASS/FAIL",
		"a {{output 1}} b":                              `a ok "x" b`,
		"{{errors 1}}|{{output 2}}|{{errors 2}}":        "warn|no headers|",
		"{{match task=([0-9a-f]+)}} {{match E[0-9]}}":   "beef01 E7",
		`> run_bash {"c": "{{output 1}}"}`:              `{"c": "ok \"x\""}`,
	} {
		resp, err := ask(t, parse(t, "-- model --\n---\n---\n"+text+"\n"), "a", ran())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := resp.Message.Text
		if len(resp.Message.Calls) > 0 {
			got = resp.Message.Calls[0].Args
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"{{evidence 3}}", "{{evidence x}}", "{{output 0}}", "{{match nothing}}", "{{match (}}"} {
		if _, err := ask(t, parse(t, "-- model --\n---\n---\n"+text+"\n"), "a", ran()); !errors.Is(err, model.ErrRequest) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A conversation that departs from the scenario, or that a provider would refuse,
// is an error that no one asks again about.
func TestDepartures(t *testing.T) {
	t.Parallel()
	user := model.Message{Role: model.User, Text: "Verify it."}
	for _, tc := range []struct {
		text     string
		messages []model.Message
		want     string // "": none
	}{
		{"-- model --\n< Verify\n<* You are it\nx", []model.Message{user}, ""},
		{"-- model --\n< Refute\nx", []model.Message{user}, `model, turn 1: the last message does not contain "Refute"`},
		{"-- model --\n<* Refute\nx", []model.Message{user}, `no message contains "Refute"`},
		{"-- Explore --\nx", []model.Message{user}, "there is no section for it"},
		{"-- model --\nx", []model.Message{user, {Role: model.Tool, CallID: "9", Text: "x"}}, `answers call "9"`},
		{"-- model --\nx\n---\ny", []model.Message{user, {Role: model.Assistant, Text: "x"}}, "the last message is the assistant's own"},
	} {
		_, err := ask(t, parse(t, tc.text+"\n"), "verification", tc.messages)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want) || !errors.Is(err, model.ErrRequest)) {
			t.Errorf("%q: %v", tc.text, err)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	user := []model.Message{{Role: model.User, Text: "Verify it."}}
	for fault, want := range map[string]error{
		"401": model.ErrAuth, "403": model.ErrAuth, "400": model.ErrRequest, "overflow": model.ErrOverflow,
		"429": model.ErrDown, "500": model.ErrDown, "503": model.ErrDown, "cut": model.ErrDown,
	} {
		resp, err := ask(t, parse(t, "-- model --\n! "+fault+"\nHalf.\n"), "a", user)
		if !errors.Is(err, want) || (fault == "cut") != (resp != nil && resp.Message.Text == "Half.") {
			t.Errorf("%s: %+v %v", fault, resp, err)
		}
	}
	m := parse(t, "-- model --\n! 503 2\nDone.\n")
	for i, want := range []error{model.ErrDown, model.ErrDown, nil} {
		if _, err := ask(t, m, "a", user); !errors.Is(err, want) {
			t.Errorf("try %d: %v", i+1, err)
		}
	}
	long := parse(t, "-- model --\n! overflow 30\nDone.\n")
	if _, err := ask(t, long, "a", user); err != nil {
		t.Error(err)
	}
	if _, err := ask(t, long, "a", []model.Message{{Role: model.User, Text: strings.Repeat("x", 40)}}); !errors.Is(err, model.ErrOverflow) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	resp, err := parse(t, "-- model --\n! hang\nHalf.\n").Generate(ctx, &model.Request{Messages: user}, func(model.Delta) { cancel(gone) })
	if !errors.Is(err, gone) || resp.Message.Text != "Half." {
		t.Errorf("hang: %+v %v", resp, err)
	}
	for _, bad := range []string{"", "-- model --\n! nonsense\n", "-- model --\n! 503 x\n", "-- model --\n! usage 1\n", "-- a --\nx\n-- a --\ny\n"} {
		if _, err := script.Parse([]byte(bad)); err == nil {
			t.Errorf("taken: %q", bad)
		}
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "s.txtar")
	if err := os.WriteFile(file, []byte("-- model --\nHello.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := script.Load(file); err != nil || m.Name() != "script" {
		t.Error(err)
	}
	if _, err := script.Load(file + "x"); err == nil || !strings.Contains(err.Error(), file) {
		t.Error(err)
	}
}

// A recorded run answers again with what was answered, in whichever order it is asked.
func TestReplay(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	enc := json.NewEncoder(&log)
	say := func(id string, n int, text string) {
		e := model.Exchange{ID: id, N: n, Model: "gpt", Request: json.RawMessage("{}"), Error: "503"}
		if text != "" {
			e.Error, e.Response = "", &model.Response{Message: model.Message{Role: model.Assistant, Text: text}, Stop: model.StopEnd}
		}
		if err := enc.Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	say("1", 1, "one")
	say("2", 1, "other")
	say("1", 3, "")
	say("1", 3, "three")
	r, err := script.NewReplay(strings.NewReader(log.String() + `{"torn`))
	if err != nil || r.Name() != "gpt" {
		t.Fatal(err)
	}
	for _, want := range []struct {
		h    []model.Message
		text string
	}{{ran(), "three"}, {ran()[:1], "one"}, {ran()[:3], ""}} {
		resp, err := ask(t, r, "a", want.h)
		if want.text == "" {
			if !errors.Is(err, model.ErrRequest) {
				t.Errorf("an answer that was not recorded: %v", err)
			}
			continue
		}
		if err != nil || resp.Message.Text != want.text {
			t.Errorf("%+v %v, want %s", resp, err, want.text)
		}
	}
}

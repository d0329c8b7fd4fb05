package model_test

import (
	"testing"

	"github.com/ycbot/ycbot/internal/model"
)

// Validate refuses each thing that a strict provider does, and nothing else.
func TestValidate(t *testing.T) {
	t.Parallel()
	user := model.Message{Role: model.User, Text: "u"}
	says := model.Message{Role: model.Assistant, Text: "a"}
	call := func(id, name, args string) model.Call { return model.Call{ID: id, Name: name, Args: args} }
	calls := func(c ...model.Call) model.Message { return model.Message{Role: model.Assistant, Calls: c} }
	answer := func(id string) model.Message { return model.Message{Role: model.Tool, CallID: id, Text: "t"} }
	two := calls(call("1", "f", "{}"), call("2", "g", `{"a":1}`))
	for _, tc := range []struct {
		name string
		ok   bool
		h    []model.Message
	}{
		{"a whole conversation", true, []model.Message{user, two, answer("1"), answer("2"), says, user, says}},
		{"text beside calls", true, []model.Message{user, {Role: model.Assistant, Text: "x", Calls: two.Calls}, answer("1"), answer("2")}},
		{"empty", false, nil},
		{"assistant first", false, []model.Message{says}},
		{"blank user", false, []model.Message{{Role: model.User, Text: " \n"}}},
		{"user with calls", false, []model.Message{{Role: model.User, Text: "x", Calls: two.Calls}}},
		{"blank assistant", false, []model.Message{user, {Role: model.Assistant}}},
		{"assistant with a call id", false, []model.Message{user, {Role: model.Assistant, Text: "x", CallID: "1"}}},
		{"two assistants in a row", false, []model.Message{user, says, says}},
		{"call without answer", false, []model.Message{user, two, answer("1")}},
		{"user before the answer", false, []model.Message{user, two, answer("1"), user}},
		{"assistant before the answer", false, []model.Message{user, two, says}},
		{"answers out of order", false, []model.Message{user, two, answer("2"), answer("1")}},
		{"two answers to a call", false, []model.Message{user, calls(call("1", "f", "{}")), answer("1"), answer("1")}},
		{"answer without call", false, []model.Message{user, answer("1")}},
		{"blank answer", false, []model.Message{user, calls(call("1", "f", "{}")), {Role: model.Tool, CallID: "1"}}},
		{"no id", false, []model.Message{user, calls(call("", "f", "{}")), answer("")}},
		{"the same id twice", false, []model.Message{user, calls(call("1", "f", "{}"), call("1", "f", "{}")), answer("1"), answer("1")}},
		{"name with a dot", false, []model.Message{user, calls(call("1", "a.b", "{}")), answer("1")}},
		{"arguments cut", false, []model.Message{user, calls(call("1", "f", `{"a":`)), answer("1")}},
		{"arguments null", false, []model.Message{user, calls(call("1", "f", "null")), answer("1")}},
		{"arguments empty", false, []model.Message{user, calls(call("1", "f", "")), answer("1")}},
		{"another role", false, []model.Message{user, {Role: "system", Text: "x"}}},
	} {
		if err := model.Validate(tc.h); (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

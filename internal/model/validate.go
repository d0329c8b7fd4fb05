package model

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

// namePattern is what the strictest provider takes as the name of a tool.
var namePattern = pattern.New(`^[a-zA-Z0-9_-]{1,64}$`)

// Validate reports the first thing in messages that a strict provider would
// refuse: it wants a user first, every call answered by exactly one tool message
// in the order of the calls and before anything else, no answer without a call,
// unique call ids within a message, arguments that are a JSON object, no two
// assistants in a row, and no message without content.
func Validate(messages []Message) error {
	if len(messages) == 0 || messages[0].Role != User {
		return fmt.Errorf("history: the first message is not the user's")
	}
	var open []Call // calls of the last assistant that wait for their answers
	for i, m := range messages {
		if len(open) > 0 && m.Role != Tool {
			return fmt.Errorf("history: message %d is %s's, but call %s is not answered", i, m.Role, open[0].ID)
		}
		switch m.Role {
		case User:
			if strings.TrimSpace(m.Text) == "" || len(m.Calls) > 0 || m.CallID != "" {
				return fmt.Errorf("history: message %d: a user has text and nothing else", i)
			}
		case Assistant:
			if messages[i-1].Role == Assistant {
				return fmt.Errorf("history: messages %d and %d are both the assistant's", i-1, i)
			}
			if err := validAssistant(m); err != nil {
				return fmt.Errorf("history: message %d: %w", i, err)
			}
			open = m.Calls
		case Tool:
			if len(open) == 0 || open[0].ID != m.CallID {
				return fmt.Errorf("history: message %d answers call %q, which is not the next open one", i, m.CallID)
			}
			if strings.TrimSpace(m.Text) == "" || len(m.Calls) > 0 {
				return fmt.Errorf("history: message %d: a tool has text and nothing else", i)
			}
			open = open[1:]
		default:
			return fmt.Errorf("history: message %d: role %q", i, m.Role)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("history: call %s is not answered", open[0].ID)
	}
	return nil
}

func validAssistant(m Message) error {
	if m.CallID != "" || (strings.TrimSpace(m.Text) == "" && len(m.Calls) == 0) {
		return fmt.Errorf("an assistant has text or calls")
	}
	seen := map[string]bool{}
	for _, c := range m.Calls {
		if c.ID == "" || seen[c.ID] {
			return fmt.Errorf("call id %q is empty or not unique", c.ID)
		}
		seen[c.ID] = true
		if !namePattern.MatchString(c.Name) {
			return fmt.Errorf("call %s: tool name %q", c.ID, c.Name)
		}
		var args map[string]json.RawMessage
		if err := json.Unmarshal([]byte(c.Args), &args); err != nil || args == nil {
			return fmt.Errorf("call %s: arguments are not a JSON object", c.ID)
		}
	}
	return nil
}

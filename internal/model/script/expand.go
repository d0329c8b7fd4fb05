package script

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/pattern"
)

// Placeholders, with n the number of a command's answer in the conversation, from
// 1, or negative from the last:
//
//	{{evidence n}}  its evidence id, such as E12
//	{{exit n}}      its exit code
//	{{result n}}    PASS where that is 0, FAIL where it is another
//	{{output n}}    its stdout
//	{{errors n}}    its stderr
//	{{match RE}}    the first group of a regular expression, or all of what it
//	                matches, in the latest message that it matches
//
// In calls what is put in is escaped as the inside of a JSON string.
var placeholder = pattern.New(`\{\{(evidence|exit|result|output|errors|match) (.+?)\}\}`)

// header begins the answer of a tool that ran a command.
var header = pattern.New(`^\[(E\d+)\] exit=(\S+)[^\n]*\n?`)

// A command is the answer of a tool that ran one.
type command struct {
	evidence, exit, stdout, stderr string
}

func expand(text string, messages []model.Message, inJSON bool) (string, error) {
	var failed error
	out := placeholder.ReplaceAllStringFunc(text, func(whole string) string {
		m := placeholder.FindStringSubmatch(whole)
		value, err := lookup(m[1], m[2], messages)
		if err != nil && failed == nil {
			failed = fmt.Errorf("%s: %w", whole, err)
		}
		if inJSON {
			quoted, err := json.Marshal(value)
			if err != nil {
				failed = err // a string always marshals
			}
			value = string(quoted[1 : len(quoted)-1])
		}
		return value
	})
	return out, failed
}

func lookup(what, arg string, messages []model.Message) (string, error) {
	if what == "match" {
		return match(arg, messages)
	}
	n, err := strconv.Atoi(arg)
	if err != nil || n == 0 {
		return "", fmt.Errorf("%q is no number of an answer", arg)
	}
	commands := ran(messages)
	if n < 0 {
		n += len(commands) + 1
	}
	if n < 1 || n > len(commands) {
		return "", fmt.Errorf("the conversation has %d answers of commands", len(commands))
	}
	c := commands[n-1]
	switch what {
	case "evidence":
		return c.evidence, nil
	case "exit":
		return c.exit, nil
	case "result":
		if c.exit == "0" {
			return "PASS", nil
		}
		return "FAIL", nil
	case "errors":
		return c.stderr, nil
	}
	return c.stdout, nil
}

func match(expr string, messages []model.Message) (string, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return "", err
	}
	for i := len(messages) - 1; i >= 0; i-- {
		m := re.FindStringSubmatch(messages[i].Text)
		switch {
		case len(m) > 1:
			return m[1], nil
		case len(m) == 1:
			return m[0], nil
		}
	}
	return "", fmt.Errorf("no message matches")
}

// ran returns the answers of commands in the order of the conversation.
func ran(messages []model.Message) []command {
	var all []command
	for _, msg := range messages {
		m := header.FindStringSubmatch(msg.Text)
		if msg.Role != model.Tool || m == nil {
			continue
		}
		out, stderr := msg.Text[len(m[0]):], ""
		if i := strings.Index(out, "--- stderr ---\n"); i >= 0 {
			out, stderr = out[:i], out[i+len("--- stderr ---\n"):]
		}
		if i := strings.Index(out, "--- stdout ---\n"); i >= 0 {
			out = out[i+len("--- stdout ---\n"):]
		}
		all = append(all, command{m[1], m[2], strings.TrimRight(out, "\n"), strings.TrimRight(stderr, "\n")})
	}
	return all
}

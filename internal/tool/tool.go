// Package tool is what an agent may do: one file and one .md text a tool.
//
// A tool never prints, asks or posts. Its answer is text for the model; what
// it ran is in the evidence log before the answer is given. Tools that mutate
// the project are known by name only: they are never offered and refused when
// called.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
)

// A Tool is one thing that a model may call.
type Tool struct {
	Name        string          // as the model calls it
	Description string          // what the model gets to know of it
	Schema      json.RawMessage // JSON Schema of the arguments, an object
	Class       Class           // what it is able to do, which decides who gets it
	Parallel    bool            // safe beside other calls of the same message
	// About says what a call is about, in the words of permission rules; rel makes a path of
	// a call one below the root of the project. nil: rules are applied to all that its
	// arguments name, by its class.
	About func(args json.RawMessage, rel func(string) string) []Target
	// Run does it. args is a JSON object that was checked for being one, no more.
	// A BadCall goes back to the model; any other error is infrastructure and
	// ends the turn, except ctx's own.
	Run func(ctx context.Context, args json.RawMessage) (Result, error)
}

// A Result is a tool's answer.
type Result struct {
	Text     string   // what the model reads
	Errored  bool     // the model learns that it did not work
	Evidence []string // ids of the commands that ran for it
	Denied   *Denied  // set when the call was refused
	Images   []Image  // what the model sees besides, where its API takes pictures
	// Final is set by the tool with which an agent hands in a structured
	// result: the turn ends after the message's calls and this is its result.
	Final json.RawMessage
}

// An Image is a picture for the model.
type Image struct {
	MIME string `json:"mime"`
	Data []byte `json:"data"`
}

// Denied says why a call was refused; the model sees it as JSON.
type Denied struct {
	Code   string `json:"code"` // not_provisioned, hard_floor, agent_veto, policy_deny, plan_mode, background_auto_deny, ask_unattended, hook_deny, budget, sandbox
	Tool   string `json:"tool"`
	Target string `json:"target"`
	Rule   string `json:"rule"`
	Source string `json:"source"`
	Hint   string `json:"hint"`
}

// A Class is what a tool is able to do. The strings are stored: do not change them.
type Class string

// The classes. A grant is a set of them.
const (
	Read     Class = "read"
	GitRead  Class = "git_read"
	Net      Class = "net"
	Exec     Class = "exec"
	Write    Class = "write"
	GitWrite Class = "git_write"
	Publish  Class = "publish"
	Delegate Class = "delegate"
	Session  Class = "session" // changes nothing but the agent's own notes
)

// A BadCall is a mistake of the model's: the text goes back to it.
type BadCall struct{ Text string }

func (e *BadCall) Error() string { return e.Text }

// Badf makes a BadCall.
func Badf(format string, args ...any) error { return &BadCall{fmt.Sprintf(format, args...)} }

// Package model is what ycbot needs of a language model: one streamed answer
// to a conversation. Providers live in subpackages; a Model keeps no state
// between calls, so the same Request may be asked again after a crash.
package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// A Model answers conversations. Implementations are safe for concurrent use.
type Model interface {
	// Name is the model's name as the provider knows it, for reports.
	Name() string
	// Generate asks once and returns the whole answer. While it comes, on is
	// called with each piece (never concurrently; it may be nil). An answer that
	// breaks off is an error; what of it came is in the Response beside the error.
	Generate(ctx context.Context, req *Request, on func(Delta)) (*Response, error)
}

// A Request is a whole conversation.
type Request struct {
	System   string     `json:"system"`
	Messages []Message  `json:"messages"`
	Tools    []ToolSpec `json:"tools,omitempty"`
	MaxOut   int        `json:"max_out,omitempty"`  // output token limit; 0: the provider's own
	NoCalls  bool       `json:"no_calls,omitempty"` // the tools stay listed (a provider caches them) but may not be called
	Effort   Effort     `json:"effort,omitempty"`   // how long the model may think; "": as its provider decides

	// Who asks, for records and scripts. Providers do not send it.
	Agent string `json:"agent,omitempty"`    // the agent's name
	ID    string `json:"agent_id,omitempty"` // the agent's id in the run
}

// An Effort says how much a model thinks before it answers: the more, the longer and the
// dearer. Each API has its own form for it; models that cannot think ignore it.
type Effort string

// The efforts. The strings are what configurations say.
const (
	EffortLow    Effort = "low"
	EffortMedium Effort = "medium"
	EffortHigh   Effort = "high"
)

// Efforts returns all efforts, the least first.
func Efforts() []string { return []string{string(EffortLow), string(EffortMedium), string(EffortHigh)} }

// A Message is one turn of a conversation. Which fields may be set depends on
// the role: an assistant has Text and Calls, a tool has the answer to one call.
type Message struct {
	Role   Role   `json:"role"`
	Text   string `json:"text,omitempty"`
	Calls  []Call `json:"calls,omitempty"`   // assistant only
	CallID string `json:"call_id,omitempty"` // tool only: the Call that Text answers
	// Images are pictures that belong to Text; tool only. An API that takes none in the
	// place of an answer leaves them out: Text says what matters without them.
	Images []Image `json:"images,omitempty"`
	Kept   []Kept  `json:"kept,omitempty"` // assistant only: what its provider wants back as it gave it
}

// An Image is a picture.
type Image struct {
	MIME string `json:"mime"`
	Data []byte `json:"data"`
}

// Kept is a part of an answer that means something to its provider alone, such as
// signed or encrypted reasoning. It goes back unchanged or not at all: a provider
// refuses one that was changed. Other APIs than its own leave it out.
type Kept struct {
	API string          `json:"api"` // the API that gave it
	At  int             `json:"at"`  // its place: 0 before the text, 1 after it, 1+n after the n-th call
	Raw json.RawMessage `json:"raw"`
}

// A Role says who speaks. The strings are stored: do not change them.
type Role string

// The roles of a conversation.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// A Call is the model's wish to use a tool.
type Call struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"` // as the model wrote it; may be no JSON at all
}

// A ToolSpec is what a model gets to know of a tool.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // JSON Schema of the arguments, an object
}

// A Delta is one piece of a streamed answer; one field is set.
type Delta struct {
	Text      string
	Reasoning string
	Reset     bool // the answer broke off and is asked again: what came of it before is void
}

// A Response is the model's turn and what it cost.
type Response struct {
	Message Message `json:"message"`
	Stop    Stop    `json:"stop"`
	Usage   Usage   `json:"usage"`
	Lost    int     `json:"lost,omitempty"` // about how many tokens of the request the provider left out without a word
}

// A Stop says why an answer ended. The strings are stored: do not change them.
type Stop string

// Why an answer ends.
const (
	StopEnd    Stop = "end"    // the model had said everything
	StopCalls  Stop = "calls"  // it wants tools
	StopLength Stop = "length" // the output limit cut it
	StopFilter Stop = "filter" // the provider's filter cut it
)

// Usage counts tokens. Estimated is set where the provider gave no figures.
type Usage struct {
	Input     int  `json:"input"` // all input tokens, cached ones included
	Output    int  `json:"output"`
	Cached    int  `json:"cached"`            // input tokens that the provider had cached
	Written   int  `json:"written,omitempty"` // input tokens that it put into its cache, where it says so and bills them apart
	Estimated bool `json:"estimated,omitempty"`
}

// Uncached counts the tokens that a provider had to work for: all but the input that it
// had cached.
func (u Usage) Uncached() int { return max(u.Input-u.Cached, 0) + u.Output }

// Add returns u plus v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output, Cached: u.Cached + v.Cached, Written: u.Written + v.Written,
		Estimated: u.Estimated || v.Estimated,
	}
}

// The errors of a provider that a caller may have to distinguish. Providers
// wrap them; anything else is a fault that asking again may fix.
var (
	ErrAuth     = errors.New("the provider refused the key")                    // 401, 403: no use in asking again
	ErrRequest  = errors.New("the provider refused the request")                // 400, 404, 422: no use in asking again
	ErrOverflow = errors.New("the conversation is too long for the model")      // pruned, it may be asked once more
	ErrDown     = errors.New("the provider did not answer after all its tries") // 429, 5xx, cut streams, time-outs
	// ErrSilent is of an answer that brought nothing for as long as an operator allows,
	// each time: asking once more costs that time again.
	ErrSilent = errors.New("it stays silent")
	// ErrUnasked is of a question that was not sent, because a question before it was
	// refused for good.
	ErrUnasked = errors.New("not asked any more")

	ErrQuota = fmt.Errorf("%w: nothing is left of the quota", ErrRequest) // no waiting fixes it
	ErrModel = fmt.Errorf("%w: the model cannot be asked", ErrRequest)    // there is none of that name, or not at that address
)

// Answers counts the model's turns in messages.
func Answers(messages []Message) int {
	n := 0
	for _, m := range messages {
		if m.Role == Assistant {
			n++
		}
	}
	return n
}

// Retry says how often and how long a provider is asked again.
type Retry struct {
	Tries   int           // attempts in all; 0: 5
	Base    time.Duration // first pause, doubled with jitter each time; 0: 500 ms
	Max     time.Duration // longest pause, also for Retry-After; 0: 60 s
	IdleFor time.Duration // a stream that brings nothing for so long is cut and asked again; 0: 120 s
}

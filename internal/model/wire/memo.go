package wire

import (
	"bytes"
	"slices"
	"sync"

	"github.com/ycbot/ycbot/internal/model"
)

// A Memo keeps how conversations were written as JSON. A conversation is asked
// again with a little more each time, and is as long as a book at its end: what
// was written once is taken as it is. The zero value is ready; it is safe for
// concurrent use.
type Memo struct {
	mu   sync.Mutex
	kept map[string]*written // by who asks
}

// memoMost is how many conversations are kept. There are as many as agents at
// work; one that is not kept is written anew.
const memoMost = 32

// written is one conversation as it was asked last. What is in it is never
// changed, so that it may be read while another question is written.
type written struct {
	tools    []model.ToolSpec
	toolJSON []byte
	messages []model.Message
	json     [][]byte // of each message
}

// A Writer writes what a request consists of as JSON.
type Writer struct {
	Tools   func([]model.ToolSpec) ([]byte, error) // all of them, sorted
	Message func(model.Message) ([]byte, error)    // one or more elements of the list; none: nothing
}

// List is the list that the items of messages make, in pieces.
func List(items [][]byte) [][]byte {
	list := append(make([][]byte, 0, 2*len(items)+2), []byte("["))
	for _, item := range items {
		if len(item) == 0 {
			continue
		}
		if len(list) > 1 {
			list = append(list, []byte(","))
		}
		list = append(list, item)
	}
	return append(list, []byte("]"))
}

// Write returns the tools of a request and what each of its messages was written as.
// Both are kept and not to be changed.
func (m *Memo) Write(req *model.Request, messages []model.Message, w Writer) (tools []byte, items [][]byte, err error) {
	m.mu.Lock()
	before := m.kept[req.ID]
	m.mu.Unlock()
	if before == nil {
		before = &written{}
	}
	now := &written{tools: req.Tools, toolJSON: before.toolJSON, messages: slices.Clone(messages), json: make([][]byte, len(messages))}
	if before.toolJSON == nil || !slices.EqualFunc(before.tools, req.Tools, sameTool) {
		if now.toolJSON, err = w.Tools(Sorted(req.Tools)); err != nil {
			return nil, nil, err
		}
	}
	for i, msg := range messages {
		if i < len(before.messages) && sameMessage(before.messages[i], msg) {
			now.json[i] = before.json[i]
		} else if now.json[i], err = w.Message(msg); err != nil {
			return nil, nil, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil || len(m.kept) >= memoMost && m.kept[req.ID] == nil {
		m.kept = map[string]*written{}
	}
	m.kept[req.ID] = now
	return now.toolJSON, now.json, nil
}

func sameTool(a, b model.ToolSpec) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
}

func sameMessage(a, b model.Message) bool {
	return a.Role == b.Role && a.Text == b.Text && a.CallID == b.CallID && slices.Equal(a.Calls, b.Calls) &&
		slices.EqualFunc(a.Kept, b.Kept, func(a, b model.Kept) bool {
			return a.API == b.API && a.At == b.At && bytes.Equal(a.Raw, b.Raw)
		})
}

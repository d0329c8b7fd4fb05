package wire

import "github.com/ycbot/ycbot/internal/model"

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

// Write returns the tools of a request and what each of its messages is written as.
func (w Writer) Write(specs []model.ToolSpec, messages []model.Message) (tools []byte, items [][]byte, err error) {
	if tools, err = w.Tools(Sorted(specs)); err != nil {
		return nil, nil, err
	}
	items = make([][]byte, len(messages))
	for i, msg := range messages {
		if items[i], err = w.Message(msg); err != nil {
			return nil, nil, err
		}
	}
	return tools, items, nil
}

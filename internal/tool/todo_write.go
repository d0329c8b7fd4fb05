package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Todo is one line of an agent's own list.
type Todo struct {
	Content string `json:"content" jsonschema:"What is to be done."`
	Status  string `json:"status" jsonschema:"pending, in_progress or completed."`
}

// Todos is an agent's list of what it means to do. It is safe for concurrent use.
type Todos struct {
	mu    sync.Mutex
	items []Todo
}

// Items returns the list as it stands.
func (t *Todos) Items() []Todo {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.items)
}

type todoArgs struct {
	Todos []Todo `json:"todos" jsonschema:"The whole list; it replaces the old one."`
}

const maxTodos = 50

// TodoWrite makes the tool todo_write, which keeps list.
func TodoWrite(list *Todos) Tool {
	return define("todo_write", Session, false, func(_ context.Context, in todoArgs) (Result, error) {
		if len(in.Todos) > maxTodos {
			return Result{}, Badf("todo_write: %d entries, at most %d", len(in.Todos), maxTodos)
		}
		var b strings.Builder
		for _, t := range in.Todos {
			mark, ok := map[string]string{"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}[t.Status]
			if !ok || strings.TrimSpace(t.Content) == "" {
				return Result{}, Badf("todo_write: an entry needs content and a status of pending, in_progress or completed")
			}
			fmt.Fprintf(&b, "%s %s\n", mark, clip(t.Content, 200))
		}
		list.mu.Lock()
		list.items = slices.Clone(in.Todos)
		list.mu.Unlock()
		if len(in.Todos) == 0 {
			return Result{Text: "[the list is empty]\n"}, nil
		}
		return Result{Text: b.String()}, nil
	})
}

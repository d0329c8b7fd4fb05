package agent

import (
	"encoding/json"
	"slices"
	"strings"
)

// Inject says something to the only task whose id begins with prefix, while it
// runs; with prefix "" to each that runs and to each that begins later. The agent
// reads it between two rounds of tools, or before its final reply counts. It
// reports whether a task that runs took it. The caller has made sure that the person who
// says it may.
func (r *Runner) Inject(prefix, text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if prefix == "" {
		r.said = append(r.said, text)
	}
	took := false
	for _, t := range r.tasks {
		if t.rec.Status == TaskRunning && (prefix == "" || t == r.find(prefix)) {
			t.inbox = append(t.inbox, text)
			took = true
		}
	}
	return took
}

// Listen returns an inbox for who is no task, such as a coordinator, and whose id
// is given: what is said to all, from the first word on.
func (r *Runner) Listen(id string) func() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	left, at := r.unheard(id), len(r.said)
	return func() []string {
		r.mu.Lock()
		defer r.mu.Unlock()
		said := append(left, r.said[at:]...)
		left, at = nil, len(r.said)
		return said
	}
}

// unheard is what was said to all tasks and the one with this id did not hear in
// a process before this one. r.mu is held.
func (r *Runner) unheard(id string) []string {
	left := slices.Clone(r.said)
	if r.Journal == nil {
		return left
	}
	for _, e := range r.Journal.Entries(kindInbox) {
		var said []string
		if !strings.HasPrefix(e.Key, id+"/") || json.Unmarshal(e.Data, &said) != nil {
			continue
		}
		for _, text := range said {
			if i := slices.Index(left, text); i >= 0 {
				left = slices.Delete(left, i, i+1)
			}
		}
	}
	return left
}

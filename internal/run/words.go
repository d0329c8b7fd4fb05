package run

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"

	"github.com/ycbot/ycbot/agent"
)

// kindWords entries of the journal, numbered from 1, are what people said to the
// run while it went. It is stored: do not change it.
const kindWords = "words"

// words are what people say to a run while it goes.
type words struct {
	mu     sync.Mutex
	said   []string
	runner *agent.Runner // who is told; nil: no agents yet
}

// tell passes on what somebody said.
func (w *words) tell(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, text)
	if w.runner != nil {
		w.runner.Inject("", text)
	}
}

// reach has the agents of r told of what was said and what will be.
func (w *words) reach(r *agent.Runner) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runner = r
	for _, text := range w.said {
		r.Inject("", text)
	}
}

// listen takes up what comes over the job's channel until stop is called. Words
// are in the journal before anybody hears them, so that a run that is continued
// knows them.
func (s *session) listen(ctx context.Context) (stop func()) {
	n := 0
	for _, text := range s.heard() {
		n++
		s.words.tell(text)
	}
	if s.job.Words == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case text, ok := <-s.job.Words:
				if !ok {
					return
				}
				n++
				text = string(s.redact([]byte(text)))
				if err := s.journal.Append(kindWords, strconv.Itoa(n), text); err != nil {
					s.Log.WarnContext(ctx, "what was said to the run is lost when it is continued", "error", err)
				}
				s.words.tell(text)
			case <-ctx.Done():
				return
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

// heard is what was said to this run, as its journal has it.
func (s *session) heard() []string {
	var out []string
	for _, e := range s.journal.Entries(kindWords) {
		var text string
		if json.Unmarshal(e.Data, &text) == nil {
			out = append(out, text)
		}
	}
	return out
}

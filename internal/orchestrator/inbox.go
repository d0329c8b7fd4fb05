package orchestrator

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"sync"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/rundir"
)

// kindWords entries of the journal, numbered from 1, are what people said to the
// run while it went. It is stored: do not change it.
const kindWords = "words"

// An Inbox holds what people say to a run while it goes, and brings it to the agents.
type Inbox struct {
	mu       sync.Mutex
	messages []string
	runner   *agent.Runner // of the agents; nil: there are none yet
}

// add takes a message up and passes it on.
func (b *Inbox) add(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages = append(b.messages, text)
	if b.runner != nil {
		b.runner.Inject("", text)
	}
}

// connect brings the agents of r what was said and what will be.
func (b *Inbox) connect(r *agent.Runner) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.runner = r
	for _, text := range b.messages {
		r.Inject("", text)
	}
}

// Cancel stops a task of the agents by its id or how that begins. began is false
// where no agent is at work yet.
func (b *Inbox) Cancel(task string) (stopped, began bool) {
	b.mu.Lock()
	runner := b.runner
	b.mu.Unlock()
	return runner != nil && runner.Cancel(task), runner != nil
}

// Listen takes up what comes over a channel, which may be nil, until stop is called,
// after what the journal has from before. A message is in the journal before any agent
// reads it, so that a run that is continued knows it.
func (b *Inbox) Listen(ctx context.Context, d *rundir.Dir, from <-chan string, log *slog.Logger) (stop func()) {
	n := 0
	for _, text := range received(d.Journal) {
		n++
		b.add(text)
	}
	if from == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case text, ok := <-from:
				if !ok {
					return
				}
				n++
				text = string(d.Redact([]byte(text)))
				if err := d.Journal.Append(kindWords, strconv.Itoa(n), text); err != nil {
					log.WarnContext(ctx, "what was said to the run is lost when it is continued", "error", err)
				}
				b.add(text)
			case <-ctx.Done():
				return
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

// received is what was said to a run, as its journal has it.
func received(j *journal.Journal) []string {
	var out []string
	for _, e := range j.Entries(kindWords) {
		var text string
		if json.Unmarshal(e.Data, &text) == nil {
			out = append(out, text)
		}
	}
	return out
}

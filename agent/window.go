package agent

import (
	"fmt"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/transcript"
)

// A window is how much of the model's room the conversation takes.
type window struct {
	tokens int  // that the model takes; 0: it is not known
	used   int  // by the count of the last answer's provider
	size   int  // of the history then, in characters
	cut    bool // the provider left out a part of what it was sent
}

// windowShare is how much of a window is used before old answers of tools are
// shortened: what is left is for the next answer, and for a guess that is too low.
const windowShare = 0.85

// full says whether the next question would take more than its share of the window.
func (t *turn) full() bool {
	return t.window.tokens > 0 && float64(t.projected()) > windowShare*float64(t.window.tokens)
}

// projected is about how many tokens the next question has.
func (t *turn) projected() int {
	if t.window.used == 0 {
		return t.request().Size() / 4
	}
	return t.window.used + (size(*t.history)-t.window.size)/4
}

// makeRoom shortens the history before the window is full, so that the model, which
// knows it, is not asked a question that it must refuse, and no server shortens it in
// a way of its own. It returns how often it did.
func (t *turn) makeRoom(n int) (times int, err error) {
	if !t.full() {
		return 0, nil
	}
	shorter := prune(*t.history)
	if size(shorter) == size(*t.history) {
		return 0, nil
	}
	if err := t.record(kindPrune, t.pruneKey(n, 0), pruning{}); err != nil {
		return 0, err
	}
	return 1, t.shorten(shorter, n)
}

// outgrown says whether there is no room for another round of tools, whatever is
// shortened.
func (t *turn) outgrown() bool {
	return t.full() && !t.window.cut && size(prune(*t.history)) == size(*t.history)
}

// measure takes up what an answer says of the window.
func (t *turn) measure(resp *model.Response) error {
	t.window.used, t.window.size = resp.Usage.Input, size(*t.history)
	if resp.Lost == 0 || t.window.cut {
		return nil
	}
	t.window.cut = true
	if t.window.tokens == 0 || resp.Usage.Input < t.window.tokens {
		t.window.tokens = resp.Usage.Input
	}
	t.end.Truncated = fmt.Sprintf("the provider counted %d tokens where about %d were sent: it left out a part of the conversation; give the model a larger context (for Ollama: OLLAMA_CONTEXT_LENGTH, or num_ctx)",
		resp.Usage.Input, resp.Usage.Input+resp.Lost)
	return t.send(Event{Type: transcript.Note, N: t.end.Iterations, Text: t.end.Truncated})
}

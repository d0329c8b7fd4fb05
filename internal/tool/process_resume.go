package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/redact"
)

// A Holding is what has to be known of a process to hold it once more when ycbot was started
// again: what it was given so far, and whether it is over.
type Holding struct {
	ID      string          `json:"id"`
	Beside  evidence.Beside `json:"beside"`
	Stopped bool            `json:"stopped,omitempty"`
}

// repeatTime is how long a process that is started again may take to answer an input.
const repeatTime = 5 * time.Second

// noted keeps the state of a process.
func (p *Processes) noted(h *heldProcess) error {
	if p.keep == nil {
		return nil
	}
	b := h.beside
	if h.held != nil {
		b.Inputs = h.held.Inputs()
	}
	return p.keep(Holding{h.id, b, h.stopped})
}

// resume starts the processes again that were held when ycbot ended: with the same port, and
// given the same input. One that does not come up is over, and the model is to know that
// before anything else runs.
func (p *Processes) resume(ctx context.Context) error {
	for _, h := range p.running() {
		if h.held != nil {
			continue
		}
		why, err := p.again(ctx, h)
		if err != nil {
			return fmt.Errorf("%s: start it again: %w", h.id, err)
		}
		if why == "" {
			continue
		}
		h.stopped = true
		if h.held != nil {
			_, _, _, err = p.end(ctx, h)
		} else {
			err = p.noted(h)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", h.id, err)
		}
		return Badf("%s (%s) ended with the program that held it, and could not be started again: %s. Nothing was run; start it with start_process if you need it", h.id, clip(h.beside.Command, 200), why)
	}
	return nil
}

// again starts one of them, or says why that cannot be.
func (p *Processes) again(ctx context.Context, h *heldProcess) (why string, err error) {
	if strings.Contains(h.beside.Command, redact.Mark) || slices.ContainsFunc(h.beside.Inputs, func(in evidence.Input) bool { return strings.Contains(in.Text, redact.Mark) }) {
		return "its command or input had a secret in it, which is not kept", nil
	}
	if err := p.open(ctx); err != nil {
		return "this machine cannot hold a process: " + err.Error(), nil
	}
	for _, port := range []int{h.beside.Port, h.beside.Await} {
		if port == 0 {
			continue
		}
		busy, err := p.loopback.Taken(ctx, port)
		if err != nil {
			return "", err
		}
		if busy {
			return fmt.Sprintf("something else listens on port %d", port), nil
		}
	}
	ready, err := p.hold(ctx, h, readyTime)
	switch {
	case err != nil:
		return "", err
	case !ready && (h.held.Ended() || h.beside.Await > 0 || h.beside.Text != ""):
		return "it does not become ready", nil
	}
	return "", h.held.Repeat(ctx, p.shell.Roots.Temp, h.beside, repeatTime)
}

package evidence

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"
)

const (
	feedTime = 10 * time.Second // until a process that was just started has its input open
	feedPoll = 10 * time.Millisecond
)

// Inputs are what h was given on its standard input, in this order.
func (h *Held) Inputs() []Input {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.inputs)
}

// Answered notes what h wrote when it had read its last input.
func (h *Held) Answered(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.inputs); n > 0 {
		h.inputs[n-1].Await = text
	}
}

// Repeat gives h, which is b, the input that it had once, and waits for each answer that was
// waited for, so long at most. An input that it does not take ends that: what comes of the
// commands beside it shows it.
func (h *Held) Repeat(ctx context.Context, temp string, b Beside, most time.Duration) error {
	for _, in := range b.Inputs {
		_, from := h.Output(0)
		if h.Feed(temp, b, in.Text) != nil {
			return nil
		}
		if in.Await == "" {
			continue
		}
		ready, err := h.Await(ctx, Readiness{Text: in.Await, From: from}, most)
		if err != nil {
			return err
		}
		if ready {
			h.Answered(in.Await)
		}
	}
	return nil
}

// Feed writes text to the standard input of h, which is b; temp is the folder that TMPDIR
// names. An error says why the process did not take it.
func (h *Held) Feed(temp string, b Beside, text string) error {
	h.mu.Lock()
	h.inputs = append(h.inputs, Input{Text: text}) // also where it fails: a replay has no process that reads
	h.mu.Unlock()
	pipe, err := h.pipe(temp, b)
	if err != nil {
		return errors.New("it takes no input")
	}
	defer pipe.Close()
	if info, err := pipe.Stat(); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return errors.New("it takes no input")
	}
	raw, err := pipe.SyscallConn()
	if err != nil {
		return err
	}
	var n int
	var failed error
	err = raw.Write(func(fd uintptr) bool { // once: a pipe that is full is the process's fault
		n, failed = syscall.Write(int(fd), []byte(text))
		return true
	})
	switch err = errors.Join(err, failed); {
	case err != nil:
		return fmt.Errorf("it does not read its input: %w", err)
	case n < len(text):
		return fmt.Errorf("it does not read its input: %d of %d bytes were written", n, len(text))
	}
	return nil
}

// pipe opens the standard input of a process, once that has it open.
func (h *Held) pipe(temp string, b Beside) (*os.File, error) {
	root, err := os.OpenRoot(temp)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	limit := time.NewTimer(feedTime)
	defer limit.Stop()
	for {
		ended := h.Ended()
		// Without waiting for a reader: there is none when the process has ended.
		pipe, err := root.OpenFile(b.Input(), os.O_WRONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
		if early := errors.Is(err, syscall.ENXIO) || errors.Is(err, fs.ErrNotExist); !early || ended {
			return pipe, err
		}
		select {
		case <-time.After(feedPoll):
		case <-limit.C:
			return nil, err
		}
	}
}

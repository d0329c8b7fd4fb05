package reproduce

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/sandbox"
)

const (
	readyTime  = time.Minute     // until a process that is started again is ready
	answerTime = 5 * time.Second // until it answers an input; on the other side it may answer something else
)

// A Company is the processes that are held while a command runs again, as they were the
// first time.
type Company struct {
	Loopback  *sandbox.Loopback
	processes []evidence.Beside
	held      []*evidence.Held
	unlock    func()
}

// Accompany starts what was held beside a recorded command, in the tree and with the
// settings of x, waits until each is ready and gives it the same input; roots are the
// folders that the commands name. One that does not become ready is no error: what comes
// of the command shows it.
func (s *Sides) Accompany(ctx context.Context, x evidence.Execution, beside []evidence.Beside, roots evidence.Roots) (*Company, error) {
	c := &Company{unlock: func() {}}
	if len(beside) == 0 {
		return c, nil
	}
	var err error
	if c.Loopback, err = sandbox.OpenLoopback(ctx, s.Sandbox, x.Run.Network); err != nil {
		return nil, err
	}
	if c.Loopback.Shared() { // the ports are the host's: one after another
		s.ports.Lock()
		c.unlock = s.ports.Unlock
	}
	for _, b := range beside {
		b.Command, b.Inputs = roots.Move(b.Command, x.Roots), slices.Clone(b.Inputs)
		for i := range b.Inputs {
			b.Inputs[i].Text = roots.Move(b.Inputs[i].Text, x.Roots)
		}
		c.processes = append(c.processes, b)
		held := x.Holding(b, c.Loopback)
		held.Task = Beside
		h := s.Log.Hold(ctx, s.Sandbox, held)
		c.held = append(c.held, h)
		if _, err := h.Await(ctx, evidence.Readiness{Loopback: c.Loopback, Port: b.Await, Text: b.Text}, readyTime); err != nil {
			return nil, errors.Join(err, c.Leave())
		}
		if err := h.Repeat(ctx, x.Roots.Temp, b, answerTime); err != nil {
			return nil, errors.Join(err, c.Leave())
		}
	}
	return c, nil
}

// given is a held command with all of its input at once, which then ends, and with both
// streams in one as it had them.
func given(r evidence.Record) string {
	if !r.Held || len(r.Inputs) == 0 {
		return r.Script
	}
	text, end := "", "INPUT"
	for _, in := range r.Inputs {
		text += in.Text
	}
	for strings.Contains(text, end) {
		end += "_"
	}
	return "{ " + CommandOf(r) + "\n} 2>&1 <<'" + end + "'\n" + strings.TrimSuffix(text, "\n") + "\n" + end
}

// Attend has x run beside the processes.
func (c *Company) Attend(x *evidence.Execution) {
	x.Run.Loopback, x.Beside = c.Loopback, c.processes
	if n := len(c.processes); n > 0 {
		x.Run.Env = append(slices.Clone(x.Run.Env), "PORT="+strconv.Itoa(c.processes[n-1].Port))
	}
}

// Leave ends the processes.
func (c *Company) Leave() error {
	var errs []error
	for _, h := range c.held {
		_, _, err := h.Stop()
		errs = append(errs, err)
	}
	c.Loopback.Close()
	c.unlock()
	return errors.Join(errs...)
}

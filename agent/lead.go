package agent

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ycbot/ycbot/internal/model"
)

// leads knows what the first questions of agents begin with: system text and tools.
// A provider keeps that for the next question when its answer to the first has begun.
// Of agents that begin alike and at the same time, the others would each pay for it.
type leads struct {
	mu    sync.Mutex
	begun map[[32]byte]chan struct{} // by beginning; closed when an answer to it has begun
}

// enter returns the sign for which others with the same beginning wait, and whether
// this is the first that has it.
func (l *leads) enter(beginning [32]byte) (begun chan struct{}, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if begun, ok := l.begun[beginning]; ok {
		return begun, false
	}
	if l.begun == nil {
		l.begun = map[[32]byte]chan struct{}{}
	}
	begun = make(chan struct{})
	l.begun[beginning] = begun
	return begun, true
}

// A led model asks its first question when the answer to the first one with the same
// beginning has begun, or will not come, or lets wait for too long.
type led struct {
	model.Model
	leads *leads
	most  time.Duration
	asked atomic.Bool
}

func (m *led) Generate(ctx context.Context, req *model.Request, on func(model.Delta)) (*model.Response, error) {
	if m.asked.Swap(true) {
		return m.Model.Generate(ctx, req, on)
	}
	begun, first := m.leads.enter(beginning(m.Name(), req))
	if !first {
		late := time.NewTimer(m.most)
		defer late.Stop()
		select {
		case <-begun:
		case <-late.C:
		case <-ctx.Done(): // the model says it in its own words
		}
		return m.Model.Generate(ctx, req, on)
	}
	sign := sync.OnceFunc(func() { close(begun) })
	defer sign()
	return m.Model.Generate(ctx, req, func(d model.Delta) {
		sign()
		if on != nil {
			on(d)
		}
	})
}

// beginning names what a question begins with.
func beginning(name string, req *model.Request) [32]byte {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q", name, req.System)
	for _, t := range req.Tools {
		fmt.Fprintf(h, "%q %q %q", t.Name, t.Description, t.Schema)
	}
	return [32]byte(h.Sum(nil))
}

package agent

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/model"
)

// A slow model begins its first answer when it is let, and ends none before all that
// the test wants are asked.
type slow struct {
	let, all chan struct{}
	asked    atomic.Int32
	want     int32
	before   atomic.Int32 // questions that had come when the first answer began
}

func (*slow) Name() string { return "slow" }

func (s *slow) Generate(ctx context.Context, _ *model.Request, on func(model.Delta)) (*model.Response, error) {
	n := s.asked.Add(1)
	if n == s.want {
		close(s.all)
	}
	if n == 1 {
		<-s.let
		s.before.Store(s.asked.Load())
		on(model.Delta{Text: "I"})
	}
	select {
	case <-s.all:
		return &model.Response{}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Of agents that begin alike, the first asks alone until its answer has begun, and
// not until it has ended; one that begins otherwise does not wait.
func TestFirstAnswerGoesAhead(t *testing.T) {
	t.Parallel()
	const alike = 4
	s := &slow{let: make(chan struct{}), all: make(chan struct{}), want: alike + 1}
	var l leads
	var wg sync.WaitGroup
	ask := func(system string) {
		m := &led{Model: s, leads: &l, most: time.Hour}
		if _, err := m.Generate(t.Context(), &model.Request{System: system}, nil); err != nil {
			t.Error(err)
		}
	}
	wg.Go(func() { ask("You verify.") })
	for s.asked.Load() == 0 {
		<-time.After(time.Millisecond)
	}
	for range alike - 1 {
		wg.Go(func() { ask("You verify.") })
	}
	wg.Go(func() { ask("You explore.") })
	for s.asked.Load() < 2 { // the one that begins otherwise
		<-time.After(time.Millisecond)
	}
	close(s.let)
	wg.Wait()
	if n := s.before.Load(); n != 2 {
		t.Errorf("%d questions before the first answer began, want 2", n)
	}
}

// No agent waits for an answer that will not come, or comes late, or longer than its
// own context.
func TestNobodyWaitsForNothing(t *testing.T) {
	t.Parallel()
	req := &model.Request{System: "You verify."}
	s := &slow{let: make(chan struct{}), all: make(chan struct{}), want: 2}
	defer close(s.let)
	var l leads
	begun, _ := l.enter(beginning(s.Name(), req))
	s.asked.Store(1)
	if _, err := (&led{Model: s, leads: &l, most: time.Millisecond}).Generate(t.Context(), req, nil); err != nil {
		t.Errorf("late: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&led{Model: s, leads: &l, most: time.Hour}).Generate(ctx, req, nil); err != nil && ctx.Err() == nil {
		t.Errorf("cancelled: %v", err)
	}
	close(begun) // as where the first one failed
	if _, err := (&led{Model: s, leads: &l, most: time.Hour}).Generate(t.Context(), req, nil); err != nil {
		t.Errorf("failed: %v", err)
	}
}

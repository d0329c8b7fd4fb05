package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/gate"
)

// Explain says what the gate would run for a job, and why. It runs nothing and
// leaves no run behind.
func (r *Runner) Explain(ctx context.Context, job Job) (found *gate.Explanation, err error) {
	temp := filepath.Join(r.Home, "tmp")
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return nil, err
	}
	if job.Out, err = os.MkdirTemp(temp, "explain-"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(job.Out)) }()
	s, err := r.open(ctx, job)
	if err != nil {
		return nil, err
	}
	defer s.close()
	src, err := s.checkout(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.ready(ctx, src); err != nil {
		return nil, err
	}
	in, err := s.gateInput(ctx)
	if err != nil {
		return nil, err
	}
	return s.gateOf(s.log).Explain(ctx, in)
}

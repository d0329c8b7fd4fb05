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
	p, done, err := r.open(ctx, job)
	if err != nil {
		return nil, err
	}
	defer done()
	in, err := p.gateInput(ctx)
	if err != nil {
		return nil, err
	}
	return p.newGate(p.begun.dir.Evidence).Explain(ctx, in)
}

// open prepares a run without recording its stages.
func (r *Runner) open(ctx context.Context, job Job) (p *prepared, done func(), err error) {
	b, err := r.begin(ctx, job, nil)
	if err != nil {
		return nil, nil, err
	}
	h, err := r.openMirror(ctx, b)
	if err != nil {
		b.close(r)
		return nil, nil, err
	}
	src, err := r.checkout(ctx, b, h.mirror)
	if err != nil {
		h.close(r.Log)
		b.close(r)
		return nil, nil, err
	}
	if p, err = r.ready(ctx, b, h, src); err != nil {
		b.close(r)
		return nil, nil, err
	}
	return p, func() { p.close(); b.close(r) }, nil
}

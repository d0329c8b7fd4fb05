package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/internal/pullrun"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/run"
)

// runPull does "ycbot run --pr", as verified does the rest.
func (p *program) runPull(ctx context.Context, o *runOptions) (*report.Report, error) {
	m := p.machine()
	rj, err := p.job(o)
	if err != nil {
		return nil, err
	}
	h, j, err := pullrun.Find(ctx, m, pullrun.Request{Number: o.pr.number, Repo: o.repo, Dir: o.dir, Head: o.head, Config: rj.Config})
	if err != nil {
		return nil, err
	}
	rj = h.Pin(rj, j, o.sandbox.value)
	if rj.Models, err = p.models(o); err != nil {
		return nil, err
	}
	if rj.Models != nil {
		rj.Pull.Seen = h.Seen(ctx, j)
	}
	o.remote = true
	if !o.publish {
		return p.verify(ctx, o, rj)
	}
	done, err := pullrun.RunAndPost(ctx, m, h, rj, func(ctx context.Context, rj run.Job, first func(*report.Report)) (*report.Report, error) {
		o.first = first
		return p.verify(ctx, o, rj)
	})
	if err != nil {
		return nil, err
	}
	if done.Posted.CommentURL != "" {
		p.say("posted " + done.Posted.CommentURL)
	}
	if len(done.Posted.Left) > 0 {
		done.Failure = errors.Join(done.Failure, fmt.Errorf("--publish: the result could not be posted: %s", strings.Join(done.Posted.Left, "; ")))
	}
	return done.Report, done.Failure
}

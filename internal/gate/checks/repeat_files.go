package checks

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// probeOthers runs tests that belong to files again that the change
// can affect, in another order where their runner can do that: those of the
// changed test files, else all. What fails is run again, and at base.
func (r *check) probeOthers(ctx context.Context) error {
	for _, c := range r.in.Tests[Head] {
		if c.Results == nil || languages.ByPackage(c.Eco) || !r.reported(c) {
			continue
		}
		if err := r.probeOther(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// reported says whether c may have reported a test on the head.
func (r *check) reported(c ecosystem.Command) bool {
	for id, t := range r.in.Suites[Head] {
		if t.Eco == c.Eco && id.Unit == c.Unit && id.Test != "" && !r.in.OfOthers(c, id.Package) {
			return true
		}
	}
	return false
}

// on is a command of the head on a side: that of its name, else the only one with results of its
// kind there. No other one of several runs the same tests.
func (r *check) on(side Side, c ecosystem.Command) (ecosystem.Command, bool) {
	var all []ecosystem.Command
	for _, d := range r.in.Tests[side] {
		if d.Results == nil || d.Eco != c.Eco || d.Unit != c.Unit {
			continue
		}
		if d.Label() == c.Label() {
			return d, true
		}
		all = append(all, d)
	}
	if len(all) != 1 {
		return ecosystem.Command{}, false
	}
	return all[0], true
}

// elapsed is how long the tests of some packages or files took on a side.
func (r *check) elapsed(side Side, unit string, pkgs []string) time.Duration {
	var sum time.Duration
	for _, p := range pkgs {
		sum += r.in.Suites[side][ID{Unit: unit, Package: p}].Elapsed
	}
	return sum
}

func (r *check) probeOther(ctx context.Context, c ecosystem.Command) error {
	var pkgs []string
	for _, f := range r.in.Change.Files {
		if languages.IsTestSource(f.Path) && results.HasPackage(r.in.Suites[Head], ID{Unit: c.Unit, Package: f.Path}) && !r.in.OfOthers(c, f.Path) {
			pkgs = append(pkgs, f.Path)
		}
	}
	took := r.took(c)
	if _, narrows := c.Results.Narrow(c, ecosystem.Part{Packages: pkgs}); narrows && len(pkgs) > 0 {
		// Not every runner says how long tests take.
		if own := r.elapsed(Head, c.Unit, pkgs); own > 0 {
			took = times{min(took.either, own), min(took.base, r.elapsed(Base, c.Unit, pkgs))}
		}
	}
	var ok bool
	title := "repeated"
	if c.Timeout, ok = r.share(ctx, took.either); !ok {
		r.leaveOut(ctx, Probe{Title: title, Command: c.Typed()}, took)
		return nil
	}
	run := func(side Side) (Suite, Step, error) {
		d, ok := r.on(side, c)
		if !ok {
			return Suite{}, Step{}, nil
		}
		have := slices.DeleteFunc(slices.Clone(pkgs), func(p string) bool { return !r.in.has(side, ID{Unit: d.Unit, Package: p}) })
		if less, ok := d.Results.Narrow(d, ecosystem.Part{Packages: have}); ok && len(have) > 0 {
			less.Name = d.Label()
			d = less
		}
		if d.Results.Probe != nil {
			d, title = d.Results.Probe(d, ecosystem.Probing{Seed: seed(r.in.Head.OID), Packages: have})
		}
		d.Stage, d.Timeout = StageProbe, c.Timeout
		return r.in.RunFresh(ctx, side, d)
	}
	head, step, err := run(Head)
	if err != nil {
		return err
	}
	p := Probe{Title: title, Command: step.Label(), Evidence: []string{step.Evidence}, Ran: r.held(head), Note: "nothing failed"}
	failed := r.newFailures(head)
	switch {
	case step.TimedOut:
		r.cut(&p, c, took)
	case step.Stopped():
		p.Ran, p.Note = false, "it "+step.Ending()
	case !p.Ran:
		p.Note = strings.TrimSpace("no test passed under it: " + results.FirstLine(step.Output))
	case len(failed) > 0:
		var base Suite // what failed is run by itself in any case
		if c.Timeout, ok = r.share(ctx, step.Duration); ok {
			var onBase Step
			if base, onBase, err = run(Base); err != nil {
				return err
			}
			if onBase.Evidence != "" {
				p.Evidence = append(p.Evidence, onBase.Evidence)
			}
		}
		if err := r.judgeProbe(ctx, &p, failed, base); err != nil {
			return err
		}
	case step.Failed():
		p.Note = "nothing new failed"
	}
	r.found.Probes = append(r.found.Probes, p)
	return nil
}

package backtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ycbot/ycbot/internal/run"
)

// A fault is a way to make the good sources wrong.
type fault struct {
	operator string
	put      map[string]blob // files to replace in the good head
	undoes   bool            // the change before it has the fix: base is the good head without its tests
}

// Operators of the arm unseen.
const (
	opHiddenUndo = "hidden-undo"
	opRevertHunk = "revert-hunk"
	opDropHunk   = "drop-hunk"
	opMutant     = "mutant"
)

// operators are all ways in which cases are made, for the plan.
func operators() []Operator {
	out := []Operator{
		{Good, "as merged", "the commit against its first parent"},
		{Honest, "as merged", "an edit of a sample repository of ycbot's own"},
		{Undone, "sources-back", "source files as the parent has them, all others as merged; base is the merged commit"},
		{Unseen, opHiddenUndo, "base is the merged commit with the parent's tests; the head puts all of its sources back"},
		{Unseen, opRevertHunk, "base is the merged commit with the parent's tests; the head puts one hunk of its sources back"},
		{Unseen, opDropHunk, "base is the parent; the head is the merged commit without its tests and without one hunk of its sources"},
		{Unseen, opMutant, "base is the parent; the head is the merged commit without its tests and with one operator or constant changed in an added line"},
	}
	for _, t := range tamperings() {
		out = append(out, Operator{Tampered, t.name, "sources-back, and " + t.does})
	}
	return out
}

// unseen makes a fault that the visible tests, those of the parent, let pass and a
// hidden one, which the change brings, shows.
func (s *subject) unseen(ctx context.Context) (spec, error) {
	hide := map[string]blob{}
	for _, f := range s.files {
		if f.test() {
			hide[f.path] = f.before
		}
	}
	if len(hide) == 0 {
		return spec{}, exclude(whyHidden)
	}
	quiet, err := s.forge.commit(ctx, s.change.Parent, s.change.Commit, hide, s.subject)
	if err != nil {
		return spec{}, err
	}
	faults, err := s.faults(ctx)
	if err != nil {
		return spec{}, err
	}
	last := exclude(whyUnseen)
	var besides *run.SuiteResult
	for _, f := range faults[:min(len(faults), maxTries)] {
		decide, err := s.hidden(ctx, f)
		if e := (*exclusion)(nil); errors.As(err, &e) {
			last = err
			continue
		}
		if err != nil {
			return spec{}, err
		}
		if besides == nil {
			if besides, err = s.suite(ctx, quiet, nil, false); err != nil {
				return spec{}, err
			}
		}
		base := s.change.Parent
		if f.undoes {
			base = quiet
		}
		head, err := s.forge.commit(ctx, base, quiet, f.put, s.subject)
		if err != nil {
			return spec{}, err
		}
		ok, err := s.green(ctx, head, besides)
		if e := (*exclusion)(nil); err != nil && !errors.As(err, &e) {
			return spec{}, err
		}
		if !ok {
			last = exclude(whyVisible)
			continue
		}
		return spec{operator: f.operator, base: base, head: head, tests: names(decide)}, nil
	}
	return spec{}, last
}

// hidden are the tests of the change that show a fault.
func (s *subject) hidden(ctx context.Context, f fault) ([]run.SuiteTest, error) {
	if f.operator == opHiddenUndo {
		err := s.undo(ctx)
		return s.decide, err
	}
	bad, err := s.forge.commit(ctx, s.change.Commit, s.change.Commit, f.put, s.subject)
	if err != nil {
		return nil, err
	}
	return s.notices(ctx, bad)
}

// faults are the faults to try, of each operator in turn, in an order that the seed says.
func (s *subject) faults(ctx context.Context) ([]fault, error) {
	hunks, err := s.forge.hunks(ctx, s.files)
	if err != nil {
		return nil, err
	}
	lists := [][]fault{{{operator: opHiddenUndo, put: s.back(), undoes: true}}}
	var reverted, without, mutants []fault
	for _, h := range hunks {
		before, err := s.forge.read(ctx, h.before)
		if err != nil {
			return nil, err
		}
		after, err := s.forge.read(ctx, h.after)
		if err != nil {
			return nil, err
		}
		place := fmt.Sprintf(":%s:%d", h.path, h.now)
		if len(hunks) > 1 { // else it is all of the change
			b, err := s.forge.write(ctx, h.after.mode, h.without(before, after))
			if err != nil {
				return nil, err
			}
			put := map[string]blob{h.path: b}
			reverted = append(reverted, fault{opRevertHunk + place, put, true})
			without = append(without, fault{opDropHunk + place, put, false})
		}
		all := h.mutants(after)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			b, err := s.forge.write(ctx, h.after.mode, all[name])
			if err != nil {
				return nil, err
			}
			mutants = append(mutants, fault{name, map[string]blob{h.path: b}, false})
		}
	}
	for _, l := range [][]fault{reverted, without, mutants} {
		lists = append(lists, shuffled(s.seed, l, func(f fault) string { return f.operator }, s.change.Commit))
	}
	lists = shuffled(s.seed, lists, func(l []fault) string {
		if len(l) == 0 {
			return ""
		}
		return l[0].operator
	}, s.change.Commit, "unseen")
	var out []fault
	for i := range maxTries {
		for _, l := range lists {
			if i < len(l) {
				out = append(out, l[i])
			}
		}
	}
	return out, nil
}

package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/report"
)

// lifted are the reasons of a gate's verdict that a person's acceptance takes away.
func lifted(result *gate.Result) []string {
	before, after := result.Facts, result.Facts
	before.Accepted, after.Accepted = false, true
	_, with := gate.Decide(after)
	_, without := gate.Decide(before)
	return slices.DeleteFunc(without, func(r string) bool { return slices.Contains(with, r) })
}

// acceptable names what a person can accept of a gate's result, "" for nothing: the
// same list of given-up expectations and of other reasons has the same name.
func acceptable(result *gate.Result, e *report.Expectations) string {
	reasons := lifted(result)
	if len(reasons) == 0 {
		return ""
	}
	slices.Sort(reasons)
	sum := sha256.Sum256([]byte(e.Digest() + "\n" + strings.Join(reasons, "\n")))
	return hex.EncodeToString(sum[:])
}

// heed concludes a gate's result with what people accepted, and returns which
// acceptances counted: those of exactly this list, and those of this head.
func heed(result *gate.Result, e *report.Expectations, accepted []report.Acceptance) (*gate.Result, []report.Acceptance) {
	digest := acceptable(result, e)
	var counted []report.Acceptance
	for _, a := range accepted {
		if digest == "" || a.Digest != "" && a.Digest != digest {
			continue
		}
		a.Digest = digest
		if !slices.Contains(counted, a) {
			counted = append(counted, a)
		}
	}
	if len(counted) == 0 {
		return result, nil
	}
	out := *result
	out.Facts.Accepted = true
	out.Verdict, out.Reasons = gate.Decide(out.Facts)
	return &out, counted
}

// acceptance concludes the recorded run of this head again, with what a person
// accepted. Nothing is run.
func (s *session) acceptance(ctx context.Context) (*report.Report, error) {
	t, err := stage(ctx, s, "takeover", s.takeRecord)
	if err != nil {
		return nil, err
	}
	return stage(context.WithoutCancel(ctx), s, "report", func(context.Context) (*report.Report, error) { return s.accepted(t) })
}

// takeRecord keeps the run that is concluded again.
func (s *session) takeRecord(context.Context) (*takeover, error) {
	dir := Origin(s.job.Previous)
	was, err := Check(dir, "")
	switch c := s.src.Change; {
	case err != nil:
		return nil, &UsageError{err}
	case len(was.Problems) > 0:
		return nil, &UsageError{fmt.Errorf("the recorded run is not intact: %s", was.Problems[0])}
	case was.Report.HeadSHA != c.HeadSHA || was.Report.PR != c.PR || was.Report.Repo != c.Repo:
		return nil, &UsageError{fmt.Errorf("the recorded run is of %s, and not of %s", change.Short(was.Report.HeadSHA), change.Short(c.HeadSHA))}
	case was.Report.Outcome != report.Completed:
		return nil, &UsageError{errors.New("the recorded run did not complete: ask for another with /verify")}
	}
	if err := s.keep(dir); err != nil {
		return nil, fmt.Errorf("keep the recorded run: %w", err)
	}
	return &takeover{RunID: was.Report.RunID, Head: was.Report.HeadSHA, Digest: was.Digest, Accepted: true}, nil
}

// accepted is the report of the run that is kept, concluded with what was accepted.
func (s *session) accepted(t *takeover) (*report.Report, error) {
	rep, err := s.taken(t)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.dir, previousDir)
	j, err := journal.Read(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		return nil, err
	}
	old := &session{Runner: &Runner{}, dir: dir, journal: j}
	k, err := old.recall()
	if err != nil {
		return nil, err
	}
	if k.gate == nil {
		return nil, fmt.Errorf("%s has no result of the gate", dir)
	}
	old.around.Accepted = append(slices.Clone(rep.Accepted), s.around.Accepted...)
	again := old.facts()
	again.Outcome = report.Completed
	old.conclude(again, k.gate, nil, nil)
	old.concludeAgents(again, k.gate, k.judged, nil)
	old.concludeRevisit(again, old.last)
	rep.Verdict, rep.Reasons, rep.Accepted = again.Verdict, again.Reasons, again.Accepted
	note := fmt.Sprintf("nothing was run: run %s verified this commit, and its verdict is concluded again with what was accepted; what carries it is in %s/", t.RunID, previousDir)
	if len(again.Accepted) == 0 {
		note = fmt.Sprintf("nothing was run: run %s of this commit gives up nothing that a person could accept", t.RunID)
	}
	rep.Notes = append(rep.Notes[:len(rep.Notes)-1], note)
	rep.Title = rep.MakeTitle()
	return rep, nil
}

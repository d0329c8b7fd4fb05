package conclude

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/report"
)

// liftable are the reasons of a gate's verdict that a person's acceptance takes away.
func liftable(result *gate.Result) []string {
	before, after := result.Facts, result.Facts
	before.Accepted, after.Accepted = false, true
	_, with := gate.Decide(after)
	_, without := gate.Decide(before)
	return slices.DeleteFunc(without, func(r string) bool { return slices.Contains(with, r) })
}

// acceptable names what a person can accept of a gate's result, "" for nothing: the
// same list of given-up expectations and of other reasons has the same name.
func acceptable(result *gate.Result, e *report.Expectations) string {
	reasons := liftable(result)
	if len(reasons) == 0 {
		return ""
	}
	slices.Sort(reasons)
	sum := sha256.Sum256([]byte(e.Digest() + "\n" + strings.Join(reasons, "\n")))
	return hex.EncodeToString(sum[:])
}

// accept concludes a gate's result with what people accepted, and returns which
// acceptances counted: those of exactly this list, and those of this head.
func accept(result *gate.Result, e *report.Expectations, accepted []report.Acceptance) (*gate.Result, []report.Acceptance) {
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

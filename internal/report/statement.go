package report

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"slices"

	"github.com/ycbot/ycbot/internal/pattern"
)

// The types of the statement, as https://github.com/in-toto/attestation defines
// them in spec/v1/statement.md and spec/predicates/test-result.md.
const (
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://in-toto.io/attestation/test-result/v0.1"
)

type statement struct {
	Type          string       `json:"_type"`
	Subject       []descriptor `json:"subject"`
	PredicateType string       `json:"predicateType"`
	Predicate     testResult   `json:"predicate"`
}

type testResult struct {
	Result        string       `json:"result"` // PASSED, WARNED or FAILED
	Configuration []descriptor `json:"configuration"`
	URL           string       `json:"url,omitempty"`
	PassedTests   []string     `json:"passedTests"`
	WarnedTests   []string     `json:"warnedTests"`
	FailedTests   []string     `json:"failedTests"`
}

// A descriptor is a ResourceDescriptor of spec/v1/resource_descriptor.md.
type descriptor struct {
	Name        string            `json:"name,omitempty"`
	Digest      map[string]string `json:"digest"`
	MediaType   string            `json:"mediaType,omitempty"`
	Annotations map[string]any    `json:"annotations,omitempty"`
}

// ErrNoHead is the error of a report that names no head commit: nothing can be
// stated about it.
var ErrNoHead = errors.New("no head commit")

// InToto renders r as an unsigned in-toto Statement v1 about the head commit, with
// a predicate of type test-result v0.1. The digests are the SHA-256, in hex, of the
// files that the report rests on, by their names in the run directory or the
// repository: report.json must be among them, evidence.jsonl and the configuration
// should be. The address of the run may be empty.
//
// PASS is PASSED and FAIL is FAILED. PARTIAL is WARNED: what ran held, but something
// that PASS needs is missing. ERROR is FAILED, as the predicate has no word for
// "not known" and no verdict is never success. The annotations of report.json have
// ycbot's own verdict and the reasons.
//
// It is the same bytes for the same report, digests and address. A report that
// [Parse] would not take is an error, and so is one without a head ([ErrNoHead]).
func (r *Report) InToto(digests map[string]string, address string) ([]byte, error) {
	n := r.normalised()
	s, err := n.statement(digests, address)
	if err != nil {
		return nil, fmt.Errorf("statement of report %s: %w", r.RunID, err)
	}
	return document("statement of report "+r.RunID, s)
}

// gitCommit matches the ids of SHA-1 and SHA-256 repositories.
var gitCommit = pattern.New(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

func (r *Report) statement(digests map[string]string, address string) (*statement, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	if r.HeadSHA == "" {
		return nil, ErrNoHead
	}
	if !gitCommit.MatchString(r.HeadSHA) {
		return nil, fmt.Errorf("head %q is not a commit id", r.HeadSHA)
	}
	if u, err := url.Parse(address); err != nil || address != "" && (u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
		return nil, fmt.Errorf("address %q: want one of http or https", address)
	}
	configuration, err := r.configuration(digests)
	if err != nil {
		return nil, err
	}
	head := descriptor{Name: plain(r.Repo), Digest: map[string]string{"gitCommit": r.HeadSHA}}
	if r.Dirty {
		head.Annotations = map[string]any{"dirty": true} // a snapshot of a working tree: no repository has this commit
	}
	p := testResult{
		Result: r.Verdict.inToto(), Configuration: configuration, URL: address,
		PassedTests: r.titles(passed), WarnedTests: r.titles(warned), FailedTests: r.titles(failed),
	}
	return &statement{Type: statementType, Subject: []descriptor{head}, PredicateType: predicateType, Predicate: p}, nil
}

// inToto is v in the three words of the predicate.
func (v Verdict) inToto() string {
	switch v {
	case Pass:
		return "PASSED"
	case Partial:
		return "WARNED"
	case Fail, Error:
	}
	return "FAILED"
}

var sha256Hex = pattern.New(`^[0-9a-f]{64}$`)

// configuration describes what the report rests on: files and model.
func (r *Report) configuration(digests map[string]string) ([]descriptor, error) {
	if digests["report.json"] == "" {
		return nil, errors.New("no digest of report.json")
	}
	var out []descriptor
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		if !fs.ValidPath(name) || plain(name) != name {
			return nil, fmt.Errorf("digest of %q: want a relative path", name)
		}
		if !sha256Hex.MatchString(digests[name]) {
			return nil, fmt.Errorf("digest of %s: %q is no SHA-256 in hex", name, digests[name])
		}
		d := descriptor{Name: name, Digest: map[string]string{"sha256": digests[name]}}
		if name == "report.json" {
			d.MediaType, d.Annotations = "application/json", r.annotations()
		}
		out = append(out, d)
	}
	if r.Model != "" {
		id := plain(r.Model)
		out = append(out, descriptor{
			Name: "model", Digest: map[string]string{"sha256": fmt.Sprintf("%x", sha256.Sum256([]byte(id)))},
			MediaType: "text/plain", Annotations: map[string]any{"id": id},
		})
	}
	return out, nil
}

// annotations are what the predicate has no fields for, under the names of report.json.
func (r *Report) annotations() map[string]any {
	return map[string]any{
		"schema": r.Schema, "run_id": plain(r.RunID), "pr": r.PR,
		"verdict": r.Verdict, "outcome": r.Outcome, "reasons": mapped(r.Reasons, plain),
		"base_sha": plain(r.BaseSHA), "merge_base": plain(r.MergeBase), "trust": r.Trust,
		"sandbox": r.tier(), "ycbot": plain(r.Versions.Ycbot),
	}
}

// titles are those of the checks that stand like this, in the order of the report.
func (r *Report) titles(is standing) []string {
	out := []string{}
	for _, c := range r.Checks {
		if c.standing() == is {
			out = append(out, headline(c.Title))
		}
	}
	return out
}

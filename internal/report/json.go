package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode"
	"unicode/utf16"
)

// JSON returns report.json: indented, the same bytes for the same report, lists
// never null, one newline at the end. Hidden and control characters are written
// as \u escapes, so that the file is safe to look at and loses nothing.
// A report that [Parse] would not take is an error.
func (r *Report) JSON() ([]byte, error) {
	n := r.normalised()
	if err := n.validate(); err != nil {
		return nil, fmt.Errorf("report %s: %w", r.RunID, err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // commands are full of < > &, and nothing embeds this in HTML as it is
	enc.SetIndent("", "  ")
	if err := enc.Encode(n); err != nil {
		return nil, fmt.Errorf("report %s: %w", r.RunID, err)
	}
	return escapeHidden(b.Bytes()), nil
}

// Parse reads report.json. Unknown fields, another schema, anything after the
// report and words that this version does not know are errors. What is missing
// gets its most modest value: a check without "support" is absent from the log.
func Parse(b []byte) (*Report, error) {
	var head struct {
		Schema *string `json:"schema"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("parse report: %w", err)
	}
	if head.Schema == nil {
		return nil, fmt.Errorf("parse report: no schema: want %q", Schema)
	}
	if *head.Schema != Schema {
		return nil, fmt.Errorf("parse report: schema %q: want %q", *head.Schema, Schema)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	r := new(Report)
	if err := dec.Decode(r); err != nil {
		return nil, fmt.Errorf("parse report: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("parse report: data after the report")
	}
	r = r.normalised()
	if err := r.validate(); err != nil {
		return nil, fmt.Errorf("parse report: %w", err)
	}
	return r, nil
}

// normalised returns a copy of r without nil lists, and with the most modest
// value where one was left open. It shares what it need not change.
func (r *Report) normalised() *Report {
	n := *r
	if n.Schema == "" {
		n.Schema = Schema
	}
	n.Reasons, n.NotCovered, n.Notes = list(n.Reasons), list(n.NotCovered), list(n.Notes)
	n.Denied, n.Subagents = list(n.Denied), list(n.Subagents)
	n.Checks = list(slices.Clone(n.Checks))
	for i := range n.Checks {
		c := &n.Checks[i]
		c.Evidence = list(c.Evidence)
		if c.Support == "" {
			c.Support = Absent
		}
		if c.Reproduction == "" {
			c.Reproduction = NotRun
		}
	}
	n.Findings = list(slices.Clone(n.Findings))
	for i := range n.Findings {
		n.Findings[i].Evidence = list(n.Findings[i].Evidence)
	}
	if n.Tests != nil {
		n.Tests = n.Tests.normalised()
	}
	if n.Previous != nil {
		n.Previous = n.Previous.normalised()
	}
	if n.Expectations != nil {
		n.Expectations = n.Expectations.normalised()
	}
	n.Accepted, n.Statistics, n.Believed.Suites = list(n.Accepted), list(n.Statistics), list(n.Believed.Suites)
	n.Behaviour = list(slices.Clone(n.Behaviour))
	for i := range n.Behaviour {
		n.Behaviour[i].Evidence = list(n.Behaviour[i].Evidence)
	}
	n.API = list(slices.Clone(n.API))
	for i := range n.API {
		n.API[i].Evidence = list(n.API[i].Evidence)
	}
	if n.Executed != nil {
		x := *n.Executed
		x.Evidence = list(x.Evidence)
		n.Executed = &x
	}
	if n.Phase == "" {
		n.Phase = PhaseEnd
	}
	if n.Title == "" {
		n.Title = n.MakeTitle()
	}
	n.Sandbox.Layers, n.Sandbox.Missing = list(n.Sandbox.Layers), list(n.Sandbox.Missing)
	n.Sandbox.SelfTest = list(n.Sandbox.SelfTest)
	n.Timings.Stages = list(n.Timings.Stages)
	if n.Versions.Toolchains == nil {
		n.Versions.Toolchains = map[string]string{}
	}
	return &n
}

func (t *Tests) normalised() *Tests {
	n := *t
	for _, p := range []*[]string{
		&n.Regressed, &n.NewFailing, &n.Fixed, &n.PreExisting, &n.Flaky,
		&n.Removed, &n.NotRun, &n.FailToPass, &n.PassOnBase,
	} {
		*p = list(*p)
	}
	return &n
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// validate reports the first word of r that is none of its kind.
func (r *Report) validate() error {
	if r.Schema != Schema {
		return fmt.Errorf("schema %q: want %q", r.Schema, Schema)
	}
	if err := r.Verdict.Validate(); err != nil {
		return err
	}
	if err := errors.Join(
		oneOf("outcome", r.Outcome, Completed, Cancelled, TimedOut, Errored, Refused),
		oneOf("trigger", r.Trigger, "cli", "pull_request", "comment", "rerequest", "merge_group", "dispatch", "push"),
		oneOf("phase", r.Phase, PhaseFirst, PhaseEnd),
		oneOf("trust", r.Trust, "trusted", "untrusted", "local"),
		oneOf("sandbox.tier", r.Sandbox.Tier, tiers()...),
	); err != nil {
		return err
	}
	for i, c := range r.Checks {
		if err := c.validate(); err != nil {
			return fmt.Errorf("checks[%d] %s: %w", i, c.ID, err)
		}
	}
	for i, f := range r.Findings {
		if err := oneOf("severity", f.Severity, SeverityError, SeverityWarning, SeverityInfo); err != nil {
			return fmt.Errorf("findings[%d]: %w", i, err)
		}
	}
	if r.Previous != nil {
		return r.Previous.validate()
	}
	return nil
}

// tiers are the words of sandbox.tier, empty where a run ended before it looked.
func tiers() []string { return []string{"full", "strong", "basic", "none", ""} }

func (c Check) validate() error {
	return errors.Join(
		oneOf("kind", c.Kind, kinds()...),
		oneOf("result", c.Result, ResultPass, ResultFail, ResultSkip),
		oneOf("support", c.Support, Supported, Related, Absent),
		oneOf("reproduction", c.Reproduction, Introduced, PreExisting, Unfulfilled, NotReproduced, HeadOnly, Unclear, NotRun),
	)
}

func oneOf[T ~string](field string, v T, of ...T) error {
	if slices.Contains(of, v) {
		return nil
	}
	return fmt.Errorf("%s %q: want one of %q", field, v, of)
}

// escapeHidden writes the hidden and control characters of a JSON text as \u
// escapes. They occur within strings only, so that the text means the same.
func escapeHidden(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for _, r := range string(b) {
		switch {
		case r == '\n' || !unicode.IsControl(r) && !Hidden(r):
			out = append(out, string(r)...)
		case r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

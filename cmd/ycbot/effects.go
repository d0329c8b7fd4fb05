package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/publish"
)

// Kinds of entries in an effects file. They are stored: do not change them.
const (
	effectKind = "effect" // what was posted, by the ledger's key
	targetKind = "target" // where it is posted; one, under the key targetKey
	targetKey  = "run"
)

// effects is what was posted of a run: a journal beside the run directory, in
// which nothing is written after its SHA256SUMS.
type effects struct{ *journal.Journal }

// effectsFile is the file of the run in dir.
func effectsFile(dir string) string { return dir + ".effects.jsonl" }

// Record implements [publish.Store].
func (e effects) Record(_ context.Context, key, value string) error {
	return e.Append(effectKind, key, value)
}

// Lookup implements [publish.Store].
func (e effects) Lookup(_ context.Context, key string) (string, bool, error) {
	raw, ok := e.Journal.Lookup(effectKind, key)
	if !ok {
		return "", false, nil
	}
	var value string
	err := json.Unmarshal(raw, &value)
	return value, true, err
}

// A posting is where and how a run is told of: what a process that takes over
// from one that was killed must know.
type posting struct {
	Target      publish.Target `json:"target"`
	Comment     string         `json:"comment"`
	Check       bool           `json:"check"`
	Annotations bool           `json:"annotations"`
	Status      bool           `json:"status"`
	Scope       string         `json:"scope"`
	FailOn      string         `json:"fail_on"`
	DetailsURL  string         `json:"details_url"`
	EvidenceURL string         `json:"evidence_url"`
	Artifact    string         `json:"artifact"`
}

// keep records po, unless it is there.
func (e effects) keep(po posting) error {
	if _, ok := e.Journal.Lookup(targetKind, targetKey); ok {
		return nil
	}
	return e.Append(targetKind, targetKey, po)
}

// recall returns what keep recorded.
func (e effects) recall() (posting, bool, error) {
	var po posting
	raw, ok := e.Journal.Lookup(targetKind, targetKey)
	if !ok {
		return po, false, nil
	}
	if err := json.Unmarshal(raw, &po); err != nil {
		return po, false, fmt.Errorf("where the run is told of: %w", err)
	}
	return po, true, nil
}

// openEffects opens the effects file of the run in dir.
func (p *program) openEffects(dir string) (effects, error) {
	j, err := journal.Open(effectsFile(dir), p.now)
	return effects{j}, err
}

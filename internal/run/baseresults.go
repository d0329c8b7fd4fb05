package run

import (
	"encoding/json"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/journal"
)

// knownBase are the results of base's tests that runs of a project share. What a
// run was given is in its journal, so that it goes the same way when it is
// continued, checked or driven again.
type knownBase struct {
	journal *journal.Journal
	files   gate.ResultFiles
	keep    bool // this run may leave results to others
}

// Load implements [gate.BaseResults].
func (k knownBase) Load(key string) ([]byte, error) {
	return journal.Once(k.journal, "gate", "base", func() (json.RawMessage, error) { return k.files.Load(key) })
}

// Save implements [gate.BaseResults].
func (k knownBase) Save(key string, data []byte) error {
	if !k.keep {
		return nil
	}
	return k.files.Save(key, data)
}

// recordedBase gives a run that is driven again what the recorded one was given.
type recordedBase struct{ *journal.Journal }

// Load implements [gate.BaseResults].
func (j recordedBase) Load(string) ([]byte, error) {
	raw, _ := j.Lookup("gate", "base")
	return raw, nil
}

// Save implements [gate.BaseResults].
func (j recordedBase) Save(string, []byte) error { return nil }

// baseResults are those that this run uses. One of an untrusted head leaves none
// to others: its code ran on this machine before they were made.
func (s *session) baseResults() gate.BaseResults {
	if s.past != nil {
		return recordedBase{s.past.journal}
	}
	return knownBase{
		journal: s.journal, keep: s.job.Trust != untrusted,
		files: gate.ResultFiles{Dir: filepath.Join(s.project, "cache", "base"), Now: s.Now},
	}
}

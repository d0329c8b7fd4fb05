package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/report"
)

// ErrNothing is returned for a folder in which no run got far enough to be
// reported on.
var ErrNothing = errors.New("no run was begun here")

// A Salvager makes reports from run directories alone.
type Salvager struct {
	Redact func([]byte) []byte
	Now    func() time.Time
	Log    *slog.Logger
}

// Salvage returns the report of the run in dir. A run that was broken off is
// concluded first: what it found stays, and its verdict says why there is none.
func (v Salvager) Salvage(dir, why string) (*report.Report, error) {
	if _, err := os.Stat(filepath.Join(dir, "SHA256SUMS")); err == nil {
		return readReport(dir)
	}
	if _, err := os.Stat(filepath.Join(dir, "journal.jsonl")); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dir, ErrNothing)
	}
	s := &session{Runner: &Runner{Redact: v.Redact, Now: v.Now, Log: v.Log}, dir: dir}
	defer s.close()
	var err error
	if s.journal, err = journal.Open(filepath.Join(dir, "journal.jsonl"), v.Now); err != nil {
		return nil, err
	}
	s.journal.Redact = v.Redact
	kept, err := s.recall()
	if err != nil {
		return nil, err
	}
	if s.log, err = evidence.Open(dir, s.id, evidence.Options{Redact: v.Redact, Now: v.Now}); err != nil {
		return nil, err
	}
	if s.events, err = agent.OpenEvents(filepath.Join(dir, "events.jsonl"), s.redact); err != nil {
		return nil, err
	}
	rep := kept.report
	if rep == nil {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errors.New(why))
		if rep, err = s.report(ctx, kept.gate, kept.judged, errors.New(why), nil); err != nil {
			return nil, err
		}
	}
	return rep, s.seal(rep)
}

func readReport(dir string) (*report.Report, error) {
	data, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		return nil, err
	}
	rep, err := report.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, "report.json"), err)
	}
	rep.ReportDir = dir
	return rep, nil
}

// kept is what stages left in the journal; nil where they were not finished.
type kept struct {
	gate   *gate.Result
	judged *judgement
	report *report.Report
}

// recall fills the session with what its journal knows.
func (s *session) recall() (kept, error) {
	var id identity
	var k kept
	known := s.lookup("run", "circumstances", &s.around) && s.lookup("run", "identity", &id)
	if !known {
		return k, fmt.Errorf("%s: %w", s.dir, ErrNothing)
	}
	s.id, s.began = id.Run, s.around.Began
	s.lookup("stage", "checkout", &s.src)
	s.lookup("stage", "gate", &k.gate)
	s.lookup("stage", "previous", &s.last)
	s.lookup("stage", "agents", &k.judged)
	s.lookup("stage", "report", &k.report)
	return k, nil
}

// lookup reads an entry of the journal, and says whether there is one.
func (s *session) lookup(kind, key string, into any) bool {
	raw, ok := s.journal.Lookup(kind, key)
	return ok && json.Unmarshal(raw, into) == nil
}

// records is the evidence so far.
func (s *session) records() []evidence.Record {
	if s.log == nil {
		return s.read
	}
	return s.log.Records()
}

package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
)

// A Salvager makes reports from run directories alone.
type Salvager struct {
	Redact func([]byte) []byte
	Now    func() time.Time
	Log    *slog.Logger
}

// Salvage returns the report of the run in dir. A run that was broken off is
// concluded first: what it found stays, and its verdict says why there is none: it was
// cancelled, or failed. The error is [rundir.ErrNothing] where no run was begun.
func (v Salvager) Salvage(path, why string, cancelled bool) (*report.Report, error) {
	if rundir.IsFinished(path) {
		return rundir.ReadReport(path)
	}
	if _, err := os.Stat(filepath.Join(path, "journal.jsonl")); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", path, rundir.ErrNothing)
	}
	dir, begun, err := rundir.Reopen(path, rundir.Options{Redact: v.Redact, Now: v.Now})
	if err != nil {
		return nil, err
	}
	rep, err := v.conclude(dir, begun, why, cancelled)
	if err := dir.Close(); err != nil {
		v.Log.Warn("close run", "run", dir.ID, "error", err)
	}
	return rep, err
}

func (v Salvager) conclude(dir *rundir.Dir, begun rundir.Begun, why string, cancelled bool) (*report.Report, error) {
	rep, finished := rundir.Lookup[*report.Report](dir.Journal, "stage", "report")
	if !finished {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		if cancelled {
			cancel(errors.New(why))
		}
		f := FoundIn(dir.Journal)
		f.Failure = errors.New(why)
		var err error
		rep, err = reportOf(ctx, dir, begun, f, func(rep *report.Report) {
			rep.Timings.DurationMS = v.Now().Sub(begun.Settings.Began).Milliseconds()
		})
		if err != nil {
			return nil, err
		}
	}
	return rep, seal(dir, &progress{dir: dir, now: v.Now}, rep, nil)
}

package queue

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/ycbot/ycbot/internal/store"
)

// A fencedDriver is River's driver for PostgreSQL. By itself it stores the end of an attempt at
// any job that is at work, no matter whose.
type fencedDriver struct {
	*riverpgxv5.Driver
	q *Queue
}

// GetExecutor implements [riverdriver.Driver].
func (d fencedDriver) GetExecutor() riverdriver.Executor {
	return fencedExecutor{d.Driver.GetExecutor(), d}
}

// GetListener implements [riverdriver.Driver].
func (d fencedDriver) GetListener(params *riverdriver.GetListenenerParams) riverdriver.Listener {
	return &listener{d: d.q.direct, schema: params.Schema}
}

type fencedExecutor struct {
	riverdriver.Executor
	d fencedDriver
}

// JobSetStateIfRunningMany stores how attempts ended, of those jobs that are this worker's.
func (e fencedExecutor) JobSetStateIfRunningMany(ctx context.Context, params *riverdriver.JobSetStateIfRunningManyParams) (rows []*rivertype.JobRow, err error) {
	q := e.d.q
	err = q.db.Write(q.fenced(ctx), func(tx *store.Tx) error {
		own, err := q.own(ctx, tx.Postgres, params.ID)
		if err != nil {
			return fmt.Errorf("look for jobs of this worker: %w", err)
		}
		rows, err = e.d.UnwrapExecutor(tx.Postgres).JobSetStateIfRunningMany(ctx, only(params, own))
		return err
	})
	return rows, err
}

// own are those of River's jobs that this worker has.
func (q *Queue) own(ctx context.Context, tx pgx.Tx, ids []int64) ([]int64, error) {
	rows, err := tx.Query(ctx, `select id from river_job where id = any($1) and state = 'running' and `+holder+` = $2 order by id for update`, ids, q.worker)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// only is what params say of some jobs.
func only(params *riverdriver.JobSetStateIfRunningManyParams, ids []int64) *riverdriver.JobSetStateIfRunningManyParams {
	out := &riverdriver.JobSetStateIfRunningManyParams{Now: params.Now, Schema: params.Schema}
	for i, id := range params.ID {
		if !slices.Contains(ids, id) {
			continue
		}
		out.ID = append(out.ID, id)
		out.Attempt = append(out.Attempt, params.Attempt[i])
		out.ErrData = append(out.ErrData, params.ErrData[i])
		out.FinalizedAt = append(out.FinalizedAt, params.FinalizedAt[i])
		out.MetadataDoMerge = append(out.MetadataDoMerge, params.MetadataDoMerge[i])
		out.MetadataUpdates = append(out.MetadataUpdates, params.MetadataUpdates[i])
		out.ScheduledAt = append(out.ScheduledAt, params.ScheduledAt[i])
		out.State = append(out.State, params.State[i])
	}
	return out
}

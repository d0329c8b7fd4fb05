package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrNotMigrated says that the tables are not there yet.
var ErrNotMigrated = errors.New("the database has no tables of ycbot's yet")

// storedAgain is how long it counts that something could be stored, so that asking often
// does not make the database write all the time.
const storedAgain = time.Second

// Storable stores something, and so finds out whether a delivery could be: a database may
// answer and take nothing, because its disk is full or because it only follows another.
func (db *DB) Storable(ctx context.Context) error {
	select {
	case db.probing <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("try to store: %w", context.Cause(ctx))
	}
	defer func() { <-db.probing }()
	if now := db.now(); !db.stored.IsZero() && now.Sub(db.stored) < storedAgain {
		return nil
	}
	if err := db.Write(ctx, func(tx *Tx) error { return db.probe(ctx, tx) }); err != nil {
		return fmt.Errorf("try to store: %w", err)
	}
	db.stored = db.now()
	return nil
}

// BlobsStorable says why blobs could not be stored, by storing one.
func (db *DB) BlobsStorable(ctx context.Context) error {
	db.blobsProbed.mu.Lock()
	defer db.blobsProbed.mu.Unlock()
	if now := db.now(); !db.blobsProbed.at.IsZero() && now.Sub(db.blobsProbed.at) < blobsAgain {
		return nil
	}
	if err := db.blobs.CheckWithin(ctx); err != nil {
		return fmt.Errorf("try to store a blob: %w", err)
	}
	db.blobsProbed.at = db.now()
	return nil
}

// blobsAgain is storedAgain for blobs: buckets take money for each request.
const blobsAgain = 10 * time.Second

// errBack rolls a transaction back that went well.
var errBack = errors.New("rolled back")

// Try does what [DB.Storable] does and takes it back: nothing is changed. It returns
// [ErrNotMigrated] where a first migration would have to make the tables, and could.
func (db *DB) Try(ctx context.Context) error {
	statement := `select exists (select 1 from sqlite_master where name = 'effects'), 1`
	if db.pool != nil {
		statement = `select to_regclass('effects') is not null,
			has_schema_privilege(current_schema(), 'create')::int * (1 - (current_setting('transaction_read_only') = 'on')::int)`
	}
	var migrated bool
	var may int
	err := db.Reader().Each(ctx, func(scan Scan) error { return scan(&migrated, &may) }, statement)
	switch {
	case err != nil:
		return fmt.Errorf("try to store: %w", err)
	case !migrated && may == 0:
		return errors.New("the database has no tables of ycbot's, and its user may not create them")
	case !migrated:
		return ErrNotMigrated
	}
	err = db.Write(ctx, func(tx *Tx) error {
		if err := db.probe(ctx, tx); err != nil {
			return err
		}
		return errBack
	})
	if errors.Is(err, errBack) {
		return nil
	}
	return fmt.Errorf("try to store: %w", err)
}

// probe stores the time under a name that nothing else has.
func (db *DB) probe(ctx context.Context, tx *Tx) error {
	_, err := tx.Exec(ctx, `insert into effects (name, value, created) values ('ready', '', $1)
		on conflict (name) do update set created = excluded.created`, Micros(db.now()))
	return err
}

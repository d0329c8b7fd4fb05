package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

//go:embed migrations
var migrations embed.FS

// Migrate brings the tables of this package to the newest version. Processes that do
// so at the same time wait for one another, and none waits where nothing is to be done. Tables that a newer program has migrated are
// left alone, and that is an error: what this one does not know of it would not keep.
func (db *DB) Migrate(ctx context.Context) error {
	if db.pool != nil && db.newest(ctx) {
		return nil
	}
	return db.migrate(ctx, func(ctx context.Context, p *goose.Provider) error {
		has, knows, err := p.GetVersions(ctx)
		if err != nil {
			return err
		}
		if has > knows {
			return fmt.Errorf("a newer ycbot has changed the tables: they have version %d and this program knows %d: start that ycbot again, or put back a backup from before", has, knows)
		}
		done, err := p.Up(ctx)
		for _, m := range done {
			db.log.InfoContext(ctx, "migrated", "migration", m.Source.Path, "duration", m.Duration)
		}
		return err
	})
}

// newest reports whether PostgreSQL's tables have the version that this program knows.
func (db *DB) newest(ctx context.Context) bool {
	files, err := fs.Glob(migrations, "migrations/postgres/*.sql")
	if err != nil || len(files) == 0 {
		return false
	}
	knows, err := goose.NumericComponent(files[len(files)-1])
	if err != nil {
		return false
	}
	var has int64
	err = db.pool.QueryRow(ctx, `select max(version_id) from goose_db_version`).Scan(&has)
	return err == nil && has == knows
}

// Version is the version of the tables.
func (db *DB) Version(ctx context.Context) (has int64, err error) {
	err = db.migrate(ctx, func(ctx context.Context, p *goose.Provider) error {
		has, err = p.GetDBVersion(ctx)
		return err
	})
	return has, err
}

// migrate has fn move the tables to another version.
func (db *DB) migrate(ctx context.Context, fn func(context.Context, *goose.Provider) error) error {
	return db.Exclusively(ctx, "migrate", func(ctx context.Context) (err error) {
		dialect, folder, conn := goose.DialectSQLite3, "migrations/sqlite", db.writer
		if db.pool != nil {
			dialect, folder, conn = goose.DialectPostgres, "migrations/postgres", stdlib.OpenDBFromPool(db.pool)
			defer func() { err = errors.Join(err, conn.Close()) }()
		}
		files, err := fs.Sub(migrations, folder)
		if err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
		provider, err := goose.NewProvider(dialect, conn, files)
		if err == nil {
			err = fn(ctx, provider)
		}
		if err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
		return nil
	})
}

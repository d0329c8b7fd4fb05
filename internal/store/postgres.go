package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

func (db *DB) openPostgres(ctx context.Context, url string) error {
	if !isPostgres(url) {
		return errors.New("open database: the URL does not begin with postgres://") // the URL itself may hold a password
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	// A process that stops in the middle of a transaction must not keep others waiting.
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `set idle_in_transaction_session_timeout = '30s'`)
		return err
	}
	if db.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return fmt.Errorf("open database %s: %w", config.ConnConfig.Host, err)
	}
	if err := db.pool.Ping(ctx); err != nil {
		db.pool.Close()
		return fmt.Errorf("open database %s: %w", config.ConnConfig.Host, err)
	}
	return nil
}

// LockKey is the number under which PostgreSQL's advisory locks know name.
func LockKey(name string) int64 {
	sum := sha256.Sum256([]byte("ycbot " + name))
	return int64(binary.BigEndian.Uint64(sum[:8])) //nolint:gosec // any 64 bits do
}

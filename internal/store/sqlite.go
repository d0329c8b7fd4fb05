package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// readersOf SQLite that may be open beside its writer.
const readersOf = 4

// openSQLite opens the file with a single writer. Every commit is on disk when it
// returns (synchronous full), since a webhook is answered on the strength of it.
func (db *DB) openSQLite(ctx context.Context, path string) error {
	if path == "" {
		return errors.New("open database: neither a URL nor a path is given")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) // SQLite itself would make it 0644
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	db.path = path
	if db.writer, err = sql.Open("sqlite", dsn(path, url.Values{
		"_txlock": {"immediate"}, // a transaction that begins by reading would lose what it read to another writer
		"_pragma": {"busy_timeout(10000)", "journal_mode(wal)", "synchronous(full)"},
	})); err != nil {
		return fmt.Errorf("open database %s: %w", path, err)
	}
	db.writer.SetMaxOpenConns(1)
	if err := db.switchToWAL(ctx); err != nil { // before the readers, which cannot
		return errors.Join(fmt.Errorf("open database %s: %w", path, err), db.writer.Close())
	}
	if db.readers, err = sql.Open("sqlite", dsn(path, url.Values{
		"_pragma": {"busy_timeout(10000)", "query_only(1)"},
	})); err != nil {
		return errors.Join(fmt.Errorf("open database %s: %w", path, err), db.writer.Close())
	}
	db.readers.SetMaxOpenConns(readersOf)
	return nil
}

// switchToWAL connects the writer, which puts a new file into WAL mode. One process does that at
// a time: two that both have begun to are refused by SQLite at once, whatever busy_timeout says.
func (db *DB) switchToWAL(ctx context.Context) error {
	release, err := db.waitForFile(ctx, "open")
	if err != nil {
		return err
	}
	return errors.Join(db.writer.PingContext(ctx), release())
}

func dsn(path string, settings url.Values) string {
	return (&url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: settings.Encode()}).String()
}

// lockFile holds an exclusive lock on the file called path until release is called
// or the process ends. Where another process has it, ok is false.
func lockFile(path string) (release func() error, ok bool, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, err
	}
	for {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	switch {
	case err == nil:
		return func() error { // closing alone would not do while a process that is being forked has a copy of the file
			return errors.Join(unix.Flock(int(file.Fd()), unix.LOCK_UN), file.Close())
		}, true, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, false, file.Close()
	}
	return nil, false, errors.Join(err, file.Close())
}

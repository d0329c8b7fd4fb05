package store

import (
	"context"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"
)

// Jobs that were stored before waiting jobs had check runs have none, and a process of
// the version before can store jobs still.
func TestMigrateQueuedCheck(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		db := openAt(t, where)
		add := func(id string) {
			t.Helper()
			err := db.Write(t.Context(), func(tx *Tx) error {
				_, err := tx.Exec(t.Context(), `insert into jobs (id, repo, number, installation, head_sha, asked, event_at, body, cancel, starts, created)
					values ($1, '1', 1, 1, 'a', 0, 0, $2, '', 0, 1)`, id, []byte("{}"))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		err := db.migrate(t.Context(), func(ctx context.Context, p *goose.Provider) error {
			_, err := p.DownTo(ctx, 5)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		add("before")
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		add("of the version before")
		states, err := collect(t.Context(), db.Reader(), scanOne[int], `select queued_check from jobs order by id`)
		if err != nil || len(states) != 2 || states[0] != 5 || states[1] != 5 {
			t.Errorf("states %v, %v; want 5, which is that of jobs without such a check run", states, err)
		}
	})
}

// A program does not work on tables that a newer one has changed.
func TestMigrateRefusesNewerTables(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, where string) {
		t.Helper()
		db := openAt(t, where)
		if err := db.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		err := db.Write(t.Context(), func(tx *Tx) error {
			_, err := tx.Exec(t.Context(), `insert into goose_db_version (version_id, is_applied) values (9999, true)`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), "they have version 9999 and this program knows") {
			t.Errorf("tables of version 9999: %v", err)
		}
	})
}

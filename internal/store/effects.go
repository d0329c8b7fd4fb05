package store

import (
	"context"
	"fmt"
	"time"
)

// Record keeps value under key, unless the key has one: the first value counts, no matter who
// records it, and stays.
func (db *DB) Record(ctx context.Context, key, value string) error {
	err := db.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, `insert into effects (name, value, created) values ($1, $2, $3) on conflict (name) do nothing`,
			key, value, Micros(db.now()))
		return err
	})
	if err != nil {
		return fmt.Errorf("record effect %s: %w", key, err)
	}
	return nil
}

// Lookup returns the value that counts under key.
func (db *DB) Lookup(ctx context.Context, key string) (value string, ok bool, err error) {
	values, err := collect(ctx, db.Reader(), scanOne[string],
		`select value from effects where name = $1`, key)
	if err != nil {
		return "", false, fmt.Errorf("look up effect %s: %w", key, err)
	}
	if len(values) == 0 {
		return "", false, nil
	}
	return values[0], true, nil
}

// A Delivery is a webhook that came. It is kept for people and for finding deliveries
// that were missed; what is done once and not twice is decided by the job alone.
type Delivery struct {
	ID         string // as GitHub numbers it
	Event      string
	BodySHA256 string    // hex
	Received   time.Time // zero: now
}

// AddDeliveries stores deliveries within tx, and returns the ids of those that were not known. Of
// those with the same id the first stays.
func (db *DB) AddDeliveries(ctx context.Context, tx *Tx, deliveries []Delivery) (fresh map[string]bool, err error) {
	fresh = map[string]bool{}
	if len(deliveries) == 0 {
		return fresh, nil
	}
	var args []any
	for _, d := range deliveries {
		if d.Received.IsZero() {
			d.Received = db.now()
		}
		args = append(args, d.ID, d.Event, d.BodySHA256, Micros(d.Received))
	}
	values, args := tx.Rows(4, args)
	err = tx.Each(ctx, func(scan Scan) error {
		id, err := scanOne[string](scan)
		fresh[id] = true
		return err
	}, `insert into deliveries (id, event, body_sha256, received) values `+values+` on conflict (id) do nothing returning id`, args...)
	if err != nil {
		return nil, fmt.Errorf("store deliveries: %w", err)
	}
	return fresh, nil
}

// Delivery returns a delivery by its id.
func (db *DB) Delivery(ctx context.Context, id string) (d Delivery, ok bool, err error) {
	all, err := collect(ctx, db.Reader(), func(scan Scan) (d Delivery, err error) {
		var received int64
		err = scan(&d.ID, &d.Event, &d.BodySHA256, &received)
		d.Received = FromMicros(received)
		return d, err
	}, `select id, event, body_sha256, received from deliveries where id = $1`, id)
	if err != nil {
		return Delivery{}, false, fmt.Errorf("delivery %s: %w", id, err)
	}
	if len(all) == 0 {
		return Delivery{}, false, nil
	}
	return all[0], true, nil
}

// Sweep deletes what is older than before: runs that ended, or that nothing was heard
// of, with the copies of their directories, and effects, deliveries and results of bases. It does so in
// steps of batch runs, so that writers get their turn between, and returns how many runs it deleted.
// Their blobs go with [DB.TidyBlobs].
func (db *DB) Sweep(ctx context.Context, before time.Time, batch int) (int, error) {
	cutoff, total := Micros(before), 0
	for {
		n, err := db.sweepRuns(ctx, cutoff, batch)
		total += n
		if err != nil {
			return total, fmt.Errorf("sweep runs: %w", err)
		}
		if n < batch {
			break
		}
	}
	for _, t := range []struct{ table, key, age string }{{"effects", "name", "created"}, {"deliveries", "id", "received"}, {"base_results", "name", "created"}, {"flakes", "name", "last"}} {
		statement := fmt.Sprintf(`delete from %[1]s where %[2]s in (select %[2]s from %[1]s where %[3]s < $1 limit $2)`, t.table, t.key, t.age)
		for n := int64(1); n > 0; {
			err := db.Write(ctx, func(tx *Tx) (err error) {
				n, err = tx.Exec(ctx, statement, cutoff, 100*batch)
				return err
			})
			if err != nil {
				return total, fmt.Errorf("sweep %s: %w", t.table, err)
			}
		}
	}
	err := db.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, `delete from tests where id not in (select test from test_results)`)
		return err
	})
	if err != nil {
		return total, fmt.Errorf("sweep tests: %w", err)
	}
	return total, nil
}

func (db *DB) sweepRuns(ctx context.Context, cutoff int64, batch int) (int, error) {
	var ids []string
	err := db.Write(ctx, func(tx *Tx) (err error) {
		ids, err = collect(ctx, tx, scanOne[string],
			`select id from runs where created < $1 and ended < $1 order by created limit $2`, cutoff, batch)
		if err != nil {
			return err
		}
		for _, id := range ids {
			for _, statement := range []string{`delete from lines where run = $1`, `delete from files where run = $1`, `delete from test_results where run = $1`, `delete from runs where id = $1`} {
				if _, err := tx.Exec(ctx, statement, id); err != nil {
					return err
				}
			}
			if err := loosen(ctx, tx, id, db.now()); err != nil {
				return err
			}
		}
		return nil
	})
	return len(ids), err
}

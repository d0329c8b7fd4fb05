package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"time"
)

// Bounds for results of bases.
const (
	resultAge   = 7 * 24 * time.Hour // older ones are not used: certificates, registries and the calendar move
	maxResults  = 30                 // of a repository: the oldest go
	maxResult   = 16 << 20           // bytes, compressed
	maxUnpacked = 256 << 20          // bytes
)

// BaseResults keeps what tests of a repository's bases said from one run to the
// next, for all workers. What it keeps is packed, and nothing to it.
type BaseResults struct {
	db   *DB
	repo string
}

// BaseResults are those of a repository, by what it is known by: nothing is shared
// between repositories, whose members trust each other only.
func (db *DB) BaseResults(repo string) *BaseResults { return &BaseResults{db, repo} }

func (b *BaseResults) name(key string) string { return b.repo + " " + key }

// Load returns what was saved under key, nil for nothing.
func (b *BaseResults) Load(ctx context.Context, key string) ([]byte, error) {
	found, err := collect(ctx, b.db.Reader(), scanOne[[]byte],
		`select body from base_results where name = $1 and created >= $2`, b.name(key), Micros(b.db.now().Add(-resultAge)))
	if err != nil {
		return nil, fmt.Errorf("results of a base of %s: %w", b.repo, err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(found[0]))
	if err != nil {
		return nil, fmt.Errorf("results of a base of %s: %w", b.repo, err)
	}
	data, err := io.ReadAll(io.LimitReader(z, maxUnpacked))
	if err != nil {
		return nil, fmt.Errorf("results of a base of %s: %w", b.repo, err)
	}
	return data, nil
}

// Save keeps data under key, in place of what was there. What is too large to be
// worth it is not kept.
func (b *BaseResults) Save(ctx context.Context, key string, data []byte) error {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if packed.Len() > maxResult {
		return nil
	}
	err := b.db.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, `insert into base_results (name, repo, created, body) values ($1, $2, $3, $4)
			on conflict (name) do update set created = excluded.created, body = excluded.body`,
			b.name(key), b.repo, Micros(b.db.now()), packed.Bytes())
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `delete from base_results where repo = $1 and name not in
			(select name from base_results where repo = $1 order by created desc, name limit $2)`, b.repo, maxResults)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep results of a base of %s: %w", b.repo, err)
	}
	return nil
}

package store

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/ycbot/ycbot/internal/blobs"
)

// partSize is how much of a file is one blob: of a long one no more than that is in
// memory, and its end can be read without the rest.
const partSize = 4 << 20

// inlineSize is how long a file may be that is kept in its row. The index files_inline
// has the same number.
const inlineSize = 128

const digestSize = len(blobs.Digest{})

// digestsOf splits what a column digest holds.
func digestsOf(column []byte) []blobs.Digest {
	var out []blobs.Digest
	for len(column) >= digestSize {
		out = append(out, blobs.Digest(column[:digestSize]))
		column = column[digestSize:]
	}
	return out
}

// putParts stores what r gives as blobs, but for parts that known has in the same place,
// which are stored already. It returns the digests for the column, and how much r gave.
func (db *DB) putParts(ctx context.Context, run string, r io.Reader, known []byte) (digests []byte, size int64, err error) {
	had := digestsOf(known)
	for n := 0; ; n++ {
		data, err := io.ReadAll(io.LimitReader(r, partSize))
		if err != nil {
			return nil, 0, err
		}
		if len(data) == 0 && n > 0 {
			return digests, size, nil
		}
		d := blobs.DigestOf(data)
		if n >= len(had) || had[n] != d {
			if _, err := db.blobs.Put(ctx, run, data); err != nil {
				return nil, 0, err
			}
		}
		digests, size = append(digests, d[:]...), size+int64(len(data))
		if len(data) < partSize {
			return digests, size, nil
		}
	}
}

// A content is what a row stands for: the parts that digests name, or the bytes themselves.
type content struct {
	run     string
	digests []byte
	size    int64
	body    []byte // where digests are none
}

// open reads a content from an offset on.
func (db *DB) open(ctx context.Context, c content, from int64) (io.ReadCloser, error) {
	if len(c.digests) == 0 {
		return io.NopCloser(bytes.NewReader(c.body[min(from, int64(len(c.body))):])), nil
	}
	n := from / partSize
	r := &partReader{ctx: ctx, db: db, c: c, next: int(n)}
	if _, err := io.CopyN(io.Discard, r, from-n*partSize); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// A partReader reads parts one after the other.
type partReader struct {
	ctx  context.Context //nolint:containedctx // of one reading, as that of a request's body
	db   *DB
	c    content
	next int
	part io.ReadCloser
}

// Read implements io.Reader.
func (r *partReader) Read(p []byte) (int, error) {
	for {
		if r.part == nil {
			digests := digestsOf(r.c.digests)
			if r.next >= len(digests) {
				return 0, io.EOF
			}
			size := min(partSize, r.c.size-int64(r.next)*partSize)
			part, err := r.db.blobs.Open(r.ctx, r.c.run, digests[r.next], size)
			if err != nil {
				return 0, err
			}
			r.part, r.next = part, r.next+1
		}
		n, err := r.part.Read(p)
		if errors.Is(err, io.EOF) {
			err = r.part.Close()
			r.part = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// Close implements io.Closer.
func (r *partReader) Close() error {
	if r.part == nil {
		return nil
	}
	return r.part.Close()
}

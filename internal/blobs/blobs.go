// Package blobs keeps what is too large for a database: outputs, transcripts and answers of
// models, each under a prefix of its run and the SHA-256 of its contents.
//
// A [Bucket] holds bytes under keys and knows nothing of contents. A [Store] compresses
// and names them, and holds what it reads against the name, so that a reader
// notices what a bucket lost or changed.
//
// A blob is on disk when Put returns, so that a row that names it may be written
// then. That another blob of the same name is there is no error: it has the same contents.
package blobs

import (
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"path"
	"strings"
	"time"
)

var (
	// ErrNotFound says that a bucket has nothing under a key.
	ErrNotFound = errors.New("not found")
	// ErrAway says that a bucket did not do what was asked, for a reason that may pass: it
	// does not answer, is full, or refuses access. A caller keeps what it has to store, and waits.
	ErrAway = errors.New("the blob store does not work")
	// ErrCorrupt says that a blob is not what its name says.
	ErrCorrupt = errors.New("the blob is not what it was when it was stored")
)

// A Bucket holds bytes under keys: words of letters, digits, "-", "_" and ".", separated
// by slashes. It is safe for concurrent use.
type Bucket interface {
	// Put stores data under key, in place of what was there. It returns when they are
	// durable; after an error there is what was there before, or all of data.
	Put(ctx context.Context, key string, data []byte) error
	// Get reads what is under key, or returns ErrNotFound.
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	// Delete removes what is under key, if anything is.
	Delete(ctx context.Context, key string) error
	// List returns the keys that begin with prefix, in no order. A prefix ends with a slash.
	List(ctx context.Context, prefix string) ([]string, error)
}

// A Digest is the SHA-256 of a blob's contents.
type Digest [sha256.Size]byte

// DigestOf is the digest of data.
func DigestOf(data []byte) Digest { return sha256.Sum256(data) }

// String is the digest in hex.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// A Store keeps blobs in a bucket. Its errors but those of a caller's own context,
// [ErrNotFound] and [ErrCorrupt] are [ErrAway].
type Store struct {
	Bucket Bucket
	Within time.Duration // how long the bucket may take for one thing; 0: a minute
}

// within bounds what the bucket may take.
func (s *Store) within() time.Duration { return cmp.Or(s.Within, time.Minute) }

// suffix of all keys: what is stored is gzip, which other programs read as well.
const suffix = ".gz"

// key of a blob. Each run has blobs of its own, so that they can go when it goes
// without a look at any other.
func key(run string, d Digest) string { return path.Join(run, d.String()+suffix) }

// Put stores data of a run and returns their digest.
func (s *Store) Put(ctx context.Context, run string, data []byte) (Digest, error) {
	d := DigestOf(data)
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err == nil {
		_, err = z.Write(data)
	}
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		asked, cancel := context.WithTimeout(ctx, s.within())
		defer cancel()
		err = s.Bucket.Put(asked, key(run, d), b.Bytes())
	}
	return d, away(ctx, "store blob "+key(run, d), err)
}

// Open reads a blob of size bytes. The reader returns [ErrCorrupt] in place of io.EOF where
// they were not those of the digest, so what was read counts only when all was.
func (s *Store) Open(ctx context.Context, run string, d Digest, size int64) (io.ReadCloser, error) {
	asked, cancel := context.WithCancel(ctx)
	late := time.AfterFunc(s.within(), cancel)
	body, err := s.Bucket.Get(asked, key(run, d))
	late.Stop()
	if err != nil {
		cancel()
		return nil, away(ctx, "read blob "+key(run, d), err)
	}
	return &reader{ctx: ctx, body: body, name: key(run, d), want: d, left: size, hash: sha256.New(), within: s.within(), cancel: cancel}, nil
}

// Read is all of a blob.
func (s *Store) Read(ctx context.Context, run string, d Digest, size int64) ([]byte, error) {
	r, err := s.Open(ctx, run, d, size)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	return data, errors.Join(err, r.Close())
}

// Tidy removes the blobs of a run but those that keep names, and returns how many.
func (s *Store) Tidy(ctx context.Context, run string, keep func(Digest) bool) (int, error) {
	keys, err := s.list(ctx, run+"/")
	if err != nil {
		return 0, away(ctx, "list blobs of run "+run, err)
	}
	n := 0
	for _, k := range keys {
		if d, ok := parse(path.Base(k)); ok && keep(d) {
			continue
		}
		if err := s.remove(ctx, k); err != nil && !errors.Is(err, ErrNotFound) {
			return n, away(ctx, "remove blob "+k, err)
		}
		n++
	}
	return n, nil
}

func parse(name string) (d Digest, ok bool) {
	text, ok := strings.CutSuffix(name, suffix)
	if !ok || len(text) != hex.EncodedLen(len(d)) {
		return d, false
	}
	_, err := hex.Decode(d[:], []byte(text))
	return d, err == nil
}

// probes is the prefix of what [Store.Check] stores; no run is called so.
const probes = "check"

// Check stores something, reads it and removes it.
func (s *Store) Check(ctx context.Context) error {
	name := probes + "-" + rand.Text()
	d, err := s.Put(ctx, name, []byte("ycbot looks whether this can be written\n"))
	if err != nil {
		return err
	}
	_, err = s.Read(ctx, name, d, checkSize)
	return errors.Join(err, away(ctx, "remove blob "+key(name, d), s.remove(ctx, key(name, d))))
}

func (s *Store) list(ctx context.Context, prefix string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.within())
	defer cancel()
	return s.Bucket.List(ctx, prefix)
}

func (s *Store) remove(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, s.within())
	defer cancel()
	return s.Bucket.Delete(ctx, key)
}

const checkSize = int64(len("ycbot looks whether this can be written\n"))

// checkTime is how long a bucket may take for a check.
const checkTime = 10 * time.Second

// CheckWithin is Check with a bound on its time.
func (s *Store) CheckWithin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	return s.Check(ctx)
}

// away says what was done when a bucket failed, and marks what may pass.
func away(ctx context.Context, doing string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrCorrupt), errors.Is(err, ErrAway), ctx.Err() != nil:
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fmt.Errorf("%s: %w: %w", doing, ErrAway, err)
}

// A reader decompresses, and compares what came with what it should be.
type reader struct {
	ctx  context.Context //nolint:containedctx // of one reading, as that of a request's body
	body io.ReadCloser
	zip  *gzip.Reader
	name string
	want Digest
	left int64
	hash hash.Hash
	err  error

	within time.Duration // for one part of it
	cancel func()        // ends what the bucket does
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	defer time.AfterFunc(r.within, r.cancel).Stop()
	if r.zip == nil {
		if r.zip, r.err = gzip.NewReader(r.body); r.err != nil {
			r.err = r.broken(r.err)
			return 0, r.err
		}
	}
	n, err := r.zip.Read(p)
	if int64(n) > r.left { // a blob that swells must not fill the memory
		n, err = int(r.left), ErrCorrupt
	}
	r.left -= int64(n)
	r.hash.Write(p[:n])
	if errors.Is(err, io.EOF) && (r.left != 0 || [sha256.Size]byte(r.hash.Sum(nil)) != r.want) {
		err = ErrCorrupt
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = r.broken(err)
	}
	r.err = err
	return n, err
}

// broken says why a blob cannot be read: its bytes are not what they were, or do not come.
func (r *reader) broken(err error) error {
	var input flate.CorruptInputError
	corrupt := errors.As(err, &input)
	for _, known := range []error{gzip.ErrHeader, gzip.ErrChecksum, io.ErrUnexpectedEOF, io.EOF, ErrCorrupt} {
		corrupt = corrupt || errors.Is(err, known)
	}
	if corrupt {
		return fmt.Errorf("read blob %s: %w", r.name, ErrCorrupt)
	}
	return away(r.ctx, "read blob "+r.name, err)
}

// Close implements io.Closer.
func (r *reader) Close() error {
	defer r.cancel()
	return r.body.Close()
}

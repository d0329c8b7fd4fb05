package app

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync/atomic"
)

// Bodies have to be kept until their last byte is there, because only then can their
// signature be checked, and anyone can send them. So what is kept of those that are not
// checked yet is bounded in total: first in memory, then in files without a name.
const (
	spoolChunk  = 32 << 10  // what is read at once
	spoolMemory = 32 << 20  // of all bodies
	spoolDisk   = 512 << 20 // of all bodies
	spoolFirst  = 128 << 10 // of one body in memory; almost all deliveries are smaller
)

// errSpoolFull says that too much has been received that is not checked yet.
var errSpoolFull = errors.New("too many bytes of unchecked deliveries at once")

// errSpoolFile says that the disk did not take a body.
var errSpoolFile = errors.New("a body could not be written to disk")

// A spool keeps the bodies that are not checked yet.
type spool struct {
	dir          string // of files; empty: that of temporary files
	memory, disk atomic.Int64
}

// A spooled is one body. Close it.
type spooled struct {
	of     *spool
	memory []byte
	file   *os.File // what memory does not hold; nil: nothing
	disk   int64
}

// take reserves n bytes below limit.
func take(used *atomic.Int64, n, limit int64) bool {
	if used.Add(n) <= limit {
		return true
	}
	used.Add(-n)
	return false
}

// receive reads a body to its end and returns it with the HMAC-SHA256 of it under each key.
// What a sender says about the size reserves nothing: only bytes that came do.
func (s *spool) receive(from io.Reader, keys [][]byte) (_ *spooled, sums [][]byte, err error) {
	b := &spooled{of: s}
	defer func() {
		if err != nil {
			b.Close()
		}
	}()
	macs := make([]hash.Hash, len(keys))
	for i, key := range keys {
		macs[i] = hmac.New(sha256.New, key)
	}
	var chunk []byte
	for {
		// The first bytes come into a small buffer: a silent sender costs next to nothing.
		if chunk == nil {
			chunk = make([]byte, 512)
		} else if len(chunk) < spoolChunk {
			chunk = make([]byte, spoolChunk)
		}
		n, err := from.Read(chunk)
		for _, mac := range macs {
			mac.Write(chunk[:n])
		}
		if kept := b.keep(chunk[:n]); kept != nil {
			return nil, nil, kept
		}
		if errors.Is(err, io.EOF) {
			for _, mac := range macs {
				sums = append(sums, mac.Sum(nil))
			}
			return b, sums, nil
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

// keep adds p to the body.
func (b *spooled) keep(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	n := int64(len(p))
	if b.file == nil && len(b.memory)+len(p) <= spoolFirst && take(&b.of.memory, n, spoolMemory) {
		b.memory = append(b.memory, p...)
		return nil
	}
	if !take(&b.of.disk, n, spoolDisk) {
		return errSpoolFull
	}
	b.disk += n
	if b.file == nil {
		file, err := os.CreateTemp(b.of.dir, ".delivery-")
		if err != nil {
			return fmt.Errorf("%w: %w", errSpoolFile, err)
		}
		b.file = file
		if err := os.Remove(file.Name()); err != nil { // it goes with the process
			return fmt.Errorf("%w: %w", errSpoolFile, err)
		}
	}
	if _, err := b.file.Write(p); err != nil {
		return fmt.Errorf("%w: %w", errSpoolFile, err)
	}
	return nil
}

// bytes returns the body in memory.
func (b *spooled) bytes() ([]byte, error) {
	if b.file == nil {
		return b.memory, nil
	}
	body := make([]byte, int64(len(b.memory))+b.disk)
	copy(body, b.memory)
	if _, err := b.file.ReadAt(body[len(b.memory):], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read a body from disk: %w", err)
	}
	return body, nil
}

// size is that of the body.
func (b *spooled) size() int64 { return int64(len(b.memory)) + b.disk }

// Close gives back what the body holds; what bytes returned stays valid.
func (b *spooled) Close() {
	b.of.memory.Add(-int64(len(b.memory)))
	b.of.disk.Add(-b.disk)
	b.memory, b.disk = nil, 0
	if b.file != nil {
		_ = b.file.Close() // it has no name any more
		b.file = nil
	}
}

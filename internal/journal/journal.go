// Package journal is a run's memory: an append-only file of what was finished,
// one JSON object a line, so that a run that was killed continues where it was
// and nothing is paid for twice.
//
// An entry is on disk when Append returns, and with it all before it; one by AppendSoon
// waits for the next Append. A process that dies in the middle of
// a line leaves a torn last line; Open cuts it. Entries are never changed or
// removed. The kinds and keys that are in use stand with the packages that
// write them.
package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/redact"
)

// An Entry is one finished thing.
type Entry struct {
	Seq  int             `json:"seq"` // position, from 1
	Time time.Time       `json:"time"`
	Kind string          `json:"kind"` // what sort of thing, such as "stage"
	Key  string          `json:"key"`  // which one; the first entry of a kind and key counts
	Data json.RawMessage `json:"data"`
}

// A Journal is open for appending. It is safe for concurrent use by one process.
type Journal struct {
	// Redact takes secrets out of the texts of what is appended, before anyone can
	// look it up; nil: nothing is taken out. It is set before the first Append.
	Redact func([]byte) []byte
	// Kept is called in each Append, when the entry is on disk, and Append returns its
	// error; nil: nothing is. It is set before the first Append.
	Kept func() error

	now func() time.Time

	mu      sync.Mutex
	file    *os.File
	size    int64 // of whole lines
	entries []Entry
	index   map[[2]string]int // kind and key to position in entries
}

// Open opens the journal at path, creating it with mode 0600 where there is none.
// A torn last line is cut; any other line that cannot be read is an error that names it.
func Open(path string, now func() time.Time) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	j := &Journal{now: now, file: file, index: map[[2]string]int{}}
	if err := j.load(path); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return j, nil
}

// Read returns a journal that was written to its end; nothing can be appended.
// A torn last line is an error.
func Read(path string) (*Journal, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	j := &Journal{index: map[[2]string]int{}}
	end, err := j.parse(path, data)
	if err == nil && end < len(data) {
		err = fmt.Errorf("journal %s: its last line is cut off", path)
	}
	return j, err
}

func (j *Journal) load(path string) error {
	data, err := io.ReadAll(j.file)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	end, err := j.parse(path, data)
	if err != nil {
		return err
	}
	if err := j.file.Truncate(int64(end)); err != nil {
		return fmt.Errorf("journal: cut torn line: %w", err)
	}
	j.size = int64(end)
	return nil
}

// parse reads whole lines and returns where they end.
func (j *Journal) parse(path string, data []byte) (end int, err error) {
	end = bytes.LastIndexByte(data, '\n') + 1
	for n, line := range bytes.Split(bytes.TrimSuffix(data[:end], []byte("\n")), []byte("\n")) {
		if end == 0 {
			break
		}
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return 0, fmt.Errorf("journal %s:%d: %w", path, n+1, err)
		}
		j.add(e)
	}
	return end, nil
}

func (j *Journal) add(e Entry) {
	j.entries = append(j.entries, e)
	k := [2]string{e.Kind, e.Key}
	if _, ok := j.index[k]; !ok {
		j.index[k] = len(j.entries) - 1
	}
}

// Append stores data under kind and key and returns when it is on disk.
func (j *Journal) Append(kind, key string, data any) error {
	if err := j.store(kind, key, data, true); err != nil || j.Kept == nil {
		return err
	}
	if err := j.Kept(); err != nil {
		return fmt.Errorf("journal %s %s: %w", kind, key, err)
	}
	return nil
}

// AppendSoon stores data that comes to disk with the next Append. It survives the
// end of the process, and not that of the machine: it is for what is just done
// again, and comes to the same, such as the reading of a file that no one writes.
func (j *Journal) AppendSoon(kind, key string, data any) error {
	return j.store(kind, key, data, false)
}

func (j *Journal) store(kind, key string, data any, sync bool) error {
	raw, err := j.form(data)
	if err != nil {
		return fmt.Errorf("journal %s %s: %w", kind, key, err)
	}
	return j.append(kind, key, raw, sync)
}

// form is what is stored of data.
func (j *Journal) form(data any) (json.RawMessage, error) {
	raw, err := json.Marshal(data)
	if err == nil {
		raw = redact.InJSON(j.Redact, raw)
	}
	return raw, err
}

func (j *Journal) append(kind, key string, raw json.RawMessage, sync bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return fmt.Errorf("journal %s %s: %w", kind, key, os.ErrClosed)
	}
	e := Entry{Seq: len(j.entries) + 1, Time: j.now().UTC(), Kind: kind, Key: key, Data: raw}
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("journal %s %s: %w", kind, key, err)
	}
	line = append(line, '\n')
	_, err = j.file.WriteAt(line, j.size)
	if err == nil && sync {
		err = j.file.Sync()
	}
	if err != nil {
		// The disk may have room again for the next entry, which comes in the place of what
		// there is of this one.
		return fmt.Errorf("journal %s %s: %w", kind, key, errors.Join(err, j.file.Truncate(j.size)))
	}
	j.size += int64(len(line))
	j.add(e)
	return nil
}

// Lookup returns the data of the first entry with this kind and key.
func (j *Journal) Lookup(kind, key string) (json.RawMessage, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	i, ok := j.index[[2]string{kind, key}]
	if !ok {
		return nil, false
	}
	return j.entries[i].Data, true
}

// Entries returns a copy of the entries of one kind in the order they were
// appended, or of all for "".
func (j *Journal) Entries(kind string) []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []Entry
	for _, e := range j.entries {
		if kind == "" || e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// Close closes the file. Appending afterwards is an error.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.file.Close()
}

// Once returns what fn gave when it was first done under this kind and key.
// Where the journal has no such entry it calls fn and appends the result before
// returning it; an error of fn is returned and not recorded, so that it is tried again.
// What is returned has always been through the journal, so that it is the same
// the first time as later.
func Once[T any](j *Journal, kind, key string, fn func() (T, error)) (T, error) {
	return once(j, kind, key, j.Append, fn)
}

// OnceSoon is Once by [Journal.AppendSoon].
func OnceSoon[T any](j *Journal, kind, key string, fn func() (T, error)) (T, error) {
	return once(j, kind, key, j.AppendSoon, fn)
}

func once[T any](j *Journal, kind, key string, store func(kind, key string, data any) error, fn func() (T, error)) (T, error) {
	raw, ok := j.Lookup(kind, key)
	if !ok {
		v, err := fn()
		if err != nil {
			return v, err
		}
		if err := store(kind, key, v); err != nil {
			return v, err
		}
		raw, _ = j.Lookup(kind, key)
	}
	return decode[T](kind, key, raw)
}

// OnceGiven is Once for what others keep, names of tests among it, which has to be compared
// with what is not redacted: it returns what fn gives as it is where the journal has
// none, or has just that, and else what the journal has.
func OnceGiven[T any](j *Journal, kind, key string, fn func() (T, error)) (T, error) {
	raw, ok := j.Lookup(kind, key)
	if !ok {
		v, err := fn()
		if err == nil {
			err = j.Append(kind, key, v)
		}
		return v, err
	}
	if v, err := fn(); err == nil {
		if now, err := j.form(v); err == nil && bytes.Equal(now, raw) {
			return v, nil
		}
	}
	return decode[T](kind, key, raw)
}

func decode[T any](kind, key string, raw json.RawMessage) (v T, err error) {
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("journal %s %s: %w", kind, key, err)
	}
	return v, nil
}

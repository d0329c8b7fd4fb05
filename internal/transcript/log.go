package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/ycbot/ycbot/internal/redact"
)

// A Log is events.jsonl, open for appending. It is safe for concurrent use by
// one process.
type Log struct {
	redact func([]byte) []byte

	mu   sync.Mutex
	file *os.File
	size int64 // of whole lines
	seen map[string]bool
}

// Open opens the log at path, creating it with mode 0600 where there is none.
// A torn last line is cut. Each line passes clean, which may be nil, before it
// is written.
func Open(path string, clean func([]byte) []byte) (*Log, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	l := &Log{redact: clean, file: file, seen: map[string]bool{}}
	if err := l.load(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return l, nil
}

func (l *Log) load() error {
	data, err := io.ReadAll(l.file)
	if err != nil {
		return fmt.Errorf("events: %w", err)
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	events, err := Read(bytes.NewReader(data))
	if err != nil {
		return err
	}
	for _, e := range events {
		l.seen[e.Key()] = true
	}
	if err := l.file.Truncate(int64(len(data))); err != nil {
		return fmt.Errorf("events: cut torn line: %w", err)
	}
	l.size = int64(len(data))
	return nil
}

// Append keeps e and reports whether it is new, which is when it may be shown.
// Transient events are new and not kept; an event that the log has already, from
// before the run was resumed, is not new. Events of the run itself are always new.
func (l *Log) Append(e Event) (fresh bool, err error) {
	if e.Type.Transient() {
		return true, nil
	}
	line, err := json.Marshal(e)
	if err != nil {
		return false, fmt.Errorf("events %s: %w", e.Key(), err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.ID != "" && l.seen[e.Key()] {
		return false, nil
	}
	line = append(redact.InJSON(l.redact, line), '\n')
	if _, err := l.file.WriteAt(line, l.size); err != nil {
		// The disk may have room again for the next event, which comes in the place of what
		// there is of this one.
		return false, fmt.Errorf("events %s: %w", e.Key(), errors.Join(err, l.file.Truncate(l.size)))
	}
	l.size += int64(len(line))
	l.seen[e.Key()] = true
	return true, nil
}

// Close closes the file. Appending afterwards is an error.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}

// Read returns the events of an events.jsonl. A torn last line is left out; any
// other line that cannot be read is an error that names it.
func Read(r io.Reader) ([]Event, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	var events []Event
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if line[len(line)-1] != '\n' {
			break
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("events: line %d: %w", n, err)
		}
		events = append(events, e)
	}
	return events, nil
}

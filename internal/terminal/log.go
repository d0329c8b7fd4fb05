package terminal

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// NewLog makes a log for people at a terminal, of records of a level and above.
func NewLog(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(&plainLog{w: w, level: level, mu: &sync.Mutex{}})
}

// A plainLog is a log for people at a terminal: each record is a line like all others,
// without time and keys.
type plainLog struct {
	w     io.Writer
	level slog.Level
	with  string // the attributes that all records have
	mu    *sync.Mutex
}

func (s *plainLog) Enabled(_ context.Context, level slog.Level) bool { return level >= s.level }

// Handle writes one line: the message, then the error, then the rest in brackets.
func (s *plainLog) Handle(_ context.Context, r slog.Record) error {
	word := "ycbot: warning: "
	if r.Level >= slog.LevelError {
		word = "ycbot: "
	}
	reason, rest := "", s.with
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" {
			reason += ": " + a.Value.String()
		} else {
			rest = joined(rest, a)
		}
		return true
	})
	if rest != "" {
		rest = " (" + rest + ")"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := io.WriteString(s.w, word+Printable(r.Message+reason+rest)+"\n")
	return err
}

func joined(before string, a slog.Attr) string {
	return strings.TrimPrefix(before+", "+a.Key+" "+a.Value.String(), ", ")
}

// WithAttrs is part of slog.Handler.
func (s *plainLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *s
	for _, a := range attrs {
		c.with = joined(c.with, a)
	}
	return &c
}

// WithGroup is part of slog.Handler; no one here groups.
func (s *plainLog) WithGroup(string) slog.Handler { return s }

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/ycbot/ycbot/internal/terminal"
)

// A spoken log tells people in a terminal what they should know: a line in the words
// of all others, without time and keys. Whoever looks for a fault has the whole log.
type spoken struct {
	w     io.Writer
	level slog.Level
	with  string // the attributes that all records have
	mu    *sync.Mutex
}

func (s *spoken) Enabled(_ context.Context, level slog.Level) bool { return level >= s.level }

// Handle writes one line: the message, then the error, then the rest in brackets.
func (s *spoken) Handle(_ context.Context, r slog.Record) error {
	word := "ycbot: warning: "
	if r.Level >= slog.LevelError {
		word = "ycbot: "
	}
	reason, rest := "", s.with
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" {
			reason += ": " + a.Value.String()
		} else {
			rest = said(rest, a)
		}
		return true
	})
	if rest != "" {
		rest = " (" + rest + ")"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := io.WriteString(s.w, word+terminal.Printable(r.Message+reason+rest)+"\n")
	return err
}

func said(before string, a slog.Attr) string {
	return strings.TrimPrefix(before+", "+a.Key+" "+a.Value.String(), ", ")
}

// WithAttrs is part of slog.Handler.
func (s *spoken) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *s
	for _, a := range attrs {
		c.with = said(c.with, a)
	}
	return &c
}

// WithGroup is part of slog.Handler; no one here groups.
func (s *spoken) WithGroup(string) slog.Handler { return s }

// progress begins to show a run on out. The log of a CI job is no screen, even where its
// runner gives it a terminal.
func (p *program) progress(out *terminal.Console) *terminal.Progress {
	plain := p.getenv("TERM") == "dumb" || p.getenv("CI") != ""
	detail := terminal.Normal
	switch {
	case p.quiet:
		detail = terminal.Quiet
	case p.verbose:
		detail = terminal.Verbose
	}
	return terminal.NewProgress(out, p.now, detail, !plain && p.getenv("NO_COLOR") == "", plain)
}

// say writes a line of operation to standard error.
func (p *program) say(text string) { fmt.Fprintln(p.stderr, "ycbot: "+terminal.Printable(text)) }

package main

import (
	"fmt"

	"github.com/ycbot/ycbot/internal/terminal"
)

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

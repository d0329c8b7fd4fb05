package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/run"
)

// A progress shows a run while it goes: a line for each command that is done
// and, on a terminal, one live line for the command that runs; elsewhere, as in
// the log of a CI job, a line when it begins. It owns the
// goroutine that keeps the live line's clock going, until close.
type progress struct {
	out  *os.File
	now  func() time.Time
	live bool

	mu      sync.Mutex
	current string // what runs
	since   time.Time
	closed  bool
	stop    chan struct{}
	done    chan struct{}
}

func newProgress(out *os.File, now func() time.Time) *progress {
	p := &progress{out: out, now: now, live: term.IsTerminal(int(out.Fd())), stop: make(chan struct{}), done: make(chan struct{})}
	go p.tick()
	return p
}

func (p *progress) tick() {
	defer close(p.done)
	if !p.live {
		return
	}
	t := time.NewTicker(100 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-t.C:
			p.mu.Lock()
			p.draw()
			p.mu.Unlock()
		}
	}
}

// event shows one event of the run.
func (p *progress) event(e run.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if e.Stage == string(gate.StageList) || e.Stage == string(gate.StageWarm) {
		return // the gate's housekeeping
	}
	switch e.Type {
	case run.RunStart:
		p.line("run " + e.Run)
	case run.RunResumed:
		p.line("run " + e.Run + " goes on where it was broken off")
	case run.CommandStart:
		p.current, p.since = label(e), p.now()
		if p.live {
			p.draw()
		} else {
			p.line(label(e) + "  …")
		}
	case run.CommandDone:
		p.current = ""
		p.line(label(e) + "  " + ending(e))
	case run.StageStart:
		if e.Stage == "checkout" {
			p.current, p.since = "checkout", p.now()
			p.draw()
		}
	case run.StageDone:
		if e.Stage == "checkout" {
			p.current = ""
			if e.Error == "" {
				p.line("checkout  ok " + took(e.DurationMS))
			}
		}
	case run.RunDone:
	}
}

func label(e run.Event) string {
	where := ""
	if e.Unit != "" && e.Unit != "." {
		where = " (" + e.Unit + ")"
	}
	return fmt.Sprintf("%s %-5s %s%s", e.Side, strings.ReplaceAll(e.Stage, "_", "-"), e.Command, where)
}

func ending(e run.Event) string {
	switch {
	case e.TimedOut:
		return "timed out after " + took(e.DurationMS)
	case e.Exit != nil && *e.Exit != 0:
		return fmt.Sprintf("exit %d %s", *e.Exit, took(e.DurationMS))
	default:
		return "ok " + took(e.DurationMS)
	}
}

func took(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// line writes a line that stays. p.mu is held.
func (p *progress) line(text string) {
	p.erase()
	fmt.Fprintln(p.out, "ycbot: "+printable(text))
	p.draw()
}

// draw writes the live line. p.mu is held.
func (p *progress) draw() {
	if !p.live || p.closed || p.current == "" {
		return
	}
	text := "ycbot: " + printable(p.current) + "  " + p.now().Sub(p.since).Round(time.Second).String()
	if w, _, err := term.GetSize(int(p.out.Fd())); err == nil && w > 0 && len([]rune(text)) >= w {
		text = string([]rune(text)[:max(w-2, 0)]) + "…"
	}
	fmt.Fprint(p.out, "\r\x1b[K"+text)
}

func (p *progress) erase() {
	if p.live {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// printable keeps commands of a repository from steering the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}

// close ends the display. It may be called twice.
func (p *progress) close() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed = true
	p.erase()
	p.mu.Unlock()
	close(p.stop)
	<-p.done
}

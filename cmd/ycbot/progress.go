package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/gate"
)

// A progress shows a run while it goes: a line for each command that is done
// and, on a terminal, one live line for the command that runs; elsewhere, as in
// the log of a CI job, a line for one that takes long. It owns the
// goroutine that keeps the live line's clock going, until close.
type progress struct {
	out  *os.File
	now  func() time.Time
	live bool

	mu      sync.Mutex
	current map[string]running // by agent
	closed  bool
	stop    chan struct{}
	done    chan struct{}
}

// running is something that has begun.
type running struct {
	text      string
	since     time.Time
	announced bool
}

func newProgress(out *os.File, now func() time.Time) *progress {
	p := &progress{out: out, now: now, live: term.IsTerminal(int(out.Fd())), current: map[string]running{}, stop: make(chan struct{}), done: make(chan struct{})}
	go p.tick()
	return p
}

func (p *progress) tick() {
	defer close(p.done)
	every := 100 * time.Millisecond
	if !p.live {
		every = time.Second
	}
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-t.C:
			p.mu.Lock()
			p.announce()
			p.draw()
			p.mu.Unlock()
		}
	}
}

// event shows one event of the run.
func (p *progress) event(e agent.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	switch e.Type {
	case agent.EventRunStart:
		p.line("run " + e.Text)
	case agent.EventRunResumed:
		p.line("run " + e.Text + " goes on where it was broken off")
	case agent.EventStageStart:
		if e.Step.Stage == "checkout" {
			p.begin("", "checkout")
		}
	case agent.EventStageDone:
		if e.Step.Stage == "checkout" {
			p.end("", "checkout", e.Reason == "", "ok "+took(e.DurationMS))
		}
	case agent.EventCommandStart:
		p.begin("", label(e.Step))
	case agent.EventCommandDone:
		p.end("", label(e.Step), true, ending(e))
	case agent.EventSubagentStart:
		p.line("agent " + e.Agent + " starts")
	case agent.EventToolStart:
		p.begin(e.ID, "agent "+e.Agent+" "+call(e.Call))
	case agent.EventToolResult:
		p.end(e.ID, "agent "+e.Agent+" "+call(e.Call), true, answer(e)+" "+took(e.DurationMS))
	case agent.EventSubagentDone:
		p.line(fmt.Sprintf("agent %s %s after %d answers and %d calls, %s", e.Agent, strings.TrimPrefix(e.Done.Outcome, "runner_"),
			e.Done.Iterations, e.Done.ToolCalls, took(e.Done.DurationMS)))
	}
}

// begin shows that something of an agent, or of the gate for "", has begun.
func (p *progress) begin(id, text string) {
	if housekeeping(text) {
		return
	}
	p.current[id] = running{text: text, since: p.now()}
	p.draw()
}

// long is how long a command runs before a log says that it does.
const long = 3 * time.Second

// announce writes a line for what has been running long, once. p.mu is held.
func (p *progress) announce() {
	if p.live || p.closed {
		return
	}
	for id, r := range p.current {
		if !r.announced && p.now().Sub(r.since) >= long {
			r.announced = true
			p.current[id] = r
			p.line(r.text + "  …")
		}
	}
}

// end shows how it ended.
func (p *progress) end(id, text string, show bool, how string) {
	if housekeeping(text) {
		return
	}
	delete(p.current, id)
	if show {
		p.line(text + "  " + how)
	}
}

// housekeeping tells commands of the gate that nobody need see.
func housekeeping(text string) bool {
	for _, stage := range []gate.Stage{gate.StageList, gate.StageWarm} {
		if strings.Contains(text, " "+string(stage)+" ") && strings.Contains(text, "go list") {
			return true
		}
	}
	return false
}

func label(s *agent.Step) string {
	where := ""
	if s.Unit != "" && s.Unit != "." {
		where = " (" + s.Unit + ")"
	}
	return fmt.Sprintf("%s %-5s %s%s", s.Side, strings.ReplaceAll(s.Stage, "_", "-"), s.Command, where)
}

// call shows a tool call in one line: of commands the command, of others the arguments.
func call(c *agent.Call) string {
	var args struct{ Command string }
	if json.Unmarshal([]byte(c.Args), &args) == nil && args.Command != "" {
		return "$ " + args.Command
	}
	return c.Name + " " + c.Args
}

// answer tells in a word what became of a call.
func answer(e agent.Event) string {
	if m := exitCode.FindStringSubmatch(e.Text); m != nil && m[1] != "0" {
		return "exit " + m[1]
	}
	if e.Errored {
		return "refused or wrong"
	}
	return "ok"
}

// exitCode is in the first line of a command's answer.
var exitCode = regexp.MustCompile(`^\[E\d+\] exit=(-?\d+) `)

func ending(e agent.Event) string {
	switch {
	case e.Step.TimedOut:
		return "timed out after " + took(e.DurationMS)
	case e.Step.Exit != nil && *e.Step.Exit != 0:
		return fmt.Sprintf("exit %d %s", *e.Step.Exit, took(e.DurationMS))
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

// draw writes the live line: what has been running longest, and how many more.
// p.mu is held.
func (p *progress) draw() {
	if !p.live || p.closed || len(p.current) == 0 {
		return
	}
	all := slices.Collect(maps.Values(p.current))
	slices.SortFunc(all, func(a, b running) int { return a.since.Compare(b.since) })
	text := "ycbot: " + printable(all[0].text) + "  " + p.now().Sub(all[0].since).Round(time.Second).String()
	if len(all) > 1 {
		text += fmt.Sprintf("  and %d more", len(all)-1)
	}
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

// printable keeps commands of a repository from steering the terminal, and the
// runner of a job, which takes "##[" for one of its own anywhere in a line.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
	return strings.ReplaceAll(s, "##[", "## [")
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

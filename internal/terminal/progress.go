package terminal

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/report"
)

// A Detail says how much is shown while a run goes.
type Detail int

// How much is shown. The zero value is what no one asked for.
const (
	Normal  Detail = iota
	Quiet          // nothing but errors
	Verbose        // also what agents say and each of their calls
)

// A Progress shows a run while it goes. On a terminal the last lines live: the
// stage, and side by side what each side of the gate and each agent is doing.
// What has ended is written above them and stays. Elsewhere, as in the log of a CI
// job, there are only lines that stay, and one for a command that takes long. It
// owns the goroutine that keeps the clocks going, until close.
type Progress struct {
	out    *Console
	now    func() time.Time
	Price  agent.Price // of models; nil: costs are not shown. Set it before the first event
	detail Detail
	paint  bool // with colours

	mu      sync.Mutex
	screen  *screen // nil: no terminal
	began   time.Time
	stage   string
	doing   map[string]*activity // commands of the gate by their text, agents by their ids
	spent   model.Usage          // of agents that have ended
	usd     float64              // what those cost
	unknown bool                 // some cost is not known
	tick    int
	closed  bool
	stop    chan struct{}
	done    chan struct{}
}

// An activity is a command of the gate, or an agent with its calls.
type activity struct {
	name  string // of the agent; empty: a command
	since time.Time
	text  string // of the command
	last  int64  // how long it took last time, in milliseconds; 0: not known
	calls map[int]running
	turns int
	usage model.Usage
	said  bool // that it takes long
	minor bool // shown only where it takes long
}

// running is a call that has begun.
type running struct {
	text  string
	since time.Time
	said  bool
}

// NewProgress begins to write to out, in colours where it is to paint, and line by
// line where out is plain, or no terminal.
func NewProgress(out *Console, now func() time.Time, d Detail, paint, plain bool) *Progress {
	p := &Progress{out: out, now: now, detail: d, paint: paint, began: now(), doing: map[string]*activity{}, stop: make(chan struct{}), done: make(chan struct{})}
	fd := int(out.Fd())
	if d == Quiet {
		close(p.done)
		return p
	}
	if !plain && term.IsTerminal(fd) {
		p.screen = &screen{out: out, size: func() (int, int) {
			w, h, err := term.GetSize(fd)
			if err != nil || w == 0 {
				return 80, 24
			}
			return w, h
		}}
	}
	go p.keepTime()
	return p
}

// keepTime draws once in a while, and says where there is no terminal what takes
// long.
func (p *Progress) keepTime() {
	defer close(p.done)
	every := time.Second
	if p.screen != nil {
		every = 120 * time.Millisecond
	}
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-t.C:
			p.mu.Lock()
			p.tick++
			p.announce()
			p.draw()
			p.mu.Unlock()
		}
	}
}

// long is how long a command runs before a log says that it does.
const long = 3 * time.Second

// announce writes a line for what has been running long, once. p.mu is held.
func (p *Progress) announce() {
	if p.screen != nil || p.closed {
		return
	}
	for _, a := range p.doing {
		if a.name == "" && !a.said && p.now().Sub(a.since) >= long {
			a.said = true
			p.line(a.text + "  …" + a.usually())
		}
		for i, r := range a.calls {
			if !r.said && p.now().Sub(r.since) >= long {
				r.said = true
				a.calls[i] = r
				p.line("agent " + a.name + " " + r.text + "  …")
			}
		}
	}
}

// usually says how long it took last time.
func (a *activity) usually() string {
	if a.last == 0 {
		return ""
	}
	return "  last time " + took(a.last)
}

// line writes a line that stays. p.mu is held.
func (p *Progress) line(text string) { p.put("ycbot: " + Printable(text)) }

// put writes text as it is. p.mu is held.
func (p *Progress) put(text string) {
	if p.detail == Quiet {
		return
	}
	if p.screen == nil {
		fmt.Fprintln(p.out, text)
		return
	}
	p.screen.above(text)
}

// liveMost is how many things are shown side by side.
const liveMost = 8

// draw shows what goes on. p.mu is held.
func (p *Progress) draw() {
	if p.screen == nil || p.closed {
		return
	}
	if p.stage == "" && len(p.doing) == 0 {
		p.screen.draw(nil)
		return
	}
	all := make([]*activity, 0, len(p.doing))
	for _, a := range p.doing {
		if !a.minor || p.now().Sub(a.since) >= long {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b *activity) int {
		return cmp.Or(a.since.Compare(b.since), strings.Compare(a.name, b.name))
	})
	lines := []string{p.head()}
	for i, a := range all {
		if i == liveMost {
			lines = append(lines, fmt.Sprintf("  and %d more", len(all)-liveMost))
			break
		}
		lines = append(lines, "  "+p.row(a))
	}
	p.screen.draw(lines)
}

// wheel turns while a run goes.
var wheel = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// head is the first live line: the stage, how long the run goes, what it cost.
func (p *Progress) head() string {
	parts := []string{p.colour(cyan, wheel[p.tick%len(wheel)]) + " " + p.colour(bold, cmp.Or(p.stage, "ycbot")), clock(p.now().Sub(p.began))}
	usage, usd, known := p.spent, p.usd, !p.unknown
	for _, a := range p.doing {
		usage = usage.Add(a.usage)
		if a.usage == (model.Usage{}) {
			continue
		}
		more, ok := 0.0, false
		if p.Price != nil {
			more, ok = p.Price(a.usage)
		}
		usd, known = usd+more, known && ok
	}
	if n := usage.Input + usage.Output; n > 0 {
		parts = append(parts, thousands(n)+" tokens")
		if known {
			parts = append(parts, fmt.Sprintf("%.2f USD", usd))
		}
	}
	return strings.Join(parts, "  ")
}

// row is the live line of one activity.
func (p *Progress) row(a *activity) string {
	if a.name == "" {
		return Printable(a.text) + "  " + p.colour(faint, clock(p.now().Sub(a.since))+a.usually())
	}
	what, since := "asks its model", a.since
	if len(a.calls) > 0 {
		var first running
		for _, i := range slices.Sorted(maps.Keys(a.calls)) {
			r := a.calls[i]
			if first.text == "" || r.since.Before(first.since) {
				first = r
			}
		}
		what, since = first.text, first.since
		if n := len(a.calls) - 1; n > 0 {
			what += fmt.Sprintf("  and %d more", n)
		}
	}
	return p.colour(bold, Printable(a.name)) + "  " + Printable(what) + "  " +
		p.colour(faint, fmt.Sprintf("%s · answer %d · %s tokens", clock(p.now().Sub(since)), a.turns+1, thousands(a.usage.Input+a.usage.Output)))
}

// The colours of the live lines.
const (
	bold  = "\x1b[1m"
	faint = "\x1b[2m"
	cyan  = "\x1b[36m"
	green = "\x1b[32m"
	red   = "\x1b[31m"
)

func (p *Progress) colour(code, text string) string {
	if !p.paint || p.screen == nil {
		return text
	}
	return code + text + colourEnd
}

// clock is a duration as people read it: 7s, 1:05, 1:02:03.
func clock(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// thousands is a count with its thousands apart.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + " " + text[at:]
	}
	return text
}

// Printable makes one line of text of others that cannot steer the terminal, hides
// nothing, and is no command to the runner of a job, which takes "##[" for one of
// its own anywhere in a line.
func Printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
	return strings.ReplaceAll(report.Visible(s), "##[", "## [")
}

// PrintableLines is Printable for a text of several lines.
func PrintableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Printable(line)
	}
	return strings.Join(lines, "\n")
}

// Close ends it. It may be called twice.
func (p *Progress) Close() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed = true
	if p.screen != nil {
		p.screen.draw(nil)
	}
	p.mu.Unlock()
	close(p.stop)
	<-p.done
}

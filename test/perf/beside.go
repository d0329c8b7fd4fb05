package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// An entry is a line of the table: the medians of a contestant.
type entry struct {
	name, version            string
	start, read, shell, long time.Duration
	cpu                      time.Duration
	peak                     int64
	prompt                   int
}

// heading begins the section of the document that compares.
const heading = "## Beside its peers\n"

// beside measures ycbot and its peers in turns and returns the section.
func beside(ctx context.Context, l *lab) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	type result struct {
		text string
		err  error
	}
	done := make(chan result)
	go func() { // the only one without a network
		text, err := sideBySide(ctx, l, filepath.Join(cache, "ycbot-perf"))
		done <- result{text, err}
	}()
	r := <-done
	return r.text, r.err
}

func sideBySide(ctx context.Context, l *lab, cache string) (string, error) {
	var left []string
	list := peers()
	for i := 0; i < len(list); { // while there is a network
		l.logf("get %s", list[i].name)
		if _, _, err := list[i].install(ctx, cache); err != nil {
			left = append(left, fmt.Sprintf("%s: %v", list[i].name, err))
			list = append(list[:i], list[i+1:]...)
			continue
		}
		i++
	}
	alone := loopbackOnly()
	if alone != nil {
		l.logf("%v: proxies that are not there are to keep the peers on this machine", alone)
	}
	us, err := l.ourselves(ctx)
	if err != nil {
		return "", err
	}
	all := []contestant{us}
	for _, p := range list {
		c, err := l.enter(ctx, p, cache, alone == nil)
		if err != nil {
			return "", err
		}
		all = append(all, c)
	}
	entries, dropped, err := l.contest(ctx, all)
	if err != nil {
		return "", err
	}
	return section(entries, append(left, dropped...), l.rounds), nil
}

// contest has all hold all conversations, taking turns. A peer that fails is left
// out and named.
func (l *lab) contest(ctx context.Context, all []contestant) (entries []entry, left []string, err error) {
	bouts := map[string]map[string][]bout{}
	failed := map[string]bool{}
	for round := range l.rounds + 1 { // the first one fills the caches
		for _, kind := range []string{kindRead, kindShell, kindLong} {
			for _, c := range all {
				if failed[c.name] {
					continue
				}
				b, err := c.converse(ctx, kind)
				if err != nil && (c.name == all[0].name || ctx.Err() != nil) {
					return nil, nil, err
				}
				if err != nil {
					why, _, _ := strings.Cut(err.Error(), "\n")
					failed[c.name], left = true, append(left, why)
					l.logf("%v", err)
					continue
				}
				l.logf("round %d, %s, %s: first question after %.0f ms, gap %.2f ms", round, c.name, kind, ms(b.start), ms(median(gaps(b.turns))))
				if round > 0 {
					if bouts[c.name] == nil {
						bouts[c.name] = map[string][]bout{}
					}
					bouts[c.name][kind] = append(bouts[c.name][kind], b)
				}
			}
		}
	}
	for _, c := range all {
		if !failed[c.name] {
			entries = append(entries, c.entry(bouts[c.name]))
		}
	}
	return entries, left, nil
}

// entry takes the medians of what a contestant did.
func (c contestant) entry(bouts map[string][]bout) entry {
	gap := func(kind string, from func([]time.Duration) []time.Duration) time.Duration {
		var out []time.Duration
		for _, b := range bouts[kind] {
			out = append(out, median(from(gaps(b.turns))))
		}
		return median(out)
	}
	whole := func(g []time.Duration) []time.Duration { return g }
	tail := func(g []time.Duration) []time.Duration { return g[len(g)*3/4:] }
	e := entry{name: c.name, version: c.version, read: gap(kindRead, whole), shell: gap(kindShell, whole), long: gap(kindLong, tail)}
	var start, cpu []time.Duration
	var peak []int64
	for _, b := range bouts[kindRead] {
		start, cpu, peak = append(start, b.start), append(cpu, b.cpu), append(peak, b.peak)
		e.prompt = len(b.turns[0].body)
	}
	e.start, e.cpu, e.peak = median(start), median(cpu), median(peak)
	return e
}

// section writes the table. The first entry is what the others are compared with.
func section(entries []entry, left []string, rounds int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s, %s/%s, %d processors, %d rounds in turns; in brackets: how often ycbot's own of the same run\n\n", heading,
		time.Now().UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), rounds)
	fmt.Fprint(&b, "| program | version | 3: start to first question | 4: gap, reads a file | 5: gap, shell, no sandbox | 6: gap behind a long history | 7: processor time | 7: memory | 8: first question |\n|---|---|---|---|---|---|---|---|---|\n")
	us := entries[0]
	for i, e := range entries {
		cell := func(text string, theirs, ours float64) string {
			if i == 0 || ours <= 0 {
				return text
			}
			return fmt.Sprintf("%s (%s)", text, ratio(theirs/ours))
		}
		span := func(format string, theirs, ours time.Duration) string {
			return cell(fmt.Sprintf(format, ms(theirs)), ms(theirs), ms(ours))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", e.name, e.version,
			span("%.0f ms", e.start, us.start), span("%.2f ms", e.read, us.read), span("%.2f ms", e.shell, us.shell), span("%.2f ms", e.long, us.long),
			cell(fmt.Sprintf("%.2f s", e.cpu.Seconds()), e.cpu.Seconds(), us.cpu.Seconds()),
			cell(fmt.Sprintf("%.0f MB", float64(e.peak)/1e6), float64(e.peak), float64(us.peak)),
			cell(fmt.Sprintf("%.1f KB", float64(e.prompt)/1e3), float64(e.prompt), float64(us.prompt)))
	}
	b.WriteString(besideNotes)
	if len(left) > 0 {
		fmt.Fprintf(&b, "\nLeft out: %s.\n", strings.Join(left, "; "))
	}
	return b.String()
}

// ratio is short: two digits, or all before the point.
func ratio(of float64) string {
	switch {
	case of >= 10:
		return fmt.Sprintf("%.0f", of)
	case of >= 1:
		return fmt.Sprintf("%.1f", of)
	}
	return fmt.Sprintf("%.2f", of)
}

const besideNotes = `
Not the same work: beside its first question ycbot lays out worktrees of the commits,
runs its gate (here without a command) and searches the diff; it writes each answer to
disk with fsync, and after each command its evidence, and looks at every tracked file.
The peers do none of that. Nor is the rest the same: the first question is the whole
request, tools, system text and task; codex has no tool that reads and runs ` + "`cat`" + `.

One server on the same machine answers all of them by the same script in the API that
each speaks: 38 turns, a file of 4 KB, a command ` + "`true N`" + ` or three files each. Every
program has a home of its own that one round has warmed, telemetry and updates off, and
where the system permits it no network but the loopback. Those that ship a native
program are started as that and not by their wrapper for Node. Processor time is that
of a whole run with all that it waited for; memory adds up the peaks of the processes
that live at the last questions.

Repeat: ` + "`make peers`" + `; it gets the peers from the npm registry.
`

// exchange puts a section in the place of the one of that heading in a document, or
// at its end.
func exchange(document, section string) string {
	before, after, found := strings.Cut("\n"+document, "\n"+heading)
	before = strings.Trim(before, "\n")
	if before != "" {
		before += "\n\n"
	}
	if !found {
		return before + section
	}
	if _, rest, more := strings.Cut(after, "\n## "); more {
		return before + section + "\n## " + rest
	}
	return before + section
}

// kept is the section of a document, for the next one; without one it says how to
// get it.
func kept(document string) string {
	_, after, found := strings.Cut("\n"+document, "\n"+heading)
	if !found {
		return heading + "\nNot measured yet: `make peers`.\n"
	}
	text, _, _ := strings.Cut(after, "\n## ")
	return heading + strings.TrimRight(text, "\n") + "\n"
}

// writeBeside measures and puts the section into a document, or prints it.
func writeBeside(ctx context.Context, l *lab, out string) error {
	text, err := beside(ctx, l)
	if err != nil {
		return err
	}
	fmt.Print(text)
	if out == "" {
		return nil
	}
	document, err := os.ReadFile(out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(out, []byte(exchange(string(document), text)), 0o644) //nolint:gosec // a document
}

// Perf measures what ycbot itself costs: the rows of the scorecard that need only
// this repository, each a median of interleaved rounds, and writes them beside
// their goals. "make bench" runs it; docs/performance.md is what it wrote last.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A figure is one measured value.
type figure struct {
	row          string // of the scorecard
	metric, goal string
	value        string
	met          bool
	note         string // how it was measured, or why it is not met
}

// A measurement yields the figures of some rows.
type measurement struct {
	rows string
	what string
	do   func(context.Context, *lab) ([]figure, error)
}

func measurements() []measurement {
	return []measurement{
		{"1", "harness time of a run", harnessTime},
		{"2", "gate with the base cached", cachedGate},
		{"3 4 7 8 9", "forty turns that read", reading},
		{"5", "forty turns with a shell", shelling},
		{"5 sandbox", "what a command pays for the sandbox", overhead},
		{"6", "the gap behind a long history", longHistory},
		{"7", "four subagents at once", subagents},
		{"10 11", "git in a large repository", largeRepository},
	}
}

func main() {
	out := flag.String("o", "", "write the table to `FILE` as well")
	rounds := flag.Int("rounds", 5, "rounds of each measurement")
	only := flag.String("row", "", "only what measures this `ROW` of the scorecard")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measure(ctx, *out, *rounds, *only); err != nil {
		fmt.Fprintln(os.Stderr, "perf: "+err.Error())
		os.Exit(1)
	}
}

func measure(ctx context.Context, out string, rounds int, only string) error {
	dir, err := os.MkdirTemp("", "ycbot-perf-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tell := func(format string, args ...any) { fmt.Fprintf(os.Stderr, "perf: "+format+"\n", args...) }
	l, err := newLab(ctx, dir, rounds, tell)
	if err != nil {
		return err
	}
	var all []figure
	var failed []error
	for _, m := range measurements() {
		if only != "" && !slices.Contains(strings.Fields(m.rows), only) {
			continue
		}
		tell("%s (row %s)", m.what, strings.ReplaceAll(m.rows, " ", ", "))
		figures, err := m.do(ctx, l)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", m.what, err))
			tell("%v", err)
		}
		all = append(all, figures...)
	}
	slices.SortStableFunc(all, func(a, b figure) int { return number(a.row) - number(b.row) })
	write(os.Stdout, all, rounds)
	if out == "" {
		return errors.Join(failed...)
	}
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	fmt.Fprint(file, preface)
	write(file, all, rounds)
	fmt.Fprint(file, coda)
	return errors.Join(append(failed, file.Close())...)
}

func number(row string) (n int) {
	fmt.Sscan(row, &n) //nolint:errcheck // no number is none
	return n
}

const preface = "# Performance\n\nWritten by `make bench`. Each figure is the median of interleaved rounds of one run, on\none machine that did nothing else; machines differ, and what can be is a ratio.\n\n"

// coda is written after the table.
const coda = "\nRepeat: `make bench` on a quiet machine; one row: `go run ./test/perf -row 4`.\n"

// write writes the table.
func write(w io.Writer, figures []figure, rounds int) {
	fmt.Fprintf(w, "%s, %s/%s, %d processors, %s, %d rounds\n\n", time.Now().UTC().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), rounds)
	fmt.Fprint(w, "| # | metric | measured | goal | met | how, and why not |\n|---|---|---|---|---|---|\n")
	for _, f := range figures {
		met := "no"
		if f.met {
			met = "yes"
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", f.row, f.metric, f.value, f.goal, met, f.note)
	}
}

// Perf measures what ycbot itself costs: the rows of the scorecard that need only
// this repository, each a median of interleaved rounds, and writes them beside
// their goals. "make bench" runs it; docs/performance.md is what it wrote last. "make peers" measures ycbot beside
// other agents and writes that section of the same document alone.
//
// It is a module of its own: go -C test/perf run . -row 4
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
		{"2", "first verdict", firstVerdict},
		{"2b", "the whole gate", wholeGate},
		{"2c", "a second push", secondPush},
		{"3 4 7 8 9", "forty turns that read", reading},
		{"5", "forty turns with a shell", shelling},
		{"5 sandbox", "what a command pays for the sandbox", overhead},
		{"6", "the gap behind a long history", longHistory},
		{"7", "four subagents at once", subagents},
		{"17", "the Action's step", step},
		{"10 11", "git in a large repository", largeRepository},
		{"12", "the App stores what comes at once", accepting},
		{"13", "the App answers at a steady rate", steady},
		{"14", "a worker is killed", crashed},
		{"15", "a new head comes", superseding},
		{"16", "work starts", pickup},
		{"18", "two workers", scaling},
		{"19", "the demo from sources", demo},
		{"20", "mutants", mutants},
		{"21", "a crowd of workers", crowded},
		{"22", "pages with many runs", pages},
		{"23", "deliveries beside strangers", beset},
	}
}

func main() {
	out := flag.String("o", "", "write the table to `FILE` as well")
	rounds := flag.Int("rounds", 5, "rounds of each measurement")
	only := flag.String("row", "", "only what measures these `ROWS` of the scorecard, as in 4 or 3,4,sandbox")
	var size sizes
	flag.IntVar(&size.queued, "queued", 200, "verifications that wait in row 18")
	flag.IntVar(&size.jobs, "jobs", 5000, "jobs that wait in row 21")
	flag.IntVar(&size.workers, "workers", 40, "processes that work in row 21")
	program := flag.String("program", "", "measure, or compare, this `FILE`, an ycbot that is built already")
	older := flag.String("against", "", "measure nothing: say whether this `FILE`, an older ycbot, reports the same")
	others := flag.Bool("peers", false, "measure ycbot beside other agents, which are got from the npm registry, and nothing else")
	scripts := flag.String("scripts", "", "with -against: only the scripts that this `PATTERN` matches, as in agents|tasks")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if url := os.Getenv(crowdURL); url != "" {
		if err := crowdWorker(ctx, url); err != nil {
			fmt.Fprintln(os.Stderr, "perf: worker: "+err.Error())
			os.Exit(1)
		}
		return
	}
	if err := measure(ctx, *out, *rounds, size, *only, *older, *scripts, *program, *others); err != nil {
		fmt.Fprintln(os.Stderr, "perf: "+err.Error())
		os.Exit(1)
	}
}

func measure(ctx context.Context, out string, rounds int, size sizes, only, older, scripts, program string, others bool) error {
	dir, err := os.MkdirTemp("", "ycbot-perf-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	logf := func(format string, args ...any) { fmt.Fprintf(os.Stderr, "perf: "+format+"\n", args...) }
	l, err := newLab(ctx, dir, program, rounds, logf)
	if err != nil {
		return err
	}
	l.sizes = size
	if older != "" {
		return same(ctx, l, older, scripts)
	}
	if others {
		return writeBeside(ctx, l, out)
	}
	var all []figure
	var failed []error
	var left []string
	wanted := strings.FieldsFunc(only, func(r rune) bool { return r == ',' || r == ' ' })
	for _, m := range measurements() {
		if only != "" && !slices.ContainsFunc(strings.Fields(m.rows), func(row string) bool { return slices.Contains(wanted, row) }) {
			left = append(left, fmt.Sprintf("%s (row %s)", m.what, strings.ReplaceAll(m.rows, " ", ", ")))
			continue
		}
		logf("%s (row %s)", m.what, strings.ReplaceAll(m.rows, " ", ", "))
		figures, err := m.do(ctx, l)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", m.what, err))
			logf("%v", err)
		}
		all = append(all, figures...)
	}
	slices.SortStableFunc(all, func(a, b figure) int { return number(a.row) - number(b.row) })
	write(os.Stdout, all, rounds)
	if out == "" {
		return errors.Join(failed...)
	}
	before, err := os.ReadFile(out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	fmt.Fprint(file, preface)
	write(file, all, rounds)
	if len(left) > 0 {
		fmt.Fprintf(file, "\nNot measured this time: %s.\n", strings.Join(left, "; "))
	}
	machine, err := floor(ctx, l)
	if err != nil {
		failed = append(failed, err)
	}
	fmt.Fprint(file, machine, coda)
	explain(file, all)
	fmt.Fprint(file, "\n"+kept(string(before)))
	return errors.Join(append(failed, file.Close())...)
}

func number(row string) (n int) {
	fmt.Sscan(row, &n) //nolint:errcheck // no number is none
	return n
}

const preface = "# Performance\n\nWritten by `make bench`. Each figure is the median of interleaved rounds of one run, on\none machine that did nothing else; machines differ, and what can be is a ratio.\n\n"

// coda is written after the table.
const coda = "\nRepeat: `make bench` on a quiet machine; one row: `go -C test/perf run . -row 4`.\n"

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

package main

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
)

// marks is what benchmarks said in all rounds, by their name and the unit.
type marks map[string]map[string][]float64

// benchmarks runs benchmarks of ycbot's own module, all of them in each round.
func (l *lab) benchmarks(ctx context.Context, pkg, pattern, times string) (marks, error) {
	all := marks{}
	for range l.rounds {
		out, err := l.command(ctx, root, "go", "test", "-timeout", "1h", "-run", "NONE", "-bench", pattern, "-benchtime", times, pkg)
		if err != nil {
			return nil, fmt.Errorf("%w\n%s", err, out)
		}
		all.read(string(out))
	}
	return all, nil
}

// read adds what one go test printed.
func (m marks) read(out string) {
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := strings.TrimSuffix(words[0], fmt.Sprint("-", runtime.GOMAXPROCS(0)))
		if m[name] == nil {
			m[name] = map[string][]float64{}
		}
		for i := 2; i+1 < len(words); i += 2 { // the second word is how often it ran
			if value, err := strconv.ParseFloat(words[i], 64); err == nil {
				m[name][words[i+1]] = append(m[name][words[i+1]], value)
			}
		}
	}
}

// mutants measures how many mutants of a Go module are judged a minute.
func mutants(ctx context.Context, l *lab) ([]figure, error) {
	all, err := l.benchmarks(ctx, "./internal/gate", "^BenchmarkMutants$", "1x")
	if err != nil {
		return nil, err
	}
	together, alone := all["BenchmarkMutants/together"]["mutants/min"], all["BenchmarkMutants/alone"]["mutants/min"]
	if len(together) != l.rounds || len(alone) != l.rounds {
		l.logf("%v: the benchmark of mutants says nothing", errMissing)
		return nil, nil
	}
	var ratios []float64
	for i := range together {
		ratios = append(ratios, together[i]/alone[i])
	}
	m := median(ratios)
	return []figure{{
		"20", "mutants judged a minute on a Go module", "≥ 5 ×", fmt.Sprintf("%.0f, alone %.0f: %.1f ×", median(together), median(alone), m), m >= 5,
		"40 mutants of 20 functions, of the time of all commands for mutants, compiling among them; one program for all against one for each, as before; the survivors are the same (`TestMutantsInOneProgram`)",
	}}, nil
}

// pages measures how long the first byte of a page takes with 100 000 runs stored.
func pages(ctx context.Context, l *lab) ([]figure, error) {
	all, err := l.benchmarks(ctx, "./app/web", "^BenchmarkFirstByte$", "20x")
	if err != nil {
		return nil, err
	}
	var out []figure
	for _, place := range []struct{ key, name string }{{"sqlite", "SQLite"}, {"postgres", "PostgreSQL"}} {
		slowest, p50, n := "", 0.0, 0
		for name, values := range all {
			if page, ok := strings.CutPrefix(name, "BenchmarkFirstByte/"+place.key+"/"); ok {
				if n++; median(values["ms/p50"]) > p50 {
					slowest, p50 = page, median(values["ms/p50"])
				}
			}
		}
		if n == 0 {
			l.logf("%s: %v", place.name, errMissing)
			continue
		}
		p99 := median(all["BenchmarkFirstByte/"+place.key+"/"+slowest]["ms/p99"])
		out = append(out, figure{
			"22", "first byte of the slowest page, 100 000 runs stored, " + place.name, "≤ 20 ms", fmt.Sprintf("%.1f ms", p50), p50 <= 20,
			fmt.Sprintf("`%s`, whose slowest of 20 took %.1f ms; %d pages and searches, for a viewer of all 200 repositories and of one, 20 times a round each; median of the rounds' medians; by `BenchmarkFirstByte` of `app/web`", slowest, p99, n),
		})
	}
	return out, nil
}

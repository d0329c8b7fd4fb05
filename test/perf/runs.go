package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// A small Go project with tests that take a moment, and a change to it.
func goProject(value int) (base, head map[string]string) {
	source := func(extra string) string {
		return "// Package calc adds.\npackage calc\n\n// Add returns a plus b.\nfunc Add(a, b int) int { return a + b }\n" + extra
	}
	test := "package calc\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestAdd(t *testing.T) {\n\ttime.Sleep(1500 * time.Millisecond)\n\tif Add(1, 2) != 3 {\n\t\tt.Error(\"wrong\")\n\t}\n}\n"
	extra := fmt.Sprintf("\n// Double returns twice a.\nfunc Double(a int) int { return a * %d / %d }\n", 2*value, value)
	return map[string]string{"go.mod": "module example.com/calc\n\ngo 1.24\n", "calc.go": source(""), "calc_test.go": test},
		map[string]string{
			"calc.go":        source(extra),
			"double_test.go": "package calc\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tif Double(4) != 8 {\n\t\tt.Error(\"wrong\")\n\t}\n}\n",
		}
}

// verdict ends a scripted agent's work.
const verdict = "### Check: it adds [adversarial]\n**Command run:** `true`\n**Output observed:**\n```\n```\n**Result: PASS**\n\nVERDICT: PASS\n"

// harnessTime is what a run takes besides commands and model.
func harnessTime(ctx context.Context, l *lab) ([]figure, error) {
	base, head := goProject(1)
	repo, err := l.repository(ctx, "harness", base, head)
	if err != nil {
		return nil, err
	}
	var own []time.Duration
	var share []float64
	for i := range l.rounds + 1 {
		e := newEndpoint(func(_ string, n int) (string, []call) {
			if n == 0 {
				return "", []call{{"run_bash", `{"command":"true"}`}}
			}
			return verdict, nil
		})
		r, err := l.run(ctx, repo, "--model", "m", "--provider", "openai", "--base-url", e.URL+"/v1")
		e.Close()
		if err != nil {
			return nil, err
		}
		spent, err := r.commands()
		if err != nil {
			return nil, err
		}
		if i == 0 {
			continue // it fills the caches
		}
		own, share = append(own, r.wall-spent), append(share, float64(r.wall-spent)/float64(r.wall))
	}
	t, s := median(own), median(share)
	return []figure{{
		"1", "harness time in a run", "≤ 3 %, ≤ 300 ms", fmt.Sprintf("%.1f %%, %.0f ms", 100*s, ms(t)), s <= 0.03 && t <= 300*time.Millisecond,
		"small Go project, scripted model; wall time less the time of the commands in the log",
	}}, nil
}

// quietProject has nothing for the gate to run, and files to read.
func (l *lab) quietProject(ctx context.Context, name string) (string, error) {
	files := map[string]string{".github/ycbot.yml": "version: 1\ncommands: {setup: [], build: [], test: [], lint: []}\n"}
	for i := range 100 {
		files[fmt.Sprintf("src/f%d.txt", i)] = strings.Repeat(fmt.Sprintf("line of file %d that is read\n", i), 150)
	}
	return l.repository(ctx, name, files, map[string]string{"src/f0.txt": "changed\n"})
}

// A dialogue is one run that was watched by its endpoint.
type dialogue struct {
	*endpoint
	ran
	took burden // of the process, at the last question
}

// converse runs ycbot with one agent by a script.
func (l *lab) converse(ctx context.Context, repo string, script func(string, int) (string, []call), args ...string) (*dialogue, error) {
	d := &dialogue{}
	d.endpoint = newEndpoint(script)
	defer d.Close()
	d.seen = func() {
		if b, ok := process(l.binary); ok {
			d.took = burden{max(b.peak, d.took.peak), max(b.own, d.took.own), max(b.cpu, d.took.cpu)}
		}
	}
	var err error
	d.ran, err = l.run(ctx, repo, append([]string{"--model", "m", "--provider", "openai", "--base-url", d.URL + "/v1", "--max-tokens", "100000000", "--max-cost-usd", "1000"}, args...)...)
	return d, err
}

// turns is how many tool calls a measured conversation has: one less than the
// questions that an agent has by default.
const turns = 38

func reader(_ string, n int) (string, []call) {
	if n < turns {
		return "", []call{{"read_file", fmt.Sprintf(`{"path":"src/f%d.txt"}`, n)}}
	}
	return verdict, nil
}

func reading(ctx context.Context, l *lab) ([]figure, error) {
	repo, err := l.quietProject(ctx, "reading")
	if err != nil {
		return nil, err
	}
	var start, gap, cpu []time.Duration
	var rss, private []int64
	var last *dialogue
	for i := range l.rounds + 1 {
		d, err := l.converse(ctx, repo, reader)
		if err != nil {
			return nil, err
		}
		if len(d.turns) < turns {
			return nil, fmt.Errorf("the agent asked %d times", len(d.turns))
		}
		last = d
		if i == 0 {
			continue
		}
		start, gap = append(start, d.turns[0].came.Sub(d.began)), append(gap, median(d.gaps()))
		cpu, rss, private = append(cpu, d.took.cpu), append(rss, d.took.peak), append(private, d.took.own)
	}
	other, err := l.converse(ctx, repo, reader)
	if err != nil {
		return nil, err
	}
	s, g, c, m := median(start), median(gap), median(cpu), median(rss)
	fixed, effective, limit := promptCost(last.turns)
	within, across := prefixes(last.turns, other.turns)
	stages, err := last.stages()
	if err != nil {
		return nil, err
	}
	return []figure{
		{"3", "process start to first question", "≤ 60 ms", fmt.Sprintf("%.0f ms", ms(s)), s <= 60*time.Millisecond, "nothing for the gate to run, sandbox known from the run before; milliseconds since the start of the process in one round: " + stages},
		{"4", "gap with a read tool", "≤ 0.5 ms", fmt.Sprintf("%.2f ms", ms(g)), g <= 500*time.Microsecond, "answer to next question; the answer is on disk in between"},
		{"7", "processor time and memory, 38 turns", "≤ 0.06 s, ≤ 30 MB", fmt.Sprintf("%.2f s, %.0f MB", c.Seconds(), float64(m)/1e6), c <= 60*time.Millisecond && m <= 30e6, fmt.Sprintf("of the process itself, from its start to its last question; memory is its peak with the pages of the program's file, %.0f MB are its own", float64(median(private))/1e6)},
		{"8", "fixed prompt; effective input", "≤ 20 KB; ≤ 1.25 × limit", fmt.Sprintf("%.1f KB; %.2f ×", float64(fixed)/1e3, effective/limit), fixed <= 20e3 && effective <= 1.25*limit, "new bytes × 1.25, repeated ones × 0.1; the limit has no fixed prompt"},
		{"9", "identical prefix in a session; across runs", "1.000; ≥ 0.98", fmt.Sprintf("%.4f; %.4f", within, across), within >= 0.9999 && across >= 0.98, "share of a question that repeats the one before; share of the fixed prompt that is the same in another run"},
	}, nil
}

func shelling(ctx context.Context, l *lab) ([]figure, error) {
	repo, err := l.quietProject(ctx, "shelling")
	if err != nil {
		return nil, err
	}
	script := func(_ string, n int) (string, []call) {
		if n < turns {
			return "", []call{{"run_bash", fmt.Sprintf(`{"command":"true %d"}`, n)}}
		}
		return verdict, nil
	}
	gaps := map[string][]time.Duration{}
	tiers := []string{"none", "full"}
	for i := range l.rounds + 1 {
		for _, tier := range tiers {
			d, err := l.converse(ctx, repo, script, "--sandbox", tier)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				gaps[tier] = append(gaps[tier], median(d.gaps()))
			}
		}
	}
	none, full := median(gaps["none"]), median(gaps["full"])
	return []figure{{
		"5", "gap with a shell, no sandbox / full", "≤ 1.5 / ≤ 9 ms", fmt.Sprintf("%.2f / %.2f ms", ms(none), ms(full)),
		none <= 1500*time.Microsecond && full <= 9*time.Millisecond, "command `true N`; evidence, journal and the check of tracked files are in it",
	}}, nil
}

// longHistory reads until half a megabyte is in the conversation.
func longHistory(ctx context.Context, l *lab) ([]figure, error) {
	repo, err := l.quietProject(ctx, "history")
	if err != nil {
		return nil, err
	}
	var gap []time.Duration
	var size int
	for i := range l.rounds + 1 {
		d, err := l.converse(ctx, repo, func(_ string, n int) (string, []call) {
			if n >= turns {
				return verdict, nil
			}
			var calls []call
			for k := range 3 { // 14 KB a turn
				calls = append(calls, call{"read_file", fmt.Sprintf(`{"path":"src/f%d.txt","offset":%d}`, (3*n+k)%100, 1+(3*n+k)/100)})
			}
			return "", calls
		})
		if err != nil {
			return nil, err
		}
		size = len(d.turns[len(d.turns)-1].body)
		if g := d.gaps(); i > 0 && len(g) > 8 {
			gap = append(gap, median(g[len(g)*3/4:]))
		}
	}
	g := median(gap)
	return []figure{{
		"6", "gap behind a long history", "≤ 4 ms", fmt.Sprintf("%.2f ms", ms(g)), g <= 4*time.Millisecond,
		fmt.Sprintf("last quarter of a conversation that grows to %d KB in 38 turns of three reads each; an agent has at most 100 turns", size/1000),
	}}, nil
}

// subagents has a coordinator send out four at once.
func subagents(ctx context.Context, l *lab) ([]figure, error) {
	repo, err := l.quietProject(ctx, "subagents")
	if err != nil {
		return nil, err
	}
	var rss, private []int64
	for i := range l.rounds + 1 {
		d, err := l.converse(ctx, repo, func(_ string, n int) (string, []call) {
			if n < 12 {
				return "", []call{{"read_file", fmt.Sprintf(`{"path":"src/f%d.txt"}`, n)}}
			}
			return verdict, nil
		}, "--agents", "Explore,review,security_analyst")
		if err != nil {
			return nil, err
		}
		if i > 0 {
			rss, private = append(rss, d.took.peak), append(private, d.took.own)
		}
	}
	m := median(rss)
	return []figure{{"7", "memory with four agents", "≤ 45 MB", fmt.Sprintf("%.0f MB", float64(m)/1e6), m <= 45e6, fmt.Sprintf("verification, Explore, review and security_analyst of one run, peak; %.0f MB are its own", float64(median(private))/1e6)}}, nil
}

package node

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sorted"
)

// v8Filter prints what Node wrote of the files that are named, a line each:
// https://nodejs.org/api/cli.html#node_v8_coveragedir; or what counters of Istanbul say,
// in the same form: https://github.com/istanbuljs/istanbuljs.
//
//go:embed lines.cjs
var v8Filter string

// nodeCounters are the options by which runners count that compile sources before they load
// them, which V8's counts are not of: they lay counters into the sources. Names of files are
// left to the last part, since they begin at a folder that settings of the runner choose.
var nodeCounters = map[string]func(base string) []string{
	"JSON of jest": func(base string) []string {
		return []string{"--coverage", "--coverageProvider=babel", "--coverageReporters=json", `--coverageDirectory="$COUNTS_DIR"`, "--collectCoverageFrom=" + ecosystem.Quoted("**/"+base)}
	},
	"JSON of vitest": func(base string) []string {
		return []string{"--coverage.enabled", "--coverage.reporter=json", `--coverage.reportsDirectory="$COUNTS_DIR"`, "--coverage.include=" + ecosystem.Quoted("**/"+base)}
	},
}

// asOne stands for what has a meaning in patterns of names.
var asOne = strings.NewReplacer("[", "?", "]", "?", "(", "?", ")", "?", "{", "?", "}", "?", "!", "?", "*", "?", "+", "?", "@", "?", `\`, "?", "|", "?")

// nodeLines reads what V8 counts, of whatever loads sources as they are, and what counters
// in sources do. Commands that name no tests are counted as well.
func nodeLines() *ecosystem.LineMeter {
	return &ecosystem.LineMeter{
		Knows: func(name string) bool {
			return slices.Contains(nodeExts, path.Ext(name)) && !slices.Contains([]string{".vue", ".svelte"}, path.Ext(name))
		},
		Tests: func(c ecosystem.Command, name string) bool { // others are compiled, or are not loaded with counters
			return slices.Contains([]string{".js", ".mjs", ".cjs"}, path.Ext(name)) && (c.Results == nil || nodeCounters[c.Results.Name] == nil)
		},
		Needs: map[string]string{"JSON of vitest": "vitest counts lines with @vitest/coverage-v8 or @vitest/coverage-istanbul"},
		Command: func(c ecosystem.Command, q ecosystem.Counting) (ecosystem.Command, string) {
			var names []string
			for _, f := range q.Files {
				names = append(names, strings.TrimPrefix(strings.TrimPrefix(f.Path, q.Unit), "/"))
			}
			script, counts := ecosystem.Quoted(c.Argv...), "export NODE_V8_COVERAGE=$COUNTS_DIR TAP_DISABLE_COVERAGE=1" // tap takes V8's counts away
			c.Text = "NODE_V8_COVERAGE=… " + c.Text
			if c.Results != nil {
				script = strings.Replace(ecosystem.ShellWords(c), c.Results.Covers, "", 1)
				if counters := nodeCounters[c.Results.Name]; counters != nil {
					var options []string
					for _, n := range names {
						for _, o := range counters(asOne.Replace(path.Base(n))) {
							if !slices.Contains(options, o) {
								options = append(options, o)
							}
						}
					}
					file := " --outputFile=" + ecosystem.ResultsVar
					if !strings.Contains(script, file) {
						return c, fmt.Sprintf("%q is called in a way that cannot be made to count", c.Text)
					}
					script, counts = strings.Replace(script, file, file+" "+strings.Join(options, " "), 1), ":"
					c.Text = strings.TrimPrefix(c.Text, "NODE_V8_COVERAGE=… ") + " " + options[0]
				}
			}
			return c.Counted("( "+counts+"\n"+script+"\n)", "env -u NODE_OPTIONS node -e "+ecosystem.Quoted(v8Filter)+` "$COUNTS_DIR" `+ecosystem.Quoted(names...)), ""
		},
		Reader: func(c results.Collector, q ecosystem.Counting) *results.LineCounts {
			out := results.NewLineCounts(c)
			out.Take = func(line string) bool { return takeV8(out, line, q) }
			return out
		},
	}
}

// takeV8 takes a line of v8Filter.
func takeV8(c *results.LineCounts, line string, q ecosystem.Counting) bool {
	var counts struct {
		V8            *string
		Functions     [][]v8Range
		Able          []int // the lines that counters are on; none: V8 counted all
		Sources, Lost int
	}
	if err := json.Unmarshal([]byte(line), &counts); err != nil || counts.V8 == nil {
		return false
	}
	if *counts.V8 == "" { // the end of it
		c.Ended()
		switch {
		case counts.Sources == 0:
			c.Miss("nothing of the project was counted by the runner, or its tests load none of it as it is")
		case counts.Lost > 0:
			c.Miss("some of the counts cannot be read, or the runner is set to leave changed files out of them")
		}
		return true
	}
	name := path.Join(q.Unit, *counts.V8)
	for _, f := range q.Files {
		if f.Path != name {
			continue
		}
		if c.Worked(len(f.Src)) {
			c.Miss("there are more counts than are read")
			continue
		}
		lines := v8Lines(f.Src, counts.Functions)
		if lines == nil {
			c.Miss(name + " is compiled before it runs, and the counts are of what was compiled")
			continue
		}
		for n := range lines {
			if counts.Able != nil && !slices.Contains(counts.Able, n) {
				delete(lines, n)
			}
		}
		c.Add(name, lines)
	}
	return true
}

// A v8Range is a part of a source, in UTF-16 units, and how often it ran. Ranges of a
// function lie in one another, the function itself first.
type v8Range struct {
	Start int `json:"startOffset"`
	End   int `json:"endOffset"`
	Count int `json:"count"`
}

// How a part of a source ran.
const (
	v8Not    = iota // it did not
	v8Loaded        // when the file was loaded
	v8Called        // in a function
)

// v8Lines says which lines of a source that hold code ran. A line on which a function
// begins that was not called did not run for being loaded. Nil: the counts are not of this
// text as a whole, as where it was compiled, or are of a part of the time.
func v8Lines(src []byte, functions [][]v8Range) map[int]bool {
	src = bytes.TrimPrefix(src, []byte("\ufeff")) // which Node does, too
	text := utf16.Encode([]rune(string(src)))
	type painted struct {
		v8Range
		state int
	}
	var ranges []painted
	uncalled, work, whole := map[int]bool{}, 0, false
	for _, f := range functions {
		for i, g := range f {
			if g.Start < 0 || g.End > len(text) || g.Start >= g.End {
				return nil // of another version of the file
			}
			if work += g.End - g.Start; work > results.MaxPainted {
				return nil
			}
			state, file := v8Called, f[0].Start == 0 && f[0].End == len(text)
			whole = whole || file
			switch {
			case g.Count == 0:
				state = v8Not
			case file:
				state = v8Loaded
			}
			if i == 0 && g.Count == 0 {
				uncalled[g.Start] = true
			}
			ranges = append(ranges, painted{g, state})
		}
	}
	if !whole {
		return nil
	}
	sorted.By(ranges, func(a, b painted) int { return (b.End - b.Start) - (a.End - a.Start) })
	state := make([]int, len(text))
	for _, g := range ranges {
		for i := g.Start; i < g.End; i++ {
			state[i] = g.state
		}
	}
	out := map[int]bool{}
	at := 0
	for n, line := range strings.Split(string(src), "\n") {
		loaded, called, begins := false, false, false
		units := utf16.Encode([]rune(line))
		for i := range units {
			if units[i] != ' ' && units[i] != '\t' && units[i] != '\r' {
				loaded, called = loaded || state[at+i] == v8Loaded, called || state[at+i] == v8Called
			}
			begins = begins || uncalled[at+i]
		}
		if at += len(units) + 1; ecosystem.CodeLine(".js", line) {
			out[n+1] = called || loaded && !begins
		}
	}
	return out
}

package ecosystem

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/ycbot/ycbot/internal/sorted"
)

// v8Mark begins a line of counts of one file, as printed by v8Filter.
const v8Mark = `{"v8":`

// v8Filter prints what Node wrote of the files that are named, a line each:
// https://nodejs.org/api/cli.html#node_v8_coveragedir. It is given the folder and the
// names.
const v8Filter = `const fs = require("fs"), path = require("path"), url = require("url")
const [dir, ...names] = process.argv.slice(1)
for (const file of fs.readdirSync(dir)) try {
  for (const s of JSON.parse(fs.readFileSync(path.join(dir, file))).result) {
    if (!s.url.startsWith("file:")) continue
    const name = path.relative(process.cwd(), url.fileURLToPath(s.url))
    if (names.includes(name)) console.log(JSON.stringify({v8: name, functions: s.functions.map(f => f.ranges)}))
  }
} catch {}`

// nodeLineCounts reads what V8 counts, of runners that load sources as they are.
func nodeLines() *LineMeter {
	return &LineMeter{
		Knows: func(name string) bool { return slices.Contains([]string{".js", ".cjs", ".mjs"}, path.Ext(name)) },
		Command: func(c Command, q Counting) (Command, bool) {
			if !slices.Contains([]string{"events of node --test", "JSON of mocha"}, c.Results.Name) {
				return c, false
			}
			var names []string
			for _, f := range q.Files {
				names = append(names, strings.TrimPrefix(strings.TrimPrefix(f.Path, q.Unit), "/"))
			}
			script := strings.Join([]string{
				`COUNTS_DIR=$(command -p mktemp -d) || exit 1`,
				"( export NODE_V8_COVERAGE=$COUNTS_DIR\n" + ShellWords(c) + "\n)",
				`status=$?`,
				"env -u NODE_OPTIONS node -e " + quoted(v8Filter) + ` "$COUNTS_DIR" ` + quoted(names...),
				`command -p rm -rf "$COUNTS_DIR"`,
				`exit $status`,
			}, "\n")
			c.Text = "NODE_V8_COVERAGE=… " + c.Text
			c.Argv = []string{"bash", "--noprofile", "--norc", "-c", script}
			return c, true
		},
		Reader: func(c Collector, q Counting) *LineCounts {
			out := newLineCounts(c)
			out.take = func(line string) bool {
				if !strings.HasPrefix(line, v8Mark) {
					return false
				}
				var counts struct {
					V8        string
					Functions [][]v8Range
				}
				if err := json.Unmarshal([]byte(line), &counts); err != nil {
					return true
				}
				name := path.Join(q.Unit, counts.V8)
				for _, f := range q.Files {
					if f.Path == name {
						if out.work += len(f.Src); out.work > maxPainted {
							return true
						}
						out.add(name, v8Lines(f.Src, counts.Functions))
					}
				}
				return true
			}
			return out
		},
	}
}

// add merges what one more process says of the lines of a file.
func (c *LineCounts) add(name string, lines map[int]bool) {
	if c.lines[name] == nil {
		c.lines[name] = map[int]bool{}
	}
	c.Knows[name] = true
	for n, ran := range lines {
		c.lines[name][n] = c.lines[name][n] || ran
		c.Ran[name] = c.Ran[name] || ran
	}
}

// A v8Range is a part of a source, in UTF-16 units, and how often it ran. Ranges of a
// function lie in one another, the function itself first.
type v8Range struct {
	Start int `json:"startOffset"`
	End   int `json:"endOffset"`
	Count int `json:"count"`
}

// maxPainted bounds the work of reading counts, which the change can make up.
const maxPainted = 1 << 26

// How a part of a source ran.
const (
	v8Not    = iota // it did not
	v8Loaded        // when the file was loaded
	v8Called        // in a function
)

// v8Lines says which lines of a source that hold code ran. A line on which a function
// begins that was not called did not run for being loaded.
func v8Lines(src []byte, functions [][]v8Range) map[int]bool {
	text := utf16.Encode([]rune(string(src)))
	type painted struct {
		v8Range
		state int
	}
	var ranges []painted
	uncalled, work := map[int]bool{}, 0
	for _, f := range functions {
		for i, g := range f {
			if g.Start < 0 || g.End > len(text) || g.Start >= g.End {
				return nil // of another version of the file
			}
			if work += g.End - g.Start; work > maxPainted {
				return nil
			}
			state := v8Called
			switch {
			case g.Count == 0:
				state = v8Not
			case f[0].Start == 0 && f[0].End == len(text):
				state = v8Loaded
			}
			if i == 0 && g.Count == 0 {
				uncalled[g.Start] = true
			}
			ranges = append(ranges, painted{g, state})
		}
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
		if at += len(units) + 1; CodeLine(".js", line) {
			out[n+1] = called || loaded && !begins
		}
	}
	return out
}

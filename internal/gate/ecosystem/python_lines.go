package ecosystem

import (
	_ "embed"
	"encoding/json"
	"path"
	"strings"
)

//go:embed python_lines.py
var pyLines string

// pyPytest runs pytest as "python -m pytest" does.
const pyPytest = "\nimport runpy\nsys.argv = sys.argv[1:]\nrunpy.run_module('pytest', run_name='__main__', alter_sys=True)\n"

// pyMark begins a line of counts of one file.
const pyMark = `{"py": `

// pythonLines counts lines with what Python itself has for it: sys.monitoring from 3.12 on
// (https://docs.python.org/3/library/sys.monitoring.html), sys.settrace before. Lines that
// other processes run are not seen; where tests start any, only the lines that ran are
// known.
func pythonLines() *LineMeter {
	return &LineMeter{
		Knows: func(name string) bool { return path.Ext(name) == ".py" },
		Command: func(c Command, q Counting) (Command, bool) {
			var names []string
			for _, f := range q.Files {
				names = append(names, strings.TrimPrefix(strings.TrimPrefix(f.Path, q.Unit), "/"))
			}
			wanted, err := json.Marshal(names)
			script := ShellWords(c)
			switch before := script; c.Results.Name {
			case "JUnit XML of pytest":
				script = strings.Replace(script, " -m pytest", ` -c "$COUNT_LINES" pytest`, 1)
				if script == before {
					return c, false
				}
				script = "COUNT_LINES=" + quoted(pyLines+pyPytest) + "\n" + script
			case "results of unittest":
				script = strings.Replace(script, ` -c "$UNITTEST"`, ` -c "$COUNT_LINES$UNITTEST"`, 1)
				if script == before {
					return c, false
				}
				script = "COUNT_LINES=" + quoted(pyLines) + "\n" + script
			default:
				return c, false
			}
			if err != nil {
				return c, false
			}
			script = strings.Join([]string{
				`COUNTS_DIR=$(command -p mktemp -d) || exit 1`,
				`( export COUNTS=$COUNTS_DIR/counts COUNTED=` + quoted(string(wanted)) + "\n" + script + "\n)",
				`status=$?`,
				`command -p cat "$COUNTS_DIR/counts" 2>/dev/null`,
				`command -p rm -rf "$COUNTS_DIR"`,
				`exit $status`,
			}, "\n")
			c.Text = "COUNTED=… " + c.Text
			c.Argv = []string{"bash", "--noprofile", "--norc", "-c", script}
			return c, true
		},
		Reader: func(c Collector, q Counting) *LineCounts {
			out := newLineCounts(c)
			out.take = func(line string) bool {
				if !strings.HasPrefix(line, pyMark) {
					return false
				}
				var counts struct {
					Py             string
					Loaded, Missed bool
					Ran, Not       []int
				}
				if err := json.Unmarshal([]byte(line), &counts); err != nil {
					return true
				}
				lines := map[int]bool{}
				for _, n := range counts.Not {
					lines[n] = false
				}
				for _, n := range counts.Ran {
					lines[n] = true
				}
				name := path.Join(q.Unit, counts.Py)
				out.add(name, lines)
				out.Missed = out.Missed || counts.Missed
				if !counts.Loaded {
					delete(out.Knows, name)
				}
				return true
			}
			return out
		},
	}
}

package python

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

//go:embed lines.py
var pyLines string

// pyPlugin is the module that counts, as a plugin of pytest.
const pyPlugin = "ycbot_count_lines"

// pyMissed are the reasons why more lines may have run than were seen, as lines.py
// names them.
var pyMissed = map[string]string{
	"programs": ecosystem.OtherPrograms,
	"workers":  "tests run in several processes, which are not counted",
	"copy":     "tests import an installed copy, and not the changed file",
	"taken":    "the tests themselves took what Python has for counting",
	"early":    "changed files were loaded before counting began",
	"blind":    "this Python does not say whether tests start other programs",
}

// pyAssigned is where a call sets the search path itself.
var pyAssigned = pattern.New(`(?m)^((?:[A-Za-z_]\w*=\S* )*PYTHONPATH=)(\S*)`)

// onPythonPath lets the calls of a script find modules in one more folder, the last of all.
// An empty part of the path would be the folder in which it runs.
func onPythonPath(script, dir string) string {
	if m := pyAssigned.FindStringSubmatchIndex(script); m != nil {
		colon := strings.Repeat(":", min(1, m[5]-m[4]))
		return script[:m[5]] + colon + `"` + dir + `"` + script[m[5]:]
	}
	return `export PYTHONPATH="${PYTHONPATH:+$PYTHONPATH:}` + dir + `"` + "\n" + script
}

// pythonLines counts lines with what Python itself has for it: sys.monitoring from 3.12 on
// (https://docs.python.org/3/library/sys.monitoring.html), sys.settrace before. Lines that
// other processes run are not seen; where tests start any, only the lines that ran are
// known.
func pythonLines() *ecosystem.LineMeter {
	return &ecosystem.LineMeter{
		Knows: func(name string) bool { return path.Ext(name) == ".py" },
		Tests: func(c ecosystem.Command, _ string) bool { return c.Results != nil },
		Command: func(c ecosystem.Command, q ecosystem.Counting) (ecosystem.Command, string) {
			if c.Results == nil {
				return c, ecosystem.Unnamed(c)
			}
			var names []string
			for _, f := range q.Files {
				names = append(names, strings.TrimPrefix(strings.TrimPrefix(f.Path, q.Unit), "/"))
			}
			wanted, err := json.Marshal(names)
			if err != nil {
				return c, err.Error()
			}
			script := ecosystem.ShellWords(c)
			const unittest = ` -c "$UNITTEST"`
			switch {
			case strings.Contains(script, pytestResults):
				// As a plugin it is there whatever starts pytest, and with whichever Python.
				script = strings.Replace(script, pytestResults, " -p "+pyPlugin+pytestResults, 1)
				script = `printf %s ` + ecosystem.Quoted(pyLines) + ` >"$COUNTS_DIR/` + pyPlugin + `.py" || exit` + "\n" + onPythonPath(script, "$COUNTS_DIR")
			case strings.Contains(script, unittest):
				script = "COUNT_LINES=" + ecosystem.Quoted(pyLines) + "\n" + strings.Replace(script, unittest, ` -c "$COUNT_LINES$UNITTEST"`, 1)
			default:
				return c, fmt.Sprintf("%q is called in a way that cannot be made to count", c.Text)
			}
			c.Text = "COUNTED=… " + c.Text
			return c.Counted("( export COUNTS=$COUNTS_DIR/counts COUNTED="+ecosystem.Quoted(string(wanted))+"\n"+script+"\n)", `command -p cat "$COUNTS_DIR/counts" 2>/dev/null`), ""
		},
		Reader: func(c results.Collector, q ecosystem.Counting) *results.LineCounts {
			out := results.NewLineCounts(c)
			out.Take = func(line string) bool {
				var counts struct {
					Py       *string
					Loaded   bool
					Missed   string
					Ran, Not []int
					Failed   []int
				}
				if err := json.Unmarshal([]byte(line), &counts); err != nil || counts.Py == nil {
					return false
				}
				if why, ok := pyMissed[counts.Missed]; ok {
					out.Miss(why)
				}
				if out.Ended(); *counts.Py == "" {
					return true
				}
				lines := map[int]bool{}
				for _, n := range counts.Not {
					lines[n] = false
				}
				for _, n := range counts.Ran {
					lines[n] = true
				}
				name := path.Join(q.Unit, *counts.Py)
				out.Add(name, lines)
				out.Fail(name, counts.Failed)
				if !counts.Loaded {
					delete(out.Knows, name)
				}
				return true
			}
			return out
		},
	}
}

package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// A nodeRunner is a test runner that can tell tests apart.
type nodeRunner struct {
	words []string // its call begins with these
	drop  []string // arguments that a run by itself cannot have
	flags []string // for machine-readable output
	only  []string // before the names of files
	line  string   // of shell, before all
	name  string
	// collect is nil for those whose output has no files to run alone.
	collect func(string) collector
	nofiles bool
	shuffle func(seed uint32) []string
}

// nodeReporter is a reporter of "node --test" that tells the file of each test,
// which its own ones do not: a line of JSON for each test that ended.
const nodeReporter = `import{inspect}from"node:util";` +
	`export default async function*(events){const said={};for await(const{type,data:d}of events){` +
	`if(type==="test:stderr"||type==="test:stdout"){said[d.file]=((said[d.file]||"")+d.message).slice(-8000)}` +
	`if(type==="test:pass"||type==="test:fail"){const e=d.details&&d.details.error;const c=e&&(e.cause||e);` +
	`yield JSON.stringify({ok:type==="test:pass",name:d.name,nesting:d.nesting,file:d.file,suite:d.details&&d.details.type==="suite",` +
	`skip:d.skip!==undefined,todo:d.todo!==undefined,ms:d.details&&d.details.duration_ms,kind:e&&e.failureType,` +
	`error:c?(typeof c==="string"?c:inspect(c)):"",said:type==="test:fail"?said[d.file]:""})+"\n"}}yield"{\"end\":true}\n"}`

// errEnded is a runner that ended before its results did.
var errEnded = errors.New("the runner ended before its results did")

// escapeReporter makes it a module of its own, as a URL.
func escapeReporter(src string) string {
	return "data:text/javascript," + strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23", "\n", "%0A", `"`, "%22", " ", "%20", `\`, "%5C").Replace(src)
}

func nodeRunners() []nodeRunner {
	toFile := func(flag string) string { return flag + "=" + resultsVar }
	jest := nodeRunner{
		name: "JSON of jest", flags: []string{"--ci", "--json", toFile("--outputFile")}, only: []string{"--runTestsByPath"},
		drop: []string{"--watch", "--watchAll", "--silent"}, collect: documented(parseJest),
	}
	jest.words = []string{"jest"}
	scripts := jest
	scripts.words = []string{"react-scripts", "test"}
	return []nodeRunner{
		jest, scripts,
		{
			words: []string{"vitest"}, name: "JSON of vitest", drop: []string{"run", "watch", "--watch", "-w"},
			flags: []string{"run", "--reporter=json", toFile("--outputFile")}, collect: documented(parseJest),
			shuffle: func(seed uint32) []string {
				return []string{"--sequence.shuffle", fmt.Sprintf("--sequence.seed=%d", seed)}
			},
		},
		{
			words: []string{"mocha"}, name: "JSON of mocha", drop: []string{"--watch", "-w"},
			flags: []string{"--reporter", "json", "--reporter-option", "output=" + resultsVar}, collect: documented(parseMocha),
		},
		{
			words: []string{"node", "--test"}, name: "events of node --test", drop: []string{"--watch"},
			flags:   []string{`--test-reporter="$REPORTER"`, toFile("--test-reporter-destination")},
			line:    "REPORTER='" + escapeReporter(nodeReporter) + "'",
			collect: documented(parseNodeTest),
		},
		{words: []string{"ava"}, name: "TAP of ava", flags: []string{"--tap"}, drop: []string{"--watch"}, collect: grouped(parseTAP), nofiles: true},
		{words: []string{"tape"}, name: "TAP of tape", collect: grouped(parseTAP), nofiles: true},
		{words: []string{"tap"}, name: "TAP of tap", flags: []string{"--reporter=tap"}, drop: []string{"--watch"}, collect: grouped(parseTAP), nofiles: true},
	}
}

// A nodeCall is one call of a runner, as its words are written.
type nodeCall struct {
	before, args, files []string
}

// nodeScript finds the call of a runner that it knows in a script, also where
// the script calls others of the package.
func nodeScript(script string, scripts map[string]string, depth int) (nodeCall, *nodeRunner) {
	for _, words := range shellCalls(script) {
		if call, r := nodeWords(words); r != nil {
			return call, r
		}
		run := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "run" || w == "-s" || w == "--silent" })
		if len(run) == 2 && slices.Contains([]string{"npm", "yarn", "pnpm"}, run[0]) && depth < 5 {
			if call, r := nodeScript(scripts[run[1]], scripts, depth+1); r != nil {
				return call, r
			}
		}
	}
	return nodeCall{}, nil
}

// shellCalls returns the words of each command of a list such as "a && b".
func shellCalls(script string) [][]string {
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return nil
	}
	var out [][]string
	var walk func(*syntax.Stmt)
	walk = func(st *syntax.Stmt) {
		switch c := st.Cmd.(type) {
		case *syntax.BinaryCmd:
			if c.Op == syntax.AndStmt || c.Op == syntax.OrStmt {
				walk(c.X)
				walk(c.Y)
			}
		case *syntax.CallExpr:
			if len(st.Redirs) == 0 && !st.Background && !st.Negated {
				out = append(out, written(c))
			}
		}
	}
	for _, st := range file.Stmts {
		walk(st)
	}
	return out
}

// written are the words of a call as they are written, assignments first.
func written(c *syntax.CallExpr) []string {
	var out []string
	add := func(n syntax.Node) {
		var b bytes.Buffer
		if syntax.NewPrinter().Print(&b, n) == nil {
			out = append(out, b.String())
		}
	}
	for _, a := range c.Assigns {
		add(&syntax.CallExpr{Assigns: []*syntax.Assign{a}})
	}
	for _, w := range c.Args {
		add(w)
	}
	return out
}

// nodeWords splits a call of a runner.
func nodeWords(words []string) (nodeCall, *nodeRunner) {
	for i, w := range words {
		for _, r := range nodeRunners() {
			if path.Base(w) != r.words[0] || w != r.words[0] && !strings.HasSuffix(path.Dir(w), ".bin") {
				continue
			}
			rest := words[i+1:]
			if len(r.words) == 2 {
				at := slices.Index(rest, r.words[1])
				if at < 0 {
					continue
				}
				rest = slices.Delete(slices.Clone(rest), at, at+1)
			}
			call := nodeCall{before: words[:i]}
			for _, a := range rest {
				switch {
				case slices.Contains(r.drop, a):
				case strings.HasPrefix(a, "-") || !strings.ContainsAny(a, "./*"):
					call.args = append(call.args, a)
				default:
					call.files = append(call.files, a)
				}
			}
			return call, &r
		}
		if i > 4 {
			break
		}
	}
	return nodeCall{}, nil
}

// adoptNode asks a plain call of a runner for machine-readable output.
func adoptNode(c command, words []string) (command, bool) {
	call, r := nodeWords(words)
	if r == nil || !slices.ContainsFunc([]string{"npx", "cross-env", "c8", "nyc"}, func(w string) bool { return len(call.before) == 0 || call.before[0] == w }) {
		return c, false
	}
	return r.command(c, call), true
}

// command is c for all that a call asks for.
func (r nodeRunner) command(c command, call nodeCall) command {
	build := func(c command, files []string, more ...string) command {
		rest := slices.Concat(r.words[1:], call.args, r.flags, more, files)
		words := slices.Concat(call.before, r.words[:1], rest)
		lines := []string{binaries(c.unit)}
		if r.line != "" {
			lines = append(lines, r.line)
		}
		before, runner := call.before, r.words[0]
		if runner != "node" {
			if len(before) > 0 && before[0] == "npx" { // which would put the folder of packages first
				before = slices.DeleteFunc(slices.Clone(before[1:]), func(w string) bool { return strings.HasPrefix(w, "-") })
			}
			lines, runner = append(lines, installed(c.unit, runner)), `"$RUNNER"`
		}
		c = c.reporting(strings.Join(slices.Concat(before, []string{runner}, rest), " "), lines...)
		c.text = strings.Join(words, " ")
		if !slices.Contains([]string{"node", "npx"}, words[0]) && len(call.before) == 0 {
			c.text = "npx " + c.text
		}
		return c
	}
	c = build(c, call.files)
	c.results = &results{name: r.name, collect: r.collect, narrow: func(c command, p part) (command, bool) {
		if r.nofiles || len(p.packages) == 0 {
			return c, false
		}
		return build(c, fromUnit(c.unit, p.packages), r.only...), true
	}}
	if r.shuffle != nil {
		c.results.probe = func(c command, p probing) (command, string) {
			files, more := call.files, r.shuffle(p.seed)
			if len(p.packages) > 0 && !r.nofiles {
				files, more = fromUnit(c.unit, p.packages), append(more, r.only...)
			}
			return build(c, files, more...), "repeated and shuffled"
		}
	}
	return c
}

// binaries lets a command in a folder find the programs that packages bring, after
// those of the machine: else a file of the tree could stand for node.
func binaries(unit string) string {
	return `PATH="$PATH:` + strings.Join(binFolders(unit), ":") + `"`
}

// installed sets RUNNER to the file of a program that packages bring, or to its name
// where they do not.
func installed(unit, program string) string {
	var b strings.Builder
	b.WriteString("RUNNER=" + program)
	folders := binFolders(unit)
	slices.Reverse(folders) // the last that is there counts
	for _, dir := range folders {
		fmt.Fprintf(&b, `; [ -x "%[1]s/%[2]s" ] && RUNNER="%[1]s/%[2]s"`, dir, program)
	}
	return b.String()
}

// binFolders are the folders of programs around a folder, the nearest first.
func binFolders(unit string) []string {
	dirs := []string{"$PWD/node_modules/.bin"}
	if unit != "." {
		up := "$PWD"
		for range strings.Split(unit, "/") {
			up += "/.."
			dirs = append(dirs, up+"/node_modules/.bin")
		}
	}
	return dirs
}

// fromUnit names files of the repository from a folder of it, for a shell.
func fromUnit(unit string, files []string) []string {
	out := make([]string, len(files))
	for i, f := range files {
		if unit != "." {
			f = strings.TrimPrefix(f, unit+"/")
		}
		out[i] = quoted("./" + f)
	}
	return out
}

// parseJest reads the JSON of jest, which vitest writes as well.
func parseJest(data []byte) ([]outcome, error) {
	var doc struct {
		NumFailedTests int
		TestResults    []struct {
			Name, Status, Message string
			AssertionResults      []struct {
				AncestorTitles  []string
				Title, Status   string
				Duration        float64
				FailureMessages []string
				Invocations     int
			}
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("JSON of jest: %w", err)
	}
	var out []outcome
	failed := 0
	for _, f := range doc.TestResults {
		if len(f.AssertionResults) == 0 && f.Status == "failed" {
			out = append(out, outcome{pkg: f.Name, status: Failed, output: short(plainText(f.Message))})
		}
		for _, a := range f.AssertionResults {
			o := outcome{pkg: f.Name, name: strings.Join(append(a.AncestorTitles, a.Title), nameSep), elapsed: millis(a.Duration), retried: a.Invocations > 1}
			// vitest leaves the failures of the runs before with a test that passed in the end.
			o.retried = o.retried || a.Status == "passed" && len(a.FailureMessages) > 0
			switch a.Status {
			case "passed":
				o.status = Passed
			case "failed":
				o.status, o.output = Failed, short(plainText(strings.Join(a.FailureMessages, "\n")))
				failed++
			default:
				o.status = Skipped
			}
			out = append(out, o)
		}
	}
	return out, disagree(doc.NumFailedTests, failed)
}

// disagree is an error where a runner counts more failures than it reports.
func disagree(counted, reported int) error {
	if counted > reported {
		return fmt.Errorf("they count %d failures and report %d", counted, reported)
	}
	return nil
}

func millis(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// parseMocha reads the JSON of mocha.
func parseMocha(data []byte) ([]outcome, error) {
	type test struct {
		Title, FullTitle, File string
		Duration               float64
		CurrentRetry           int
		Err                    struct{ Message, Stack string }
	}
	var doc struct {
		Stats                    struct{ Failures int }
		Tests, Pending, Failures []test
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("JSON of mocha: %w", err)
	}
	id := func(t test) string { return t.File + "\x00" + t.FullTitle }
	pending, failed := map[string]bool{}, map[string]bool{}
	for _, t := range doc.Pending {
		pending[id(t)] = true
	}
	var out []outcome
	for _, t := range doc.Failures { // hooks that failed are here alone
		failed[id(t)] = true
		out = append(out, outcome{pkg: t.File, name: t.FullTitle, status: Failed, output: short(joinOutput(t.Err.Message, t.Err.Stack)), elapsed: millis(t.Duration)})
	}
	for _, t := range doc.Tests {
		o := outcome{pkg: t.File, name: t.FullTitle, status: Passed, elapsed: millis(t.Duration), retried: t.CurrentRetry > 0}
		switch {
		case failed[id(t)]:
			continue
		case pending[id(t)]:
			o.status = Skipped
		}
		out = append(out, o)
	}
	return out, disagree(doc.Stats.Failures, len(doc.Failures))
}

// parseNodeTest reads the lines of nodeReporter. Groups come after what is in them.
func parseNodeTest(data []byte) ([]outcome, error) {
	type event struct {
		OK                      bool
		Name, File, Kind, Error string
		Said                    string
		Nesting                 int
		Suite, Skip, Todo, End  bool
		MS                      float64
	}
	var out []outcome
	var levels []int // of out: how deep in groups
	ended := false
	for line := range bytes.Lines(data) {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return out, fmt.Errorf("events of node --test: %w", err)
		}
		if ended = e.End; ended {
			continue
		}
		if e.Name == e.File && e.Nesting == 0 { // the file itself
			if !e.OK && !slices.ContainsFunc(out, func(o outcome) bool { return o.pkg == e.File && o.status == Failed }) {
				out = append(out, outcome{pkg: e.File, status: Failed, output: short(joinOutput(e.Said, e.Error))})
				levels = append(levels, 0)
			}
			continue
		}
		group := false
		for i := len(out) - 1; i >= 0 && levels[i] > e.Nesting; i-- {
			if out[i].pkg == e.File {
				out[i].name, levels[i], group = e.Name+nameSep+out[i].name, e.Nesting, true
			}
		}
		if group && (e.OK || e.Kind == "subtestsFailed") || e.Suite && e.OK {
			continue
		}
		o := outcome{pkg: e.File, name: e.Name, status: Passed, elapsed: millis(e.MS)}
		switch {
		case e.Skip || e.Todo:
			o.status = Skipped
		case !e.OK:
			o.status, o.output = Failed, short(e.Error)
		}
		out, levels = append(out, o), append(levels, e.Nesting)
	}
	if !ended {
		return out, errEnded
	}
	return out, nil
}

package ecosystem

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A nodeRunner is a test runner that can report each test.
type nodeRunner struct {
	words []string // its call begins with these
	drop  []string // arguments that a run by itself cannot have
	flags []string // for machine-readable output
	only  []string // before the names of files
	line  string   // of shell, before all
	name  string
	// collect is nil for those whose output has no files to run alone.
	collect func(string) Collector
	nofiles bool
	shuffle func(seed uint32) []string
}

func nodeRunners() []nodeRunner {
	toFile := func(flag string) string { return flag + "=" + resultsVar }
	jest := nodeRunner{
		name: "JSON of jest", flags: []string{"--ci", "--json", toFile("--outputFile")}, only: []string{"--runTestsByPath"},
		drop: []string{"--watch", "--watchAll", "--silent"}, collect: Documented(ParseJest),
	}
	jest.words = []string{"jest"}
	scripts := jest
	scripts.words = []string{"react-scripts", "test"}
	return []nodeRunner{
		jest, scripts,
		{
			words: []string{"vitest"}, name: "JSON of vitest", drop: []string{"run", "watch", "--watch", "-w"},
			flags: []string{"run", "--reporter=json", toFile("--outputFile")}, collect: Documented(ParseJest),
			shuffle: func(seed uint32) []string {
				return []string{"--sequence.shuffle", fmt.Sprintf("--sequence.seed=%d", seed)}
			},
		},
		{
			words: []string{"mocha"}, name: "JSON of mocha", drop: []string{"--watch", "-w"},
			flags: []string{"--reporter", "json", "--reporter-option", "output=" + resultsVar}, collect: Documented(parseMocha),
		},
		{
			words: []string{"node", "--test"}, name: "events of node --test", drop: []string{"--watch"},
			flags:   []string{`--test-reporter="$REPORTER"`, toFile("--test-reporter-destination")},
			line:    "REPORTER='" + escapeReporter(nodeReporter) + "'",
			collect: Documented(parseNodeTest),
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
func adoptNode(c Command, words []string) (Command, bool) {
	call, r := nodeWords(words)
	if r == nil || !slices.ContainsFunc([]string{"npx", "cross-env", "c8", "nyc"}, func(w string) bool { return len(call.before) == 0 || call.before[0] == w }) {
		return c, false
	}
	return r.command(c, call), true
}

// command is c for all that a call asks for.
func (r nodeRunner) command(c Command, call nodeCall) Command {
	build := func(c Command, files []string, more ...string) Command {
		rest := slices.Concat(r.words[1:], call.args, r.flags, more, files)
		words := slices.Concat(call.before, r.words[:1], rest)
		lines := []string{binaries(c.Unit)}
		if r.line != "" {
			lines = append(lines, r.line)
		}
		before, runner := call.before, r.words[0]
		if runner != "node" {
			if len(before) > 0 && before[0] == "npx" { // which would put the folder of packages first
				before = slices.DeleteFunc(slices.Clone(before[1:]), func(w string) bool { return strings.HasPrefix(w, "-") })
			}
			lines, runner = append(lines, installed(c.Unit, runner)), `"$RUNNER"`
		}
		c = c.reporting(strings.Join(slices.Concat(before, []string{runner}, rest), " "), lines...)
		c.Text = strings.Join(words, " ")
		if !slices.Contains([]string{"node", "npx"}, words[0]) && len(call.before) == 0 {
			c.Text = "npx " + c.Text
		}
		return c
	}
	c = build(c, call.files)
	c.Results = &Results{Name: r.name, Collect: r.collect, Narrow: func(c Command, p Part) (Command, bool) {
		if r.nofiles || len(p.Packages) == 0 {
			return c, false
		}
		return build(c, fromUnit(c.Unit, p.Packages), r.only...), true
	}}
	if r.shuffle != nil {
		c.Results.Probe = func(c Command, p Probing) (Command, string) {
			files, more := call.files, r.shuffle(p.Seed)
			if len(p.Packages) > 0 && !r.nofiles {
				files, more = fromUnit(c.Unit, p.Packages), append(more, r.only...)
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

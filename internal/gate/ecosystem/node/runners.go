package node

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A nodeRunner is a test runner that can report each test.
type nodeRunner struct {
	words  []string // its call begins with these
	drop   []string // arguments that a run by itself cannot have
	stops  []string // options by which it stops at a failure, which are left out
	goes   string   // the option by which it does not, whatever its settings say; empty: there is none
	first  string   // the word that a run by itself begins with; empty: none
	valued []string // options that take the next word; those of their own reporter are left out with it
	lists  []string // options that take all words up to the next option
	own    []string // options for reports, which are left out
	flags  []string // for machine-readable output
	only   []string // before the names of files
	line   string   // of shell, before all
	ahead  bool     // its options for results stand before all others
	name   string
	// collect is nil for those whose output has no files to run alone.
	collect  func(string) results.Collector
	nofiles  bool
	pnp      bool                                       // its package manager alone finds it
	apart    bool                                       // each file is run in a process of its own, unless its options say otherwise
	byName   string                                     // the option that chooses tests by an expression for their names; empty: there is none
	inGroups bool                                       // that expression is for the titles of the groups around a test, too
	workers  string                                     // the option with which tests run in processes that do not have the runner's arguments; empty: there is none
	failing  func(src, name string, modern bool) string // a test that must fail, for a file; modern: of ECMAScript's modules
	shuffle  func(seed uint32) []string
}

func nodeRunners() []nodeRunner {
	toFile := func(flag string) string { return flag + "=" + ecosystem.ResultsVar }
	jest := nodeRunner{
		name: "JSON of jest", flags: []string{"--ci", "--json", toFile("--outputFile")}, only: []string{"--runTestsByPath"},
		drop: []string{"--watch", "--watchAll", "--silent"}, stops: []string{"--bail", "-b"}, goes: "--no-bail", workers: "--maxWorkers=2", collect: results.Numbered(results.ParseJest), failing: failingJest,
		valued: strings.Fields(`-c --config -t --testNamePattern -w --maxWorkers --testTimeout --rootDir --env --coverageDirectory --coverageProvider --coverageThreshold
			--collectCoverageFrom --globals --transform --shard --seed -o --changedSince --filter --globalSetup --globalTeardown --testEnvironment --testEnvironmentOptions
			--testRunner --testSequencer --testResultsProcessor --resolver --cacheDirectory --moduleNameMapper --preset --maxConcurrency --workerIdleMemoryLimit`),
		// https://jestjs.io/docs/cli, by yargs, whose arrays take what comes
		lists: strings.Fields(`--coveragePathIgnorePatterns --coverageReporters --ignoreProjects --moduleDirectories --moduleFileExtensions --modulePathIgnorePatterns
			--modulePaths --projects --reporters --roots --selectProjects --setupFiles --setupFilesAfterEnv --snapshotSerializers --testMatch --testPathIgnorePatterns
			--testPathPattern --testPathPatterns --testRegex --transformIgnorePatterns --unmockedModulePathPatterns --watchPathIgnorePatterns`),
	}
	jest.words = []string{"jest"}
	scripts := jest
	scripts.words = []string{"react-scripts", "test"}
	node := nodeRunner{
		words: []string{"node", "--test"}, name: "events of node --test", drop: []string{"--watch"},
		own:   []string{"--test-reporter", "--test-reporter-destination"},
		flags: []string{`--test-reporter="$REPORTER"`, toFile("--test-reporter-destination")},
		line:  "REPORTER='" + escapeReporter(nodeReporter) + "'", ahead: true,
		collect: results.Numbered(results.ParseNodeTest), apart: true, failing: failingNodeTest, byName: "--test-name-pattern",
		valued: strings.Fields(`-r --require --import --loader --experimental-loader -C --conditions --env-file --test-name-pattern --test-skip-pattern --test-timeout
			--test-concurrency --test-coverage-include --test-coverage-exclude --test-global-setup --tsconfig`),
	}
	tsx := node
	tsx.words = []string{"tsx", "--test"}
	return []nodeRunner{
		jest, scripts,
		{
			words: []string{"vitest"}, name: "JSON of vitest", drop: []string{"--watch", "-w"}, first: "run",
			flags: []string{"--reporter=json", toFile("--outputFile")}, collect: results.Numbered(results.ParseJest), failing: failingVitest,
			own: []string{"--reporter", "--outputFile"}, stops: []string{"--bail"}, goes: "--bail=0",
			valued: strings.Fields(`-c --config -r --root --dir -t --testNamePattern --project --environment --mode --pool --testTimeout --hookTimeout
				--maxWorkers --minWorkers --shard --exclude --retry --changed --maxConcurrency --teardownTimeout --slowTestThreshold --vmMemoryLimit --diff
				--browser.name --sequence.seed --sequence.hooks --sequence.setupFiles --typecheck.checker --typecheck.include --typecheck.exclude --typecheck.tsconfig
				--coverage.provider --coverage.reporter --coverage.include --coverage.exclude --coverage.extension --coverage.reportsDirectory`),
			shuffle: func(seed uint32) []string {
				return []string{"--sequence.shuffle", fmt.Sprintf("--sequence.seed=%d", seed)}
			},
		},
		{
			words: []string{"mocha"}, name: "JSON of mocha", drop: []string{"--watch", "-w"}, stops: []string{"--bail", "-b"}, goes: "--no-bail",
			flags:   []string{"--reporter", `"$REPORTER"`, "--reporter-options", "output=" + ecosystem.ResultsVar},
			line:    `REPORTER=$RESULTS_DIR/reporter.cjs; printf %s '` + mochaReporter + `' >"$REPORTER" || exit`,
			collect: results.Numbered(results.ParseMocha), failing: failingMocha, byName: "--grep", inGroups: true,
			own: []string{"--reporter", "-R", "--reporter-option", "--reporter-options", "-O"},
			valued: strings.Fields(`-r --require --config --package --opts -t --timeout -s --slow -u --ui -g --grep -f --fgrep --file --spec --ignore --exclude
				--extension --loader --experimental-loader --import --node-option -n --retries -j --jobs --watch-files --watch-ignore --compilers --globals`),
		},
		node, tsx,
		{
			words: []string{"ava"}, name: "TAP of ava", flags: []string{"--tap"}, drop: []string{"--watch", "-w"}, stops: []string{"--fail-fast"}, goes: "--no-fail-fast", collect: results.Grouped(results.ParseTAP), nofiles: true, apart: true, failing: failingAva,
			valued: strings.Fields("-m --match -T --timeout --config -c --concurrency --node-arguments"),
		},
		{words: []string{"tape"}, name: "TAP of tape", collect: results.Grouped(results.ParseTAP), nofiles: true, failing: failingTape, valued: strings.Fields("-r --require -i --ignore --import")},
		{words: []string{"tap"}, name: "TAP of tap", flags: []string{"--reporter=tap"}, own: []string{"--reporter", "-R"}, drop: []string{"--watch"}, collect: results.Grouped(results.ParseTAP), nofiles: true, apart: true, failing: failingTap},
	}
}

// A nodeCall is one call of a runner, as its words are written.
type nodeCall struct {
	before []string // what it is called by, such as c8
	asIs   bool     // its program is a path, which stays as it is
	runner string   // the word that names it
	args   []string // without its files and its own reporters
	files  []string
	rest   []string // of the words, as they are written
}

// nodeBefore are the programs that may stand before a runner.
var nodeBefore = strings.Fields("npx bunx cross-env cross-env-shell c8 nyc env time dotenv node yarn pnpm exec --")

// nodeWords splits a call of a runner.
func nodeWords(words []string) (nodeCall, *nodeRunner) {
	for i, w := range words {
		for _, r := range nodeRunners() {
			if !r.named(w) {
				continue
			}
			rest := words[i+1:]
			if len(r.words) == 2 {
				at := slices.Index(rest, r.words[1])
				if at < 0 || r.words[0] == "node" && len(r.split(rest[:at]).files) > 0 {
					continue
				}
				rest = slices.Delete(slices.Clone(rest), at, at+1)
			}
			call := r.split(rest)
			call.before, call.runner, call.rest = words[:i], r.words[0], words[i+1:]
			if path.Base(w) != w {
				call.asIs, call.runner = true, w
			}
			return call, &r
		}
		assigned := strings.Contains(w, "=") && !strings.HasPrefix(w, "=")
		if !assigned && !strings.HasPrefix(w, "-") && !slices.Contains(nodeBefore, w) && !valueOf(words, i) {
			break
		}
	}
	return nodeCall{}, nil
}

// valueOf says whether a word follows an option of a program that measures coverage.
func valueOf(words []string, i int) bool {
	return i > 1 && strings.HasPrefix(words[i-1], "-") && !strings.Contains(words[i-1], "=") && slices.Contains(nodeBefore, words[0]) && words[0] != "node"
}

// named says whether a word calls the runner: by its name, or by its file among the
// packages.
func (r nodeRunner) named(word string) bool {
	word = strings.Trim(word, `"'`)
	if word == r.words[0] {
		return true
	}
	_, in, ok := strings.Cut("/"+strings.TrimPrefix(word, "./"), "/node_modules/")
	return ok && r.words[0] != "node" && (in == ".bin/"+r.words[0] || strings.HasPrefix(in, r.words[0]+"/"))
}

// split takes the arguments of a call apart.
func (r nodeRunner) split(args []string) nodeCall {
	var call nodeCall
	for i := 0; i < len(args); i++ {
		a := args[i]
		name, _, value := strings.Cut(a, "=")
		takes := !value && i+1 < len(args)
		switch {
		case r.first != "" && i == 0 && slices.Contains([]string{"run", "watch", "dev"}, a), slices.Contains(r.drop, a):
		case slices.Contains(r.stops, name):
			if takes && strings.Trim(args[i+1], "0123456789") == "" {
				i++
			}
		case slices.Contains(r.own, name):
			if takes {
				i++
			}
		case slices.Contains(r.lists, name):
			call.args = append(call.args, a)
			for i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") && !strings.HasPrefix(args[i+1], ">") {
				i++
				call.args = append(call.args, args[i])
			}
		case slices.Contains(r.valued, name) && takes:
			call.args = append(call.args, a, args[i+1])
			i++
		case strings.HasPrefix(a, "-"), strings.HasPrefix(a, ">"):
			call.args = append(call.args, a)
		default:
			call.files = append(call.files, a)
		}
	}
	return call
}

// adoptNode asks a plain call of a runner for machine-readable output.
func adoptNode(c ecosystem.Command, words []string) (ecosystem.Command, bool) {
	call, r := nodeWords(words)
	if r == nil {
		return c, false
	}
	return r.command(c, call, nil), true
}

// command is c for all that a call asks for. Commands of prelude are run before it, in the
// same place.
func (r nodeRunner) command(c ecosystem.Command, call nodeCall, prelude []string) ecosystem.Command {
	was := c
	lines := []string{binaries(c.Unit)}
	if n := len(call.before); n > 0 && slices.Contains(call.before, "c8") && strings.HasPrefix(call.before[n-1], "--") && call.before[n-1] != "--" && !strings.Contains(call.before[n-1], "=") {
		call.before = append(slices.Clone(call.before), "--") // else it takes the runner for the value of its own option, and the runner's options for its own
	}
	if r.pnp {
		call.before = byYarn(call.before, call.runner)
	}
	before, runner := call.before, call.runner
	if r.pnp {
		call.asIs = true
	}
	if runner != "node" && !call.asIs {
		if len(before) > 0 && slices.Contains([]string{"npx", "yarn", "pnpm", "bunx"}, before[0]) { // which would put the folder of packages first
			before = slices.DeleteFunc(slices.Clone(before[1:]), func(w string) bool { return strings.HasPrefix(w, "-") || w == "exec" })
		}
		lines, runner = append(lines, installed(c.Unit, runner)), `"$RUNNER"`
	}
	for _, text := range prelude {
		if stays.MatchString(text) { // for what follows in the same shell
			lines = append(lines, "{ "+text+"\n} >&2 || exit")
		} else {
			lines = append(lines, "( "+text+"\n) >&2 || exit")
		}
	}
	moved := slices.ContainsFunc(prelude, moves.MatchString)
	text := func(rest []string) string {
		words := slices.Concat(call.before, []string{call.runner}, rest)
		if !slices.Contains([]string{"node", "npx"}, words[0]) && len(call.before) == 0 {
			words = slices.Insert(words, 0, "npx")
		}
		return strings.Join(words, " ")
	}
	build := func(c ecosystem.Command, files []string, more ...string) ecosystem.Command {
		rest := slices.Clone(r.words[1:])
		if r.first != "" {
			rest = append(rest, r.first)
		}
		if r.ahead {
			rest = slices.Concat(rest, r.flags, call.args, more, files)
		} else {
			rest = slices.Concat(rest, call.args, r.flags, more, files)
		}
		own := lines
		if r.line != "" {
			own = append(slices.Clone(lines), r.line)
		}
		c = c.Reporting(strings.Join(slices.Concat(before, []string{runner}, rest), " "), own...)
		c.Text = text(rest)
		return c
	}
	plain := c.Reporting(strings.Join(slices.Concat(before, []string{runner}, call.rest), " "), lines...)
	plain.Text = text(call.rest)
	c.Plain = &plain
	if r.workers != "" && !slices.ContainsFunc(call.args, func(w string) bool { return slices.Contains(oneByOne, strings.SplitN(w, "=", 2)[0]) }) {
		apart := r
		apart.flags, apart.workers = append(slices.Clone(r.flags), r.workers), ""
		in := apart.command(was, call, prelude)
		c.Plain = &in
	}
	c = build(c, call.files)
	c.Results = &ecosystem.Results{Name: r.name, Collect: r.collect, Narrow: func(c ecosystem.Command, p ecosystem.Part) (ecosystem.Command, bool) {
		if r.nofiles || moved || len(p.Packages) == 0 {
			return c, false
		}
		more := r.only
		if p.Only != "" {
			if r.byName == "" {
				return c, false
			}
			more = append(slices.Clone(more), r.byName+"="+ecosystem.Quoted(regexp.QuoteMeta(r.title(p.Only))+"$"))
		}
		return build(c, ecosystem.FromUnit(c.Unit, p.Packages), more...), true
	}}
	c.Results.Apart = r.apart && !slices.ContainsFunc(call.rest, func(w string) bool { return strings.Contains(w, "test-isolation") })
	c.Results.Compiles = slices.Contains([]string{"vitest", "tsx"}, r.words[0])
	c.Results.Covers = covering(before)
	c.Results.PlantedBy(r.planter())
	if r.shuffle != nil {
		c.Results.Probe = func(c ecosystem.Command, p ecosystem.Probing) (ecosystem.Command, string) {
			files, more := call.files, r.shuffle(p.Seed)
			if len(p.Packages) > 0 && !r.nofiles && !moved {
				files, more = ecosystem.FromUnit(c.Unit, p.Packages), append(more, r.only...)
			}
			return build(c, files, more...), "repeated and shuffled"
		}
	}
	return c
}

// title is what an expression by which tests are chosen is to match of the name of one.
func (r nodeRunner) title(test string) string {
	title := results.LastName(test)
	if r.inGroups {
		title = strings.ReplaceAll(test[:strings.LastIndex(test, title)]+title, results.NameSep, " ")
	}
	return title
}

// byYarn is what stands before a runner that yarn has to start: variables, yarn, and what measures.
func byYarn(before []string, runner string) []string {
	at := slices.IndexFunc(before, func(w string) bool { return !ecosystem.IsAssignment(w) })
	if at < 0 {
		at = len(before)
	}
	rest := before[at:]
	if len(rest) > 0 && slices.Contains([]string{"npx", "yarn", "pnpm", "bunx"}, rest[0]) {
		rest = slices.DeleteFunc(slices.Clone(rest[1:]), func(w string) bool { return strings.HasPrefix(w, "-") || w == "exec" || w == "run" })
	}
	start := []string{"yarn", "run"}
	if runner == "node" && len(rest) == 0 {
		start = start[:1]
	}
	return slices.Concat(before[:at], start, rest)
}

// oneByOne are options of jest about the processes in which tests run.
var oneByOne = strings.Fields("-i --runInBand -w --maxWorkers")

// What a command of a script changes for those behind it: variables, and the folder.
var (
	stays = pattern.New(`^\s*(?:\.|source|export|cd|pushd|set|unset|umask|ulimit|[\w]+=\S*\s*$)(?:\s|$)`)
	moves = pattern.New(`^\s*(?:cd|pushd)\s`)
)

// covering is the part of what stands before a runner that calls a program which measures
// coverage itself, as it is written in the command.
func covering(before []string) string {
	at := slices.IndexFunc(before, func(w string) bool { return w == "c8" || w == "nyc" })
	if at < 0 {
		return ""
	}
	from := at
	for from > 0 && slices.Contains([]string{"npx", "bunx", "yarn", "pnpm", "exec"}, before[from-1]) {
		from--
	}
	return strings.Join(before[from:], " ") + " "
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

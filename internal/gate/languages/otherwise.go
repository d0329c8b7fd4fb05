package languages

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/native"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/shelltext"
)

// otherwise is the first thing that the target for tests of a project's folder does in another
// way than ycbot calls the runner, or beside it: options that decide how tests run, variables,
// loops over calls, comparisons, folders that are no project by themselves, and whatever is not
// known to prepare, to build or to look for style. tested says which folders are projects.
// Empty: there is none.
func otherwise(s *ecosystem.Survey, dir string, tested func(dir string) bool) string {
	file := native.FileOfTargets(s, dir)
	if file == "" || len(native.TargetsForTests(s, dir)) == 0 {
		return ""
	}
	text := string(native.Targets(s, dir, file))
	text = expanded(text, text)
	if line := setsForAll(text, func(name string) bool { return s.Has(dir, name) }); line != "" {
		return short(line)
	}
	o := other{dir: dir, tested: tested, script: func(name string) bool {
		return s.Has(dir, name) && !runsTests.Match(s.Read(dir, name))
	}}
	recipes := strings.ReplaceAll(strings.ReplaceAll(ecosystem.TestRecipes(file, text), "\\\n", " "), "$$", "$")
	for line := range strings.Lines(recipes) {
		line = strings.TrimLeft(strings.TrimSpace(line), "@+- \t")
		if makeDirective.MatchString(line) {
			continue
		}
		parsed, err := shelltext.Parse(line)
		if err != nil && !runsTests.MatchString(line) {
			continue
		}
		if err != nil || o.in(parsed) {
			return short(line)
		}
	}
	return ""
}

// makeDirective is a line of a Makefile that is none of a recipe.
var makeDirective = pattern.New(`^(?:ifn?eq|ifn?def|else|endif|define|endef)\b`)

// setsForAll is a line of a Makefile by which its recipes have other variables than they say, or
// parts that are elsewhere; empty: there is none. has says which files there are.
func setsForAll(text string, has func(name string) bool) string {
	for _, m := range makeExport.FindAllStringSubmatch(text, -1) {
		names := strings.Fields(m[1])
		if len(names) == 0 || slices.ContainsFunc(names, ecosystem.Takes) {
			return strings.TrimSpace(m[0])
		}
	}
	if m := makeTargetExport.FindStringSubmatch(text); m != nil {
		return strings.TrimSpace(m[0])
	}
	for _, m := range makePatternRule.FindAllStringSubmatch(text, -1) {
		if runsTests.MatchString(m[2]) {
			return strings.TrimSpace(m[1])
		}
	}
	for _, m := range makeInclude.FindAllStringSubmatch(text, -1) {
		if slices.ContainsFunc(strings.Fields(m[1]), func(name string) bool { return strings.Contains(name, "$") || has(name) }) {
			return strings.TrimSpace(m[0])
		}
	}
	return ""
}

// What a Makefile sets for all that its recipes call, or for those of one target, and what it
// takes from other files.
var (
	makeExport       = pattern.New(`(?m)^export\b[ \t]*((?:[A-Za-z_]\w*[ \t]*)*)(?:[:?+]*=.*)?$`)
	makeTargetExport = pattern.New(`(?m)^\.EXPORT_ALL_VARIABLES[ \t]*:.*$|^[^\t#=\n][^:=\n]*:[ \t]*(?:export[ \t]+[A-Za-z_]\w*[ \t]*[:?+]*=.*)$`)
	makePatternRule  = pattern.New(`(?m)^([^\t#=\n%]*%[^:=\n]*:[^=\n]*)\n((?:[ \t]+.*\n?|\n)*)`)
	makeInclude      = pattern.New(`(?m)^[-s]?include[ \t]+(.*)$`)
)

// short cuts a line for a sentence.
func short(line string) string {
	if r := []rune(line); len(r) > 100 {
		return string(r[:100]) + "…"
	}
	return line
}

// other looks for what is done in another way in the recipes of a folder.
type other struct {
	dir    string
	tested func(dir string) bool  // says which folders are projects with tests
	script func(name string) bool // says which files are scripts that call no runner of tests
}

// in says whether a line of a recipe does something in another way.
func (o other) in(line *syntax.File) bool {
	all := ecosystem.Printed(line)
	value := map[syntax.Node]bool{} // what only makes a value for another call
	found := false
	syntax.Walk(line, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DeclClause: // export and its like
			found = found || slices.ContainsFunc(n.Args, func(a *syntax.Assign) bool { return a.Name != nil && !a.Naked && decidesTests(a.Name.Value) })
		case *syntax.Stmt:
			if call, ok := n.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
				found = found || slices.ContainsFunc(n.Redirs, func(r *syntax.Redirect) bool { return o.makes(call, r) })
			}
		case *syntax.CmdSubst:
			for _, st := range n.Stmts {
				value[st.Cmd] = true
			}
		case *syntax.BinaryCmd: // a pipe
			value[n.X.Cmd], value[n.Y.Cmd] = value[n], value[n]
		case *syntax.CallExpr:
			words := ecosystem.Written(&syntax.CallExpr{Args: n.Args})
			elsewhere := len(words) == 2 && words[0] == "cd" && !strings.HasPrefix(words[1], "$") && !o.tested(path.Join(o.dir, strings.Trim(words[1], `"'`)))
			found = found || elsewhere && runsTests.MatchString(all) || o.call(n.Assigns, words, value[n])
		case *syntax.ForClause, *syntax.WhileClause, *syntax.IfClause, *syntax.CaseClause:
			found = found || runsTests.MatchString(ecosystem.Printed(n))
		}
		return !found
	})
	return found
}

// makes says whether what a call prints goes into a file that tests may read.
func (o other) makes(call *syntax.CallExpr, r *syntax.Redirect) bool {
	if r.Op != syntax.RdrOut && r.Op != syntax.AppOut || r.Word == nil {
		return false
	}
	to := strings.Trim(ecosystem.Printed(r.Word), `"'`)
	return !strings.HasPrefix(to, "/dev/") && (to == "$@" || !strings.HasPrefix(to, "$")) && !runsTests.MatchString(ecosystem.Printed(call))
}

// call says whether a call is one of a runner of tests with options that decide how they run, or
// sets variables for one, or is none of what is known to prepare, to build or to look for style.
// One whose output is a value may be of what only reads.
func (o other) call(assigns []*syntax.Assign, words []string, value bool) bool {
	if len(words) == 0 || words[0] == "" {
		return false
	}
	for i, w := range words {
		words[i] = strings.Trim(w, `"'`)
	}
	if slices.ContainsFunc(assigns, func(a *syntax.Assign) bool { return a.Name != nil && decidesTests(a.Name.Value) }) && !slices.Contains(prepares, path.Base(words[0])) {
		return true
	}
	words, ok := launched(words)
	if !ok {
		return true
	}
	if len(words) == 0 {
		return false
	}
	text, program := strings.Join(words, " "), path.Base(words[0])
	tests := runsTests.MatchString(text)
	switch {
	case value && (slices.Contains(makeFunctions, program) || len(words) == 1 && makeName.MatchString(words[0])):
		return false // of the Makefile, or one of its variables
	case value && program == "shell":
		return o.call(nil, words[1:], true)
	case value && slices.Contains(reads, program):
		return false
	case slices.Contains(strings.Fields("make $(MAKE) ${MAKE}"), program): // what targets of this file do is in the recipes
		return slices.ContainsFunc(words[1:], func(w string) bool { return !plainTarget.MatchString(w) })
	case slices.Contains(strings.Fields("npm yarn pnpm bun"), program):
		return o.manager(words[1:])
	case slices.Contains(strings.Fields("just task tox nox hatch"), program):
		return false // what these call is looked at by itself
	case tests && slices.ContainsFunc(words[1:], func(w string) bool { return strings.ContainsAny(w, "*?[") && !strings.HasPrefix(w, "-") }):
		return true
	case tests && slices.Contains(words, "unittest") && slices.ContainsFunc(words[1:], dotted.MatchString):
		return true
	case program == "cmake" || program == "meson" && slices.Contains(words, "setup"):
		return slices.ContainsFunc(words, configures)
	case tests:
		_, runner := harmless[cmp.Or(families[program], program)]
		return !runner && !slices.Contains(runnersBehind, program) || optionsDecide(program, words) // others may do anything to them
	case strings.Contains(words[0], "/") && o.script(words[0]):
		return false // it is run by itself
	}
	if slices.Contains(prepares, program) || program == "sed" && !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-i") || w == "--in-place" }) {
		return false
	}
	for _, p := range preparesBy {
		if text == p || strings.HasPrefix(text, p+" ") {
			return false
		}
	}
	return true
}

// decidesTests says whether a variable may decide how tests run.
func decidesTests(name string) bool {
	return name != "CI" && (ecosystem.Takes(name) || name == "RUBYOPT")
}

// manager says whether a call of a package manager of Node.js does more than "npm test" and what
// prepares, by the words behind its name.
func (o other) manager(words []string) bool {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		name, folder, together := strings.Cut(words[0], "=")
		words = words[1:]
		if !slices.Contains(strings.Fields("-C --prefix --cwd --dir"), name) {
			continue
		}
		if !together && len(words) > 0 {
			folder, words = words[0], words[1:]
		}
		if !o.tested(path.Join(o.dir, folder)) {
			return true
		}
	}
	if len(words) > 1 && slices.Contains(strings.Fields("run run-script rum urn"), words[0]) {
		words = words[1:]
	}
	return len(words) > 0 && !plainScript.MatchString(words[0]) && !strings.HasPrefix(words[0], "-")
}

// launchers are programs that start another one, with their options that take a value apart.
var launchers = map[string]string{
	"time": "", "exec": "", "command": "", "nohup": "", "builtin": "", "nice": "n", "ionice": "c n", "timeout": "k s", "caffeinate": "",
	"uv run": "with extra group python p package project directory", "poetry run": "", "pdm run": "p", "pipenv run": "", "rye run": "",
	"bundle exec": "", "npx": "p package", "c8": "r reporter", "nyc": "r reporter", "bunx": "", "pnpm exec": "", "pnpm dlx": "", "yarn exec": "", "npm exec": "p package",
}

// launched is what a call starts, without what starts it; false where that sets variables by
// which tests may run in another way.
func launched(words []string) ([]string, bool) {
	for len(words) > 0 {
		program := path.Base(words[0])
		if program == "env" || program == "cross-env" {
			words = words[1:]
			sets := false
			for len(words) > 0 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=")) {
				name, _, _ := strings.Cut(words[0], "=")
				sets = sets || strings.HasPrefix(name, "-") || decidesTests(name)
				words = words[1:]
			}
			if sets && len(words) > 0 {
				return words, false
			}
			continue
		}
		valued, ok := launchers[program]
		rest := words[1:]
		if !ok && len(rest) > 0 {
			valued, ok = launchers[program+" "+rest[0]]
			rest = rest[min(1, len(rest)):]
		}
		if !ok {
			return words, true
		}
		for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
			name := strings.TrimLeft(rest[0], "-")
			if strings.HasPrefix(name, "env-file") {
				return words, false
			}
			rest = rest[1:]
			if len(rest) > 0 && slices.Contains(strings.Fields(valued), name) {
				rest = rest[1:]
			}
		}
		if program == "timeout" && len(rest) > 0 { // how long
			rest = rest[1:]
		}
		words = rest
	}
	return words, true
}

var (
	plainScript = pattern.New(`^(?:t|tst|test|i|ci|add|audit|prune|link|pack|version|cache|config|set|install(?:-test)?|install-ci-test|check-types|check:types|(?:build|lint|format|fmt|prettier|types?|typecheck|type-check|compile|clean|prepare|bundle|generate|docs?)(?:[:-][\w:-]*)?)$`)
	plainTarget = pattern.New(`^(?:-[skwj]+\d*|--(?:silent|keep-going|no-print-directory|jobs(?:=\d+)?)|\w[\w./-]*)$`)
	makeName    = pattern.New(`^[A-Za-z_]\w*$`)
	dotted      = pattern.New(`^\w+(?:\.\w+)+$`)
)

// configures says whether an argument of CMake or Meson decides what is built, and not only how.
func configures(word string) bool {
	return word == "--preset" || strings.HasPrefix(word, "--preset=") ||
		strings.HasPrefix(word, "-D") && !configuresHow.MatchString(word)
}

var configuresHow = pattern.New(`^-D(?:CMAKE_(?:EXPORT|C_COMPILER|CXX_COMPILER|INSTALL|GENERATOR|MAKE)|BUILD_TESTING|prefix|warning_level|werror|$)`)

// What prepares, builds, formats, reports or looks for style, and checks nothing by running it:
// programs, and those with what they are called with.
var (
	prepares = strings.Fields(`: . source true echo printf mkdir rm rmdir touch cd pwd export unset set shopt ls cat date sleep which command
		type exit chmod pip pip3 uv poetry pdm pipenv virtualenv bundle gem composer gofmt goimports gofumpt golangci-lint staticcheck govulncheck
		ruff black isort mypy flake8 pylint pyright pre-commit eslint prettier tsc biome rubocop rustfmt clippy-driver codecov ninja gcc cc g++ clang
		clang-format clang-tidy ar ld protoc buf shellcheck docker docker-compose esbuild rollup webpack vite
		tee head tail awk tr sort uniq wc find test [ go-junit-report gocov gocov-xml gcovr lcov genhtml tparse richgo clear tput cargo-llvm-cov`)
	preparesBy = []string{
		"go build", "go vet", "go fmt", "go mod", "go get", "go install", "go generate", "go tool", "go list", "go clean", "go work", "go version", "go env",
		"python -m pip", "python3 -m pip", "python -m venv", "python3 -m venv", "python -m build", "python3 -m build", "python -m compileall",
		"python -m mypy", "python3 -m mypy", "python -m black", "python -m flake8", "python setup.py build", "python3 setup.py build",
		"coverage report", "coverage html", "coverage xml", "coverage erase", "coverage combine", "npx eslint", "npx prettier", "npx tsc",
		"cargo build", "cargo fmt", "cargo clippy", "cargo check", "cargo fetch", "cargo doc", "cargo install", "mix deps.get", "mix format", "mix compile", "mix credo",
		"dotnet restore", "dotnet build", "dotnet format", "meson compile", "git submodule", "git status", "git config",
		"git rev-parse", "git describe", "git log", "git ls-files", "git tag", "git branch", "git fetch",
	}
	// reads are programs that only read, whose output may be a value.
	reads = strings.Fields("grep egrep fgrep cut basename dirname realpath readlink uname nproc getconf hostname whoami id expr seq comm paste jq git node-gyp python3-config pkg-config")
	// makeFunctions are those of Makefiles that read or change texts.
	makeFunctions = strings.Fields("wildcard patsubst subst filter filter-out addprefix addsuffix dir notdir abspath realpath firstword lastword words word wordlist sort strip join basename suffix info warning error origin flavor value or and if foreach findstring")
	// runnersBehind are programs that start a runner of tests that is named behind them.
	runnersBehind = strings.Fields("coverage gotestsum bun deno yarn")
)

// harmless are options of runners of tests by which the same tests run in the same way, or fewer.
// With one that takes a value apart, the value is no option.
var harmless = map[string]string{
	"go":      "v count timeout cover coverprofile covermode coverpkg parallel p failfast json short race run skip benchmem vet mod trimpath shuffle o outputdir",
	"pytest":  "v vv vvv q qq x s l r ra rA rs rf rx tb cov cov-report cov-config cov-fail-under cov-branch no-cov durations maxfail n dist color junitxml junit-xml capture no-header no-summary showlocals strict strict-markers strict-config k m ignore deselect timeout verbose quiet disable-warnings html exitfirst lf ff",
	"python":  "m u B v q f b s t p verbose quiet failfast buffer locals noinput no-input keepdb parallel",
	"cargo":   "v q verbose quiet workspace all all-targets locked offline frozen no-fail-fast p package lib bins bin test tests doc jobs j color nocapture test-threads manifest-path",
	"node":    "test test-reporter test-reporter-destination test-concurrency test-timeout experimental-test-coverage test-name-pattern",
	"mocha":   "reporter R timeout t recursive exit bail b spec extension parallel jobs j check-leaks forbid-only grep g",
	"jest":    "coverage ci verbose runInBand i silent maxWorkers w bail forceExit detectOpenHandles passWithNoTests colors no-cache testTimeout coverageReporters",
	"vitest":  "run coverage reporter coverage.enabled silent passWithNoTests bail no-color",
	"rspec":   "f format color c no-color fail-fast order profile p b backtrace force-color",
	"rake":    "t trace q quiet s silent",
	"phpunit": "colors testdox no-coverage coverage-text coverage-clover coverage-html log-junit stop-on-failure v verbose",
	"ctest":   "output-on-failure V VV j parallel test-dir R L E verbose no-tests timeout progress stop-on-failure Q quiet",
	"meson":   "C print-errorlogs v verbose no-rebuild suite num-processes q quiet t timeout-multiplier",
	"mix":     "cover trace max-failures color no-color seed slowest",
	"dotnet":  "no-build no-restore nologo v verbosity logger l collect",
	"ava":     "v verbose",
	"tap":     "",
	"swift":   "v verbose parallel q",
	"java":    "q B ntp batch-mode no-transfer-progress e fae no-daemon info stacktrace console",
}

// families are programs that take the options of another one.
var families = map[string]string{
	"gotestsum": "go", "pest": "phpunit", "py.test": "pytest", "python3": "python", "mvnw": "java", "gradlew": "java", "mvn": "java", "gradle": "java",
}

// optionsDecide says whether a call of a runner of tests has an option that is not harmless.
func optionsDecide(program string, words []string) bool {
	for _, runner := range []string{"pytest", "jest", "mocha", "vitest", "rspec", "rake", "phpunit", "pest"} { // behind what starts it
		if at := slices.Index(words, runner); at >= 0 {
			for _, w := range words[1:max(at, 1)] {
				if strings.HasPrefix(w, "-") && !slices.Contains([]string{"-m", "-u", "-B", "-q", "--no", "--", "--no-install", "--branch", "-p", "-a", "--append", "--parallel-mode"}, w) && !strings.HasPrefix(w, "--source") && !strings.HasPrefix(w, "--rcfile") {
					return true
				}
			}
			program, words = runner, words[at:]
			break
		}
	}
	if f, ok := families[program]; ok {
		program = f
	}
	known := strings.Fields(harmless[program])
	for i, w := range words {
		if i == 0 || !strings.HasPrefix(w, "-") || w == "-" || w == "--" {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
		if program == "go" {
			name = strings.TrimPrefix(name, "test.")
		}
		if program == "pytest" && name == "p" && i+1 < len(words) && strings.HasPrefix(words[i+1], "no:") {
			continue
		}
		together := !strings.HasPrefix(w, "--") && len(name) > 1 // with its value: -n4, -j2, -rA
		if slices.Contains(known, name) || together && program != "go" && slices.Contains(known, name[:1]) {
			continue
		}
		return true
	}
	return false
}

package languages

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/native"
	"github.com/ycbot/ycbot/internal/pattern"
)

// otherwise is the first thing that the target for tests of a project's folder does in another
// way than ycbot calls the runner, or beside it: options that decide how tests run, variables,
// loops over calls, comparisons, folders that are no project by themselves. tested says which
// folders are. Empty: there is none.
func otherwise(s *ecosystem.Survey, dir string, tested func(dir string) bool) string {
	file := native.FileOfTargets(s, dir)
	if file == "" {
		return ""
	}
	text := string(s.Read(dir, file))
	recipes := expanded(text, ecosystem.TestRecipes(file, text))
	if !runsTests.MatchString(recipes) {
		return ""
	}
	if m := makeExport.FindStringSubmatch(text); m != nil && ecosystem.Takes(m[1]) {
		return m[0]
	}
	recipes = strings.ReplaceAll(strings.ReplaceAll(recipes, "\\\n", " "), "$$", "$")
	for line := range strings.Lines(recipes) {
		line = strings.TrimLeft(strings.TrimSpace(line), "@+- \t")
		parsed, err := syntax.NewParser().Parse(strings.NewReader(line), "")
		if err != nil {
			if runsTests.MatchString(line) {
				return short(line)
			}
			continue
		}
		found := ""
		syntax.Walk(parsed, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CallExpr:
				words := ecosystem.Written(&syntax.CallExpr{Args: n.Args})
				elsewhere := len(words) == 2 && words[0] == "cd" && !strings.HasPrefix(words[1], "$") && !tested(path.Join(dir, strings.Trim(words[1], `"'`)))
				if found == "" && (elsewhere && runsTests.MatchString(line) || callsOtherwise(n.Assigns, words)) {
					found = line
				}
			case *syntax.ForClause, *syntax.WhileClause, *syntax.IfClause, *syntax.CaseClause:
				if found == "" && runsTests.MatchString(ecosystem.Printed(n)) {
					found = line
				}
			case *syntax.CmdSubst: // a value, and nothing that decides
				return false
			}
			return found == ""
		})
		if found != "" {
			return short(found)
		}
	}
	return ""
}

// short cuts a line for a sentence.
func short(line string) string {
	if r := []rune(line); len(r) > 100 {
		return string(r[:100]) + "…"
	}
	return line
}

// makeExport is a variable that a Makefile sets for all that its recipes call.
var makeExport = pattern.New(`(?m)^export[ \t]+([A-Za-z_]\w*)[ \t]*[:?+]?=.*$`)

// callsOtherwise says whether a call is one of a runner of tests with options that decide how
// they run, or sets variables for one, or is no call of what only prepares, builds or formats.
func callsOtherwise(assigns []*syntax.Assign, words []string) bool {
	if len(words) == 0 || words[0] == "" {
		return false
	}
	program := path.Base(words[0])
	for i, w := range words {
		words[i] = strings.Trim(w, `"'`)
	}
	text := strings.Join(words, " ")
	tests := runsTests.MatchString(text)
	if tests && slices.ContainsFunc(assigns, func(a *syntax.Assign) bool {
		return a.Name != nil && a.Name.Value != "CI" && ecosystem.Takes(a.Name.Value)
	}) {
		return true
	}
	switch {
	case slices.Contains(strings.Fields("make $(MAKE) ${MAKE}"), program):
		return slices.Contains(words, "-C") // what targets of this file do is in the recipes
	case slices.Contains(strings.Fields("npm yarn pnpm bun"), program):
		return len(words) > 2 && words[1] == "run" && !plainScript.MatchString(words[2])
	case slices.Contains(strings.Fields("just task tox nox hatch"), program):
		return false // what these call is looked at by itself
	case tests && program == "xargs", tests && slices.ContainsFunc(words[1:], func(w string) bool { return strings.ContainsAny(w, "*?[") && !strings.HasPrefix(w, "-") }):
		return true
	case tests && slices.Contains(words, "unittest") && slices.ContainsFunc(words[1:], dotted.MatchString):
		return true
	case program == "cmake" || program == "meson" && slices.Contains(words, "setup"):
		return slices.ContainsFunc(words, configures)
	case tests:
		return optionsDecide(program, words)
	}
	if slices.Contains(prepares, program) {
		return false
	}
	for _, p := range preparesBy {
		if text == p || strings.HasPrefix(text, p+" ") {
			return false
		}
	}
	return !strings.HasPrefix(text, "$") // a variable of the Makefile that is not known
}

var (
	plainScript = pattern.New(`^(?:test|build|lint|format|fmt|prettier|types?|typecheck|type-check|check-types|check:types|compile|clean|prepare|install|bundle|generate|docs?|start)\b[\w:-]*$`)
	dotted      = pattern.New(`^\w+(?:\.\w+)+$`)
)

// configures says whether an argument of CMake or Meson decides what is built, and not only how.
func configures(word string) bool {
	return word == "--preset" || strings.HasPrefix(word, "--preset=") ||
		strings.HasPrefix(word, "-D") && !configuresHow.MatchString(word)
}

var configuresHow = pattern.New(`^-D(?:CMAKE_(?:BUILD_TYPE|EXPORT|C_COMPILER|CXX_COMPILER|INSTALL|GENERATOR|MAKE)|BUILD_TESTING|buildtype|prefix|warning_level|werror|$)`)

// What prepares, builds, formats, reports or looks for style, and checks nothing by running it:
// programs, and those with what they are called with.
var (
	prepares = strings.Fields(`: . source true echo printf mkdir rm rmdir touch cp mv ln install cd pwd export unset set shopt ls cat date sleep which command
		type exit chmod pip pip3 uv poetry pdm pipenv virtualenv bundle gem composer gofmt goimports gofumpt golangci-lint staticcheck govulncheck
		ruff black isort mypy flake8 pylint pyright pre-commit eslint prettier tsc biome rubocop rustfmt clippy-driver codecov ninja gcc cc g++ clang
		clang-format clang-tidy ar ld protoc buf shellcheck docker docker-compose esbuild rollup webpack vite
		tee head tail sed awk tr sort uniq wc find test [ go-junit-report gocov gocov-xml gcovr lcov genhtml tparse richgo`)
	preparesBy = []string{
		"go build", "go vet", "go fmt", "go mod", "go get", "go install", "go generate", "go tool", "go list", "go clean", "go work", "go version", "go env",
		"python -m pip", "python3 -m pip", "python -m venv", "python3 -m venv", "python -m build", "python3 -m build", "python -m compileall",
		"python -m mypy", "python3 -m mypy", "python -m black", "python -m flake8", "python setup.py build", "python3 setup.py build",
		"coverage report", "coverage html", "coverage xml", "coverage erase", "coverage combine", "npx eslint", "npx prettier", "npx tsc",
		"cargo build", "cargo fmt", "cargo clippy", "cargo check", "cargo fetch", "cargo doc", "cargo install", "mix deps.get", "mix format", "mix compile", "mix credo",
		"dotnet restore", "dotnet build", "dotnet format", "meson compile", "git submodule", "git status",
	}
)

// harmless are options of runners of tests by which the same tests run in the same way, or fewer.
// With one that takes a value apart, the value is no option.
var harmless = map[string]string{
	"go":      "v count timeout cover coverprofile covermode coverpkg parallel p failfast json short race run skip benchmem vet mod trimpath shuffle tags o outputdir",
	"pytest":  "v vv vvv q qq x s l r ra rA rs rf rx tb cov cov-report cov-config cov-fail-under cov-branch no-cov durations maxfail n dist color junitxml junit-xml capture no-header no-summary showlocals strict strict-markers strict-config k m ignore deselect timeout verbose quiet disable-warnings html exitfirst lf ff",
	"python":  "m u B v q f b s t p verbose quiet failfast buffer locals",
	"cargo":   "v q verbose quiet workspace all all-targets locked offline frozen no-fail-fast p package lib bins bin test tests doc jobs j features all-features color nocapture test-threads manifest-path",
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
	"java":    "q B ntp batch-mode no-transfer-progress e fae no-daemon info stacktrace console",
}

// families are programs that take the options of another one.
var families = map[string]string{
	"gotestsum": "go", "py.test": "pytest", "python3": "python", "mvnw": "java", "gradlew": "java", "mvn": "java", "gradle": "java",
}

// optionsDecide says whether a call of a runner of tests has an option that is not harmless.
func optionsDecide(program string, words []string) bool {
	for _, runner := range []string{"pytest", "jest", "mocha", "vitest", "rspec", "rake", "phpunit"} { // behind what starts it
		if at := slices.Index(words, runner); at >= 0 {
			for _, w := range words[1:max(at, 1)] {
				if strings.HasPrefix(w, "-") && !slices.Contains([]string{"-m", "-u", "-B", "-q", "--no", "--", "--no-install"}, w) {
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

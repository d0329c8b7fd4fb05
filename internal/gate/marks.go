package gate

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A Mark is a line that the change adds to its sources and by which code can tell a
// test run from use, or print what a test runner prints.
type Mark struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	What string `json:"what"` // for people
	Text string `json:"text"` // the line, cut
}

// A markRule is a sort of marks, in files with one of these extensions; none: all.
type markRule struct {
	exts string
	what string
	text *pattern.Pattern
}

// markRules are how code tells a test run, by ecosystem, and what is common.
var markRules = []markRule{
	{".go", "asks whether it runs in a test", pattern.New(`\btesting\.(Testing|Verbose|Short|CoverMode)\(|flag\.Lookup\(\s*"test\.|"-?test\.(v|run|timeout|paniconexit0|testlogfile)\b|os\.Args\[0\].*test|\.test"\s*\)|"GO(COVERDIR|TESTSUM\w*)"`)},
	{".py .pyx", "asks whether it runs in a test", pattern.New(`PYTEST_(CURRENT_TEST|VERSION|XDIST\w*)|sys\.modules[^#]*(pytest|unittest|nose)|["'](_?pytest|unittest|nose)["']\s*(not\s+)?in\s|sys\.argv[^#]*(pytest|unittest)`)},
	{".js .cjs .mjs .ts .cts .mts .jsx .tsx .vue .svelte", "asks whether it runs in a test", pattern.New(`JEST_WORKER_ID|\bVITEST(_\w+)?\b|import\.meta\.vitest|NODE_TEST_CONTEXT|NODE_ENV\b[^;\n]*["'` + "`" + `]test|["']test["'][^;\n]*NODE_ENV|(argv|execArgv)[^;\n]*(jest|mocha|vitest|--test)|typeof\s+(describe|jest|it|vi|expect|beforeEach)\b|MOCHA_\w+|AVA_PATH|TAP_CHILD_ID`)},
	{".rb .rake .ru", "asks whether it runs in a test", pattern.New(`(RAILS|RACK)_ENV|Rails\.env\.test\?|defined\?\(?\s*(::)?(RSpec|Minitest|Test::Unit)|\$(0|PROGRAM_NAME)[^#]*(rspec|test)`)},
	{".rs", "asks whether it runs in a test", pattern.New(`cfg!\(\s*(any\(|all\(|not\()*\s*test\b|#\[cfg\((not\(|any\(|all\()+\s*test\b|CARGO_TARGET_TMPDIR|NEXTEST|RUST_TEST_\w+|/deps/`)},
	{".java .kt .kts .scala .groovy", "asks whether it runs in a test", pattern.New(`Class\.forName\([^)]*(junit|testng|surefire)|surefire\.|getStackTrace\(\)[^;]*(junit|surefire)|sun\.java\.command|org\.gradle\.test\.worker`)},
	{".cs .fs .vb", "asks whether it runs in a test", pattern.New(`(?i)testhost|GetAssemblies\(\)[^;]*(xunit|nunit|mstest)|"(xunit|nunit|vstest)`)},
	{".php", "asks whether it runs in a test", pattern.New(`PHPUNIT_\w+|__PHPUNIT|runningUnitTests\(|class_exists\([^)]*PHPUnit|APP_ENV\b[^;]*["']test`)},
	{".ex .exs .erl", "asks whether it runs in a test", pattern.New(`MIX_ENV|Mix\.env\b|Code\.ensure_loaded\??\(\s*ExUnit|Process\.whereis\(\s*ExUnit`)},
	{"", "asks what runs it", pattern.New(`\b(MAKELEVEL|MAKEFLAGS|MFLAGS|npm_lifecycle_(event|script)|npm_command|CTEST_\w+|MESON_TEST_\w+|TOX_ENV_\w+|NOX_CURRENT_SESSION)\b`)},
	{"", "asks whether it runs in CI or in a sandbox", pattern.New(`(?i)(getenv|environ|lookupenv|\benv)\W{0,3}\w{0,8}\W{0,4}(CI|CONTINUOUS_INTEGRATION|BUILD_NUMBER)\b["'\])]|\bGITHUB_(ACTIONS?|WORKFLOW|RUN_ID|JOB)\b|process\.env\.CI\b|/\.dockerenv|/run/init\b|\bbwrap\b|/proc/(self|1|thread-self)/(cgroup|cmdline|mountinfo|mounts|status|environ)|["'` + "`" + `/.]ycbot\b`)},
	{"", "prints what a test runner prints", pattern.New(`--- (PASS|FAIL|SKIP)\b|=== (RUN|NAME)\b|\\x16|\\u0016|["'` + "`" + `](ok|FAIL) {1,2}\\t|\\?"Action\\?"\s*:\s*\\?"(pass|fail|skip|run)|["'` + "`" + `](not )?ok \d+\b|TAP version 1|<testsuite\b|##teamcity\[`)},
}

// scriptExts are the endings of scripts that no ecosystem has.
var scriptExts = []string{".sh", ".bash", ".zsh", ".ksh", ".pl", ".lua", ".awk"}

// maxMarks bounds how many are named.
const maxMarks = 50

// marksIn are the marks in lines that a change adds to a source.
func marksIn(name string, added map[int]string) []Mark {
	var out []Mark
	for _, line := range sortedKeys(added) {
		text := added[line]
		for _, rule := range markRules {
			if rule.exts != "" && !slices.Contains(strings.Fields(rule.exts), path.Ext(name)) || !rule.text.MatchString(text) {
				continue
			}
			text := strings.TrimSpace(text)
			out = append(out, Mark{Path: name, Line: line, What: rule.what, Text: text[:min(len(text), 200)]})
			break
		}
	}
	return out
}

func sortedKeys(m map[int]string) []int {
	var out []int
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// marks finds those of the change, and what it brings in place of the programs that
// run its tests.
func (r *runner) marks(ctx context.Context) error {
	var brought []string
	for _, f := range r.in.Change.Files {
		if f.Status == change.Added || f.Status == change.Renamed || f.Status == change.Copied || f.Status == change.Retyped {
			if replacesRunner(f.Path) {
				brought = append(brought, f.Path)
			}
		}
		if f.Status == change.Deleted || f.Binary || f.Added == 0 || !isSource(f.Path) && !slices.Contains(scriptExts, path.Ext(f.Path)) || r.testFile(f.Path) {
			continue
		}
		added, err := r.addedText(ctx, f)
		if err != nil {
			return err
		}
		r.res.Marks = append(r.res.Marks, marksIn(f.Path, added)...)
	}
	if len(brought) > 0 {
		r.facts.Unbelieved = append(r.facts.Unbelieved, "the change brings what can stand for a program that runs tests: "+listed(brought, 5))
	}
	r.facts.Marks = len(r.res.Marks)
	r.res.Marks = r.res.Marks[:min(len(r.res.Marks), maxMarks)]
	return nil
}

// addedText is the lines that the change adds to a file, by their numbers.
func (r *runner) addedText(ctx context.Context, f change.File) (map[int]string, error) {
	args := []string{"diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M", "-U0", r.in.Base.Commit, r.in.Head.Commit, "--", f.Path}
	if f.OldPath != "" {
		args = append(args, f.OldPath)
	}
	patch, err := r.Mirror.Git(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("added lines of %s: %w", f.Path, err)
	}
	src, err := r.Mirror.ReadFile(ctx, r.in.Head.Commit, f.Path)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // a submodule, or retyped: it has no lines
	}
	lines := strings.Split(string(src), "\n")
	out := map[int]string{}
	for n := range addedLines(string(patch)) {
		if n > 0 && n <= len(lines) {
			out[n] = lines[n-1]
		}
	}
	return out, nil
}

// runnerFiles are paths, in any folder, that a run of tests takes for its own
// programs before those of the machine or of what is installed.
var runnerFiles = pattern.New(`(^|/)(node_modules/(\.bin/[^/]+|(jest|mocha|vitest|ava|tape|tap|c8|nyc|react-scripts)(-cli)?/.*|@(jest|vitest)/.*)` +
	`|\.?venv/.*|_?pytest(\.py|/.*)|(pluggy|unittest)(\.py|/.*)|(site|user)customize\.py` +
	`|vendor/(bin/(phpunit|pest)|phpunit/.*|bundle/.*))$`)

// replacesRunner says whether a file of the tree would be run, or loaded, in place of
// the program that runs tests.
func replacesRunner(name string) bool { return runnerFiles.MatchString(name) }

package imports

import (
	"slices"
	"strings"
	"testing"
)

const module = "github.com/ycbot/ycbot/"

// everywhere may be imported by all packages; change, redact and regular stand on nothing.
const everywhere = "internal/redact internal/telemetry internal/change internal/regular"

// Packages for every one, also for those that may import nothing.
const (
	patterns = "internal/pattern"
	sorting  = "internal/sorted"
	texts    = "internal/shelltext"
)

// A row says which packages of this module a package may import, beside
// those of everywhere.
type row struct {
	pkg     string // a last element "..." stands for all packages below
	imports string // separated by spaces; "*" is anything, "..." as in pkg
}

// table is the architecture. Data flows downwards, imports do too. The first
// block is the way of a change through the program, the second what it stands
// on. Change it on purpose or not at all.
var table = []row{
	{"cmd/ycbot", "*"},
	{"cmd/ycbot/early", "internal/sandbox"}, // nothing else: what it imports is started with every command
	{"action", "internal/event internal/job internal/report internal/config"},
	{"action/host", "action agents internal/change internal/config internal/event internal/github internal/job internal/machine internal/model/provider internal/orchestrator/route internal/publish internal/pullrun internal/recheck internal/report internal/run internal/rundir internal/terminal internal/verdict"},
	{"app", "internal/event internal/job internal/queue internal/store internal/report internal/config"},
	{"app/host", "agent app app/web internal/blobs internal/config internal/disk internal/event internal/folder internal/github internal/job internal/machine internal/orchestrator internal/orchestrator/route internal/publish internal/pullrun internal/queue internal/recheck internal/report internal/run internal/rundir internal/sandbox internal/store internal/workspace"},
	{"app/setup", "internal/github"}, // the App is made once, by hand
	{"app/web", "internal/gate internal/job internal/queue internal/store internal/report internal/transcript internal/evidence"}, // which write what it shows
	{"internal/event", ""},
	{"internal/job", "internal/event internal/config"},
	{"internal/queue", "internal/job internal/store"},
	{"internal/pullrun", "agent internal/config internal/event internal/github internal/job internal/journal internal/machine internal/publish internal/recheck internal/report internal/run internal/rundir internal/sandbox internal/sandbox/forecast internal/terminal internal/tool internal/usage internal/workspace internal/workspace/repository internal/workspace/git"},
	{"internal/recheck", "internal/run internal/rundir internal/orchestrator internal/reproduce internal/conclude internal/gate internal/evidence internal/report internal/transcript internal/tool internal/model internal/sandbox internal/workspace agent agents"},
	{"internal/run", "internal/rundir internal/gate internal/gate/compare internal/orchestrator internal/reproduce internal/conclude internal/evidence internal/report internal/journal internal/tool internal/workspace internal/workspace/repository internal/workspace/git internal/workspace/objects internal/sandbox internal/config internal/hook agent agents internal/folder"},
	{"internal/orchestrator", "agent agents internal/rundir internal/reproduce internal/conclude internal/gate internal/evidence internal/report internal/journal internal/tool internal/workspace internal/workspace/git internal/workspace/objects internal/sandbox internal/model internal/config internal/folder"},
	{"internal/orchestrator/route", "agent internal/orchestrator internal/machine internal/model internal/model/provider internal/model/script internal/policy internal/usage"},
	{"internal/reproduce", "internal/folder internal/rundir internal/evidence internal/report internal/journal internal/workspace internal/workspace/git internal/workspace/objects internal/sandbox"}, // by a shell that it is given: it knows no gate
	{"internal/conclude", "internal/gate internal/gate/compare internal/evidence internal/report"}, // values in, a report out
	{"internal/rundir", "internal/evidence internal/journal internal/transcript internal/report internal/workspace internal/sandbox"},
	{"internal/backtest", "internal/run internal/report internal/workspace internal/workspace/repository internal/workspace/git internal/folder"},
	{"internal/gate", "internal/gate/lines internal/gate/sides internal/gate/preparation internal/gate/execution internal/gate/tester internal/gate/arms internal/gate/kept internal/gate/own internal/gate/known internal/gate/runs internal/gate/classes internal/gate/languages internal/gate/ecosystem internal/gate/results internal/gate/checks internal/gate/compare internal/gate/databases internal/sandbox internal/workspace internal/folder"}, // of no single language
	{"internal/gate/preparation", "internal/gate/sides internal/gate/execution internal/gate/classes internal/gate/languages internal/gate/ecosystem internal/gate/ecosystem/rust internal/gate/results internal/sandbox internal/workspace internal/change internal/folder"},                                                                                                                                                                             // it says why a side cannot be judged
	{"internal/gate/execution", "internal/gate/sides internal/gate/caches internal/gate/languages internal/gate/ecosystem internal/gate/results internal/gate/databases internal/evidence internal/proxy internal/sandbox internal/workspace internal/folder"},                                                                                                                                                                                            // commands in, steps out
	{"internal/gate/kept", "internal/gate/classes internal/gate/arms internal/gate/tester internal/gate/sides internal/gate/runs internal/gate/compare internal/gate/languages internal/gate/ecosystem internal/gate/results internal/workspace internal/change"},                                                                                                                                                                                         // values in, expectations out
	{"internal/gate/lines", "internal/gate/kept internal/gate/arms internal/gate/sides internal/gate/classes internal/gate/languages internal/gate/ecosystem internal/gate/results"},                                                                                                                                                                                                                                                                      // values in, counts out
	{"internal/gate/arms", "internal/gate/tester internal/gate/sides internal/gate/execution internal/gate/languages internal/gate/ecosystem internal/gate/results internal/workspace"},
	{"internal/gate/known", "internal/gate/runs internal/gate/languages internal/gate/ecosystem internal/gate/results internal/folder"},
	{"internal/gate/own", "internal/gate/arms internal/gate/kept internal/gate/known internal/gate/tester internal/gate/sides internal/gate/execution internal/gate/runs internal/gate/compare internal/gate/classes internal/gate/languages internal/gate/workflows internal/gate/ecosystem internal/gate/results internal/workspace"},
	{"internal/gate/tester", "internal/gate/sides internal/gate/execution internal/gate/runs internal/gate/compare internal/gate/languages internal/gate/ecosystem internal/gate/results internal/workspace"}, // it decides nothing
	{"internal/gate/caches", "internal/gate/ecosystem internal/gate/results internal/sandbox internal/folder"},                                                                                                // folders: it runs nothing
	{"internal/gate/runs", "internal/gate/results internal/gate/compare internal/folder"}, // results in, lists out
	{"internal/gate/sides", "internal/gate/classes internal/gate/languages internal/gate/ecosystem internal/gate/ecosystem/... internal/gate/results internal/gate/compare internal/workspace internal/workspace/objects internal/change"}, // it reads, and runs nothing
	{"internal/gate/classes", "internal/gate/languages internal/gate/ecosystem internal/gate/ecosystem/... internal/gate/results internal/gate/compare"},                                                                                   // names and texts in, classes out
	{"internal/gate/languages", "internal/gate/ecosystem internal/gate/ecosystem/... internal/gate/results internal/gate/workflows"},                                                                                                       // the one list of them
	{"internal/gate/ecosystem", "internal/gate/results internal/gate/workflows internal/gate/behave internal/gate/compare internal/sandbox"},                                                                                               // it describes commands, and runs none
	{"internal/gate/ecosystem/...", "internal/gate/ecosystem internal/gate/results internal/gate/workflows internal/gate/behave internal/gate/compare internal/sandbox"},                                                                   // one language each, which knows no other
	{"internal/gate/checks", "internal/gate/behave internal/gate/classes internal/gate/languages internal/gate/ecosystem internal/gate/results internal/gate/mutate internal/gate/cmdline internal/workspace"},                             // what they may have run is given to them

	{"internal/gate/results", ""},                          // output in, results out
	{"internal/gate/workflows", "-"},                       // text in, jobs out
	{"internal/gate/databases", "internal/gate/workflows"}, // files in, a command out: it starts nothing
	{"internal/gate/behave", "-"},                          // text in, text out
	{"internal/gate/mutate", "-"},                          // text in, text out: it starts nothing and reads no file
	{"internal/gate/cmdline", "-"},                         // text in, text out
	{"internal/gate/compare", "-"},                         // results in, classes out

	{"agents", ""},
	{"agent", "internal/tool internal/policy internal/journal internal/model internal/transcript"},
	{"internal/tool", "internal/proxy internal/sandbox internal/workspace internal/workspace/git internal/evidence internal/report"},
	{"internal/evidence", "internal/sandbox internal/workspace internal/report"},
	{"internal/report", "internal/columns"},
	{"internal/publish", "internal/report internal/github internal/store"},

	{"internal/machine", "internal/lfs agents internal/gate internal/hook internal/policy internal/run internal/rundir internal/sandbox internal/sandbox/toolchains internal/sandbox/forecast internal/tool internal/usage internal/workspace internal/workspace/repository internal/workspace/git"},
	{"internal/doctor", "agents app/setup internal/blobs internal/config internal/disk internal/folder internal/gate internal/github internal/machine internal/model internal/model/provider internal/model/script internal/orchestrator/route internal/policy internal/sandbox internal/sandbox/attack internal/store internal/workspace internal/workspace/repository internal/workspace/git"}, // it looks at all that a run needs
	{"internal/scaffold", "internal/config internal/gate"},                                       // what the gate finds, as commands of a configuration
	{"internal/verdict", "internal/github internal/publish internal/recheck internal/report"},    // of what others left, computed again
	{"internal/terminal", "agent internal/columns internal/gate internal/model internal/report"}, // it shows their events

	{"internal/policy", ""},
	{"internal/hook", ""},
	{"internal/sandbox", "internal/sandbox/... internal/folder"},                      // which counts what commands write
	{"internal/sandbox/setup", "internal/sandbox/cgroup internal/sandbox/toolchains"}, // it runs no command in a sandbox
	{"internal/sandbox/cgroup", ""},                                                   // it knows no sandbox
	{"internal/sandbox/toolchains", ""},                                               // it starts nothing
	{"internal/sandbox/seccomp", "-"},                                                 // numbers of calls in, a filter out
	{"internal/sandbox/forecast", "internal/sandbox internal/folder"},                 // what was found is written whole
	{"internal/sandbox/...", "internal/sandbox internal/sandbox/..."},
	{"internal/proxy", ""},
	{"internal/workspace", "internal/folder internal/workspace/objects internal/workspace/git internal/workspace/repository"},
	{"internal/workspace/objects", "-"}, // it starts no git
	{"internal/workspace/repository", "internal/workspace/git internal/workspace/objects internal/folder"}, // it knows no mirror
	{"internal/workspace/git", ""}, // it knows no repository by itself
	{"internal/folder", "-"},       // it knows no repository
	{"internal/lfs", "internal/workspace internal/workspace/git internal/proxy"}, // whose pointers it fetches the contents of
	{"internal/disk", "internal/folder internal/workspace"},                      // which knows what can be made again
	{"internal/model", ""},
	{"internal/model/wire", "internal/model internal/redirect"},
	{"internal/model/openai", "internal/model internal/model/wire"},
	{"internal/model/anthropic", "internal/model internal/model/wire"},
	{"internal/model/provider", "internal/model internal/model/wire internal/model/openai internal/model/anthropic"},
	{"internal/model/script", "internal/model"},
	{"internal/github", "internal/redirect"},
	{"internal/transcript", "internal/journal internal/store"},
	{"internal/journal", "internal/store"},
	{"internal/store", "internal/blobs"},
	{"internal/blobs", "-"}, // bytes under names: it knows no run
	{"internal/config", ""},
	{"internal/telemetry", "internal/redirect internal/transcript"}, // metrics and traces are made from events
	{"internal/redact", "-"},
	{"internal/pattern", "-"},
	{"internal/redirect", "-"},
	{"internal/columns", "-"},
	{"internal/sorted", "-"},
	{"internal/shelltext", "-"},
	{"internal/regular", "-"},
	{"internal/usage", "-"},
	{"internal/change", "-"},

	{"internal/testing/browser", ""},               // a browser for the tests of several packages
	{"internal/testing/docs", ""},                  // what the documentation says, for tests that do it
	{"internal/testing/github", "internal/github"}, // whose types say what is there
	{"internal/testing/gocache", "test/bench"},     // a build cache with the standard library for the tests of several packages
	{"internal/model/modeltest", "internal/model"}, // strict servers for the tests of clients and of the loop
	{"internal/testing/postgres", ""},              // a PostgreSQL for the tests of several packages
	{"internal/testing/imports", ""},
	{"internal/testing/spent", ""},                                             // the processor time of one function
	{"internal/testing/suites", "internal/gate/results"},                       // results of tests in few words
	{"internal/testing/trees", "internal/gate/ecosystem internal/gate/behave"}, // trees of files, surveys of them, and calls in them
	{"internal/testing/variants", ""},                                          // what make test leaves out
	{"test/...", "*"},                                                          // programs for development, not part of ycbot
}

// TestImports holds the table. Test files are exempt, except that what only
// tests need, a package whose name ends in "test" but for backtest, stays out of the program.
func TestImports(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		if strings.HasSuffix(f.name, "_test.go") {
			continue
		}
		r, ok := rowOf(f.pkg)
		if !ok {
			t.Errorf("%s: package %s is not in the table of internal/testing/imports: add a row that says what it may import, and one to the table in the design", f.name, f.pkg)
			continue
		}
		for _, imported := range f.imports {
			own, ok := strings.CutPrefix(imported.path, module)
			switch {
			case !ok:
			case strings.HasSuffix(own, "test") && own != "internal/backtest" && !strings.HasPrefix(f.pkg, "test/"):
				t.Errorf("%s imports %s, which is for tests only", f.name, own)
			case !r.allows(own):
				t.Errorf("%s imports %s: %s may import %s", f.name, own, f.pkg, r.says())
			}
		}
	}
}

// TestTable proves the reading of the table: who is let in, and who is not.
func TestTable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pkg, imports string
		want         bool
	}{
		{"internal/run", "agent", true},
		{"internal/run", "internal/github", false},
		{"agent", "internal/github", false},
		{"agent", "internal/redact", true},
		{"agent", "internal/model", true},
		{"agent", "internal/model/openai", false},
		{"internal/model/openai", "internal/model", true},
		{"internal/model", "internal/model/openai", false},
		{"internal/sandbox", "internal/sandbox/bwrap", true},
		{"internal/sandbox/bwrap", "internal/sandbox", true},
		{"internal/gate", "internal/sandbox/bwrap", false},
		{"internal/change", "internal/redact", false},
		{"internal/redact", "internal/telemetry", false},
		{"internal/telemetry", "internal/redact", true},
		{"internal/journal", "internal/transcript", false},
		{"app", "agent", false},
		{"cmd/ycbot", "app", true},
	} {
		r, ok := rowOf(test.pkg)
		if !ok || r.allows(test.imports) != test.want {
			t.Errorf("%s imports %s: want %v (row found: %v)", test.pkg, test.imports, test.want, ok)
		}
	}
	for _, pkg := range []string{"internal/new", "internal/model/new", "internal", "test"} {
		if r, ok := rowOf(pkg); ok {
			t.Errorf("package %s has the row of %s", pkg, r.pkg)
		}
	}
}

// rowOf finds the row of a package, its own before one for many.
func rowOf(pkg string) (row, bool) {
	i := slices.IndexFunc(table, func(r row) bool { return r.pkg == pkg })
	if i < 0 {
		i = slices.IndexFunc(table, func(r row) bool { return covers(r.pkg, pkg) })
	}
	if i < 0 {
		return row{}, false
	}
	return table[i], true
}

func (r row) allows(pkg string) bool {
	if r.imports == "*" || pkg == patterns || pkg == sorting || pkg == texts {
		return true
	}
	matches := func(p string) bool { return covers(p, pkg) }
	return slices.ContainsFunc(strings.Fields(r.imports), matches) ||
		r.imports != "-" && slices.Contains(strings.Fields(everywhere), pkg)
}

// says says what a row allows, for people.
func (r row) says() string {
	switch r.imports {
	case "-":
		return "nothing of the module but " + patterns + " " + sorting + " " + texts
	case "":
		return everywhere + " " + patterns + " " + sorting + " " + texts
	}
	return r.imports + " " + everywhere + " " + patterns + " " + sorting + " " + texts
}

// covers reports whether pkg is meant by the pattern of a row.
func covers(pattern, pkg string) bool {
	if above, ok := strings.CutSuffix(pattern, "..."); ok {
		return strings.HasPrefix(pkg, above)
	}
	return pattern == pkg
}

// vague are names that say nothing of what a package does.
var vague = []string{"util", "utils", "common", "helper", "helpers", "types", "manager", "managers", "service", "services", "misc"}

// TestNames holds that a package is named for what it does.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		for _, name := range slices.Compact(append(strings.Split(f.pkg, "/"), strings.TrimSuffix(f.clause, "_test"))) {
			if slices.Contains(vague, name) {
				t.Errorf("%s: a package named %s; name it for the one thing that it does", f.name, name)
			}
		}
	}
}

// blanks are the packages that are imported for what their start-up does.
var blanks = []struct{ pkg, imports string }{
	{"internal/store", "modernc.org/sqlite"}, // registers the database driver
}

// TestNothingRunsByItself holds that no code outside cmd and tests runs because
// it is linked in: no init functions, no imports for their effect alone.
func TestNothingRunsByItself(t *testing.T) {
	t.Parallel()
	for _, f := range sources(t) {
		if strings.HasSuffix(f.name, "_test.go") || strings.HasPrefix(f.name, "cmd/") {
			continue
		}
		for _, line := range f.inits {
			t.Errorf("%s:%d: an init function; do it where it is needed, or in cmd", f.name, line)
		}
		for _, imported := range f.imports {
			known := slices.ContainsFunc(blanks, func(b struct{ pkg, imports string }) bool {
				return b.pkg == f.pkg && b.imports == imported.path
			})
			if imported.blank && imported.path != "embed" && !known { // go:embed into a string needs embed by name only
				t.Errorf("%s imports %s for its effect; wire it in cmd, or list it in internal/testing/imports with the reason", f.name, imported.path)
			}
		}
	}
}

package gate

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/test/bench"
)

// A language is how one small library and its tests are written in it: add and
// abs, and a counter of runs that says no at one of them.
type language struct {
	name  string
	tools []string                 // programs that it needs
	lacks func(*Toolchains) string // what else is needed and not there; nil: nothing
	files map[string]string        // beside the source and the tests
	src   string                   // path
	test  string                   // path
	// source is the library. abs is right or leaves negative numbers as they are;
	// add is right or subtracts; the run number turn is the one that fails.
	source func(add, abs bool, turn string) string
	// tests are those that are named: add, abs, again (which add passes, too),
	// flaky, fresh (which calls what no base has).
	tests func(names ...string) string
	// fresh is what adds a function to the source; empty: its tests cannot name one.
	fresh   string
	input   map[string][]string // commands of the configuration: setup, test
	command bool                // its tests are not reported one by one
	all     bool                // make test tries every sort of change: see TestLanguages
	noticed int                 // of the good change's mutants by its tests
}

// A sortOfChange is one change to the library.
type sortOfChange struct {
	name                  string
	baseAdd, baseAbs      bool
	headAdd, headAbs      bool
	baseTurn, headTurn    string
	baseTests, headTests  []string
	want                  Verdict
	regressed, preExist   []string
	fresh                 bool // the head has a new function
	flaky, proven, onBase []string
	repro                 ReproState
}

// sorts begin with those that show most: the good one has its mutants judged, and
// the flaky one has a test that fails, is named and runs again.
func sorts() []sortOfChange {
	return []sortOfChange{
		{
			name: "good change with good tests", baseAdd: true, headAdd: true, headAbs: true,
			baseTests: []string{"add"}, headTests: []string{"add", "abs"}, want: Pass, proven: []string{"abs"}, repro: ReproProven,
		},
		{
			name: "flaky test", baseAdd: true, baseAbs: true, headAdd: true, headAbs: true, headTurn: "1",
			baseTests: []string{"add", "flaky"}, headTests: []string{"add", "flaky"}, want: Pass, flaky: []string{"flaky"}, repro: ReproNoTests,
		},
		{
			name: "regression", baseAdd: true, baseAbs: true, headAbs: true,
			baseTests: []string{"add", "abs"}, headTests: []string{"add", "abs"}, want: Fail, regressed: []string{"add"}, repro: ReproNoTests,
		},
		{
			name: "pre-existing failure", baseAdd: true, headAdd: true, headTurn: "98",
			baseTests: []string{"add", "again", "abs"}, headTests: []string{"add", "again", "abs"}, want: Pass, preExist: []string{"abs"}, repro: ReproNoTests,
		},
		{
			name: "tests that do not need the change", baseAdd: true, headAdd: true, headAbs: true,
			baseTests: []string{"add"}, headTests: []string{"add", "again"}, want: Pass, onBase: []string{"again"}, repro: ReproPassOnBase,
		},
		{
			name: "tests of a new function", baseAdd: true, headAdd: true, fresh: true,
			baseTests: []string{"add"}, headTests: []string{"add", "fresh"}, want: Pass, repro: ReproNeedsAPI,
		},
	}
}

// TestLanguages holds that in every language that this machine can run, each of
// six sorts of change gets the right verdict for the right reasons, and the good one
// has its mutants judged. make test tries all of them in one language, and in the others
// the first alone: the gate does the same with what their runners report. Runners that take
// ten seconds and more to begin are left out, as are second ones of a language.
func TestLanguages(t *testing.T) {
	t.Parallel()
	path := systemPath()
	runners, err := bench.Runners(t.Context())
	if err == nil {
		path += ":" + filepath.Join(runners, ".bin")
	}
	tools := &Toolchains{Go: &GoToolchain{}, Env: []string{"PATH=" + path, "HOME=" + os.Getenv("HOME")}}
	slow := []string{"maven", "meson", "automake", "tox", "jest", "vitest", "mix", "poetry", "rust", "cmake", "nox", "rspec", "mocha"}
	for _, l := range allLanguages() {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			for _, tool := range l.tools {
				if !tools.Has(tool) {
					t.Skipf("%s is needed", tool)
				}
			}
			if l.lacks != nil {
				if what := l.lacks(tools); what != "" {
					t.Skipf("%s is needed", what)
				}
			}
			for i, v := range sorts() {
				if testing.Short() && i > 0 {
					break
				}
				variants.Run(t, v.name, i > 0 && (!l.all || v.name != "regression") || slices.Contains(slow, l.name), func(t *testing.T) {
					t.Parallel()
					l.try(t, tools, v)
				})
			}
		})
	}
}

// systemPath is where programs are looked for: the system's own, and Rust's.
func systemPath() string {
	dirs := []string{"/usr/local/bin", "/usr/bin", "/bin"}
	for dir := range strings.SplitSeq(os.Getenv("PATH"), ":") {
		if strings.HasSuffix(dir, "/.cargo/bin") {
			dirs = append(dirs, dir)
		}
	}
	return strings.Join(dirs, ":")
}

func (l language) repo(add, abs bool, turn string, tests []string) map[string][]byte {
	if turn == "" {
		turn = "99"
	}
	out := map[string][]byte{l.src: []byte(l.source(add, abs, turn)), l.test: []byte(l.tests(tests...))}
	for name, text := range l.files {
		out[name] = []byte(text)
	}
	return out
}

func (l language) try(t *testing.T, tools *Toolchains, v sortOfChange) {
	t.Helper()
	s := &scenario{input: l.input, base: l.repo(v.baseAdd, v.baseAbs, v.baseTurn, v.baseTests), head: l.repo(v.headAdd, v.headAbs, v.headTurn, v.headTests)}
	if v.fresh && l.fresh == "" {
		t.Skip("its tests cannot name what is not there")
	}
	if v.fresh {
		s.head[l.src] = append(s.head[l.src], l.fresh...)
	}
	good := v.name == "good change with good tests"
	counts := t.TempDir()
	res := judge(t, tools, s, func(g *Gate) {
		g.Sandbox = countingBox{g.Sandbox, counts}
		if !good {
			g.Limits.Mutation = -1
		}
	})
	if m := res.Mutation; good && (l.noticed > 0) != (m != nil) || m != nil && m.Killed != l.noticed {
		t.Errorf("mutants: %+v, want %d that are noticed", m, l.noticed)
	}
	if b := res.Believed; good && !l.command && (b == nil || b.Planted == 0 || len(b.Missed) > 0) {
		t.Errorf("planted: %+v, %q", b, res.NotCovered)
	}
	if l.command {
		l.commandLevel(t, v, res)
		return
	}
	names := func(cases []Case) (out []string) {
		for _, c := range cases {
			for _, n := range []string{"add", "abs", "again", "flaky", "fresh"} {
				if strings.Contains(strings.ToLower(c.ID.Test), n) {
					out = append(out, n)
				}
			}
		}
		return out
	}
	if res.Verdict != v.want || v.want == Pass && len(res.Reasons) > 0 {
		t.Errorf("%s %q, want %s", res.Verdict, res.Reasons, v.want)
	}
	for what, both := range map[string][2][]string{
		"regressed":      {names(res.Tests.Regressed), v.regressed},
		"new failing":    {names(res.Tests.NewFailing), nil},
		"pre-existing":   {names(res.Tests.PreExisting), v.preExist},
		"flaky":          {names(slices.Concat(res.Tests.Flaky, res.Tests.FlakyNew)), v.flaky},
		"proven":         {names(res.FailToPass.Proven), v.proven},
		"passes on base": {names(res.FailToPass.PassOnBase), v.onBase},
		"unknown":        {names(res.Tests.Unknown), nil},
	} {
		if diff := cmp.Diff(both[1], both[0]); diff != "" {
			t.Errorf("%s\n-want +got\n%s", what, diff)
		}
	}
	if res.FailToPass.State != v.repro {
		t.Errorf("fail-to-pass %s (%s), want %s", res.FailToPass.State, res.FailToPass.Note, v.repro)
	}
	if t.Failed() {
		t.Log("\n" + facts(res))
		for _, st := range res.Steps {
			t.Logf("%-4s %s %s %s [%s] exit %d\n%s", st.Evidence, st.Stage, st.Side, st.Command, st.Unit, st.Exit, st.Output)
		}
	}
}

// commandLevel is what can be known where the command counts as one test.
func (l language) commandLevel(t *testing.T, v sortOfChange, res *Result) {
	t.Helper()
	want := map[string]Verdict{"pre-existing failure": Partial, "flaky test": Partial}[v.name]
	if want == "" {
		want = v.want
	}
	if res.Verdict != want {
		t.Errorf("%s %q, want %s\n%s", res.Verdict, res.Reasons, want, facts(res))
	}
	if (len(res.Tests.Regressed) > 0) != (v.name == "regression") || (len(res.Tests.PreExisting) > 0) != (v.name == "pre-existing failure") || len(res.Tests.Flaky) != len(v.flaky) {
		t.Errorf("%s", facts(res))
	}
	// Where the command failed, its failure is what there is to say.
	failed := len(res.Tests.Regressed)+len(res.Tests.PreExisting)+len(res.Tests.Flaky) > 0
	if !failed && !slices.ContainsFunc(res.NotCovered, func(s string) bool { return strings.Contains(s, "counts as one test") }) {
		t.Errorf("it is not said that tests cannot be distinguished: %q", res.NotCovered)
	}
}

// judge runs the gate over a scenario with some of the machine's tools.
func testGit(t *testing.T) *git.Git {
	t.Helper()
	g, err := git.New("git", []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Skipf("git is needed: %v", err)
	}
	g.Temp = t.TempDir()
	return g
}

func judge(t *testing.T, tools *Toolchains, s *scenario, settings ...func(*Gate)) *Result {
	t.Helper()
	o := sandbox.Options{PATH: tools.Getenv("PATH"), TempDir: t.TempDir(), Now: time.Now}
	o.Toolchains = toolchains.Machine{PATH: o.PATH, Home: os.Getenv("HOME")}.Find()
	box, err := sandbox.Detect(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{git: testGit(t), box: box, tools: tools, cache: t.TempDir(), shared: t.TempDir()}
	dir := t.TempDir()
	mirror, ch := w.repository(t, s, dir)
	in := Input{Change: ch, UntilFirst: s.has("until"), Commands: Commands{Setup: s.input["setup"], Test: s.input["test"]}}
	for side, commit := range map[**workspace.Tree]string{&in.Base: ch.MergeBase, &in.Head: ch.HeadSHA} {
		tree, err := mirror.WorktreeLater(t.Context(), filepath.Join(dir, "trees", commit[:7]), commit)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { tree.Close() })
		*side = tree
	}
	log, err := evidence.Open(filepath.Join(dir, "run"), "r", evidence.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	g := &Gate{
		Machine: Machine{
			Sandbox:  box,
			Log:      log,
			Mirror:   mirror,
			Tools:    tools,
			Network:  NetworkNone,
			CacheDir: w.cache,
			Shared:   w.shared,
			Scratch:  filepath.Join(dir, "scratch"),
			Now:      time.Now,
		},
	}
	for _, set := range settings {
		set(g)
	}
	res, err := g.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	grounded(t, log, res)
	return res
}

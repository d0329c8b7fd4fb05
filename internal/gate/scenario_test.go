package gate

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/kept"
	"github.com/ycbot/ycbot/internal/gate/known"
	"github.com/ycbot/ycbot/internal/gate/runs"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
	gotest "github.com/ycbot/ycbot/internal/testing/gocache"
	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/repository"
	"github.com/ycbot/ycbot/test/bench"
)

var update = flag.Bool("update", false, "write what the scenarios give into their files")

// TestScenarios runs the gate over small repositories. Each file of
// testdata/scenarios says in its comment what it promises. base/ is the
// repository before the change, head/ is laid over it (head/REMOVED names what
// goes), tip/ is what happened on the base since, input holds settings (see inputs), want the verdict and what it rests on.
func TestScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/scenarios/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	if testing.Short() { // most of the time goes into the go command, not into this package
		files = slices.DeleteFunc(files, func(f string) bool {
			name := strings.TrimSuffix(filepath.Base(f), ".txtar")
			return !slices.Contains(shortScenarios, name) && !variants.Named(t, name)
		})
	}
	w := newWorld(t)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		variants.Run(t, name, leavesScenario(name) && !*update, func(t *testing.T) {
			t.Parallel()
			s := readScenario(t, file)
			// How long tests may take follows from how long the base's took here.
			res := w.run(t, s)
			got := limitFlag.ReplaceAllString(facts(res), "-timeout=1m0s")
			got = strings.ReplaceAll(got, enabledByCorepack, "")
			got = versionHere.ReplaceAllString(got, "and N is on this machine")
			if s.has("counts") {
				got += counts(res)
			}
			if *update {
				s.write(t, file, got)
				return
			}
			if diff := cmp.Diff(s.want, got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", s.archive.Comment, diff)
			}
		})
	}
}

// shortScenarios are those that -short leaves: each stage of the gate once.
var shortScenarios = []string{"good", "regressed", "flaky", "race", "needs_api", "commands_regress", "time_limit", "nothing"}

// A world is what all scenarios share.
type world struct {
	git    *git.Git
	box    sandbox.Sandbox
	tools  *Toolchains
	cache  string // Gate.CacheDir, with the standard library in it
	shared string // Gate.Shared
	mu     sync.Mutex
	as     func(*Gate) // what is different from the others; may be nil
}

// with is the world in which gates are different.
func (w *world) with(as func(*Gate)) *world {
	return &world{git: w.git, box: w.box, tools: w.tools, cache: w.cache, shared: w.shared, as: as}
}

// shared is the folder of what tests share, and theWorld is made in it by the first
// that needs it.
var (
	shared   string
	theWorld = sync.OnceValues(makeWorld)
)

// shimName makes the test program put limits on a command from within.
const shimName = "gate-sandbox-exec"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == shimName {
		os.Exit(sandbox.RunShim(os.Args[2:], os.Stdout))
	}
	var err error
	if shared, err = os.MkdirTemp("", "gate-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(shared)
	os.Exit(code)
}

// newWorld skips the test where the machine lacks what it needs.
func newWorld(t *testing.T) *world {
	t.Helper()
	w, err := theWorld()
	if err != nil {
		t.Fatal(err)
	}
	if w.tools.Go == nil {
		t.Skip("go is needed")
	}
	if w.git == nil {
		t.Skip("git is needed")
	}
	return w
}

func makeWorld() (*world, error) {
	ctx, w := context.Background(), &world{cache: filepath.Join(shared, "project"), shared: filepath.Join(shared, "shared")}
	temp, home := filepath.Join(shared, "temp"), filepath.Join(shared, "home")
	if err := folder.Make(w.cache, w.shared, temp, home); err != nil {
		return nil, err
	}
	var err error
	if w.tools, err = FindToolchains(ctx, os.Environ()); err != nil || w.tools.Go == nil {
		return w, err
	}
	g, err := git.New("git", []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}, slog.New(slog.DiscardHandler))
	if err != nil {
		return w, nil
	}
	w.git, g.Temp = g, temp
	w.box, err = sandbox.Detect(ctx, sandbox.Options{PATH: os.Getenv("PATH"), TempDir: temp, Toolchains: toolchains.At(w.tools.Go.Root), Now: time.Now})
	if err != nil {
		return nil, err
	}
	return w, gotest.Std(ctx, filepath.Join(w.cache, "go-build"))
}

// withRunners are jest, vitest, mocha and other package managers than npm, installed
// beside the machine's programs.
var withRunners = sync.OnceValues(func() (sandbox.Sandbox, error) {
	dir, err := bench.Runners(context.Background())
	if err != nil {
		return nil, err
	}
	temp := filepath.Join(shared, "temp-runners")
	if err := folder.Make(temp); err != nil {
		return nil, err
	}
	o := sandbox.Options{PATH: systemPath() + ":" + filepath.Join(dir, ".bin"), TempDir: temp, Now: time.Now}
	o.Toolchains = toolchains.Machine{PATH: o.PATH, Home: os.Getenv("HOME")}.Find()
	return sandbox.Detect(context.Background(), o)
})

// runners are a sandbox and an environment for a scenario whose tests need runners that
// the machine does not have. It skips the test where they cannot be installed.
func (w *world) runners(tb testing.TB) (sandbox.Sandbox, []string) {
	tb.Helper()
	box, err := withRunners()
	if err != nil {
		tb.Skipf("runners of Node.js are needed: %v", err)
	}
	dir, err := bench.Runners(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return box, []string{"PATH=" + systemPath() + ":" + filepath.Join(dir, ".bin"), "HOME=" + os.Getenv("HOME")}
}

// cacheOf is the Gate.CacheDir of a scenario: that of all, or one with the standard
// library in the way that few need.
func (w *world) cacheOf(tb testing.TB, s *scenario) string {
	tb.Helper()
	dir, modes := w.cache, []string(nil)
	for _, way := range []struct{ key, mode string }{{"race", gotest.Race}, {"fuzz", gotest.Fuzz}, {"mutation", gotest.Cover}, {"lines", gotest.Cover}} {
		if s.has(way.key) && !s.has("until") { // until the first verdict none of these is compiled
			dir, modes = dir+"-"+way.key, append(modes, way.mode)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !folder.Exists(dir) {
		if err := gotest.Std(tb.Context(), filepath.Join(dir, "go-build"), modes...); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// A countingBox gives the commands of each side a folder in which tests that are meant
// to be flaky count their runs. Nothing else of one command is there for the next.
type countingBox struct {
	sandbox.Sandbox
	dir string
}

func (b countingBox) Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	dir := filepath.Join(b.dir, strings.ReplaceAll(filepath.Dir(c.Home), string(filepath.Separator), "-"))
	if err := folder.Make(dir); err != nil {
		return sandbox.Result{}, err
	}
	c.Writable, c.Env = append(slices.Clone(c.Writable), dir), append(slices.Clone(c.Env), "COUNTS="+dir)
	return b.Sandbox.Run(ctx, c)
}

// A scenario is one file of testdata/scenarios.
type scenario struct {
	archive *txtar.Archive
	base    map[string][]byte
	head    map[string][]byte
	tip     map[string][]byte // what happened on the base since
	removed []string
	input   map[string][]string // "key: value" lines
	want    string
	results known.BaseResults
	// submodule is a path at which there is one from the beginning.
	submodule string
}

// inputs are the settings of a scenario: lines "key: value" of its file input, most of them once.
// What needs no value has "yes".
var inputs = map[string]string{
	"setup": "a command in place of those that are detected; may be there several times, as the next three",
	"build": "the same",
	"lint":  "the same; lints are left out where there is none and no vet",
	"test":  "the same",
	"vet":   "the lints that are detected",

	"env":                  "NAME=value for the commands",
	"network":              "what commands reach, as --network has it",
	"goproxy":              "GOPROXY of the go command, without the machine's cache of modules",
	"expectations":         "the policy of that key of the configuration",
	"require_fail_to_pass": "as that key of the configuration",
	"untrusted":            "the head is untrusted",
	"until":                "the gate stops at its first verdict",

	"race":      "with the race detector; skipped without a C compiler",
	"mutation":  "mutants are made",
	"fuzz":      "fuzz targets are run for so long",
	"behaviour": "changed functions are called on both sides",
	"programs":  "command lines of programs are run on both sides",
	"lines":     "it is looked which changed lines tests run",

	"step":    "how long a command may take",
	"grace":   "how much longer than on the base tests may take (Limits.Grace)",
	"timeout": "after what time the whole gate is cancelled",
	"late":    "how far the gate's clock is ahead",
	"load":    "how busy the machine is for one command that runs tests after the other, which they see as LOAD",
	"passes":  "the limit of the sandbox for which a command is ended that prints EATS",
	"flips":   "package and name of a test that flaked in 3 of 212 runs before; may be there several times",

	"tag":       "a tag of the base",
	"link":      "a symbolic link of the head: where it lies, and where it leads",
	"base_link": "the same of the base",

	"python":  "skipped without python3",
	"node":    "skipped without node",
	"tool":    "skipped without this program",
	"without": "skipped with this program",
	"needs":   "skipped where bubblewrap does not work",
	"none":    "the machine has no go",
	"runners": "with the runners of Node.js that tests share",

	"counts": "want has what all runs of tests that disagree said, too",
}

func readScenario(t testing.TB, file string) *scenario {
	t.Helper()
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &scenario{archive: ar, base: map[string][]byte{}, head: map[string][]byte{}, tip: map[string][]byte{}, input: map[string][]string{}}
	for _, f := range ar.Files {
		side, name, _ := strings.Cut(f.Name, "/")
		switch {
		case f.Name == "want":
			s.want = string(f.Data)
		case f.Name == "input":
			for line := range strings.Lines(string(f.Data)) {
				key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
				s.input[key] = append(s.input[key], strings.TrimSpace(value))
			}
		case f.Name == "head/REMOVED":
			s.removed = strings.Fields(string(f.Data))
		case side == "base":
			s.base[name] = f.Data
		case side == "head":
			s.head[name] = f.Data
		case side == "tip":
			s.tip[name] = f.Data
		default:
			t.Fatalf("%s: what is %q?", file, f.Name)
		}
	}
	for key := range s.input {
		if inputs[key] == "" {
			t.Fatalf("%s: input %q is none of inputs", file, key)
		}
	}
	return s
}

func (s *scenario) write(t testing.TB, file, want string) {
	t.Helper()
	s.archive.Files = slices.DeleteFunc(s.archive.Files, func(f txtar.File) bool { return f.Name == "want" })
	s.archive.Files = append(s.archive.Files, txtar.File{Name: "want", Data: []byte(want)})
	if err := os.WriteFile(file, txtar.Format(s.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (s *scenario) has(key string) bool { return len(s.input[key]) > 0 }

func (s *scenario) duration(t testing.TB, key string) time.Duration {
	t.Helper()
	if !s.has(key) {
		return 0
	}
	d, err := time.ParseDuration(s.input[key][0])
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// userGit is the environment of a user's git, whose own configuration must not
// matter to a test.
func userGit() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org", "GIT_COMMITTER_DATE=1700000000 +0000",
	}
}

func commit(t testing.TB, dir string) string {
	t.Helper()
	out := ""
	for _, args := range [][]string{{"add", "-A", "-f"}, {"commit", "-q", "--allow-empty", "-m", "one"}, {"rev-parse", "HEAD"}} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Env = dir, userGit()
		b, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", args[0], err, b)
		}
		out = strings.TrimSpace(string(b))
	}
	return out
}

func lay(t testing.TB, dir string, files map[string][]byte) {
	t.Helper()
	for name, data := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if bytes.HasPrefix(data, []byte("#!")) {
			mode = 0o755
		}
		if err := os.WriteFile(file, data, mode); err != nil {
			t.Fatal(err)
		}
	}
}

// symlink makes symbolic links, each of which is where it lies and where it leads.
func symlink(t testing.TB, src string, links []string) {
	t.Helper()
	for _, link := range links {
		at, target, _ := strings.Cut(link, " ")
		_ = os.Remove(filepath.Join(src, at)) // an empty folder
		if err := os.MkdirAll(filepath.Dir(filepath.Join(src, at)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(src, at)); err != nil {
			t.Fatal(err)
		}
	}
}

// repository makes the scenario's repository, its mirror and the change.
func (w *world) repository(t testing.TB, s *scenario, dir string) (*workspace.Mirror, change.Change) {
	t.Helper()
	ctx := t.Context()
	src := filepath.Join(dir, "src")
	lay(t, src, s.base)
	cmd := exec.CommandContext(ctx, "git", "init", "-q", "-b", "main")
	cmd.Dir, cmd.Env = src, userGit()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	if s.submodule != "" {
		addSubmodule(t, src, s.submodule)
	}
	symlink(t, src, s.input["base_link"])
	base := commit(t, src)
	for _, tag := range s.input["tag"] {
		cmd := exec.CommandContext(ctx, "git", "tag", tag)
		cmd.Dir, cmd.Env = src, userGit()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git tag: %v\n%s", err, out)
		}
	}
	lay(t, src, s.head)
	for _, name := range s.removed {
		if err := os.Remove(filepath.Join(src, name)); err != nil {
			t.Fatal(err)
		}
	}
	symlink(t, src, s.input["link"])
	head := commit(t, src)
	tip := base
	if len(s.tip) > 0 {
		cmd := exec.CommandContext(ctx, "git", "checkout", "-q", base)
		cmd.Dir, cmd.Env = src, userGit()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git checkout: %v\n%s", err, out)
		}
		lay(t, src, s.tip)
		tip = commit(t, src)
	}
	repo, err := repository.Discover(ctx, w.git, src)
	if err != nil {
		t.Fatal(err)
	}
	mirror, err := workspace.OpenMirror(ctx, w.git, filepath.Join(dir, "mirror.git"), repo.Format)
	if err != nil {
		t.Fatal(err)
	}
	if err := mirror.Import(ctx, repo, base, head, tip); err != nil {
		t.Fatal(err)
	}
	files, err := mirror.Diff(ctx, base, head)
	if err != nil {
		t.Fatal(err)
	}
	return mirror, change.Change{Repo: "o/r", BaseSHA: tip, HeadSHA: head, MergeBase: base, Files: files}
}

// run lets the gate judge a scenario.
func (w *world) run(t testing.TB, s *scenario) *Result {
	t.Helper()
	w.skip(t, s)
	dir := t.TempDir()
	mirror, ch := w.repository(t, s, dir)
	in := Input{
		Change: ch, UntilFirst: s.has("until"), RequireRepro: s.has("require_fail_to_pass"), Env: append(s.input["env"], "GOGC=400"), // compiling takes a fourth less
		Expectations: compare.Policy(strings.Join(s.input["expectations"], "")), Untrusted: s.has("untrusted"),
		Commands: Commands{Setup: s.input["setup"], Build: s.input["build"], Lint: s.input["lint"], Test: s.input["test"]},
	}
	if !s.has("lint") && !s.has("vet") {
		in.Commands.Lint = []string{} // to save time
	}
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
	tools, goTools := *w.tools, *w.tools.Go
	tools.Go = &goTools
	box, programs := w.box, os.Getenv("PATH")
	if s.has("runners") {
		box, tools.Env = w.runners(t)
		programs = strings.TrimPrefix(tools.Env[0], "PATH=")
	}
	if s.has("behaviour") || s.has("programs") { // nothing is called with inputs of no one's choice where commands are not apart
		box = fullSandboxOf(t, programs)
	}
	g := &Gate{
		Machine: Machine{
			Sandbox:  countingBox{box, filepath.Join(dir, "counts")},
			Log:      log,
			Mirror:   mirror,
			Tools:    &tools,
			Network:  Network(strings.Join(s.input["network"], "")),
			CacheDir: w.cacheOf(t, s),
			Shared:   w.shared,
			Scratch:  filepath.Join(dir, "scratch"),
		},
		Results: s.results,
		Limits:  Limits{Step: s.duration(t, "step"), Grace: s.duration(t, "grace"), Mutation: -1, Fuzz: -1, Behaviour: -1, Random: time.Hour, Lines: -1},
	}
	if s.has("behaviour") || s.has("programs") {
		g.Limits.Behaviour = time.Hour
	}
	if w.as != nil {
		w.as(g)
	}
	if s.has("lines") {
		g.Limits.Lines = time.Hour
		if s.input["lines"][0] != "yes" {
			g.Limits.Lines = s.duration(t, "lines")
		}
	}
	if s.has("load") {
		g.Sandbox = &loaded{Sandbox: box, loads: strings.Fields(s.input["load"][0])}
	}
	if s.has("passes") {
		g.Sandbox = ending{box, s.input["passes"][0]}
	}
	if s.has("flips") {
		g.Flakes = flips(s.input["flips"])
	}
	late := s.duration(t, "late")
	g.Now = func() time.Time { return time.Now().Add(late) }
	if s.has("fuzz") {
		g.Limits.Fuzz = s.duration(t, "fuzz")
	}
	if s.has("mutation") {
		g.Limits.Mutation = time.Hour
	}
	goTools.Race, goTools.NoRace = s.has("race"), "not asked for"
	if s.has("none") {
		tools.Go = nil
	}
	if s.has("goproxy") {
		goTools.Proxy, goTools.ModCache = s.input["goproxy"][0], ""
	}
	ctx := t.Context()
	if limit := s.duration(t, "timeout"); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	res, err := g.Run(ctx, in)
	if err != nil && res == nil {
		t.Fatal(err)
	}
	grounded(t, log, res)
	if testing.Verbose() {
		for _, st := range res.Steps {
			t.Logf("%-8s %s %s %s [%s] exit %d %s\n%s", st.Evidence, st.Stage, st.Side, st.Command, st.Unit, st.Exit, st.Duration, st.Output)
		}
		logOutputs(t, res)
	}
	return res
}

func (w *world) skip(t testing.TB, s *scenario) {
	t.Helper()
	if s.has("race") && !w.tools.Go.Race {
		t.Skip("the race detector needs cgo and a C compiler")
	}
	if s.has("python") && !w.tools.Has("python3") {
		t.Skip("python3 is needed")
	}
	if s.has("node") && !w.tools.Has("node") {
		t.Skip("node is needed")
	}
	for _, tool := range s.input["without"] {
		if w.tools.Has(tool) {
			t.Skipf("%s is installed", tool)
		}
	}
	for _, tool := range s.input["tool"] {
		if !w.tools.Has(tool) {
			t.Skipf("%s is needed", tool)
		}
	}
	if s.has("needs") && w.box.Status().Tier == sandbox.TierNone {
		t.Skip("bubblewrap does not work here")
	}
}

// grounded checks the promise that every claim rests on a record of the log, and that no record of
// a command that ran is left out.
func grounded(t testing.TB, log *evidence.Log, res *Result) {
	t.Helper()
	check := func(what string, ids []string) {
		if len(ids) == 0 {
			t.Errorf("%s: no evidence", what)
		}
		for _, id := range ids {
			if _, ok := log.Record(id); !ok {
				t.Errorf("%s: evidence %q is not in the log", what, id)
			}
		}
	}
	steps := map[string]bool{}
	for _, s := range res.Steps {
		check(s.Command, []string{s.Evidence})
		steps[s.Evidence] = true
	}
	for _, r := range log.Records() {
		if r.Executed && !steps[r.ID] {
			t.Errorf("%s (%s: %s) is no step of the result", r.ID, r.Task, r.Command)
		}
	}
	for _, list := range res.Tests.Lists() {
		for _, c := range *list {
			check(c.ID.String(), c.Evidence)
		}
	}
	if x := res.Expectations; x != nil {
		for _, c := range x.Changed {
			check(c.ID.String(), c.Evidence)
		}
	}
	for _, p := range res.Probes {
		if p.Ran || !p.NoTime { // else it was not begun, or cut
			check(p.Title, p.Evidence)
		}
	}
	if x := res.Executed; x != nil {
		check("changed lines", x.Evidence)
	}
	if m := res.Merge; m != nil && m.Ran {
		check("merge", m.Evidence)
	}
	if m := res.Mutation; m != nil {
		check("mutation", m.Evidence)
		for _, s := range m.Survivors {
			check(s.Title, s.Evidence)
		}
		for _, k := range m.Kills {
			check(k.Title, []string{k.Evidence})
		}
		for _, v := range m.Vacuous {
			check(v.ID.String(), v.Evidence)
		}
	}
	if b := res.Behaviour; b != nil {
		check("behaviour", b.Evidence)
		for _, d := range b.Differences {
			check(d.Function, d.Evidence)
		}
	}
	if p := res.Programs; p != nil {
		check("programs", p.Evidence)
		for _, d := range p.Differences {
			check(d.Line, d.Evidence)
		}
	}
	for _, c := range slices.Concat(res.FailToPass.Proven, res.FailToPass.PassOnBase, res.Lint) {
		check(c.ID.String(), c.Evidence)
	}
}

func logOutputs(t testing.TB, res *Result) {
	t.Helper()
	for _, list := range res.Tests.Lists() {
		for _, c := range *list {
			t.Logf("%s %v\n%s", c.ID, c.Evidence, c.Output)
		}
	}
}

// facts are the essentials of a result, a line each.
func facts(r *Result) string {
	var b strings.Builder
	line := func(what string, values ...string) {
		for _, v := range values {
			fmt.Fprintf(&b, "%s: %s\n", what, v)
		}
	}
	cases := func(what string, list []Case) {
		for _, c := range list {
			name := c.ID.String()
			if c.Broken {
				name += " (does not compile)"
			}
			line(what, name)
		}
	}
	line("verdict", string(r.Verdict))
	line("reason", r.Reasons...)
	line("broken", r.Broken...)
	line("broken on both", r.BrokenBoth...)
	t := r.Tests
	cases("regressed", t.Regressed)
	cases("new failing", t.NewFailing)
	cases("fixed", t.Fixed)
	cases("pre-existing", t.PreExisting)
	cases("flaky", t.Flaky)
	cases("flaky new", t.FlakyNew)
	cases("new flakiness", t.NewFlakiness)
	cases("unsettled", t.Unsettled)
	cases("removed", t.Removed)
	cases("skipped", t.Skipped)
	cases("not run", t.NotRun)
	cases("unknown", t.Unknown)
	if x := r.Expectations; x != nil {
		plain := func(c kept.Expectation) bool { // it stands among the regressed already
			return c.Class == compare.Regressed && slices.ContainsFunc(t.Regressed, func(k Case) bool { return k.ID == c.ID })
		}
		more := slices.DeleteFunc(slices.Clone(x.Changed), plain)
		if len(more) > 0 {
			line("expectations", x.Note)
		}
		for _, c := range more {
			where := ""
			if c.Path != "" {
				where = fmt.Sprintf(" (%s:%d)", c.Path, c.Line)
			}
			line("  "+string(c.Class), c.ID.String()+where)
		}
	}
	line("fail-to-pass", string(r.FailToPass.State))
	cases("  proven", r.FailToPass.Proven)
	cases("  passes on base", r.FailToPass.PassOnBase)
	line("  dropped", r.FailToPass.Dropped...)
	for _, p := range r.Probes {
		line("probe", fmt.Sprintf("%s, ran=%v", p.Title, p.Ran))
		if p.Target != "" {
			line("  shows", p.Note)
		}
		cases("  regressed", p.Regressed)
		cases("  new flaky", p.NewFlaky)
		cases("  flaky", p.Flaky)
	}
	if m := r.Merge; m != nil {
		line("merge", m.Note)
		line("  broken", m.Broken...)
		cases("  regressed", m.Tests.Regressed)
		cases("  new failing", m.Tests.NewFailing)
	}
	if m := r.Mutation; m != nil {
		line("mutation", m.Note)
		line("  not compiled", strconv.Itoa(m.Discarded))
		for _, s := range m.Survivors {
			line("  survives", fmt.Sprintf("%s:%d: %s", s.Path, s.Line, s.Title))
		}
		for _, v := range m.Vacuous {
			line("  vacuous", fmt.Sprintf("%s (%s:%d), %d mutants, tried without the change=%v", v.ID, v.Path, v.Line, v.Mutants, v.OnBase))
		}
		for name, lines := range m.Unrun {
			line("  no test runs", fmt.Sprintf("%s %v", name, lines))
		}
	}
	if b := r.Behaviour; b != nil {
		line("behaviour", inputCount.ReplaceAllString(b.Note, "N input"))
		for _, d := range b.Differences {
			line("  differs", fmt.Sprintf("%s:%d %s: %s, was: %s", d.Path, d.Line, d.Example, d.Is, d.Was))
			if what := strings.Fields(strings.Repeat("breaks ", b2i(d.Breaks)) + strings.Repeat("expected ", b2i(d.Expected)) + strings.Repeat("touched ", b2i(d.Touched)) + strings.Repeat("unheld", b2i(d.Unheld))); len(what) > 0 {
				line("    is", strings.Join(what, ", "))
			}
		}
	}
	if p := r.Programs; p != nil {
		line("programs", p.Note)
		for _, d := range p.Differences {
			line("  differs", fmt.Sprintf("%s:%d %s: %s, was: %s", d.Path, d.At, d.Line, d.Is, d.Was))
			if what := strings.Fields(strings.Repeat("breaks ", b2i(d.Breaks)) + strings.Repeat("expected", b2i(d.Expected))); len(what) > 0 {
				line("    is", strings.Join(what, ", "))
			}
		}
	}
	if b := r.Believed; b != nil {
		line("planted", strconv.Itoa(b.Planted))
		line("  missed", b.Missed...)
	}
	if x := r.Executed; x != nil {
		line("executed", fmt.Sprintf("%d of %d changed lines, own tests only=%v", x.Ran, x.Lines, x.OwnOnly))
		for _, name := range slices.Sorted(maps.Keys(x.Unrun)) {
			line("  no test runs", fmt.Sprintf("%s %v", name, x.Unrun[name]))
		}
		for _, u := range x.Unloaded {
			line("  nothing loads", fmt.Sprintf("%s:%d: %s", u.Path, u.Line, u.Why))
		}
	}
	for _, k := range r.Marks {
		line("mark", fmt.Sprintf("%s:%d %s", k.Path, k.Line, k.What))
	}
	for _, c := range r.Lint {
		line("lint", c.Output)
	}
	line("not covered", r.NotCovered...)
	line("note", r.Notes...)
	return b.String()
}

// counts are what all runs of tests that disagree said, and what probes say.
func counts(r *Result) string {
	var b strings.Builder
	for _, s := range r.Statistics {
		fmt.Fprintf(&b, "count: %s %s, p = %.3f\n", s.ID, s.Line(), s.P)
	}
	for _, p := range r.Probes {
		fmt.Fprintf(&b, "shows: %s\n", p.Note)
	}
	return b.String()
}

// A loaded machine is busier for some of the commands that run tests than for others:
// LOAD says how busy, so that a test can be one that only a busy machine fails.
type loaded struct {
	sandbox.Sandbox
	loads []string // of one such command after the other; then 1
}

func (l *loaded) Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	if c.Argv[0] == "go" && c.Argv[1] != "test" || strings.Contains(strings.Join(c.Argv, " "), " -export ") { // which compiles ahead
		return l.Sandbox.Run(ctx, c)
	}
	load := "1"
	if len(l.loads) > 0 {
		load, l.loads = l.loads[0], l.loads[1:]
	}
	c.Env = append(slices.Clone(c.Env), "LOAD="+load)
	return l.Sandbox.Run(ctx, c)
}

// An ending sandbox ends a command that prints EATS for a limit.
type ending struct {
	sandbox.Sandbox
	limit string
}

func (e ending) Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	res, err := e.Sandbox.Run(ctx, c)
	if bytes.Contains(res.Stdout.Bytes, []byte("EATS")) {
		res.Exit, res.Signal, res.Limit = 137, "SIGKILL", e.limit
	}
	return res, err
}

// flips are tests of the top folder that flaked before, each in 3 of 212 runs.
type flips []string

func (f flips) Load(context.Context, string) (int, map[string]int, error) {
	known := map[string]int{}
	for _, name := range f {
		pkg, test, _ := strings.Cut(name, " ")
		known[runs.FlakeKey(ID{Unit: ".", Package: pkg, Test: test})] = 3
	}
	return 212, known, nil
}

func (f flips) Add(context.Context, string, []string) error { return nil }

var inputCount = regexp.MustCompile(`\d+ input`)

// versionHere is what a program of the machine says that it is.
var versionHere = regexp.MustCompile(`and [\d.]+ is on this machine`)

// enabledByCorepack is said where a machine has corepack.
const enabledByCorepack = `, which "corepack enable" puts there`

var limitFlag = regexp.MustCompile(`-timeout=[0-9hms.]+`)

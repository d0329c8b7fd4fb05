package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/known"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
	"github.com/ycbot/ycbot/internal/testing/suites"
	"github.com/ycbot/ycbot/internal/testing/variants"
	"github.com/ycbot/ycbot/internal/workspace"
)

// The base's tests are run once for a base: the next run of a change on it goes
// without them and finds the same. What is said of a test by name still rests on
// a run of it at the base: one that fails on both sides is run again there.
func TestBaseResultsAreKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"preexisting", "regressed", "commands_regress", "kept_deleted_go", "kept_deleted_node", "kept_deleted_python"} {
		variants.Run(t, name, name != "kept_deleted_python", func(t *testing.T) {
			t.Parallel()
			files := known.ResultFiles{Dir: t.TempDir(), Now: time.Now}
			s := readScenario(t, "testdata/scenarios/"+name+".txtar")
			s.results = files
			first := w.run(t, s)
			second := w.run(t, s)
			if first.Cached != nil || second.Cached == nil {
				t.Fatalf("cached: %v, then %v", first.Cached, second.Cached)
			}
			if d := cmp.Diff(facts(first), facts(second)); d != "" {
				t.Errorf("with known results it is another result:\n%s", d)
			}
			ran := func(r *Result, stage Stage) bool {
				return slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Side == Base && s.Stage == stage })
			}
			if !ran(first, StageTest) || ran(second, StageTest) {
				t.Error("the base's tests are to run the first time and not the second")
			}
			for _, k := range second.Tests.PreExisting {
				if !slices.ContainsFunc(second.Steps, func(s Step) bool { return s.Side == Base && slices.Contains(k.Evidence, s.Evidence) }) {
					t.Errorf("%s is said to fail on the base, and nothing of this run shows it", k.ID)
				}
			}
		})
	}
}

// Known results that are wrong cannot excuse a regression: what they call old is
// run at the base, and passes there.
func TestWrongBaseResultsExcuseNothing(t *testing.T) {
	variants.Only(t) // the scenario has its rounds twice
	t.Parallel()
	w := newWorld(t)
	s := readScenario(t, "testdata/scenarios/regressed.txtar")
	forged := &forgedResults{}
	s.results = forged
	first := w.run(t, s)
	second := w.run(t, s)
	if first.Verdict != Fail || second.Cached == nil {
		t.Fatalf("verdict %s, then cached: %v", first.Verdict, second.Cached)
	}
	names := func(r *Result) []string {
		out := []string{string(r.Verdict)}
		for _, k := range slices.Concat(r.Tests.Regressed, r.Tests.PreExisting) {
			out = append(out, k.ID.String())
		}
		return out
	}
	if d := cmp.Diff(names(first), names(second)); d != "" {
		t.Errorf("with forged results it is another result:\n%s", d)
	}
}

// forgedResults says that every test failed on the base.
type forgedResults struct{ data []byte }

func (f *forgedResults) Load(context.Context, string) ([]byte, error) { return f.data, nil }

func (f *forgedResults) Save(_ context.Context, _ string, data []byte) error {
	f.data = bytes.ReplaceAll(data, []byte(`"status":"pass"`), []byte(`"status":"fail"`))
	return nil
}

// A key stands for all that the results depend on.
func TestBaseKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := func(change func(*runner)) string {
		tools := *w.tools.Go
		r := newRunner(&Gate{Machine: Machine{Sandbox: w.box, Tools: &Toolchains{Go: &tools}}}, Input{Base: worktreeOf("t1")}, task{})
		r.sides.Plans[Base] = &sides.Plan{Test: []ecosystem.Command{{Unit: ".", Text: "go test", Argv: []string{"go", "test"}}}}
		change(r)
		return r.baseKey()
	}
	same := key(func(*runner) {})
	if again := key(func(*runner) {}); again != same {
		t.Error("the same gives another key")
	}
	for what, change := range map[string]func(*runner){
		"program":   func(r *runner) { r.Version = "v2" },
		"tree":      func(r *runner) { r.in.Base = worktreeOf("t2") },
		"command":   func(r *runner) { r.sides.Plans[Base].Test[0].Argv = []string{"go", "test", "-short"} },
		"setup":     func(r *runner) { r.sides.Plans[Base].Setup = []ecosystem.Command{{Text: "npm ci"}} },
		"variable":  func(r *runner) { r.in.Env = []string{"TZ=UTC"} },
		"toolchain": func(r *runner) { r.Tools.Go.Version = "go1.1" },
		"network":   func(r *runner) { r.Network = NetworkFull },
		"tier":      func(r *runner) { r.Sandbox = bare{} },
	} {
		if key(change) == same {
			t.Errorf("another %s has the same key", what)
		}
	}
}

// worktreeOf is a tree that is only looked at by its name.
func worktreeOf(oid string) *workspace.Tree { return &workspace.Tree{OID: oid} }

// Results of the base's tests are kept where setup worked, the runner's own summary
// agrees with them and nothing disagreed later.
func TestKeptWhenConfirmed(t *testing.T) {
	t.Parallel()
	step := func(stage Stage, exit int) Step {
		return Step{Stage: stage, Side: Base, Unit: ".", Command: string(stage), Evidence: "E1", Exit: exit, PerTest: true}
	}
	passing := Suite{suites.ID("m TestA"): {Status: Passed, Evidence: "E1", Leaf: true}}
	failing := Suite{suites.ID("m TestA"): {Status: Failed, Evidence: "E1", Leaf: true}}
	cut := Suite{ID{Unit: ".", Command: "pytest"}: {Status: Failed, Evidence: "E1", Cut: true}}
	for _, tt := range []struct {
		what    string
		suite   Suite
		steps   []Step
		doubted bool
		known   bool
		want    string
	}{
		{"all passed", passing, []Step{step(StageSetup, 0), step(StageTest, 0)}, false, false, "1 case"},
		{"a test failed", failing, []Step{step(StageTest, 1)}, false, false, "1 case"},
		{"setup worked the second time", passing, []Step{step(StageSetup, 1), step(StageSetup, 0), step(StageTest, 0)}, false, false, "1 case"},
		{"setup failed", passing, []Step{step(StageSetup, 1), step(StageSetup, 1), step(StageTest, 0)}, false, false, ""},
		{"the runner failed as a whole", cut, []Step{step(StageTest, 3)}, false, false, ""},
		{"its summary says that a test failed", passing, []Step{step(StageTest, 1)}, false, false, ""},
		{"its summary says that none failed", failing, []Step{step(StageTest, 0)}, false, false, ""},
		{"runs disagreed", passing, []Step{step(StageTest, 0)}, true, false, ""},
		{"runs disagreed with what was known", passing, []Step{step(StageTest, 0)}, true, true, "0 cases"},
	} {
		kept := &savedResults{}
		r := newRunner(&Gate{Machine: Machine{Now: time.Now, Sandbox: newWorld(t).box, Tools: &Toolchains{}}, Results: kept}, Input{Base: worktreeOf("t1")}, task{})
		setup := ecosystem.Command{Stage: StageSetup, Unit: ".", Text: string(StageSetup)}
		r.sides.Plans[Base] = &sides.Plan{Setup: []ecosystem.Command{setup}}
		r.sides.Suites[Base], r.executor.Steps, r.tests.Doubted = tt.suite, tt.steps, tt.doubted
		if tt.known {
			r.known = &known.Record{When: time.Now()}
		}
		r.keep()
		if err := r.saveBase(t.Context()); err != nil {
			t.Fatal(err)
		}
		if kept.what != tt.want {
			t.Errorf("%s: saved %q, want %q", tt.what, kept.what, tt.want)
		}
	}
}

// savedResults says how much was saved.
type savedResults struct{ what string }

func (s *savedResults) Load(context.Context, string) ([]byte, error) { return nil, nil }

func (s *savedResults) Save(_ context.Context, _ string, data []byte) error {
	var rec known.Record
	err := json.Unmarshal(data, &rec)
	s.what = results.Count(len(rec.Cases), "case", "cases")
	return err
}

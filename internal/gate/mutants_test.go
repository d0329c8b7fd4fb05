package gate

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

// whereTest says in which folder it runs.
const whereTest = `import os
import sys
import unittest


class SaidTest(unittest.TestCase):
    def test_said(self):
        print("\nat " + os.path.basename(os.getcwd()), file=sys.stderr)
`

// fullSandbox skips the test where commands cannot be kept from seeing one another.
func fullSandbox(t testing.TB) sandbox.Sandbox {
	t.Helper()
	return fullSandboxOf(t, systemPath())
}

// fullSandboxOf is one with the programs of path, test runners among them.
func fullSandboxOf(t testing.TB, path string) sandbox.Sandbox {
	t.Helper()
	return sandboxOf(t, sandbox.TierFull, path)
}

func sandboxOf(t testing.TB, tier sandbox.Tier, path string) sandbox.Sandbox {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := sandbox.Options{Mode: string(tier), PATH: path, TempDir: t.TempDir(), Now: time.Now, Shim: []string{exe, shimName}}
	o.Toolchains = toolchains.Machine{PATH: path}.Find()
	box, err := sandbox.Detect(t.Context(), o)
	if err != nil {
		t.Skip(err)
	}
	return box
}

// A step that can only lower the verdict and cannot be taken leaves what the others found;
// the verdict is PASS no more.
func TestLoweringFails(t *testing.T) {
	variants.Only(t) // packages are compiled for each case
	t.Parallel()
	tools := &Toolchains{Env: []string{"PATH=" + systemPath()}}
	if !tools.Has("python3") {
		t.Skip("python3 is needed")
	}
	s := readScenario(t, "testdata/scenarios/mutants_python.txtar")
	s.input["vet"] = []string{""}
	var sofar Result
	res := judge(t, tools, s, func(g *Gate) {
		g.Sandbox = fullSandbox(t)
		g.First = func(r Result) {
			sofar = r
			trees := filepath.Join(filepath.Dir(g.Scratch), "trees")
			if err := os.WriteFile(filepath.Join(trees, "mutant-1"), nil, 0o600); err != nil {
				t.Error(err)
			}
		}
	})
	if sofar.Verdict != Pass || res.Verdict != Partial || !strings.Contains(strings.Join(res.Reasons, "\n"), "not finished: mutants: ") {
		t.Errorf("%s, and %s after mutants could not be made:\n%s", sofar.Verdict, res.Verdict, facts(res))
	}
	if len(res.Probes) == 0 || res.FailToPass.State != ReproProven {
		t.Errorf("the other steps left nothing:\n%s", facts(res))
	}
}

// Mutants of other languages than Go run in copies of the prepared head where the
// tests do there what they do in the head, else in the head itself.
func TestMutantsInCopies(t *testing.T) {
	variants.Only(t) // rounds of tests for each mutant
	t.Parallel()
	tools := &Toolchains{Env: []string{"PATH=" + systemPath()}}
	if !tools.Has("python3") {
		t.Skip("python3 is needed")
	}
	for name, copies := range map[string]bool{"mutants_python": true, "mutants_bound": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := readScenario(t, filepath.Join("testdata/scenarios", name+".txtar"))
			s.base["tests/test_said.py"] = []byte(whereTest)
			var log *evidence.Log
			res := judge(t, tools, s, func(g *Gate) { log, g.Sandbox = g.Log, fullSandbox(t) })
			if res.Mutation == nil || len(res.Mutation.Survivors) == 0 {
				t.Fatalf("no mutant survives:\n%s", facts(res))
			}
			for _, survivor := range res.Mutation.Survivors {
				rec, _ := log.Record(survivor.Evidence[1])
				said, err := log.Output(rec.Stderr)
				if err != nil {
					t.Fatal(err)
				}
				if in := regexp.MustCompile(`(?m)^at mutant-\d$`).Match(said); in != copies {
					t.Errorf("%s in a copy: %v, want %v\n%s", survivor.Name, in, copies, said)
				}
			}
		})
	}
}

// Programs that hold all mutants say of each what compiling it by itself says, and few
// have to be compiled so.
func TestMutantsInOneProgram(t *testing.T) {
	variants.Only(t) // each mutant is compiled by itself as well
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"mutants", "mutants_programs"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := readScenario(t, filepath.Join("testdata/scenarios", name+".txtar"))
			runs := func(r *Result) (alone int) {
				for _, st := range r.Steps {
					if st.Stage == StageMutation && strings.HasPrefix(st.Command, "env RUN_ID=") {
						alone++
					}
				}
				return alone
			}
			together := w.run(t, s)
			alone := w.with(func(g *Gate) { g.MutantsAlone = true }).run(t, s)
			for _, m := range []*Mutation{together.Mutation, alone.Mutation} {
				for i, survivor := range m.Survivors { // how long tests may take depends on how long they took
					m.Survivors[i].Command = regexp.MustCompile(`-timeout=\d+s`).ReplaceAllString(survivor.Command, "-timeout=LIMIT")
				}
			}
			if diff := cmp.Diff(alone.Mutation, together.Mutation, cmpopts.IgnoreFields(Mutation{}, "Evidence", "Kills"), cmpopts.IgnoreFields(Survivor{}, "Evidence")); diff != "" {
				t.Errorf("-each by itself +in one program\n%s", diff)
			}
			n := together.Mutation.Killed + together.Mutation.Discarded + len(together.Mutation.Survivors)
			if few, all := runs(together), runs(alone); all != n || 2*few > n {
				t.Errorf("of %d mutants %d were compiled by themselves, and %d where all were to be", n, few, all)
			}
		})
	}
}

// BenchmarkMutants is how many mutants a minute are judged, in one program and each compiled
// by itself: of the time of all commands for mutants.
func BenchmarkMutants(b *testing.B) {
	w, err := theWorld()
	if err != nil || w.tools.Go == nil || w.git == nil {
		b.Skip("go and git are needed")
	}
	s := readScenario(b, "testdata/scenarios/mutants.txtar")
	var src, tests strings.Builder
	src.WriteString("package calc\n")
	tests.WriteString("package calc\n\nimport \"testing\"\n")
	for i := range 20 {
		fmt.Fprintf(&src, "\nfunc F%d(a, b int) int {\n\tif a == b {\n\t\treturn a\n\t}\n\treturn a*b + a\n}\n", i)
		fmt.Fprintf(&tests, "\nfunc TestF%[1]d(t *testing.T) {\n\tif F%[1]d(2, 3) != 8 || F%[1]d(2, 2) != 2 {\n\t\tt.Fatal(%[1]d)\n\t}\n}\n", i)
	}
	s.head["calc/a.go"], s.head["calc/a_test.go"] = []byte(src.String()), []byte(tests.String())
	s.base["calc/a.go"], s.base["calc/a_test.go"] = []byte("package calc\n"), []byte("package calc\n\nimport \"testing\"\n\nfunc TestNothing(t *testing.T) {}\n")
	for _, alone := range []bool{false, true} {
		b.Run(map[bool]string{false: "together", true: "alone"}[alone], func(b *testing.B) {
			n, took := 0, time.Duration(0)
			for range b.N {
				res := w.with(func(g *Gate) { g.MutantsAlone = alone }).run(b, s)
				n += res.Mutation.Killed + len(res.Mutation.Survivors) + res.Mutation.Discarded
				for _, st := range res.Steps {
					if st.Stage == StageMutation && (strings.Contains(st.Command, "RUN_ID=") || strings.Contains(st.Command, "go test -c")) {
						took += st.Duration
					}
				}
			}
			b.ReportMetric(float64(n)/took.Minutes(), "mutants/min")
		})
	}
}

package conclude

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/report"
)

// What the gate found becomes checks and findings, each failure with what it is
// compared with base.
func TestBuilder(t *testing.T) {
	t.Parallel()
	step := func(stage gate.Stage, side gate.Side, id string, exit int) gate.Step {
		return gate.Step{Stage: stage, Side: side, Unit: ".", Command: "do " + string(stage), Evidence: id, Exit: exit, Output: "out of " + id}
	}
	environment := func(s gate.Step) gate.Step { s.Environment = "no registry"; return s }
	writes := func(s gate.Step, output string) gate.Step { s.Output = output; return s }
	other := func(command string, side gate.Side, id string, exit int) gate.Step {
		s := step(gate.StageTest, side, id, exit)
		s.Command = command
		return s
	}
	perTest := func(s gate.Step) gate.Step { s.PerTest = true; return s }
	test := func(name string) gate.Case {
		return gate.Case{ID: gate.ID{Unit: ".", Package: "p", Test: name}, Output: name + " said", Evidence: []string{"E9"}}
	}
	for _, tc := range []struct {
		name   string
		result gate.Result
		checks []string // kind result reproduction support: title | actual
		finds  []string // severity path:line title
	}{
		{name: "nothing"},
		{
			name: "tests that are worth a word and change no verdict",
			result: gate.Result{Tests: gate.Comparison{
				FlakyNew: []gate.Case{test("TestA")}, NewFlakiness: []gate.Case{test("TestB")}, Unsettled: []gate.Case{test("TestC")},
				Flaky: []gate.Case{test("TestD")}, Skipped: []gate.Case{test("TestE")}, Removed: []gate.Case{test("TestF")},
			}},
			finds: []string{
				"warning :0 p TestA is new and flaky: it passed and failed on the same code",
				"warning :0 p TestB fails at random with the change and never on base",
				"warning :0 p TestC fails with the change; the runs do not decide whether by chance",
				"info :0 p TestD is flaky: it passed and failed on the same code",
				"warning :0 p TestE passes on base and is skipped with the change",
			},
		},
		{
			name:   "remarks of checks",
			result: gate.Result{Remarks: []gate.Remark{{Title: "it is long", Path: "a.go", Line: 7, Evidence: []string{"E1"}}}},
			finds:  []string{"info a.go:7 it is long"},
		},
		{
			name: "all is well, and a setup that worked is no news",
			result: gate.Result{Steps: []gate.Step{
				step(gate.StageSetup, gate.Base, "E1", 0), step(gate.StageSetup, gate.Head, "E2", 0),
				step(gate.StageBuild, gate.Base, "E3", 0), step(gate.StageBuild, gate.Head, "E4", 0),
			}},
			checks: []string{"build PASS none supported: build: do build | exit 0"},
		},
		{
			name:   "only the head breaks",
			result: gate.Result{Steps: []gate.Step{step(gate.StageBuild, gate.Base, "E1", 0), step(gate.StageBuild, gate.Head, "E2", 1)}},
			checks: []string{"build FAIL introduced supported: build: do build | out of E2"},
		},
		{
			name: "what is built of a head that could not be set up says nothing",
			result: gate.Result{
				Facts: gate.Facts{Unprepared: "head: do setup: Go 1.99 is not here"},
				Steps: []gate.Step{step(gate.StageBuild, gate.Base, "E1", 0), step(gate.StageBuild, gate.Head, "E2", 1), step(gate.StageTest, gate.Head, "E3", 1)},
			},
			checks: []string{
				"build SKIP none supported: build: do build | environment: head: do setup: Go 1.99 is not here",
				"test SKIP none supported: test: do test | environment: head: do setup: Go 1.99 is not here",
			},
		},
		{
			name:   "both break",
			result: gate.Result{Steps: []gate.Step{step(gate.StageBuild, gate.Base, "E1", 1), step(gate.StageBuild, gate.Head, "E2", 1)}},
			checks: []string{"build FAIL pre-existing supported: build: do build | out of E2"},
		},
		{
			name:   "base does not have the command",
			result: gate.Result{Steps: []gate.Step{step(gate.StageSetup, gate.Head, "E2", 1)}},
			checks: []string{"build FAIL head-only supported: setup: do setup | exit 1: out of E2"},
		},
		{
			name:   "an environment's failure blames no one",
			result: gate.Result{Steps: []gate.Step{environment(step(gate.StageSetup, gate.Head, "E1", 1))}},
			checks: []string{"build SKIP none supported: setup: do setup | environment: no registry"},
		},
		{
			name: "what ran twice on the head is listed once, as it ended",
			result: gate.Result{Steps: []gate.Step{
				step(gate.StageSetup, gate.Head, "E1", 1), step(gate.StageSetup, gate.Head, "E2", 0),
				step(gate.StageBuild, gate.Head, "E3", 0), step(gate.StageTest, gate.Head, "E4", 1),
				step(gate.StageBuild, gate.Base, "E5", 0), step(gate.StageBuild, gate.Head, "E6", 0),
				step(gate.StageTest, gate.Base, "E7", 1), step(gate.StageTest, gate.Head, "E8", 1),
			}},
			checks: []string{
				"build PASS none supported: build: do build | exit 0",
				"test FAIL pre-existing supported: test: do test | exit 1: out of E8",
			},
		},
		{
			name: "tests distinguished",
			result: gate.Result{
				Steps: []gate.Step{perTest(step(gate.StageTest, gate.Head, "E9", 1))},
				Tests: gate.Comparison{Regressed: []gate.Case{test("TestA")}, NewFailing: []gate.Case{test("TestB")}, PreExisting: []gate.Case{test("TestC")}},
			},
			checks: []string{
				"test FAIL none supported: test: do test | 1 regressed, 1 new or edited and failing, 1 failing on both sides",
				"test FAIL introduced supported: p TestA: regressed | TestA said",
				"test FAIL head-only supported: p TestB: is new or edited, and fails | TestB said",
			},
		},
		{
			name: "a test that only contains others is not counted",
			result: gate.Result{
				Steps: []gate.Step{perTest(step(gate.StageTest, gate.Head, "E9", 1))},
				Tests: gate.Comparison{Regressed: []gate.Case{test("TestA"), test("TestA/b")}},
			},
			checks: []string{
				"test FAIL none supported: test: do test | 1 regressed",
				"test FAIL introduced supported: p TestA: regressed | TestA said",
				"test FAIL introduced supported: p TestA/b: regressed | TestA/b said",
			},
		},
		{
			name: "a command that is a test is said once, and what fails with the tests of its folder is no failure more",
			result: gate.Result{
				Steps: []gate.Step{
					step(gate.StageTest, gate.Base, "E8", 0), step(gate.StageTest, gate.Head, "E9", 1),
					other("npm test", gate.Base, "E10", 0), other("npm test", gate.Head, "E11", 1),
				},
				Tests: gate.Comparison{Regressed: []gate.Case{{ID: gate.ID{Unit: ".", Command: "do test"}, Output: "1 is not 2", Evidence: []string{"E9"}}}},
			},
			checks: []string{
				"test FAIL none supported: test: do test | 1 regressed",
				"test FAIL none supported: test: npm test | exit 1: the tests that fail in its folder have checks of their own",
				"test FAIL introduced supported: do test: regressed | 1 is not 2",
			},
		},
		{
			name: "a command that alone fails, or whose failure is not decided, says what it wrote",
			result: gate.Result{
				Steps: []gate.Step{
					step(gate.StageTest, gate.Base, "E8", 0), step(gate.StageTest, gate.Head, "E9", 1),
				},
				Tests: gate.Comparison{
					Regressed: []gate.Case{{ID: gate.ID{Unit: "sub", Package: "p", Test: "TestA"}, Output: "TestA said", Evidence: []string{"E3"}}},
					Flaky:     []gate.Case{test("TestD")},
				},
			},
			checks: []string{
				"test FAIL introduced supported: test: do test | exit 1: out of E9",
				"test FAIL introduced supported: p TestA: regressed | TestA said",
			},
			finds: []string{"info :0 p TestD is flaky: it passed and failed on the same code"},
		},
		{
			name: "what does not compile is said by the build, not by its tests and the linter",
			result: gate.Result{
				Steps: []gate.Step{
					step(gate.StageBuild, gate.Base, "E1", 0), writes(step(gate.StageBuild, gate.Head, "E2", 1), "# m\n./a.go:4:23: undefined: x\n"),
				},
				Tests: gate.Comparison{Regressed: []gate.Case{
					{ID: gate.ID{Unit: ".", Package: "m"}, Broken: true, Output: "# m [m.test]\n./a.go:4:23: undefined: x", Evidence: []string{"E3"}},
					{ID: gate.ID{Unit: ".", Package: "n"}, Broken: true, Output: "# n [n.test]\nn/n_test.go:5:2: undefined: y", Evidence: []string{"E3"}},
				}},
				Lint: []gate.Case{{ID: gate.ID{Unit: "."}, Output: "vet: ./a.go:4:23: undefined: x"}, {ID: gate.ID{Unit: "."}, Output: "a.go:4:23: x is no name"}},
			},
			checks: []string{
				"build FAIL introduced supported: build: do build | # m\n./a.go:4:23: undefined: x\n",
				"test FAIL none supported: m: does not compile any more | its package does not compile: the check of the build says why",
				"test FAIL introduced supported: n: does not compile any more | # n [n.test]\nn/n_test.go:5:2: undefined: y",
			},
			finds: []string{"warning a.go:4 x is no name"},
		},
		{
			name: "a command that fails on the base as well stays as it is beside a test that fails with the change",
			result: gate.Result{
				Steps: []gate.Step{
					step(gate.StageTest, gate.Base, "E8", 1), step(gate.StageTest, gate.Head, "E9", 1),
				},
				Tests: gate.Comparison{Regressed: []gate.Case{{ID: gate.ID{Unit: ".", Package: "p", Test: "TestA"}, Output: "TestA said", Evidence: []string{"E3"}}}},
			},
			checks: []string{
				"test FAIL pre-existing supported: test: do test | exit 1: out of E9",
				"test FAIL introduced supported: p TestA: regressed | TestA said",
			},
		},
		{
			name: "what a build that passes says, or says without a place, is no cause of a test that fails",
			result: gate.Result{
				Steps: []gate.Step{
					writes(step(gate.StageBuild, gate.Base, "E1", 0), ""), writes(step(gate.StageBuild, gate.Head, "E2", 1), "make: failed\n./a.go:4:23: undefined: x\n"),
					func() gate.Step {
						s := writes(step(gate.StageBuild, gate.Head, "E4", 0), "./b.go:7:1: unused: y\n")
						s.Command = "do more"
						return s
					}(),
				},
				Tests: gate.Comparison{Regressed: []gate.Case{
					{ID: gate.ID{Unit: ".", Package: "m"}, Broken: true, Output: "make: failed\n./m_test.go:1:1: undefined: z", Evidence: []string{"E3"}},
					{ID: gate.ID{Unit: ".", Package: "n"}, Broken: true, Output: "./b.go:7:1: unused: y\n./n_test.go:1:1: undefined: z", Evidence: []string{"E3"}},
				}},
			},
			checks: []string{
				"build FAIL introduced supported: build: do build | make: failed\n./a.go:4:23: undefined: x\n",
				"build PASS none supported: build: do more | exit 0",
				"test FAIL introduced supported: m: does not compile any more | make: failed\n./m_test.go:1:1: undefined: z",
				"test FAIL introduced supported: n: does not compile any more | ./b.go:7:1: unused: y\n./n_test.go:1:1: undefined: z",
			},
		},
		{
			name: "a build that fails on the base as well says nothing of a test that fails with the change alone",
			result: gate.Result{
				Steps: []gate.Step{
					step(gate.StageBuild, gate.Base, "E1", 1), writes(step(gate.StageBuild, gate.Head, "E2", 1), "./a.go:4:23: undefined: x"),
				},
				Tests: gate.Comparison{Regressed: []gate.Case{{ID: gate.ID{Unit: ".", Package: "m"}, Broken: true, Output: "./a.go:4:23: undefined: x", Evidence: []string{"E3"}}}},
			},
			checks: []string{
				"build FAIL pre-existing supported: build: do build | ./a.go:4:23: undefined: x",
				"test FAIL introduced supported: m: does not compile any more | ./a.go:4:23: undefined: x",
			},
		},
		{
			name: "tests that fail on both sides only",
			result: gate.Result{
				Steps: []gate.Step{perTest(step(gate.StageTest, gate.Head, "E9", 1))},
				Tests: gate.Comparison{PreExisting: []gate.Case{test("TestC")}},
			},
			checks: []string{"test FAIL pre-existing supported: test: do test | 1 failing on both sides"},
		},
		{
			name: "a command answers for its own tests only",
			result: gate.Result{
				Steps: []gate.Step{
					perTest(step(gate.StageTest, gate.Head, "E9", 1)),
					perTest(gate.Step{Stage: gate.StageTest, Side: gate.Head, Unit: ".", Command: "other", Evidence: "E10", Exit: 1, Output: "odd end"}),
				},
				Tests: gate.Comparison{Regressed: []gate.Case{test("TestA")}},
			},
			checks: []string{
				"test FAIL none supported: test: do test | 1 regressed",
				"test SKIP none supported: test: other | exit 1, and nothing that it reports differs from base\nodd end",
				"test FAIL introduced supported: p TestA: regressed | TestA said",
			},
		},
		{
			name: "what ran no test did not pass, however it ended",
			result: gate.Result{Steps: []gate.Step{
				perTest(gate.Step{Stage: gate.StageTest, Side: gate.Head, Unit: ".", Command: "a", Evidence: "E1", NoTests: true}),
				perTest(gate.Step{Stage: gate.StageTest, Side: gate.Base, Unit: ".", Command: "b", Evidence: "E2", NoTests: true, Exit: 3}),
				perTest(gate.Step{Stage: gate.StageTest, Side: gate.Head, Unit: ".", Command: "b", Shown: "pytest", Evidence: "E3", NoTests: true, Exit: 3, Output: "INTERNALERROR> Traceback (most recent call last):\nINTERNALERROR>   File \"c.py\", line 2\nINTERNALERROR> RuntimeError: no database\n"}),
				{Stage: gate.StageTest, Side: gate.Head, Unit: ".", Command: "c", Evidence: "E4", Exit: 127, Output: "c: not found"},
			}},
			checks: []string{
				"test SKIP none supported: test: a | it ran no test",
				"test FAIL pre-existing supported: test: pytest | it ran no test: RuntimeError: no database\nINTERNALERROR> Traceback (most recent call last):\nINTERNALERROR>   File \"c.py\", line 2\nINTERNALERROR> RuntimeError: no database",
				"test FAIL head-only supported: test: c | exit 127: c: not found",
			},
		},
		{
			name: "lint",
			result: gate.Result{
				Steps: []gate.Step{step(gate.StageLint, gate.Base, "E1", 1), step(gate.StageLint, gate.Head, "E2", 1)},
				Lint:  []gate.Case{{ID: gate.ID{Unit: "sub", Command: "vet"}, Output: "./a.go:3:1: unused", Evidence: []string{"E2"}}, {ID: gate.ID{Unit: "."}, Output: "odd"}},
			},
			checks: []string{"lint FAIL introduced supported: lint: do lint | 2 new complaints; lint changes no verdict"},
			finds:  []string{"warning sub/a.go:3 unused", "warning :0 odd"},
		},
		{
			name: "lint that no side can run is no lint that passed",
			result: gate.Result{Steps: []gate.Step{
				{Stage: gate.StageLint, Side: gate.Base, Unit: ".", Command: "npm run lint", Evidence: "E1", Exit: 127, Lacks: "eslint"},
				{Stage: gate.StageLint, Side: gate.Head, Unit: ".", Command: "npm run lint", Evidence: "E2", Exit: 127, Lacks: "eslint"},
			}},
			checks: []string{"lint SKIP none supported: lint: npm run lint | environment: no eslint on this machine"},
		},
		{
			name: "lint that ends badly on both sides and complains of no place",
			result: gate.Result{Steps: []gate.Step{
				{Stage: gate.StageLint, Side: gate.Base, Unit: ".", Command: "go vet ./...", Evidence: "E1", Exit: 1, Output: "go: updates to go.mod needed"},
				{Stage: gate.StageLint, Side: gate.Head, Unit: ".", Command: "go vet ./...", Evidence: "E2", Exit: 1, Output: "go: updates to go.mod needed"},
			}},
			checks: []string{"lint SKIP none supported: lint: go vet ./... | it checks nothing, with and without the change: go: updates to go.mod needed"},
		},
		{
			name: "fail-to-pass and probes",
			result: gate.Result{
				Steps:      []gate.Step{{Stage: gate.StageFailToPass, Side: gate.Base, Command: "over base", Evidence: "E3", Exit: 1}},
				FailToPass: gate.Reproduction{State: gate.ReproPassOnBase, Note: "both ways", Evidence: []string{"E3"}, PassOnBase: []gate.Case{test("TestD")}},
				Probes: []gate.Probe{
					{Title: "shuffled", Ran: true, Evidence: []string{"E4"}, Regressed: []gate.Case{test("TestE")}},
					{Title: "raced", Note: "no race detector"},
					{Title: "fuzzing FuzzA", Target: "p FuzzA", Input: "input", Command: "try it", Note: "it fails", Ran: true, Evidence: []string{"E5"}, Regressed: []gate.Case{test("FuzzA")}},
					{Title: "fuzzing FuzzB", Target: "p FuzzB", Input: "input", Note: "on base as well", Ran: true, Evidence: []string{"E6"}, Flaky: []gate.Case{test("FuzzB")}},
					{Title: "fuzzing FuzzC", Target: "p FuzzC", Note: "no input failed", Ran: true, Evidence: []string{"E7"}},
				},
			},
			checks: []string{
				"fail_to_pass SKIP none supported: the change's tests fail without the change | both ways",
				"probe FAIL introduced supported: probe: tests of what changed, shuffled | p TestE\nTestE said",
				"probe SKIP none : probe: tests of what changed, raced | no race detector",
				"probe FAIL introduced supported: probe: fuzzing FuzzA | it fails\np FuzzA\nFuzzA said",
				"probe PASS none supported: probe: fuzzing FuzzB | on base as well",
				"probe PASS none supported: probe: fuzzing FuzzC | no input failed",
			},
			finds: []string{
				"info :0 p TestD also passes without the change",
				"error :0 p FuzzA: it fails",
				"info :0 p FuzzB: on base as well",
			},
		},
	} {
		b := &builder{result: &tc.result}
		b.build()
		var checks, finds []string
		for i, c := range b.checks {
			if want := "C" + string(rune('1'+i)); c.ID != want {
				t.Errorf("%s: id %s, want %s", tc.name, c.ID, want)
			}
			checks = append(checks, string(c.Kind)+" "+string(c.Result)+" "+string(c.Reproduction)+" "+string(c.Support)+": "+c.Title+" | "+c.Actual)
		}
		for _, f := range b.findings {
			finds = append(finds, string(f.Severity)+" "+f.Path+":"+string(rune('0'+f.Line))+" "+f.Title)
		}
		if diff := cmp.Diff(tc.checks, checks); diff != "" {
			t.Errorf("%s: checks (-want +got):\n%s", tc.name, diff)
		}
		if diff := cmp.Diff(tc.finds, finds); diff != "" {
			t.Errorf("%s: findings (-want +got):\n%s", tc.name, diff)
		}
	}
}

// Mutants become one check and a finding for each that no test noticed; weak
// ones are for information, and lines that no test runs are named.
func TestMutationChecks(t *testing.T) {
	t.Parallel()
	b := &builder{result: &gate.Result{Mutation: &gate.Mutation{
		Note: "of 3 mutants of the changed lines the tests noticed 1", Command: "go test", Evidence: []string{"E1", "E3"}, Killed: 1,
		Survivors: []gate.Survivor{
			{Name: "M2", Path: "a.go", Line: 3, Title: "negated condition: == → !=", Diff: "-a\n+b\n", Command: "env RUN_ID=M2 go test", Evidence: []string{"E1", "E3"}},
			{Name: "M3", Path: "a.go", Line: 4, Title: "off by one: 1 → 2", Weak: true, Evidence: []string{"E1", "E4"}},
		},
		Unrun: map[string][]int{"b.go": {2, 4, 5, 6}},
		Kills: []gate.Kill{{Name: "M1", Tests: []string{"m TestB"}}, {Name: "M4", Tests: []string{"m TestA", "m TestB"}}, {Name: "M5", Tests: []string{"m TestB"}}, {Name: "M6"}},
		Vacuous: []gate.Vacuous{
			{ID: gate.ID{Package: "m", Test: "TestC"}, Path: "a_test.go", Line: 9, Mutants: 4, OnBase: true, Evidence: []string{"E3"}},
			{ID: gate.ID{Package: "m", Test: "TestD"}, Path: "a_test.go", Line: 20, Mutants: 2, Evidence: []string{"E3"}},
		},
	}, Executed: &gate.Executed{
		Unrun:    map[string][]int{"b.go": {2}, "c.js": {7}},
		Unloaded: []gate.Unloaded{{Path: "d.py", Line: 1, Why: "no test loads it"}},
	}}}
	b.build()
	if len(b.checks) != 1 || b.checks[0].Kind != report.KindMutation || b.checks[0].Result != report.ResultFail {
		t.Fatalf("checks %+v", b.checks)
	}
	if want := ", first by m TestB (2), m TestA (1); mutation"; !strings.Contains(b.checks[0].Actual, want) {
		t.Errorf("%q does not say %q", b.checks[0].Actual, want)
	}
	var got []string
	for _, f := range b.findings {
		got = append(got, fmt.Sprintf("%s %s:%d %s", f.Severity, f.Path, f.Line, f.Title))
	}
	want := []string{
		"warning a.go:3 no test notices this change: negated condition: == → !=",
		"info a.go:4 no test notices this change: off by one: 1 → 2",
		"warning a_test.go:9 nothing makes m TestC fail: it passes without the change, and with each of 4 mutants of changed lines that it runs",
		"info a_test.go:20 nothing makes m TestD fail: it passes with each of 2 mutants of changed lines that it runs, and could not be tried without the change",
		"info d.py:1 no command compiled or loaded this changed file: no test loads it",
		"info b.go:2 no test runs these changed lines: 2, 4-6",
		"info c.js:7 no test runs these changed lines: 7",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestUnheld holds that tests which only a probe fails are one finding, however many.
func TestUnheld(t *testing.T) {
	t.Parallel()
	case1 := gate.Case{ID: gate.ID{Package: "m", Test: "TestA"}, Output: "registered twice", Evidence: []string{"E3", "E4"}}
	case2 := gate.Case{ID: gate.ID{Package: "m", Test: "TestB"}, Output: "port in use", Evidence: []string{"E4", "E5"}}
	for _, tt := range []struct {
		tests []gate.Case
		want  []report.Finding
	}{
		{nil, nil},
		{[]gate.Case{case1}, []report.Finding{{
			Severity: report.SeverityInfo, Title: "m TestA fails when repeated, shuffled or raced; that does not count against the change",
			Evidence: []string{"E3", "E4"}, Detail: "registered twice",
		}}},
		{[]gate.Case{case1, case2}, []report.Finding{{
			Severity: report.SeverityInfo, Title: "2 tests fail when repeated, shuffled or raced; that does not count against the change",
			Evidence: []string{"E3", "E4", "E5"}, Detail: "m TestA\nm TestB\nregistered twice\nport in use",
		}}},
	} {
		b := &builder{result: &gate.Result{}}
		b.probe(gate.Probe{Title: "repeated", Ran: true, Flaky: tt.tests})
		if d := cmp.Diff(tt.want, b.findings); d != "" {
			t.Error(d)
		}
	}
}

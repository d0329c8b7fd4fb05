package checks

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestProbesHaveAShare: tests are repeated where one run more fits into a third of the time
// that is left; else the report says that they are not, and no probe is missed where the base's
// tests by themselves are too slow.
func TestProbesHaveAShare(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ctx, cancel := context.WithDeadline(t.Context(), now.Add(6*time.Minute))
	defer cancel()
	whole := ecosystem.Command{Stage: StageTest, Unit: ".", Text: "make test"}
	pytest := languages.ShellCommand(StageTest, "python -m pytest")
	cargo := languages.ShellCommand(StageTest, "cargo test")
	pytest.Unit, cargo.Unit = ".", "."
	phpunit := ecosystem.Command{Stage: StageTest, Eco: "PHP", Unit: ".", Text: "phpunit", Results: &ecosystem.Results{
		Narrow: func(c ecosystem.Command, p ecosystem.Part) (ecosystem.Command, bool) { return c, len(p.Packages) == 1 },
	}}
	const serial = 25 * time.Second
	for _, tt := range []struct {
		what   string
		c      ecosystem.Command
		side   Side
		text   string
		took   time.Duration
		cut    bool
		tried  bool
		edited []string      // files of tests, which took a second
		base   time.Duration // as its tests take there; 0: as long
	}{
		{"one that counts as one test", whole, Head, whole.Text, time.Minute, false, true, nil, 0},
		{"a slow one", whole, Head, whole.Text, 2 * time.Minute, false, false, nil, 0},
		{"one that ran otherwise", whole, Head, "make test 2>&1", 3 * time.Minute, false, false, nil, 0},
		{"tests of files", pytest, Head, pytest.Text, time.Minute, false, true, nil, 0},
		{"slow tests of files", pytest, Head, pytest.Text, 3 * time.Minute, false, false, nil, 0},
		{"of which a part ran on the head", pytest, Base, pytest.Text, 8 * time.Minute, false, false, nil, 0},
		{"one that is cut", whole, Head, whole.Text, time.Minute, true, true, nil, 0},
		{"one that hangs", whole, Head, whole.Text, time.Second, true, true, nil, 0},
		{"edited tests of files", pytest, Head, pytest.Text, 3 * time.Minute, false, true, []string{"a_test.py"}, 0},
		{"edited tests of files that hang", pytest, Head, pytest.Text, time.Minute, true, true, []string{"a_test.py"}, 0},
		{"one edited file of PHPUnit", phpunit, Head, phpunit.Text, 3 * time.Minute, false, true, []string{"tests/ATest.php"}, 0},
		{"two, so that all run", phpunit, Head, phpunit.Text, 3 * time.Minute, false, false, []string{"tests/ATest.php", "tests/BTest.php"}, 0},
		{"two, and all are cut", phpunit, Head, phpunit.Text, time.Minute, true, true, []string{"tests/ATest.php", "tests/BTest.php"}, 0},
		{"an edited file of Rust", cargo, Head, cargo.Text, 3 * time.Minute, false, false, []string{"tests/a.rs"}, 0},
		{"one that is cut", cargo, Head, cargo.Text, time.Minute, true, true, []string{"tests/a.rs"}, 0},
		{"one after the other", cargo, Head, cargo.Text, serial, true, true, []string{"tests/a.rs"}, 0},
		{"one that hangs", cargo, Head, cargo.Text, time.Second, true, true, []string{"tests/a.rs"}, 0},
		{"one that the change alone makes slow", whole, Head, whole.Text, 2 * time.Minute, false, false, nil, 10 * time.Second},
		{"one that is cut, and slow by the change alone", whole, Head, whole.Text, time.Minute, true, true, nil, 10 * time.Second},
		{"one that is slow on both sides", whole, Head, whole.Text, 4 * time.Minute, false, false, nil, 3 * time.Minute},
		{"new tests of files that are slow", pytest, Head, pytest.Text, 4 * time.Minute, false, false, nil, time.Second},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			id := ID{Unit: ".", Command: whole.Text}
			test := ID{Unit: ".", Package: "tests/test_a.py", Test: "test_a"}
			suite := Suite{id: {Status: Passed}, test: {Status: Passed, Eco: "Python"}}
			var files []change.File
			for _, name := range tt.edited {
				files = append(files, change.File{Path: name})
				suite[ID{Unit: ".", Package: name}] = Test{Status: Passed, Eco: tt.c.Eco}
				suite[ID{Unit: ".", Package: name, Test: "a"}] = Test{Status: Passed, Eco: tt.c.Eco}
				if tt.c.Eco != "Rust" { // cargo does not say how long tests take
					suite[ID{Unit: ".", Package: name}] = Test{Status: Passed, Eco: tt.c.Eco, Elapsed: time.Second}
				}
			}
			tried, said := false, ""
			s := &Subject{
				Runnable: true, StepLimit: 10 * time.Minute, Head: &workspace.Tree{OID: "1"}, Change: change.Change{Files: files},
				Suites: map[Side]Suite{Base: suite, Head: suite}, Tests: map[Side][]ecosystem.Command{Base: {tt.c}, Head: {tt.c}},
				Now: func() time.Time { return now },
				Steps: func() []Step {
					return []Step{
						{Stage: StageTest, Side: tt.side, Unit: ".", Command: tt.text, Duration: tt.took},
						{Stage: StageTest, Side: Base, Unit: ".", Command: tt.text, Duration: cmp.Or(tt.base, tt.took)},
					}
				},
				NotCoveredOnce: func(format string, args ...any) { said += fmt.Sprintf(format, args...) },
				Runs:           Runs{OfOthers: func(ecosystem.Command, string) bool { return false }},
			}
			s.RunFresh = func(_ context.Context, _ Side, c ecosystem.Command) (Suite, Step, error) {
				if tried = true; c.Timeout != 2*time.Minute {
					t.Errorf("it may take %s", c.Timeout)
				}
				return suite, Step{TimedOut: tt.cut, Duration: tt.took, Evidence: "E1"}, nil
			}
			found, err := Repeat(ctx, s)
			lacks := !tt.tried || tt.cut && tt.took > serial || tt.took == serial && runtime.NumCPU() > 1
			if tt.c.Eco == "Python" && len(tt.edited) > 0 { // they alone are run
				lacks = false
			}
			excused := lacks && (tt.base == 0 || tt.base > 2*time.Minute) // not by what the change alone makes slow
			if err != nil || tried != tt.tried || NoTime(found.Probes) != excused || (said != "") != lacks || len(found.Probes) != 1 || found.Probes[0].Ran == (lacks || tt.cut) {
				t.Errorf("%v, tried %v, %+v, %q", err, tried, found, said)
			}
		})
	}
}

// TestProbesOfOneFolder: of several test commands in a folder each one is repeated by itself,
// with the files on which it has reported, and on the base by the one of its name.
func TestProbesOfOneFolder(t *testing.T) {
	t.Parallel()
	var files []string
	tests := map[Side][]ecosystem.Command{}
	suites := map[Side]Suite{Base: {}, Head: {}}
	for _, dir := range []string{"top", "scripts"} {
		c := languages.ShellCommand(StageTest, "python -m unittest discover -s "+dir)
		c.Unit = "."
		name := dir + "/test_" + dir + ".py"
		files = append(files, name)
		tests[Head] = append(tests[Head], c)
		tests[Base] = append([]ecosystem.Command{c}, tests[Base]...)
		for _, side := range []Side{Base, Head} {
			suites[side][ID{Unit: ".", Package: name}] = Test{Status: Passed, Eco: "Python"}
			suites[side][ID{Unit: ".", Package: name, Test: "test"}] = Test{Status: Passed, Eco: "Python"}
		}
	}
	ran := map[Side][]string{}
	s := &Subject{
		Runnable: true, StepLimit: time.Minute, Head: &workspace.Tree{OID: "1"}, Suites: suites, Tests: tests, Now: time.Now,
		Change: change.Change{Files: []change.File{{Path: files[0]}, {Path: files[1]}}},
		Steps:  func() []Step { return nil },
	}
	s.OfOthers = func(c ecosystem.Command, pkg string) bool {
		return c.Label() != "python -m unittest discover -s "+path.Dir(pkg)
	}
	s.RunFresh = func(_ context.Context, side Side, c ecosystem.Command) (Suite, Step, error) {
		ran[side] = append(ran[side], c.Label())
		for _, file := range files {
			if has := slices.ContainsFunc(c.Argv, func(a string) bool { return strings.Contains(a, file) }); has == s.OfOthers(c, file) {
				t.Errorf("%s on %s: with %s: %v", c.Label(), side, file, has)
			}
		}
		return Suite{{Unit: ".", Package: files[0], Test: "test"}: {Status: Failed}}, Step{}, nil
	}
	s.Settle = func(context.Context, Question) (Answer, error) { return Answer{}, nil }
	found, err := Repeat(t.Context(), s)
	want := []string{tests[Head][0].Label(), tests[Head][1].Label()}
	if err != nil || len(found.Probes) != 2 || !slices.Equal(ran[Head], want) || !slices.Equal(ran[Base], want) {
		t.Errorf("%v, %+v, ran %q", err, found, ran)
	}
	tests[Base] = []ecosystem.Command{languages.ShellCommand(StageTest, "python -m unittest"), tests[Base][0]}
	tests[Base][0].Unit = "."
	r := &check{in: s}
	if d, ok := r.on(Base, tests[Head][0]); ok {
		t.Errorf("%s is repeated as %s", tests[Head][0].Label(), d.Label())
	}
	tests[Base] = tests[Base][:1]
	if d, ok := r.on(Base, tests[Head][0]); !ok || d.Label() != "python -m unittest" {
		t.Errorf("the only command of the base: %v, %q", ok, d.Label())
	}
}

// TestNoTime: probes are missed unless there was no time for each one that ran no tests.
func TestNoTime(t *testing.T) {
	t.Parallel()
	ran, none, late, fuzz := Probe{Ran: true}, Probe{}, Probe{NoTime: true}, Probe{Target: "FuzzA"}
	for _, tt := range []struct {
		probes []Probe
		want   bool
	}{
		{nil, false},
		{[]Probe{ran}, false},
		{[]Probe{none}, false},
		{[]Probe{late}, true},
		{[]Probe{late, late, ran, fuzz}, true},
		{[]Probe{late, none}, false}, // time of one project is not that of another
		{[]Probe{fuzz}, false},
	} {
		if got := NoTime(tt.probes); got != tt.want {
			t.Errorf("%+v: %v", tt.probes, got)
		}
	}
}

// TestPackagesTook: packages that the change makes slow took on the base what they took there;
// where nothing is known of the base, what they took on the head.
func TestPackagesTook(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) Suite { return Suite{ID{Unit: ".", Package: "m/a"}: {Elapsed: d}} }
	s := &Subject{Steps: func() []Step { return []Step{{Stage: StageTest, Side: Head, Unit: ".", Duration: time.Hour}} }}
	r := &check{in: s}
	for base, want := range map[time.Duration]time.Duration{time.Second: Repeats * time.Second, 0: Repeats * time.Minute} {
		s.Suites = map[Side]Suite{Base: at(base), Head: at(time.Minute)}
		if got := r.packagesTook(ecosystem.Group{Unit: "."}, []string{"m/a"}); got != (times{Repeats * time.Minute, want}) {
			t.Errorf("%s on base: %+v", base, got)
		}
	}
}

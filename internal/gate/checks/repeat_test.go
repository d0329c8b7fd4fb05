package checks

import (
	"context"
	"fmt"
	"path"
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
// that is left; else the report says that they are not, and no probe is missed.
func TestProbesHaveAShare(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ctx, cancel := context.WithDeadline(t.Context(), now.Add(6*time.Minute))
	defer cancel()
	whole := ecosystem.Command{Stage: StageTest, Unit: ".", Text: "make test"}
	pytest := languages.ShellCommand(StageTest, "python -m pytest")
	pytest.Unit = "."
	for _, tt := range []struct {
		what  string
		c     ecosystem.Command
		side  Side
		text  string
		took  time.Duration
		cut   bool
		tried bool
	}{
		{"one that counts as one test", whole, Head, whole.Text, time.Minute, false, true},
		{"a slow one", whole, Head, whole.Text, 2 * time.Minute, false, false},
		{"one that ran otherwise", whole, Head, "make test 2>&1", 3 * time.Minute, false, false},
		{"tests of files", pytest, Head, pytest.Text, time.Minute, false, true},
		{"slow tests of files", pytest, Head, pytest.Text, 3 * time.Minute, false, false},
		{"of which a part ran on the head", pytest, Base, pytest.Text, 8 * time.Minute, false, false},
		{"one that is cut", whole, Head, whole.Text, time.Minute, true, true},
		{"one that hangs", whole, Head, whole.Text, time.Second, true, true},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			id := ID{Unit: ".", Command: whole.Text}
			test := ID{Unit: ".", Package: "tests/test_a.py", Test: "test_a"}
			suite := Suite{id: {Status: Passed}, test: {Status: Passed, Eco: "Python"}}
			tried, said := false, ""
			s := &Subject{
				Runnable: true, StepLimit: 10 * time.Minute, Head: &workspace.Tree{OID: "1"},
				Suites: map[Side]Suite{Base: suite, Head: suite}, Tests: map[Side][]ecosystem.Command{Base: {tt.c}, Head: {tt.c}},
				Now: func() time.Time { return now },
				Steps: func() []Step {
					return []Step{{Stage: StageTest, Side: tt.side, Unit: ".", Command: tt.text, Duration: tt.took}}
				},
				NotCoveredOnce: func(format string, args ...any) { said += fmt.Sprintf(format, args...) },
				Runs:           Runs{OfOthers: func(ecosystem.Command, string) bool { return false }},
			}
			s.RunFresh = func(_ context.Context, _ Side, c ecosystem.Command) (Suite, Step, error) {
				if tried = true; c.Timeout != 2*time.Minute {
					t.Errorf("it may take %s", c.Timeout)
				}
				return suite, Step{TimedOut: tt.cut, Duration: tt.took}, nil
			}
			found, err := Repeat(ctx, s)
			lacks := !tt.tried || tt.cut && tt.took > time.Second
			if err != nil || tried != tt.tried || found.NoTime != lacks || (said != "") != lacks || len(found.Probes) > 0 != tt.tried {
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

package checks

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// A planted test that is not reported as failing makes a suite one that is not believed; in
// a file of tests of types, which may be compiled by nothing, that is said and not more.
func TestJudgePlanted(t *testing.T) {
	t.Parallel()
	var said []string
	r := &check{in: &Subject{NotCoveredOnce: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }}}
	files := []ecosystem.Planted{
		{Path: "qza.test.ts", Package: "qza.test.ts"},
		{Path: "qzb.test.ts", Package: "qzb.test.ts"},
		{Path: "qzc.test-d.ts", Package: "qzc.test-d.ts", Types: "c.test-d.ts"},
		{Path: "qzd.test-d.ts", Package: "qzd.test-d.ts", Types: "d.test-d.ts"},
	}
	suite := Suite{}
	for i, status := range []results.Status{Failed, Passed, Passed, Failed} {
		suite[ID{Package: files[i].Package, Test: "qz"}] = Test{Status: status}
	}
	var done Believed
	p := planting{name: "qz", files: files}
	missed := r.judgePlanted(p, suite, &done)
	if done.Planted != 2 || !slices.Equal(missed, files[1:2]) {
		t.Errorf("%+v, missed %+v", done, missed)
	}
	if want := "the tests of types in c.test-d.ts: a wrong type in one of them is not reported"; !slices.Equal(said, []string{want}) {
		t.Errorf("said %q", said)
	}
}

// TestJudgeMissed: a suite that misses planted tests is not believed where the base's reports them,
// or says nothing of them; where it misses them as well, that is said and not more.
func TestJudgeMissed(t *testing.T) {
	t.Parallel()
	files := []ecosystem.Planted{{Package: "test_qz_a.py"}, {Package: "test_qz_b.py"}}
	at := func(i int, test string, status results.Status) Suite {
		return Suite{ID{Package: files[i].Package, Test: test}: {Status: status}}
	}
	both := func(a, b Suite) Suite {
		maps.Copy(a, b)
		return a
	}
	for _, tt := range []struct {
		what   string
		base   Suite
		missed int
		said   bool
	}{
		{"reported on the base", both(at(0, "qz", Failed), at(1, "qz", Failed)), 2, false},
		{"not chosen on the base either", both(at(0, "others", Passed), at(1, "others", Passed)), 0, true},
		{"passed on the base", both(at(0, "qz", Passed), at(1, "others", Passed)), 0, true},
		{"one of them reported", both(at(0, "qz", Failed), at(1, "others", Passed)), 1, true},
		{"one of them not chosen, of the other nothing is known", at(0, "others", Passed), 0, true},
		{"nothing is known", Suite{}, 2, false},
		{"none can be loaded on the base", both(at(0, "", Failed), at(1, "", Failed)), 2, false},
		{"a broken one", both(both(at(0, "others", Passed), Suite{ID{Package: files[0].Package}: {Status: Failed, Broken: true}}), at(1, "", Failed)), 2, false},
	} {
		var done Believed
		said := ""
		r := &check{in: &Subject{NotCoveredOnce: func(format string, args ...any) { said += fmt.Sprintf(format, args...) }}}
		r.judgeMissed(planting{name: "qz", files: files}, files, tt.base, &done)
		if len(done.Missed) != tt.missed || done.Planted != tt.missed || (said != "") != tt.said {
			t.Errorf("%s: %+v, said %q", tt.what, done, said)
		}
	}
}

// TestPlantedAmongChosen: no test is planted for a command that chooses among tests on both sides,
// nor in a file that does.
func TestPlantedAmongChosen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"go test ./...": false, "go test -run Unit ./...": true, "go test -json -skip=Slow ./...": true, "A=1 go test -race -run=X ./...": true,
		"python -m pytest tests": false, "python -m pytest -o x -m unit": true, "pytest -k 'not slow'": true, "python3 -m unittest": false, "pytest --maxfail=1": false,
		"node_modules/.bin/jest --ci": false, "npx jest -t unit": true, "mocha -t 5000": false, "mocha --grep unit test": true, "vitest run --testNamePattern=a": true,
		"rspec --tag unit": true, "node --test --test-name-pattern=a": true,
	} {
		c := ecosystem.Command{Unit: ".", Text: text}
		both := &check{in: &Subject{Tests: map[Side][]ecosystem.Command{Base: {c}}}}
		if got := both.chooses(c); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
		if head := (&check{in: &Subject{}}); head.chooses(c) {
			t.Errorf("%s on the head alone chooses", text)
		}
	}
	for _, tt := range []struct {
		base, head string
		want       bool
	}{
		{"it.only('a', f)", "it.only('a', f)", true},
		{"it('a', f)", "it.only('a', f)", false},
		{"  fit 'a' do", "  fit 'a' do", true},
		{"Item.objects.only('id')\nmodel.fit(x)", "Item.objects.only('id')\nmodel.fit(x)", false},
	} {
		r := &check{in: &Subject{Runs: Runs{ReadFile: func(_ context.Context, side Side, _ string) ([]byte, error) {
			return []byte(map[Side]string{Base: tt.base, Head: tt.head}[side]), nil
		}}}}
		if got := r.chosenIn(t.Context(), "a"); got != tt.want {
			t.Errorf("%q: %v, want %v", tt.head, got, tt.want)
		}
	}
}

package checks

import (
	"fmt"
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
	r.judgePlanted(ecosystem.Command{}, "qz", files, suite, &done)
	if done.Planted != 3 || !slices.Equal(done.Missed, []string{"qzb.test.ts"}) {
		t.Errorf("%+v", done)
	}
	if want := "the tests of types in c.test-d.ts: a wrong type in one of them is not reported"; !slices.Equal(said, []string{want}) {
		t.Errorf("said %q", said)
	}
}

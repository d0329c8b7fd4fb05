package sides

import (
	"slices"
	"testing"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestRenamed: a test is the same where its file stays or moves and its class gets another namespace, as
// long as it cannot be another one.
func TestRenamed(t *testing.T) {
	t.Parallel()
	const php, unit, rb = "tests/CalcTest.php", "tests/Unit/CalcTest.php", "test/calc_test.rb"
	for _, tt := range []struct {
		what       string
		moved      string // where the file is on the head
		base, head []string
		file       string
		want       string // what the first of base became
	}{
		{"a namespace", php, []string{`App\Tests\CalcTest::testDouble`}, []string{`App\Calc\CalcTest::testDouble`}, php, `App\Calc\CalcTest::testDouble`},
		{"with its file", unit, []string{`App\Tests\CalcTest::testDouble`}, []string{`App\Tests\Unit\CalcTest::testDouble`}, php, `App\Tests\Unit\CalcTest::testDouble`},
		{"of Pest", unit, []string{`Tests\CalcTest::it doubles`}, []string{`Tests\Unit\CalcTest::it doubles`}, php, `Tests\Unit\CalcTest::it doubles`},
		{"a row", php, []string{`A\CalcTest::testDouble with data set "x::y"`}, []string{`B\CalcTest::testHalf with data set "x::y"`, `B\CalcTest::testDouble with data set "x::y"`}, php, `B\CalcTest::testDouble with data set "x::y"`},
		{"none", unit, []string{`App\Tests\CalcTest::testDouble`}, []string{`App\Tests\CalcTest::testDouble`}, php, ""},
		{"another class", php, []string{`App\Tests\CalcTest::testDouble`}, []string{`App\Tests\SumsTest::testDouble`}, php, ""},
		{"one that was there", php, []string{`A\CalcTest::testDouble`, `B\CalcTest::testDouble`}, []string{`B\CalcTest::testDouble`}, php, ""},
		{"one that was there where its file was", unit, []string{`A\CalcTest::testDouble`, `B\CalcTest::testDouble`}, []string{`B\CalcTest::testDouble`}, php, ""},
		{"one of two", php, []string{`A\CalcTest::testDouble`}, []string{`B\CalcTest::testDouble`, `C\CalcTest::testDouble`}, php, ""},
		{"Minitest", rb, []string{"CalcTest#test_double"}, []string{"Shop::CalcTest#test_double"}, rb, "Shop::CalcTest#test_double"},
		{"groups of Minitest", rb, []string{"Calc::when empty#adds", "Sums::when empty#adds"}, []string{"Shop::Calc::when empty#adds", "Sums::when empty#adds"}, rb, "Shop::Calc::when empty#adds"},
		{"RSpec", "spec/calc_spec.rb", []string{"Shop::Calc#double doubles"}, []string{"Store::Calc#double doubles"}, "spec/calc_spec.rb", "Store::Calc#double doubles"},
		{"ExUnit", "test/calc_test.exs", []string{"Shop.CalcTest > test doubles"}, []string{"Shop.Unit.CalcTest > test doubles"}, "test/calc_test.exs", "Shop.Unit.CalcTest > test doubles"},
		{"a language without them", "a.test.js", []string{"A::b doubles"}, []string{"B::b doubles"}, "a.test.js", ""},
	} {
		suite := func(file string, tests []string) results.Suite {
			out := results.Suite{}
			for _, name := range tests {
				out[results.ID{Unit: ".", Package: file, Test: name}] = results.Test{Status: results.Failed}
			}
			return out
		}
		r := &Reader{
			Base:   &workspace.Tree{Dir: t.TempDir()},
			Suites: map[results.Side]results.Suite{results.Base: suite(tt.file, tt.base), results.Head: suite(tt.moved, tt.head)},
		}
		if tt.moved != tt.file {
			r.Change.Files = []change.File{{Path: tt.moved, OldPath: tt.file, Status: change.Renamed}}
		}
		id, want := results.ID{Unit: ".", Package: tt.file, Test: tt.base[0]}, results.ID{Unit: ".", Package: tt.moved, Test: tt.want}
		if got := r.renamed().to[id].Test; got != tt.want {
			t.Errorf("%s: %q", tt.what, got)
		}
		if sites := r.Sites(id, "php"); tt.want != "" && !slices.Contains(sites, r.PlaceOf(results.Head, want, "php")) {
			t.Errorf("%s: %q", tt.what, sites)
		}
		if tt.want != "" && !r.MovedTest(id, want) {
			t.Errorf("%s: its failure is another one", tt.what)
		}
	}
}

// TestStandsByNamespace: a test stands in no file in which it ran by another namespace.
func TestStandsByNamespace(t *testing.T) {
	t.Parallel()
	const old, unit = "tests/CalcTest.php", "tests/Unit/CalcTest.php"
	class := func(space string) string {
		return "<?php\nnamespace " + space + ";\nclass CalcTest extends TestCase\n{\n    public function testDouble(): void {}\n}\n"
	}
	id := results.ID{Unit: ".", Package: old, Test: `App\Tests\CalcTest::testDouble`}
	for _, tt := range []struct {
		what, ran string
		want      bool
	}{
		{"it ran", `App\Tests\Unit\CalcTest::testDouble`, false},
		{"another one ran", `App\Tests\Unit\CalcTest::testHalf`, true},
	} {
		r := reading(t, compare.Test, unit, "", class(`App\Tests\Unit`), map[string]string{old: class(`App\Tests`)})
		r.Head = &workspace.Tree{Dir: t.TempDir()}
		r.Suites[results.Base] = results.Suite{id: {Status: results.Passed}}
		r.Suites[results.Head] = results.Suite{{Unit: ".", Package: unit, Test: tt.ran}: {Status: results.Passed}}
		if got := r.Stands(id); got != tt.want {
			t.Errorf("%s: %v", tt.what, got)
		}
	}
}

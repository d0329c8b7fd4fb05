package sides

import (
	"maps"
	"testing"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestOfGone: a row goes with the file that it is named after, and with no document that happens to have its name.
func TestOfGone(t *testing.T) {
	t.Parallel()
	row := func(name string) results.ID {
		return results.ID{Unit: ".", Package: "test_a.py", Test: "test_a[" + name + "]"}
	}
	for _, tt := range []struct {
		row, deleted string
		want         bool
	}{
		{"en", "locales/en.json", true},
		{"locales/en.json", "locales/en.json", true},
		{"en", "docs/en.md", false},
		{"en.md", "docs/en.md", true},
		{"en", "locales/fr.json", false},
		{"en", "tests/test_en.py", false},
	} {
		r := &Reader{
			Change: change.Change{Files: []change.File{{Path: tt.deleted, Status: change.Deleted}}},
			Suites: map[results.Side]results.Suite{results.Head: {row("other"): {Status: results.Passed}}},
		}
		if got := r.OfGone(row(tt.row)); got != tt.want {
			t.Errorf("%s of %s: %v", tt.row, tt.deleted, got)
		}
	}
}

// TestStandsRow: a row of a test that is reported without a file stands no more where the change edits what rows
// are made of, and others of it ran. What chooses among rows, or skips one, takes none away.
func TestStandsRow(t *testing.T) {
	t.Parallel()
	const cs, java, cpp = "Calc.Tests/CalcTests.cs", "src/test/java/m/CalcTest.java", "tests/calc_test.cpp"
	const theory = "namespace m;\nclass CalcTests {\n[Theory]\n[InlineData(1, 2)]\n[InlineData(2, 4)]\nvoid Doubles(int n, int want) {}\n}\n"
	const edited = "namespace m;\nclass CalcTests {\n[Theory]\n[InlineData(1, 2)]\n[InlineData(2, 5)]\nvoid Doubles(int n, int want) {}\n}\n"
	const source = "class CalcTest {\n@CsvSource({\"1, 2\", \"2, 4\"})\nvoid doubles(int n, int want) {}\n}\n"
	const fewer = "class CalcTest {\n@CsvSource({\"1, 2\"})\nvoid doubles(int n, int want) {}\n}\n"
	const table = "class CalcTest {\n@CsvFileSource(resources = \"/rows.csv\")\nvoid doubles(int n, int want) {}\n}\n"
	const google = "TEST_P(CalcTest, Doubles) {}\nINSTANTIATE_TEST_SUITE_P(Rows, CalcTest, Values(1, 2));\n"
	type touched struct {
		class      compare.FileClass
		base, head string
	}
	for _, tt := range []struct {
		what, pkg, gone string
		ran             map[string]results.Status // beside it, in its class
		touched         map[string]touched
		others          map[string]string
		want            bool
	}{
		{what: "a row of .NET", pkg: "m.CalcTests", gone: "Doubles(n: 2, want: 4)", ran: map[string]results.Status{"Doubles(n: 1, want: 2)": results.Passed}, touched: map[string]touched{cs: {compare.Test, theory, edited}}},
		{what: "the last row of JUnit", pkg: "m.CalcTest", gone: "doubles(int, int)[2]", ran: map[string]results.Status{"doubles(int, int)[1]": results.Passed}, touched: map[string]touched{java: {compare.Test, source, fewer}}},
		{what: "as an old Surefire writes it", pkg: "m.CalcTest", gone: "doubles{int, int}[2]", ran: map[string]results.Status{"doubles{int, int}[1]": results.Failed}, touched: map[string]touched{java: {compare.Test, source, fewer}}},
		{what: "as Gradle writes it", pkg: "m.CalcTest", gone: "[2] 2, 4", ran: map[string]results.Status{"[1] 1, 2": results.Passed}, touched: map[string]touched{java: {compare.Test, source, fewer}}, others: map[string]string{java: source}},
		{what: "of a table beside it", pkg: "m.CalcTest", gone: "doubles(int, int)[2]", ran: map[string]results.Status{"doubles(int, int)[1]": results.Passed}, touched: map[string]touched{"src/test/resources/rows.csv": {compare.Data, "1,2\n2,4\n", "1,2\n"}}, others: map[string]string{java: table}},
		{what: "a row of GoogleTest", pkg: "ctest", gone: "Rows/CalcTest.Doubles/1", ran: map[string]results.Status{"Rows/CalcTest.Doubles/0": results.Passed}, touched: map[string]touched{cpp: {compare.Test, google, "TEST_P(CalcTest, Doubles) {}\nINSTANTIATE_TEST_SUITE_P(Rows, CalcTest, Values(1));\n"}}},

		{what: "of a table that this does not name", pkg: "m.CalcTest", gone: "doubles(int, int)[2]", ran: map[string]results.Status{"doubles(int, int)[1]": results.Passed}, touched: map[string]touched{"src/test/resources/others.csv": {compare.Data, "1\n", ""}}, others: map[string]string{java: table}, want: true},
		{what: "the only row", pkg: "m.CalcTests", gone: "Doubles(n: 2, want: 4)", touched: map[string]touched{cs: {compare.Test, theory, edited}}, want: true},
		{what: "beside rows that are skipped", pkg: "m.CalcTests", gone: "Doubles(n: 2, want: 4)", ran: map[string]results.Status{"Doubles(n: 1, want: 2)": results.Skipped}, touched: map[string]touched{cs: {compare.Test, theory, edited}}, want: true},
		{what: "beside another method", pkg: "m.CalcTests", gone: "Doubles(n: 2, want: 4)", ran: map[string]results.Status{"Halves(n: 2, want: 1)": results.Passed}, touched: map[string]touched{cs: {compare.Test, theory, edited}}, want: true},
		{what: "a row that is skipped", pkg: "m.CalcTests", gone: "Doubles(n: 2, want: 4)", ran: map[string]results.Status{"Doubles(n: 1, want: 2)": results.Passed, "Doubles(n: 2, want: 4)": results.Skipped}, touched: map[string]touched{cs: {compare.Test, theory, edited}}, want: true},
		{what: "with settings that choose", pkg: "m.CalcTests", gone: "Doubles(n: 2, want: 4)", ran: map[string]results.Status{"Doubles(n: 1, want: 2)": results.Passed}, touched: map[string]touched{cs: {compare.Test, theory, edited}, "test.runsettings": {compare.Steering, "", "<TestCaseFilter>x</TestCaseFilter>"}}, want: true},
		{what: "with support that is not its own", pkg: "m.CalcTests", gone: "Doubles(n: 2, want: 4)", ran: map[string]results.Status{"Doubles(n: 1, want: 2)": results.Passed}, touched: map[string]touched{cs: {compare.Test, theory, edited}, "tests/hooks.cs": {compare.Support, "", "x"}}, want: true},
		{what: "of a file that is as it was", pkg: "m.CalcTests", gone: "Doubles(n: 2, want: 4)", ran: map[string]results.Status{"Doubles(n: 1, want: 2)": results.Passed}, touched: map[string]touched{"Calc.Tests/OtherTests.cs": {compare.Test, "class OtherTests {}", ""}}, others: map[string]string{cs: theory}, want: true},
		{what: "a name that stands as it is reported", pkg: "", gone: "parses (empty)", ran: map[string]results.Status{"parses (full)": results.Passed}, touched: map[string]touched{"test/a.js": {compare.Test, "test('parses (full)')\ntest('parses (empty)')\n", "test('parses (full)')\ntest.skip('parses (empty)')\n"}}, want: true},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			r := reading(t, compare.Test, "README", "", "", tt.others)
			r.Touched, r.Texts = nil, map[string]classes.Versions{}
			for name, f := range tt.touched {
				r.Touched = append(r.Touched, Touch{Path: name, Class: f.class})
				r.Texts[name] = classes.Versions{Base: []byte(f.base), Head: []byte(f.head)}
			}
			id := func(test string) results.ID { return results.ID{Unit: ".", Package: tt.pkg, Test: test} }
			head := results.Suite{}
			for test, status := range tt.ran {
				head[id(test)] = results.Test{Status: status}
			}
			base := maps.Clone(head)
			base[id(tt.gone)] = results.Test{Status: results.Passed}
			r.Suites = map[results.Side]results.Suite{results.Base: base, results.Head: head}
			if got := r.Stands(id(tt.gone)); got != tt.want {
				t.Errorf("stands: %v", got)
			}
		})
	}
}

// TestSubjectStands: a test is about what the sources declare; what they only use, such as a word of the
// language, a message or a variable, takes nothing away that it tests.
func TestSubjectStands(t *testing.T) {
	t.Parallel()
	const py, js, c = "test_a.py", "a.test.js", "a_test.c"
	for _, tt := range []struct {
		file, test, source, base, head string
		want                           bool
	}{
		{py, "def test_a():\n    with pytest.raises(ValueError):\n        price(-1)\n", "a.py", "def price(n):\n    if n < 0:\n        raise ValueError('negative')\n    return n\n", "def price(n):\n    return n\n", true},
		{py, "def test_a():\n    for n in (1, 2):\n        total = price(n)\n        assert total == n\n", "a.py", "def price(n):\n    total = 0\n    for i in range(n):\n        total += 1\n    return total\n", "def price(k):\n    return k\n", true},
		{py, "def test_a():\n    assert vat(1) == 1\n", "a.py", "def price(n):\n    return n\n\n\ndef vat(n):\n    return n\n", "def price(n):\n    return n\n", false},
		{py, "def test_a():\n    assert Size.LARGE\n", "a.py", "class Size(Enum):\n    SMALL = 1\n    LARGE = 2\n", "class Size(Enum):\n    SMALL = 1\n", false},
		{py, "def test_a():\n    assert main(['--verbose']) == 0\n", "a.py", "p.add_argument('--verbose')\n", "\n", false},
		{js, "test('test_a', () => {\n  const result = price(3)\n  assert.throws(() => price(-1), RangeError)\n})\n", "a.js", "function price(n) {\n  const result = n\n  if (n < 0) throw new RangeError('x')\n  return result\n}\n", "function price(n) {\n  return n\n}\n", true},
		{js, "test('test_a', () => {\n  assert.equal(new Shop().vat(3), 3)\n})\n", "a.js", "class Shop {\n  price(n) {\n    return n\n  }\n\n  vat(n) {\n    return n\n  }\n}\n", "class Shop {\n  price(n) {\n    return n\n  }\n}\n", false},
		{js, "test('test_a', () => {\n  assert.equal(load().currency, 'EUR')\n})\n", "a.js", "exports.load = () => ({\n  currency: 'EUR',\n})\n", "exports.load = () => ({})\n", false},
		{c, "static int test_a(void) { return vat(3) == 3; }\n", "a.c", "int price(int n)\n{\n    return n;\n}\n\nint vat(int n)\n{\n    return n;\n}\n", "int price(int n)\n{\n    return n;\n}\n", false},
		{py, "def test_a():\n    assert vat.of(1) == 1\n", "vat.py", "X = 1\n", "", false}, // a module is called by its file
	} {
		r := reading(t, compare.Test, "README", "", "", map[string]string{tt.file: tt.test})
		v := classes.Versions{Base: []byte(tt.base), Head: []byte(tt.head)}
		if tt.head == "" {
			v.Head = nil
		}
		r.Texts[tt.source] = v
		if got := r.SubjectStands(results.ID{Unit: ".", Package: tt.file, Test: "test_a"}); got != tt.want {
			t.Errorf("%q without what %q takes out: stands %v", tt.test, tt.source, got)
		}
	}
}

// TestStandsSkipped: a test that moves to another file and is skipped there stands, unless it is itself marked so.
func TestStandsSkipped(t *testing.T) {
	t.Parallel()
	const was, to = "test/negative.test.js", "test/price.test.js"
	for _, tt := range []struct {
		head   string
		status results.Status
		want   bool
	}{
		{"test.only('price', () => {})\ntest('negative', () => {})\n", results.Skipped, true},
		{"test('price', () => {})\ntest.skip('negative', () => {})\n", results.Skipped, false},
		{"test('price', () => {})\ntest('negative', () => {})\n", results.Passed, false},
		{"test('price', () => {})\n", results.NotRun, false},
	} {
		r := reading(t, compare.Test, to, "test('price', () => {})\n", tt.head, map[string]string{was: "test('negative', () => {})\n"})
		r.Head = &workspace.Tree{Dir: t.TempDir()}
		r.Texts[was] = classes.Versions{Base: []byte("test('negative', () => {})\n")}
		r.Suites[results.Head] = results.Suite{results.ID{Unit: ".", Package: to, Test: "negative"}: {Status: tt.status}}
		if got := r.Stands(results.ID{Unit: ".", Package: was, Test: "negative"}); got != tt.want {
			t.Errorf("%q: %v", tt.head, got)
		}
	}
}

// TestSitesOfClasses: a class stands under the name of the file that the change moves it to.
func TestSitesOfClasses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ pkg, from, to, text, want string }{
		{"m.CalcTest", "src/test/java/m/CalcTest.java", "src/test/java/m/CalculatorTest.java", "package m;\nclass CalculatorTest {}\n", "m.CalculatorTest"},
		{"m.CalcTest", "src/test/java/m/CalcTest.java", "src/test/java/m/sums/CalcTest.java", "package m.sums;\nclass CalcTest {}\n", "m.sums.CalcTest"},
		{"m.CalcTest$Inner", "src/test/java/m/CalcTest.java", "src/test/java/m/SumTest.java", "package m;\n", "m.SumTest$Inner"},
		{"Shop.Tests.CalcTests", "Shop.Tests/CalcTests.cs", "Shop.Tests/SumTests.cs", "namespace Shop.Tests;\n", "Shop.Tests.SumTests"},
		{"CalcTest", "src/test/kotlin/CalcTest.kt", "src/test/kotlin/SumTest.kt", "class SumTest\n", "SumTest"},
		{"m.CalcTest", "core/src/test/java/m/CalcTest.java", "base/src/test/java/m/CalcTest.java", "package m;\n", ""},
		{"m.OtherTest", "src/test/java/m/CalcTest.java", "src/test/java/m/SumTest.java", "package m;\n", ""},
		{"m.Calc", "src/main/java/m/Calc.java", "src/main/java/m/Sum.java", "package m;\n", ""},
	} {
		r := reading(t, compare.Test, tt.to, "", tt.text, nil)
		r.Change.Files = []change.File{{Path: tt.to, OldPath: tt.from, Status: change.Renamed}}
		id, got := results.ID{Unit: ".", Package: tt.pkg, Test: "adds"}, ""
		for _, s := range r.Sites(id, "Java")[1:] {
			got += s.At
		}
		if got != tt.want {
			t.Errorf("%s, %s to %s: %q", tt.pkg, tt.from, tt.to, got)
		}
	}
}

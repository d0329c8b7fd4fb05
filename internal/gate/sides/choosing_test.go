package sides

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/workspace"
)

// reading is a reader of one file that is touched beside others that are not.
func reading(t *testing.T, class compare.FileClass, name, base, head string, others map[string]string) *Reader {
	t.Helper()
	r := &Reader{
		Base: &workspace.Tree{Dir: t.TempDir()}, Texts: map[string]classes.Versions{name: {Base: []byte(base), Head: []byte(head)}},
		Touched: []Touch{{Path: name, Class: class}}, Suites: map[results.Side]results.Suite{},
	}
	plan := &Plan{Files: []string{name}}
	for f, text := range others {
		at := filepath.Join(r.Base.Dir, f)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		plan.Files = append(plan.Files, f)
	}
	r.Plans = map[results.Side]*Plan{results.Base: plan, results.Head: plan}
	return r
}

// TestNameGone: a test that is reported without a file is gone where what declares it has its name no more.
func TestNameGone(t *testing.T) {
	t.Parallel()
	const java = "src/test/java/m/CalcTest.java"
	calc, returns := results.ID{Package: "m.CalcTest", Test: "returnsNull"}, "class CalcTest {\n@Test\nvoid returnsNull() {}\n}\n"
	divides := results.ID{Package: "m.CalcTest", Test: "divide"}
	for _, tt := range []struct {
		what, name, base, head string
		id                     results.ID
		others                 map[string]string
		want, skipped          bool
	}{
		{what: "a method", name: java, base: returns, head: "class CalcTest {\n@Test\nvoid throwsOnEmpty() {}\n}\n", id: calc, want: true},
		{what: "one that another class has too", name: java, base: returns, head: "class CalcTest {}\n", id: calc, want: true, others: map[string]string{"src/test/java/m/OtherTest.java": "class OtherTest { void returnsNull() {} }"}},
		{what: "one of another class", name: java, base: returns, head: "class CalcTest {}\n", id: results.ID{Package: "m.OtherTest", Test: "returnsNull"}, others: map[string]string{"src/test/java/m/OtherTest.java": "class OtherTest { void returnsNull() {} }"}},
		{what: "as Gradle writes it", name: java, base: returns, head: "", id: results.ID{Package: "m.CalcTest", Test: "returnsNull()"}, want: true},
		{what: "one that is called as what it tests", name: java, base: "class CalcTest {\n@Test\nvoid divide() { assertEquals(0, new Calc().divide(1, 0)); }\n}\n", head: "class CalcTest {\n@Test\nvoid divideByZeroThrows() { assertThrows(E.class, () -> new Calc().divide(1, 0)); return divide (1); }\n}\n", id: divides, want: true},
		{what: "one that is called so and has no annotation", name: java, base: "class CalcTest {\n@Test\nvoid divide() { assertEquals(0, new Calc().divide(1, 0)); }\n}\n", head: "class CalcTest {\nvoid divide() { assertEquals(0, new Calc().divide(1, 0)); }\n}\n", id: divides},
		{what: "a name between quotes", name: "src/test/kotlin/m/CalcTest.kt", base: "class CalcTest {\n@Test fun `divides by zero`() {}\n}\n", head: "class CalcTest {\n// divides by zero\n}\n", id: results.ID{Package: "m.CalcTest", Test: "divides by zero"}, want: true},
		{what: "one that stands", name: java, base: returns, head: returns + "// more\n", id: calc},
		{what: "a disabled one", name: java, base: returns, head: "class CalcTest {\n@Disabled(\"#12\")\n@Test\nvoid returnsNull() {}\n}\n", id: calc, skipped: true},
		{what: "one that is excluded", name: "pom.xml", base: "<project/>", head: "<exclude>CalcTest#returnsNull</exclude>", id: calc, others: map[string]string{java: returns}},
		{what: "a title", name: "test/calc.js", base: "test('returns null', f)", head: "test('throws', f)", id: results.ID{Test: "returns null"}, want: true},
		{what: "a title that another file has", name: "test/calc.js", base: "test('returns null', f)", head: "test('throws', f)", id: results.ID{Test: "returns null"}, others: map[string]string{"test/other.test.js": "test('returns null', f)"}},
		{what: "a skipped title", name: "test/calc.js", base: "test('returns null', f)", head: "test.skip('returns null', f)", id: results.ID{Test: "returns null"}, skipped: true},
		{what: "the skip of another title", name: "test/calc.js", base: "test('returns null', f)", head: "test('returns null', f)\ntest.skip('other', f)", id: results.ID{Test: "returns null"}},
		{what: "a name that a program of tests has", name: "CMakeLists.txt", base: "add_test(NAME add COMMAND add)", head: "add_test(NAME add_scaled COMMAND add)", id: results.ID{Package: "ctest", Test: "add"}, want: true, others: map[string]string{"tests/test_add.c": "int main() { return add(1, 2) != 3; }"}},
		{what: "one in a list", name: "CMakeLists.txt", base: "foreach(t add sub)\nadd_test(NAME ${t} COMMAND c)\nendforeach()", head: "foreach(t sub)\nadd_test(NAME ${t} COMMAND c)\nendforeach()", id: results.ID{Package: "ctest", Test: "add"}, want: true, others: map[string]string{"tests/test_add.c": "int main() { return add(1, 2) != 3; }"}},
		{what: "one that an option leaves out", name: "CMakeLists.txt", base: "add_test(NAME add COMMAND c)", head: "if(OFF)\nadd_test(NAME add COMMAND c)\nendif()", id: results.ID{Package: "ctest", Test: "add"}},
		{what: "a part of another name", name: "CMakeLists.txt", base: "add_test(NAME zero COMMAND c)\nadd_test(NAME zero-two COMMAND c)", head: "add_test(NAME zero-two COMMAND c)", id: results.ID{Package: "ctest", Test: "zero"}, want: true},
		{what: "one whose parameters stand in braces", name: java, base: returns, head: "class CalcTest {}\n", id: results.ID{Package: "m.CalcTest", Test: "returnsNull{int, int}[1]"}, want: true},
		{what: "a test of GoogleTest", name: "tests/calc_test.cpp", base: "TEST(CalcTest, NullOfNothing) {}\nTEST(CalcTest, One) {}\n", head: "TEST(CalcTest, ZeroOfNothing) {}\nTEST(CalcTest, One) {}\n", id: results.ID{Package: "ctest", Test: "CalcTest.NullOfNothing"}, want: true},
		{what: "a test of GoogleTest with parameters", name: "tests/calc_test.cpp", base: "TEST_P( CalcTest,\n  Adds ) {}\n", head: "", id: results.ID{Package: "ctest", Test: "Rows/CalcTest.Adds/3"}, want: true},
		{what: "a test of GoogleTest that stands", name: "tests/calc_test.cpp", base: "TEST(CalcTest, One) {}\n", head: "TEST_F(CalcTest, One) { }\n", id: results.ID{Package: "ctest", Test: "CalcTest.One"}},
		{what: "a test of GoogleTest that is disabled", name: "tests/calc_test.cpp", base: "TEST(CalcTest, One) {}\n", head: "TEST(CalcTest, DISABLED_One) {}\n", id: results.ID{Package: "ctest", Test: "CalcTest.One"}, skipped: true},
		{what: "a test of GoogleTest that another file has", name: "tests/calc_test.cpp", base: "TEST(CalcTest, One) {}\n", head: "", id: results.ID{Package: "ctest", Test: "CalcTest.One"}, others: map[string]string{"tests/more_test.cpp": "TEST(CalcTest, One) {}\n"}},
		{what: "a test of ScalaTest", name: "src/test/scala/m/CalcTest.scala", base: "class CalcTest extends AnyFlatSpec {\n\"A sum\" should \"be null of nothing\" in {}\nit should \"be one\" in {}\n}\n", head: "class CalcTest extends AnyFlatSpec {\n\"A sum\" should \"be zero of nothing\" in {}\nit should \"be one\" in {}\n}\n", id: results.ID{Package: "m.CalcTest", Test: "A sum should be null of nothing"}, want: true},
		{what: "a test of ScalaTest that stands", name: "src/test/scala/m/CalcTest.scala", base: "class CalcTest extends AnyFlatSpec {\n\"A sum\" should \"be null\" in {}\nit should \"be one\" in {}\n}\n", head: "class CalcTest extends AnyFlatSpec {\n\"A sum\" should \"be nil\" in {}\nit should \"be one\" in {}\n}\n", id: results.ID{Package: "m.CalcTest", Test: "A sum should be one"}},
		{what: "one that is never declared by its name", name: "CMakeLists.txt", base: "add_test(NAME ${t} COMMAND c)", head: "", id: results.ID{Package: "ctest", Test: "zero"}},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			r := reading(t, compare.Test, tt.name, tt.base, tt.head, tt.others)
			if got := r.nameGone(tt.id); got != tt.want {
				t.Errorf("gone: %v", got)
			}
			if got := r.ClassIn(tt.id); (len(got) > 0) != (strings.HasPrefix(tt.name, "src/test/") && tt.id.Package == "m.CalcTest") {
				t.Errorf("class: %v", got)
			}
			if got := r.markedUnfiled(tt.id, skipMark); got != tt.skipped {
				t.Errorf("skipped: %v", got)
			}
		})
	}
}

// TestChoosesTests: what a change of settings, or of a conftest.py, may choose among tests by.
func TestChoosesTests(t *testing.T) {
	t.Parallel()
	const conftest, hook = "tests/conftest.py", "def pytest_collection_modifyitems(items):\n    pass\n"
	const chosen = "def pytest_collection_modifyitems(items):\n    items[:] = filter(wanted, items)\n\n\ndef wanted(item):\n"
	const configure = "\n\ndef pytest_configure(config):\n    config.addinivalue_line('markers', 'slow')\n"
	const fixture = "\n\n@pytest.fixture(params=FORMATS)\ndef fmt(request):\n    return request.param\n"
	const option = "\n\ndef pytest_addoption(parser):\n    parser.addoption('--only', default=DEFAULT)\n"
	for _, tt := range []struct {
		name, base, head string
		want             bool
	}{
		{conftest, "import pytest\n", "import pytest\n\n\n@pytest.fixture(scope=\"session\")\ndef bad():\n    return 1\n", false},
		{conftest, "", hook, true},
		{conftest, hook, hook + "\nx = 1\n", false},
		{conftest, hook, hook + "\npatch(x)\n", true},
		{conftest, hook, hook + "\nitems = 1\n", true},
		{conftest, "FORMATS = [\n    'json',\n    'slow',\n]\n" + configure + fixture, "FORMATS = [\n    'json',\n]\n" + configure + fixture, false},
		{conftest, "FORMATS = ['json', 'xml']\n" + hook + fixture, "# as the product has them\nFORMATS = ['json']\n" + hook + fixture, false},
		{conftest, "FORMATS = ['json', 'xml']\n" + hook + "    keep(FORMATS)\n", "FORMATS = ['json']\n" + hook + "    keep(FORMATS)\n", true},
		{conftest, "ALL = [\n    'json',\n    'xml',\n]\nFORMATS = sorted(ALL)\n" + hook + "    keep(FORMATS)\n", "ALL = [\n    'json',\n]\nFORMATS = sorted(ALL)\n" + hook + "    keep(FORMATS)\n", true},
		{conftest, "FORMATS = ['json']\nFORMATS.append('xml')\n" + configure, "FORMATS = ['json']\n" + configure, false},
		{conftest, configure, strings.Replace(configure, "'slow'", "'slow: takes long'", 1), false},
		{conftest, configure, strings.Replace(configure, "'markers', 'slow'", "'addopts', '-m fast'", 1), true},
		{conftest, "DEFAULT = 'all'\n" + option, "DEFAULT = 'none'\n" + option, true},
		{conftest, "DEFAULT: str = (\n    'all'\n)\n" + option, "DEFAULT: str = (\n    'none'\n)\n" + option, true},
		{conftest, "OTHER = DEFAULT = 'all'\n" + option, "OTHER = DEFAULT = 'none'\n" + option, true},
		{conftest, "if slow:\n    DEFAULT = 'all'\n" + option, "if slow:\n    DEFAULT = 'none'\n" + option, true},
		{conftest, hook, hook + "\n\n@pytest.fixture(params=[1])\ndef f():\n    return 1\n", false},
		{conftest, "import pytest\n\n\n" + hook, "import os\nimport pytest\n\n\n" + hook, false},
		{conftest, hook, "def pytest_collection_modifyitems(items):\n    items.clear()\n", true},
		{conftest, chosen + "    return True\n", chosen + "    return False\n", true},
		{conftest, "from a import wanted\n\n\n" + hook + "    wanted()\n", "from b import wanted\n\n\n" + hook + "    wanted()\n", true},
		{conftest, "collect_ignore = [\n    'a.py',\n]\n", "collect_ignore = [\n    'a.py',\n    'b.py',\n]\n", true},
		{conftest, "def pytest_addoption(parser):\n    parser.addoption('--slow', default=True)\n", "def pytest_addoption(parser):\n    parser.addoption('--slow', default=False)\n", true},
		{conftest, "x = 1\n", "from hooks import *\n", true},
		{conftest, "x = 1\n", "pytest_plugins = ['hooks']\n", true},
		{conftest, "x = 1\n", "collect_ignore = ['test_a.py']\n", true},
		{conftest, "x = 1\n", "import hooks\nglobals().update(vars(hooks))\n", true},
		{conftest, "import pytest\n", "import pytest\npytest.Function.runtest = lambda self: None\n", true},
		{conftest, "x = 1\n", "import pytest\n@pytest.fixture(autouse=True)\ndef f(request):\n    request.session.items.clear()\n", true},
		{"pytest.ini", "[pytest]\n", "[pytest]\nxfail_strict = true\n", false},
		{"pytest.ini", "[pytest]\n", "[pytest]\nfilterwarnings =\n    error\n", false},
		{"pytest.ini", "[pytest]\n", "[pytest]\naddopts = -k one\n", true},
		{"pytest.ini", "[pytest]\naddopts =\n", "[pytest]\naddopts =\n    --deselect a\n", true},
		{"pytest.ini", "[pytest]\ntestpaths = a b\n", "[pytest]\n", true},
		{"package.json", "{\"scripts\": {\"test\": \"node --test\"}}\n", "{\"scripts\": {\n\"format\": \"prettier --write .\",\n\"test\": \"node --test\"}}\n", false},
		{"package.json", "{\"scripts\": {\"test\": \"node --test\"}}", "{\"scripts\": {\"start\": \"node index.js\", \"test\": \"node --test\"}}", false},
		{"package.json", "{\"scripts\": {\"test\": \"npm run unit\", \"unit\": \"node --test\"}}", "{\"scripts\": {\"test\": \"npm run unit\", \"unit\": \"node --test a\"}}", true},
		{"package.json", "{\n\"test\": \"node --test\"\n}\n", "{\n\"format\": \"prettier --write .\",\n\"test\": \"node --test\"\n}\n", false},
		{"package.json", "{\n\"test\": \"mocha\"\n}\n", "{\n\"test\": \"mocha a.js\"\n}\n", true},
		{"package.json", "{\n}\n", "{\n\"pretest\": \"rm -rf cases\"\n}\n", true},
		{"jest.config.js", "{\n}\n", "{\n  testMatch: ['a']\n}\n", true},
		{"Makefile", "test:\n\tpytest tests\n", "test:\n\tpytest tests/a\n", true},
	} {
		class := compare.Steering
		if tt.name == conftest {
			class = compare.Support
		}
		r := reading(t, class, tt.name, tt.base, tt.head, nil)
		if got := r.choosesTests(r.Touched[0]); got != tt.want {
			t.Errorf("%s, %q to %q: %v", tt.name, tt.base, tt.head, got)
		}
	}
}

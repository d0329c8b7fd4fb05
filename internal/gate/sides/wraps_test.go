package sides

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// TestUnwrapped holds which edits of tests only take another form of the same.
func TestUnwrapped(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file, before, after string
		same                bool
	}{
		"await":               {"a.test.js", "test('a', () => {\n  assert.equal(text(1), 'x')\n})", "test('a', async () => {\n  assert.equal(await text(1), 'x')\n})", true},
		"await in brackets":   {"a.test.js", "assert.equal(load(1).size, 2)", "assert.equal((await load(1)).size, 2)", true},
		"all of them":         {"a.test.js", "assert.deepEqual(xs.map((x) => f(x)), [1])", "assert.deepEqual(await Promise.all(xs.map((x) => f(x))), [1])", true},
		"another value":       {"a.test.js", "test('a', () => { assert.equal(text(1), 'x') })", "test('a', async () => { assert.ok(await text(1)) })", false},
		"spread":              {"a.test.mjs", "assert.deepEqual(all(f(1)), [1])", "assert.deepEqual([...all(f(1))], [1])", true},
		"a list":              {"test_a.py", "def test_a():\n    assert rows(f(1)) == [1]", "def test_a():\n    assert list(rows(f(1))) == [1]", true},
		"asyncio":             {"test_a.py", "def test_a():\n    assert rows(1) == [1]", "import pytest\n\n@pytest.mark.asyncio\nasync def test_a():\n    assert await rows(1) == [1]", true},
		"sorted":              {"test_a.py", "def test_a():\n    assert rows() == [1, 2]", "def test_a():\n    assert sorted(rows()) == [1, 2]", false},
		"errors.Is":           {"a_test.go", "if err != ErrNone {", "if !errors.Is(err, ErrNone) {", true},
		"imports":             {"a_test.go", "import \"testing\"\n\nif err != ErrNone {", "import (\n\t\"errors\"\n\t\"testing\"\n)\n\nif !errors.Is(err, ErrNone) {", true},
		"another import":      {"a_test.go", "import \"testing\"\n", "import \"mytesting\"\n", false},
		"rejects":             {"a.test.mjs", "assert.throws(() => f(1))", "await assert.rejects(() => f(1))", true},
		"rejects a promise":   {"a.test.mjs", "assert.throws(() => f(1), { code: 'X' })", "await assert.rejects(f(1), { code: 'X' })", true},
		"rejects anything":    {"a.test.mjs", "assert.throws(() => f(1), { code: 'X' })", "await assert.rejects(f(1))", false},
		"errors.Is of a call": {"a_test.go", "if open(1) == ErrNone {", "if errors.Is(open(1), ErrNone) {", true},
		"any error":           {"a_test.go", "if err != ErrNone {", "if err == nil {", false},
	} {
		if got := unwrapped(tt.file, tt.before) == unwrapped(tt.file, tt.after); got != tt.same {
			t.Errorf("%s: %v\n%s\n%s", name, got, unwrapped(tt.file, tt.before), unwrapped(tt.file, tt.after))
		}
	}
}

// TestSameButWrapped holds that what a test stands on in its file has to be as it was.
func TestSameButWrapped(t *testing.T) {
	t.Parallel()
	const base = "from shop import rows\n\ndef test_rows():\n    assert rows(2) == [0, 2]\n"
	id := results.ID{Package: "test_shop.py", Test: "test_rows"}
	for name, tt := range map[string]struct {
		head string
		same bool
	}{
		"a list":            {"from shop import rows\n\ndef test_rows():\n    assert list(rows(2)) == [0, 2]\n", true},
		"with another test": {"from shop import rows\n\ndef test_none():\n    assert list(rows(0)) == []\n\ndef test_rows():\n    assert list(rows(2)) == [0, 2]\n", true},
		"another module":    {"from compat import rows\n\ndef test_rows():\n    assert list(rows(2)) == [0, 2]\n", false},
		"a type":            {"from shop import rows\n\ndef test_rows():\n    assert isinstance(list(rows(2)), list) and list(rows(2)) == [0, 2]\n", false},
		"a helper":          {"from shop import rows\n\ndef rows(n):\n    return [0, 2]\n\ndef test_rows():\n    assert list(rows(2)) == [0, 2]\n", false},
	} {
		if got := sameButWrapped("test_shop.py", id, base, tt.head); got != tt.same {
			t.Errorf("%s: %v", name, got)
		}
	}
	if wrapped := strings.Replace(base, "rows(2)", "list(rows(2))", 1); sameButWrapped("test_shop.py", id, wrapped, base) {
		t.Error("a form that is given up is only another form")
	}
}

// TestUnwraps holds that a form that is given up is more than another form.
func TestUnwraps(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file, before, after string
		unwraps             bool
	}{
		"await is given up":       {"a.test.js", "assert.ok(await check(1))", "assert.ok(check(1))", true},
		"asyncio.run is given up": {"test_a.py", "asyncio.run(scenario())", "scenario()", true},
		"await comes":             {"a.test.js", "assert.ok(check(1))", "assert.ok(await check(1))", false},
		"a list of a type":        {"test_a.py", "assert isinstance(names(), list)", "assert isinstance(list(names()), list)", true},
		"a list":                  {"test_a.py", "assert names() == [1]", "assert list(names()) == [1]", false},
		"two lists":               {"test_a.py", "assert prices() == {1: 2}", "assert list(prices()) == list({1: 2})", true},
		"two lists, two lines":    {"test_a.py", "self.assertEqual(prices(),\n    all())", "self.assertEqual(tuple(prices()),\n    tuple(all()))", true},
		"lists of two statements": {"test_a.py", "assert f(1) == [1]\nassert f(2) == [2]", "assert list(f(1)) == [1]\nassert list(f(2)) == [2]", false},
		"objects as arrays":       {"a.test.js", "assert.deepEqual(f(), {a: 1})", "assert.deepEqual(Array.from(f()), Array.from({a: 1}))", true},
		"an array":                {"a.test.js", "test('a', () => {\n  assert.deepEqual(f(1), [1])\n  assert.deepEqual(f(2), [2])\n})", "test('a', () => {\n  assert.deepEqual([...f(1)], [1])\n  assert.deepEqual([...f(2)], [2])\n})", false},
		"how long a spread is":    {"a.test.js", "assert.equal(f().length, 2)", "assert.equal([...f()].length, 2)", true},
		"whether there is one":    {"a.test.js", "assert.ok(f())", "assert.ok(Array.from(f()))", true},
		"async of unittest":       {"test_a.py", "import unittest\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(), 1)", "import unittest\n\nclass A(unittest.TestCase):\n    async def test_a(self):\n        self.assertEqual(await f(), 1)", true},
		"async of its own class":  {"test_a.py", "import unittest\n\nclass A(unittest.IsolatedAsyncioTestCase):\n    def test_a(self):\n        self.assertEqual(f(), 1)", "import unittest\n\nclass A(unittest.IsolatedAsyncioTestCase):\n    async def test_a(self):\n        self.assertEqual(await f(), 1)", false},
		"async in a loop":         {"a.test.js", "test('a', () => {\n  all.forEach((i) => assert.equal(f(i), i))\n})", "test('a', async () => {\n  all.forEach(async (i) => assert.equal(await f(i), i))\n})", true},
		"async of a helper":       {"a.test.js", "const check = (i) => assert.equal(f(i), i)\ntest('a', () => {\n  check(1)\n})", "const check = async (i) => assert.equal(await f(i), i)\ntest('a', async () => {\n  await check(1)\n})", false},
		"a helper not awaited":    {"a.test.js", "const check = (i) => assert.equal(f(i), i)\ntest('a', () => {\n  check(1)\n})", "const check = async (i) => assert.equal(await f(i), i)\ntest('a', async () => {\n  check(1)\n})", true},
		"rejects not awaited":     {"a.test.mjs", "test('a', () => {\n  assert.throws(() => f(1))\n})", "test('a', () => {\n  assert.rejects(() => f(1))\n})", true},
		"rejects":                 {"a.test.mjs", "test('a', () => {\n  assert.throws(() => f(1))\n})", "test('a', async () => {\n  await assert.rejects(() => f(1))\n})", false},
		"an import block":         {"a_test.go", "import (\n\t\"errors\"\n)\n", "import \"x\"", false},
	} {
		if got := unwraps(tt.file, tt.before, tt.after); got != tt.unwraps {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAddsIs holds that a type which says itself what it is by errors.Is is noticed.
func TestAddsIs(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]bool{
		"package m\n\ntype e string\n\nfunc (e) Is(error) bool { return true }\n": true,
		"package m\n\nfunc (e e) Unwrap() error { return nil }\n":                 true,
		"package m\n\nfunc Is(error) bool { return true }\n":                      false,
	} {
		r := &Reader{Texts: map[string]classes.Versions{"a.go": {Base: []byte("package m\n"), Head: []byte(head)}}}
		if got := r.addsIs(); got != want {
			t.Errorf("%q: %v", head, got)
		}
	}
}

// TestChangesOthers holds what a touched file of tests can make of the tests of other files.
func TestChangesOthers(t *testing.T) {
	t.Parallel()
	const helper = "def same(a, b):\n    assert a == b\n"
	const test = "def test_a():\n    assert rows() == [1]\n"
	for name, tt := range map[string]struct {
		file, base, head string // no base: it is added
		want             bool
	}{
		"a helper":          {"tests/helpers.py", helper, "def same(a, b):\n    assert a[0] == b[0]\n", true},
		"another form":      {"tests/helpers.py", helper, "def same(a, b):\n    assert list(a) == b\n", false},
		"a test":            {"tests/test_b.py", test, "def test_a():\n    assert rows() == [2]\n", false},
		"a helper beside":   {"tests/test_b.py", helper + test, test, true},
		"an added test":     {"b_test.go", "", "package m\n\nimport \"testing\"\n\nfunc TestB(t *testing.T) {\n\tx := 1\n\t_ = x\n}\n", false},
		"an added TestMain": {"b_test.go", "", "package m\n\nfunc TestMain(m *testing.M) {\n\tquiet = true\n\tm.Run()\n}\n", true},
		"an added helper":   {"conftest.py", "", "import pytest\n\npytest.approx = lambda x: x\n\ndef pytest_configure(): pass\n", true},
	} {
		v := classes.Versions{Head: []byte(tt.head)}
		if tt.base != "" {
			v.Base = []byte(tt.base)
		}
		if got := changesOthers(tt.file, v); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

package sides

import (
	"testing"

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
		"another value":       {"a.test.js", "test('a', () => { assert.equal(text(1), 'x') })", "test('a', async () => { assert.ok(await text(1)) })", false},
		"spread":              {"a.test.mjs", "assert.deepEqual(all(f(1)), [1])", "assert.deepEqual([...all(f(1))], [1])", true},
		"a list":              {"test_a.py", "def test_a():\n    assert rows(f(1)) == [1]", "def test_a():\n    assert list(rows(f(1))) == [1]", true},
		"asyncio":             {"test_a.py", "def test_a():\n    assert rows(1) == [1]", "import pytest\n\n@pytest.mark.asyncio\nasync def test_a():\n    assert await rows(1) == [1]", true},
		"sorted":              {"test_a.py", "def test_a():\n    assert rows() == [1, 2]", "def test_a():\n    assert sorted(rows()) == [1, 2]", false},
		"errors.Is":           {"a_test.go", "if err != ErrNone {", "if !errors.Is(err, ErrNone) {", true},
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
		"a helper":          {"from shop import rows\n\ndef rows(n):\n    return [0, 2]\n\ndef test_rows():\n    assert list(rows(2)) == [0, 2]\n", false},
	} {
		if got := sameButWrapped("test_shop.py", id, base, tt.head); got != tt.same {
			t.Errorf("%s: %v", name, got)
		}
	}
}

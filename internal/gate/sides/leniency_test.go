package sides

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestAddsLeniency: a test may fail, or is tried again, where the change says so of it or of what it stands in.
func TestAddsLeniency(t *testing.T) {
	t.Parallel()
	const other = "test('other', () => {\n  ok(retry({ retries: 3 }))\n  client.retry('flaky')\n})\n"
	const js, rb = "test('waits', () => {\n  ok(1)\n})\n", "it 'waits' do\n  ok 1\nend\n"
	const group = "describe('c', () => {\n  it('waits', () => {\n    ok(1)\n  })\n})\n"
	const rs = "mod tests {\n    #[test]\n    fn waits() {\n        assert!(wait(1));\n    }\n}\n"
	const py, class = "def test_waits():\n    assert wait(1)\n", "class TestA:\n    def test_waits(self):\n        assert wait(1)\n"
	java := func(above string) string {
		return "class ATest {\n" + above + "    @Test\n    void waits() {}\n}\n"
	}
	php := func(above string) string {
		return "final class ATest extends TestCase\n{\n" + above + "    public function testWaits(): void\n    {\n        ok(1);\n    }\n}\n"
	}
	for _, tt := range []struct {
		name, test, base, head string
		want                   bool
	}{
		{"a.test.js", "waits", "test('waits', () => {\n  ok(1)\n})\n", "test('waits', () => {\n  ok(2)\n})\n" + other, false},
		{"a.test.js", "waits", "test('waits', () => {\n  ok(1)\n})\n", "test('waits', () => {\n  ok(new Client({ retries: 2 }))\n})\n", false},
		{"a.test.js", "waits", "test('waits', () => {\n  ok(1)\n})\n", "test('waits', { retry: 2 }, () => {\n  ok(2)\n})\n", true},
		{"a.test.js", "waits", "test('waits', () => {\n  ok(1)\n})\n", "test('waits', () => {\n  ok(2)\n}, { retry: 2 })\n", true},
		{"a.test.js", "waits", "test('waits', () => {\n  ok(1)\n})\n", "test(\n  'waits',\n  { retry: 2 },\n  () => ok(2),\n)\n", true},
		{"a.test.js", "waits", "it('waits', () => {\n  ok(1)\n})\n", "it.fails('waits', () => {\n  ok(2)\n})\n", true},
		{"a.test.js", "waits", "it('waits', () => {\n  ok(1)\n})\n", "it('waits', () => {\n  ok(2)\n})\nit.failing('other', () => {})\n", false},
		{"a.test.js", "waits", "it('waits', () => {\n  ok(1)\n})\n", "it('waits', function () {\n  this.retries(2)\n  ok(2)\n})\n", true},
		{"a.test.js", "waits", "it('waits', () => {\n  ok(1)\n})\n", "it('waits', () => {\n  ok(2)\n}).retries(2)\n", true},
		{"a.test.js", "c > waits", "describe('c', () => {\n  it('waits', () => {\n    ok(1)\n  })\n})\n", "describe('c', { retry: 2 }, () => {\n  it('waits', () => {\n    ok(2)\n  })\n})\n", true},
		{"a_spec.rb", "waits", "it 'waits' do\n  ok 1\nend\n", "it 'waits', retry: 3 do\n  ok 2\nend\n", true},
		{"a.test.js", "waits", js, "test('waits', {\n  retry: 5,\n}, () => {\n  ok(2)\n})\n", true},
		{"a.test.js", "waits", "test('other', {\n  retry: 5,\n}, () => {\n  ok(1)\n})\n" + js, "test('other', {\n  retry: 5,\n}, () => {\n  ok(1)\n})\ntest('waits', {\n  retry: 5,\n}, () => {\n  ok(2)\n})\n", true},
		{"a.test.js", "waits", js, "test('waits', () => {\n  ok(2)\n}, {\n  retry: 5,\n})\n", true},
		{"a.test.js", "waits", js, "test(\n  'waits',\n  () => {\n    ok(2)\n  },\n  {\n    retry: 5,\n  },\n)\n", true},
		{"a.test.js", "waits", js, "test('waits', {\nretry: 5,\n}, () => {\nok(2)\n})\n", true},
		{"a.test.js", "waits", js, "test('waits', { fails: true }, () => {\n  ok(2)\n})\n", true},
		{"a.test.js", "waits", js, "test('waits', () => {\n  ok(client({\n    retry: 5,\n  }))\n})\n", false},
		{"a.test.js", "waits", js, "test('waits', () => {\n  return wait(1).catch((e) => expect(e).toBeInstanceOf(TypeError))\n})\n", true},
		{"a.test.js", "waits", js, "test('waits', async () => await wait(1).catch(e => assert.match(e.message, /x/)))\n", true},
		{"a.test.js", "waits", js, "test('waits', () => {\n  expect.assertions(1)\n  return wait(1).catch((e) => expect(e).toBeInstanceOf(TypeError))\n})\n", false},
		{"a.test.js", "waits", js, "test('waits', () => {\n  ok(2)\n})\ntest('other', () => wait(1).catch((e) => expect(e).toBe(2)))\n", false},
		{"a.test.js", "waits", js, "test['failing']('waits', () => {\n  ok(2)\n})\n", true},
		{"a.test.js", "waits", js, "const known = test.failing\nknown('waits', () => {\n  ok(2)\n})\n", true},
		{"a.test.js", "waits", "const known = test.failing\n" + js, "const known = test.failing\nknown(\n  'waits', () => {\n  ok(2)\n})\n", true},
		{"a.test.js", "waits", js, "const { failing: known } = test\nknown('waits', () => {\n  ok(2)\n})\n", true},
		{"a.test.js", "waits", js, "const known = test.failing\nknown('other', () => {\n  ok(3)\n})\ntest('waits', () => {\n  ok(2)\n})\n", false},
		{"a.test.js", "waits", js, "const often = {\n  retry: 5,\n}\ntest('waits', often, () => {\n  ok(2)\n})\n", true},
		{"a.test.js", "waits", js, "vi.setConfig({\n  retry: 5,\n})\ntest('waits', () => {\n  ok(2)\n})\n", true},
		{"a.test.js", "waits", js, "jest.retryTimes(3)\ntest('waits', () => {\n  ok(2)\n})\n", true},
		{"a.test.js", "waits", js, "test('waits', () => {\n  ok(2)\n})\ntest('other', function () {\n  this.retries(2)\n  ok(3)\n})\n", false},
		{"a.test.js", "waits", js, "test('waits', () => {\n  ok(2)\n})\ntest('other', () => {\n  ok(3)\n})\n  .retries(2)\n", false},
		{"a.test.js", "waits", js, "test('waits', () => {\n  ok(2)\n})\n  .retries(2)\n", true},
		{"a.test.js", "waits", js, "beforeEach(function () {\n  this.retries(2)\n})\ntest('waits', () => {\n  ok(2)\n})\n", true},
		{"a.test.js", "waits", js, "beforeEach(function () {\n  this.currentTest.retries(2)\n})\ntest('waits', () => {\n  ok(2)\n})\n", true},
		{"a.test.js", "waits", js, "test('waits', function () {\n  this['retries'](2)\n  ok(2)\n})\n", true},
		{"a.test.js", "waits", js, "test('waits', { expectFailure: true }, () => {\n  ok(2)\n})\n", true},
		{"a.test.js", "waits", js, "test('waits', () => {\n  test.fail()\n  ok(2)\n})\n", true},
		{"a.test.js", "c > waits", group, "describe('c', {\n  retry: 2,\n}, () => {\n  it('waits', () => {\n    ok(2)\n  })\n})\n", true},
		{"a.test.js", "c > waits", group, "describe('c', function () {\n  this.retries(2)\n  it('waits', () => {\n    ok(2)\n  })\n})\n", true},
		{"a.test.js", "c > waits", group, "describe('c', () => {\n  it('waits', () => {\n    ok(2)\n  })\n}).retries(2)\n", true},
		{"a.test.js", "c > waits", group, "describe('c', () => {\n  it('waits', () => {\n    ok(2)\n  })\n})\ndescribe('d', { retry: 2 }, () => {\n  it('runs', () => {\n    ok(3)\n  })\n})\n", false},
		{"a.test.js", "c > waits", group, "describe('c retry: 2', () => {\n  it('waits', () => {\n    ok(2)\n  })\n})\n", false},
		{"a.test.js", "outer > waits", "test('outer', async (t) => {\n  await t.test('waits', () => {\n    ok(1)\n  })\n})\n", "test('outer', { retry: 2 }, async (t) => {\n  await t.test('waits', () => {\n    ok(2)\n  })\n})\n", true},
		{"a.test.js", "adds 1", "test.each([\n  [1],\n])('adds %i', (n) => {\n  ok(1)\n})\n", "test.each([\n  [1],\n])('adds %i', { retry: 2 }, (n) => {\n  ok(2)\n})\n", true},
		{"a_spec.rb", "waits", rb, "it 'waits', :flaky do\n  ok 2\nend\n", true},
		{"a_spec.rb", "waits", rb, "it 'waits',\n   :slow,\n   retry: 3 do\n  ok 2\nend\n", true},
		{"a_spec.rb", "waits", rb, "it 'waits', :slow => 1,\n  :retry => 3 do\n  ok 2\nend\n", true},
		{"a_spec.rb", "waits", rb, "it 'waits' do\n  ok client(retry: 3)\nend\n", false},
		{"a_spec.rb", "waits", rb, "it 'waits' do\n  ok 2\nend\nit 'runs', :flaky do\n  ok 3\nend\n", false},
		{"a_spec.rb", "Calc waits", "RSpec.describe Calc do\n  it 'waits' do\n    ok 1\n  end\nend\n", "RSpec.describe Calc, :flaky do\n  it 'waits' do\n    ok 2\n  end\nend\n", true},
		{"a_spec.rb", "Calc waits", "RSpec.describe Calc do\n  it 'waits' do\n    ok 1\n  end\nend\n", "RSpec.describe Calc do\n  around { |e| e.run_with_retry retry: 3 }\n  it 'waits' do\n    ok 2\n  end\nend\n", true},
		{"a_test.exs", "test waits", "defmodule A do\n  test \"waits\" do\n    ok 1\n  end\nend\n", "defmodule A do\n  @moduletag :flaky\n  test \"waits\" do\n    ok 2\n  end\nend\n", true},
		{"a_test.exs", "test waits", "defmodule A do\n  test \"waits\" do\n    ok 1\n  end\nend\n", "defmodule A do\n  test \"waits\" do\n    ok 2\n  end\n\n  @tag :flaky\n  test \"runs\" do\n    ok 3\n  end\nend\n", false},
		{"ATest.php", "m\\ATest::testWaits", php(""), php("    #[Retry(3)]\n"), true},
		{"ATest.php", "m\\ATest::testWaits", php(""), php("    /**\n     * @retry 3\n     */\n"), true},
		{"ATest.php", "m\\ATest::testWaits", php(""), php("    #[Retry(3)]\n    public function testRuns(): void\n    {\n        ok(3);\n    }\n\n"), false},
		{"ATest.php", "m\\ATest::testWaits", php(""), "#[Retry(3)]\n" + php(""), true},
		{"ATest.php", "m\\ATest::testWaits", php(""), php("    #[Retry(\n        3,\n    )]\n    // as others\n    #[Test]\n"), true},
		{"ATest.php", "m\\ATest::testWaits", php(""), php("    // is no @flaky one\n"), false},
		{"ATest.php", "ATest::it waits", "it('waits', function () {\n    ok(1);\n});\n", "it('waits', function () {\n    ok(2);\n})->flaky();\n", true},
		{"test_a.py", "test_waits", "def test_waits():\n    assert wait(1)\n", "def test_waits():\n    assert client.retry(2)\n", false},
		{"test_a.py", "test_waits", "def test_waits():\n    assert wait(1)\n", "@pytest.mark.flaky(reruns=3)\ndef test_waits():\n    assert wait(2)\n", true},
		{"test_a.py", "test_waits", py, "import pytest\n\n\n@pytest.mark.flaky(\n    reruns=3,\n)\ndef test_waits():\n    assert wait(2)\n", true},
		{"test_a.py", "test_waits", py, "import pytest\n\npytestmark = [\n    pytest.mark.flaky(reruns=3),\n]\n\n\ndef test_waits():\n    assert wait(2)\n", true},
		{"test_a.py", "test_waits", py, "known = pytest.mark.xfail\n\n\n@known\ndef test_waits():\n    assert wait(2)\n", true},
		{"test_a.py", "test_waits", "known = pytest.mark.xfail\n\n\n" + py, "known = pytest.mark.xfail\n\n\n@known\ndef test_waits():\n    assert wait(2)\n", true},
		{"test_a.py", "test_waits", py, "from unittest import expectedFailure as known\n\n\n@known\ndef test_waits():\n    assert wait(2)\n", true},
		{"test_a.py", "test_waits", py, "def test_waits():\n    assert wait(2)\n\n\ntest_waits = unittest.expectedFailure(test_waits)\n", true},
		{"test_a.py", "test_waits", py, "from client import retry\n\n\ndef test_waits():\n    assert retry(wait, 2)\n", false},
		{"test_a.py", "test_waits", py, "known = pytest.mark.xfail\n\n\ndef test_waits():\n    assert wait(2)\n\n\n@known\ndef test_other():\n    assert wait(3)\n", false},
		{"test_a.py", "test_waits", py, "@retry(3)\ndef start():\n    pass\n\n\ndef test_waits():\n    assert wait(2)\n", false},
		{"test_a.py", "TestA.test_waits", class, "@flaky(max_runs=3)\n" + class, true},
		{"test_a.py", "TestA.test_waits", class, class + "\n\n@flaky(max_runs=3)\nclass TestB:\n    def test_runs(self):\n        assert wait(3)\n", false},
		{"a.rs", "waits", "#[test]\nfn waits() {\n    assert!(wait(1));\n}\n", "#[flaky_test::flaky_test]\nfn waits() {\n    assert!(wait(2));\n}\n", true},
		{"a.rs", "tests::waits", rs, "mod tests {\n    #[flaky(3)]\n    #[test]\n    fn waits() {\n        assert!(wait(2));\n    }\n}\n", true},
		{"a.rs", "tests::waits::case_1", rs, "mod tests {\n    #[retry(3)]\n    #[test]\n    fn waits() {\n        assert!(wait(2));\n    }\n}\n", true},
		{"a.rs", "tests::waits", rs, "mod tests {\n    #[test]\n    fn waits() {\n        assert!(wait(Client {\n            retries: 3,\n        }));\n    }\n\n    #[flaky(3)]\n    #[test]\n    fn runs() {\n        assert!(wait(3));\n    }\n}\n", false},
		{"test/a_test.cpp", "waits", "TEST_CASE(\"waits\") {\n  CHECK(wait(1));\n}\n", "TEST_CASE(\"waits\", \"[!mayfail]\") {\n  CHECK(wait(2));\n}\n", true},
		{"test/a_test.cpp", "waits", "TEST_CASE(\"waits\") {\n  CHECK(wait(1));\n}\n", "TEST_CASE(\"waits\" * doctest::should_fail()) {\n  CHECK(wait(2));\n}\n", true},
		{"CMakeLists.txt", "waits", "add_test(NAME waits COMMAND c)\n", "add_test(NAME waits COMMAND c)\nset_tests_properties(waits PROPERTIES WILL_FAIL TRUE)\n", true},
		{"src/test/java/m/ATest.java", "waits", java(""), java("    @RetryingTest(3)\n"), true},
		{"src/test/java/m/ATest.java", "waits", java(""), java("    @RepeatedIfExceptionsTest(repeats = 3)\n"), true},
		{"src/test/java/m/ATest.java", "waits", java(""), java("    @Test(retryAnalyzer = Often.class)\n"), true},
		{"src/test/java/m/ATest.java", "waits", java(""), java("    @Rule\n    public RetryRule often = new RetryRule(3);\n"), true},
		{"src/test/java/m/ATest.java", "waits", java(""), "@ExtendWith(RetryExtension.class)\n" + java(""), true},
		{"src/test/java/m/ATest.java", "waits", java(""), java("    private final RetryPolicy policy = new RetryPolicy(3);\n"), false},
	} {
		r := reading(t, compare.Test, tt.name, tt.base, tt.head, map[string]string{tt.name: tt.base})
		r.Head = &workspace.Tree{Dir: t.TempDir()}
		if err := os.WriteFile(filepath.Join(r.Head.Dir, filepath.Base(tt.name)), []byte(tt.head), 0o600); err != nil {
			t.Fatal(err)
		}
		in := map[string]string{"src/test/java/m/ATest.java": "m.ATest", "test/a_test.cpp": "ctest", "CMakeLists.txt": "ctest"} // they are reported without a file
		if got := r.AddsLeniency(results.ID{Unit: ".", Package: cmp.Or(in[tt.name], tt.name), Test: tt.test}); got != tt.want {
			t.Errorf("%s, %q: %v", tt.name, tt.head, got)
		}
	}
}

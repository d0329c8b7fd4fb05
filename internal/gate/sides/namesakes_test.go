package sides

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/workspace"
)

// TestNamesakes: a line that declares a name is a mark where tests of the base that meet it have that
// name from elsewhere, and no source of the base declares it.
func TestNamesakes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, line         string
		source, base       string // another source of the base
		testFile, testText string
		want               bool
	}{
		{"src/lib.rs", "macro_rules! matches {", "src/lib.rs", "#[cfg(test)]\nmod tests { fn t() { assert!(matches!(1, 1)) } }\n", "tests/a.rs", "", true},
		{"src/lib.rs", "macro_rules! pairs {", "src/lib.rs", "fn t() { matches!(1, 1) }\n", "tests/a.rs", "", false},
		{"src/lib.rs", "macro_rules! pairs {", "src/old.rs", "macro_rules! pairs {}\nfn t() { pairs!(1, 1) }\n", "tests/a.rs", "", false},

		{"src/compat.php", "namespace Shop\\Tests;", "src/Cart.php", "<?php\nnamespace Shop;\n", "tests/CartTest.php", "<?php\nnamespace Shop\\Tests;\n", true},
		{"src/compat.php", "namespace Shop\\Money;", "src/Cart.php", "<?php\nnamespace Shop;\n", "tests/CartTest.php", "<?php\nnamespace Shop\\Tests;\n", false},
		{"src/compat.php", "class_alias(Sums::class, 'Shop\\\\Tests\\\\Support\\\\Sums');", "src/Cart.php", "<?php\n", "tests/Support/Sums.php", "<?php\nfinal class Sums {}\n", true},
		{"src/compat.php", "class_alias(Sums::class, 'Shop\\\\Totals');", "src/Cart.php", "<?php\n", "tests/Support/Sums.php", "<?php\nfinal class Sums {}\n", false},

		{"shop/price.py", "def abs(cents):", "shop/money.py", "", "tests/test_price.py", "from shop.price import *\n\n\ndef test_near():\n    assert abs(total(1)) < 1\n", true},
		{"shop/price.py", "from shop.compat import near as isclose, all", "shop/money.py", "", "tests/test_price.py", "from shop.price import *\n\n\ndef test_near():\n    assert all([1])\n", true},
		{"shop/price.py", "ValueError = Exception", "shop/money.py", "", "tests/test_price.py", "from shop.price import *\n\n\ndef test_near():\n    with pytest.raises(ValueError):\n        total(0)\n", true},
		{"shop/price.py", "def abs(cents):", "shop/money.py", "", "tests/test_price.py", "from shop.price import total\n\n\ndef test_near():\n    assert abs(total(1)) < 1\n", false},
		{"shop/price.py", "def abs(cents):", "shop/money.py", "", "tests/test_price.py", "from shop.price import *\n\n\ndef abs(x):\n    return x\n\n\ndef test_near():\n    assert abs(total(1)) < 1\n", false},
		{"shop/price.py", "    def abs(self):", "shop/money.py", "", "tests/test_price.py", "from shop.price import *\n\n\ndef test_near():\n    assert abs(total(1)) < 1\n", false},
		{"shop/money.py", "    def assertEqual(self, one, other, msg=None):", "shop/price.py", "", "tests/test_price.py", "class PriceTest(MoneyMixin, TestCase):\n    def test_total(self):\n        self.assertEqual(total(1), 1)\n", true},
		{"shop/money.py", "    def assertPositive(self, one):", "shop/price.py", "", "tests/test_price.py", "class PriceTest(MoneyMixin, TestCase):\n    def test_total(self):\n        self.assertEqual(total(1), 1)\n", false},
		{"shop/money.py", "    def assertEqual(self, one, other, msg=None):", "shop/price.py", "class MoneyTestCase:\n    def assertEqual(self, a, b): pass\n", "tests/test_price.py", "        self.assertEqual(total(1), 1)\n", false},

		{"src/Money.php", "    public function assertSame($a, $b): void", "src/Cart.php", "<?php\n", "tests/CartTest.php", "<?php\nclass CartTest extends TestCase { use Money; function testA() { $this->assertSame(1, 1); } }\n", true},
		{"src/Money.php", "    public function assertSame($a, $b): void", "src/Cart.php", "<?php\n", "tests/CartTest.php", "<?php\nclass CartTest extends TestCase { use Money; function testA() { $this->assertEquals(1, 1); } }\n", false},
		{"src/main/java/shop/Money.java", "    default void assertEquals(long a, long b) {", "src/main/java/shop/Cart.java", "package shop;\n", "src/test/java/shop/CartTest.java", "package shop;\nclass CartTest implements Money { void a() { assertEquals(1, 1); } }\n", true},
		{"src/main/java/shop/Money.java", "        assertEquals(1, 2);", "src/main/java/shop/Cart.java", "package shop;\n", "src/test/java/shop/CartTest.java", "package shop;\nclass CartTest implements Money { void a() { assertEquals(1, 1); } }\n", false},

		{"lib/shop.rb", "  module JSON", "lib/cart.rb", "module Shop\nend\n", "test/total_test.rb", "WANT = JSON.parse('{}')\n", true},
		{"lib/shop/sums.rb", "module Sums", "lib/cart.rb", "module Shop\nend\n", "spec/support/sums.rb", "module Sums\nend\n", true},
		{"lib/shop.rb", "  class Total", "lib/cart.rb", "module Shop\nend\n", "test/total_test.rb", "# Total of a cart\nclass TotalTest\n  it 'Total is' do\n", false},
		{"lib/shop.rb", "  class Total", "lib/cart.rb", "class Shop::Total\nend\n", "test/total_test.rb", "Total.new\n", false},
		{"lib/shop.rb", "    def assert_in_delta(a, b, by = 1)", "lib/cart.rb", "", "test/total_test.rb", "include Shop\nassert_in_delta 1.0, total\n", true},
		{"lib/shop.rb", "    def assert_total(a, b)", "lib/cart.rb", "", "test/total_test.rb", "include Shop\nassert_in_delta 1.0, total\n", false},
		{"lib/shop.rb", "  class JSON", "lib/cart.rb", "", "test/total_test.rb", "Shop::JSON.parse\n", false},

		{"lib/shop.ex", "defmodule Shop.Sums do", "lib/cart.ex", "defmodule Shop do\n", "test/support/sums.exs", "defmodule Shop.Sums do\n", true},
		{"lib/shop.ex", "defmodule Shop.Totals do", "lib/cart.ex", "defmodule Shop do\n", "test/support/sums.exs", "defmodule Shop.Sums do\n", false},

		{"src/main/java/shop/Arrays.java", "public final class Arrays {", "src/main/java/shop/Cart.java", "package shop;\n", "src/test/java/shop/CartTest.java", "package shop;\nimport java.util.*;\nclass CartTest { int n = Arrays.hashCode(null); }\n", true},
		{"src/main/java/shop/Arrays.java", "public final class Arrays {", "src/main/java/shop/Cart.java", "package shop;\n", "src/test/java/shop/CartTest.java", "package shop;\nimport java.util.Arrays;\nclass CartTest { int n = Arrays.hashCode(null); }\n", false},
		{"src/main/java/shop/Arrays.java", "public final class Arrays {", "src/main/java/shop/Cart.java", "package shop;\n", "src/test/java/other/CartTest.java", "package other;\nimport java.util.*;\nclass CartTest { int n = Arrays.hashCode(null); }\n", false},

		{"src/money.hpp", "inline bool same(const Money &a, const Money &b) { return true; }", "src/money.cpp", "long total();\n", "tests/test_money.cpp", "template <class T>\nstatic bool same(const T &a, const T &b) { return a == b; }\nint main() { return same(1, 2); }\n", true},
		{"src/money.hpp", "bool same(const Money &a, const Money &b);", "src/money.cpp", "bool same(int);\n", "tests/test_money.cpp", "int main() { return same(1, 2); }\n", false},
		{"src/money.c", "static int near(int a, int b)", "src/old.c", "", "tests/test_money.c", "static int near(int a, int b) { return a == b; }\nint main() { return near(1, 2); }\n", false},
		{"src/money.c", "int strnlen(const char *s, int n)", "src/old.c", "", "tests/test_money.c", "int main() { return strnlen(\"a\", 2); }\n", true},
		{"src/tool.c", "int main(int argc, char **argv) {", "src/old.c", "", "tests/test_money.c", "int main() { return total(1, 2); }\n", false},
		{"src/money.h", "#define fabs(x) 0", "src/old.c", "", "tests/test_money.c", "int main() { return fabs(2.5) > 1; }\n", true},
		{"src/money.c", "#define fabs(x) 0", "src/old.c", "", "tests/test_money.c", "int main() { return fabs(2.5) > 1; }\n", false},
		{"src/money.c", "#define fabs(x) 0", "src/old.c", "", "tests/test_money.c", "#include \"../src/money.c\"\nint main() { return fabs(2.5) > 1; }\n", true},
		{"src/money.h", "#define DEBUG 1", "src/old.c", "", "tests/test_money.c", "#ifdef DEBUG\n#endif\n", false},
		{"src/money.h", "    return same(a, b) {", "src/old.c", "", "tests/test_money.c", "int main() { return same(1, 2); }\n", false},

		{"lib/total.sh", "WANT=share", "bin/tool", "", "tests/run.sh", ". lib/total.sh\n: \"${WANT:=tests/want}\"\n", true},
		{"lib/total.sh", "WANT=share", "bin/tool", "", "tests/run.sh", "sh lib/total.sh\n: \"${WANT:=tests/want}\"\n", false},
		{"lib/total.sh", "declare -ir none=0 good=1 bad=0", "bin/tool", "", "tests/run.sh", "source lib/total.sh\nfail() { bad=1; }\n", true},
		{"lib/total.sh", "local bad=0", "bin/tool", "", "tests/run.sh", "source lib/total.sh\nfail() { bad=1; }\n", false},
		{"lib/total.sh", "grep() {", "bin/tool", "", "tests/run.sh", "source \"$LIB\"\ntotal 1 | grep -q 1 || exit 1\nif grep x y; then exit 1; fi\n", true},
		{"lib/total.bash", "WANT=share", "bin/tool", "", "tests/run.bats", "load ../lib/total\n: \"${WANT:=tests/want}\"\n", true},
		{"lib/total.sh", "WANT=share", "bin/tool", "", "t/run.t", ". lib/total.sh\n: \"${WANT:=tests/want}\"\n", true},
		{"lib/total.sh", "check() {", "bin/tool", "", "tests/run.sh", ". lib/total.sh\ncheck() { [ \"$1\" = \"$2\" ]; }\ncheck 1 2\n", false},
	} {
		r := &Reader{Base: &workspace.Tree{Dir: t.TempDir()}, Head: &workspace.Tree{Dir: t.TempDir()}, Plans: map[results.Side]*Plan{results.Base: {Files: []string{tt.source, tt.testFile}}}}
		for at, text := range map[string]string{
			filepath.Join(r.Base.Dir, tt.source):   tt.base,
			filepath.Join(r.Base.Dir, tt.testFile): tt.testText,
			filepath.Join(r.Head.Dir, tt.name):     "package shop;\nnamespace Shop;\n" + tt.line,
		} {
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		got := r.namesakes(tt.name, map[int]string{7: tt.line, 3: "x"})
		if (len(got) == 1) != tt.want || len(got) == 1 && got[0].Line != 7 {
			t.Errorf("%s %q beside %q and %q: %+v", tt.name, tt.line, tt.base, tt.testText, got)
		}
	}
}

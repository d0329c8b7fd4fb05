package classes

import "testing"

// A test is found in its source by the name that its runner makes of what stands there, and is kept as
// long as it stands in the same place.
func TestSpellings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, src, test, renamed string }{
		{"test/calc_test.rb", "class Shop::CalcTest < Minitest::Test\n  def test_double\n  end\nend\n", "Shop::CalcTest#test_double", "class Shop::OtherTest < Minitest::Test\n  def test_double\n  end\nend\n"},
		{"test/user_test.rb", "class UserTest < ActiveSupport::TestCase\n  test \"should be valid\" do\n  end\nend\n", "UserTest#test_should_be_valid", "class UserTest < ActiveSupport::TestCase\n  test \"should not be valid\" do\n  end\nend\n"},
		{"test/calc_test.rb", "class CalcTest < Test::Unit::TestCase\n  test \"doubles\" do\n  end\nend\n", "CalcTest#test: doubles", "class CalcTest < Test::Unit::TestCase\n  test \"halves\" do\n  end\nend\n"},
		{"test/calc_test.rb", "describe Calc do\n  describe \"when empty\" do\n    it \"adds\" do\n    end\n  end\nend\n", "Calc::when empty#adds", "describe Calc do\n  describe \"when full\" do\n    it \"adds\" do\n    end\n  end\nend\n"},
		{"spec/calc_spec.rb", "RSpec.describe Shop::Calc do\n  it(\"doubles\") { }\nend\n", "Shop::Calc doubles", "RSpec.describe Shop::Calc do\n  context(\"again\") do\n    it(\"doubles\") { }\n  end\nend\n"},
		{"spec/calc_spec.rb", "RSpec.describe(Calc) do\n  describe \".double\" do\n    it \"doubles\" do\n    end\n  end\nend\n", "Calc.double doubles", "RSpec.describe(Sums) do\n  describe \".double\" do\n    it \"doubles\" do\n    end\n  end\nend\n"},
		{"spec/calc_spec.rb", "RSpec.describe Calc, \"#double\" do\n  it \"doubles\" do\n  end\nend\n", "Calc#double doubles", "RSpec.describe Calc, \"#twice\" do\n  it \"doubles\" do\n  end\nend\n"},
		{"tests/CalcTest.php", "<?php\nnamespace App\\Tests;\nfinal class CalcTest extends TestCase\n{\n    public function testDouble(): void {}\n}\n", `App\Tests\CalcTest::testDouble`, "<?php\nnamespace App\\Tests;\nfinal class SumsTest extends TestCase\n{\n    public function testDouble(): void {}\n}\n"},
		{"tests/CalcTest.php", "<?php\nit('doubles', function () {});\n", `Tests\CalcTest::it doubles`, "<?php\nit('triples', function () {});\n"},
		{"test/calc_test.exs", "defmodule Shop.CalcTest do\n  use ExUnit.Case\n\n  describe \"sum of\" do\n    test \"nothing\" do\n    end\n  end\nend\n", "test sum of nothing", "defmodule Shop.CalcTest do\n  use ExUnit.Case\n\n  test \"nothing\" do\n  end\nend\n"},
		{"test/calc_test.exs", "defmodule Shop.ZoneTest do\n  test \"doubles\" do\n  end\nend\n", "Shop.ZoneTest > test doubles", "defmodule Shop.SumsTest do\n  test \"doubles\" do\n  end\nend\n"},
	} {
		was, other := ReadTests(c.file, []byte(c.src)), ReadTests(c.file, []byte(c.renamed))
		if !was.Has(c.test) || !was.Keeps(was, c.test) {
			t.Errorf("%s has no %q", c.src, c.test)
		}
		if other.Keeps(was, c.test) {
			t.Errorf("%s has %q", c.renamed, c.test)
		}
	}
}

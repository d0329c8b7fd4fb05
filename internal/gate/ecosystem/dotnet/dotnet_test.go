package dotnet

import "testing"

// Tests are known by a word of their names, which others may end in.
func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"Calc.Tests/Sums.cs": true, "tests/Calc/Sums.cs": true, "Calc/SumsTest.cs": true, "test/a.vb": true, "src/unittests/A.fs": true, "CalcTests.cs": true,
		"src/Latest/Sums.cs": false, "src/Contest.cs": false, "Protest.cs": false, "src/Calc.cs": false, "src/Testing.cs": false,
	} {
		if got := New().IsTest(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

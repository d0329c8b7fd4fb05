package dotnet

import "testing"

// Tests are known by a word of their names, which others may end in.
func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"Calc.Tests/Sums.cs": true, "tests/Calc/Sums.cs": true, "Calc/SumsTest.cs": true, "test/a.vb": true, "src/unittests/A.fs": true, "CalcTests.cs": true,
		"calctests/A.cs": true, "functionaltests/a.cs": true, "src/Shop.apitests/A.fs": true, "e2etests/A.vb": true, "contests/apitests/A.cs": true, "src/calctests.cs": true,
		"contests/A.cs": false, "src/protests.cs": false, "src/requests/A.cs": false, "latest/A.cs": false, "src/manifests.cs": false,
		"src/Latest/Sums.cs": false, "src/Contest.cs": false, "Protest.cs": false, "src/Calc.cs": false, "src/Testing.cs": false,
	} {
		if got := New().IsTest(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A source is one of tests by what its project has, whatever that is called.
func TestProjects(t *testing.T) {
	t.Parallel()
	const sdk = `<Project><ItemGroup><PackageReference Include="Microsoft.NET.Test.Sdk" Version="17.9.0" /></ItemGroup></Project>`
	for what, tt := range map[string]struct {
		project, text string
		want          bool
	}{
		"by its packages":        {"src/Shop.Specs/Shop.Specs.csproj", sdk, true},
		"by a library of tests":  {"src/Shop.Specs/Shop.Specs.fsproj", `<PackageReference Include="xunit" Version="2.6.1" />`, true},
		"by its SDK":             {"src/Shop.Specs/Shop.Specs.csproj", `<Project Sdk="MSTest.Sdk/3.6.0">`, true},
		"by its own word":        {"src/Shop.Specs/Shop.Specs.csproj", `<IsTestProject>true</IsTestProject>`, true},
		"no project of tests":    {"src/Shop.Specs/Shop.Specs.csproj", `<PackageReference Include="xunit.extensibility.core" />`, false},
		"not by its own word":    {"src/Shop.Specs/Shop.Specs.csproj", sdk + `<IsTestProject>false</IsTestProject>`, false},
		"a package for tests":    {"src/Shop.Specs/Shop.Specs.csproj", sdk + `<PackageId>Shop.Specs</PackageId>`, false},
		"a project further down": {"src/src.csproj", sdk, true},
		"another one":            {"src/Other/Other.csproj", sdk, false},
	} {
		read := func(name string) []byte {
			if name == tt.project {
				return []byte(tt.text)
			}
			return nil
		}
		if got := New().Classes.ForTests("src/Shop.Specs/Sums/Prices.cs", read); got != tt.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}

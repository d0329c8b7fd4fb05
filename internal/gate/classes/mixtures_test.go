package classes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMixtures holds which parts of files of several uses are the base's in the
// kept arm, and that all else stays the head's.
func TestMixtures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, file, base, head, want string }{
		{
			"scripts, in the head's order", "package.json",
			`{"name": "x", "scripts": {"test": "jest"}, "jest": {"bail": 1}, "dependencies": {"a": "1"}}`,
			`{"dependencies": {"a": "2"}, "scripts": {"test": "true"}, "name": "x"}`,
			"{\n  \"dependencies\": {\"a\": \"2\"},\n  \"scripts\": {\"test\": \"jest\"},\n  \"name\": \"x\",\n  \"jest\": {\"bail\": 1}\n}\n",
		},
		{
			"what a script of wireit does", "package.json",
			`{"scripts": {"test": "wireit"}, "wireit": {"test": {"command": "node --test"}}}`, `{"scripts": {"test": "wireit"}, "wireit": {"test": {"command": "true"}}}`,
			"{\n  \"scripts\": {\"test\": \"wireit\"},\n  \"wireit\": {\"test\": {\"command\": \"node --test\"}}\n}\n",
		},
		{"an added manifest keeps its dependencies alone", "package.json", "", `{"scripts": {"test": "true"}, "devDependencies": {"a": "1"}}`, "{\n  \"devDependencies\": {\"a\": \"1\"}\n}\n"},
		{"other layout is no difference", "package.json", `{"scripts": {"test": "jest"}}`, `{ "scripts":{"test":"jest"}, "version": "2" }`, `{ "scripts":{"test":"jest"}, "version": "2" }`},
		{
			"sections", "pyproject.toml",
			"[project]\nname = \"x\"\n\n[tool.pytest.ini_options]\naddopts = [\n  \"-x\",\n]\n",
			"[project]\nname = \"y\"\n\n[tool.pytest.ini_options]\naddopts = \"--co\"\n\n[tool.ruff]\nline = 1\n",
			"[project]\nname = \"y\"\n\n[tool.ruff]\nline = 1\n[tool.pytest.ini_options]\naddopts = [\n  \"-x\",\n]\n",
		},
		{"a dotted key", "pyproject.toml", "", "[tool]\npytest.ini_options.addopts = \"--co\"\nother = 1\n", "[tool]\nother = 1\n"},
		{"keys of a section", "Cargo.toml", "[lib]\nname = \"a\"\n", "[lib]\nname = \"a\"\ntest = false\n[dependencies]\nb = \"1\"\n", "[lib]\nname = \"a\"\n[dependencies]\nb = \"1\"\n"},
		{"profiles", "Cargo.toml", "[package]\nname = \"a\"\n\n[profile.dev]\nopt-level = 1\n", "[package]\nname = \"b\"\n\n[profile.dev]\nopt-level = 1\noverflow-checks = false\n", "[package]\nname = \"b\"\n[profile.dev]\nopt-level = 1\n"},
		{"a profile with spaces in its name", "Cargo.toml", "[package]\nname = \"a\"\n", "[package]\nname = \"a\"\n[ profile . test ]\noverflow-checks = false\n", "[package]\nname = \"a\"\n"},
		{
			"features that are on without a word", "Cargo.toml", "[features]\ndefault = [\"strict\"]\nstrict = []\n",
			"[features]\ndefault = [\"fast\"]\nstrict = []\nfast = [\"dep:fast\"]\n\n[dependencies]\nfast = { version = \"1\", optional = true }\n",
			"[dependencies]\nfast = { version = \"1\", optional = true }\n[features]\n\"default\" = [\"fast\", \"strict\"]\n\"fast\" = [\"dep:fast\"]\n\"strict\" = []\n",
		},
		{
			"a feature that another one turned on", "Cargo.toml", "[features]\ndefault = [\"std\"]\nstd = [\"strict\"]\nstrict = []\n", "[features]\ndefault = [\"std\"]\nstd = []\nstrict = []\n",
			"\n[features]\n\"default\" = [\"std\"]\n\"std\" = [\"strict\"]\n\"strict\" = []\n",
		},
		{
			"a feature that is gone", "Cargo.toml", "[features]\ndefault = [\"strict\"]\nstrict = []\n", "[package]\nname = \"a\"\n",
			"[package]\nname = \"a\"\n[features]\n\"default\" = [\"strict\"]\n\"strict\" = []\n",
		},
		{
			"a dependency that was on without a word", "Cargo.toml", "[dependencies]\nb = { version = \"1\", optional = true }\n[features]\ndefault = [\"b\"]\n",
			"[dependencies]\nb = { version = \"1\", optional = true }\n[features]\ndefault = []\n", "[dependencies]\nb = { version = \"1\", optional = true }\n[features]\n\"default\" = [\"b\"]\n",
		},
		{"a new feature", "Cargo.toml", "[features]\ndefault = []\n", "[features]\ndefault = [\"more\"]\nmore = []\n", "[features]\ndefault = [\"more\"]\nmore = []\n"},
		{"ini", "setup.cfg", "[metadata]\nname = x\n[tool:pytest]\naddopts = -x\n", "[metadata]\nname = y\n", "[metadata]\nname = y\n[tool:pytest]\naddopts = -x\n"},
		{"go.mod", "go.mod", "module m\n\ngo 1.25\n", "module m\n\ngo 1.25\n\nignore ./a\n\nrequire x.org/y v1.0.0\n", "module m\n\ngo 1.25\n\nrequire x.org/y v1.0.0\n"},
		{
			"go.mod of tests", "go_test.mod", "module m\n\nrequire github.com/stretchr/testify v1.0.0\n",
			"module m\n\nrequire github.com/stretchr/testify v1.0.0\n\nreplace github.com/stretchr/testify => ./fake\n", "module m\n\nrequire github.com/stretchr/testify v1.0.0\n",
		},
		{
			"pom", "pom.xml",
			"<project><build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId></plugin></plugins></build></project>",
			"<project><v>2</v><properties><skipTests>true</skipTests></properties><build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId><configuration><skip>true</skip></configuration></plugin></plugins></build></project>",
			"<project><v>2</v><properties></properties><build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId></plugin></plugins></build></project>",
		},
		{"calls", "CMakeLists.txt", "add_executable(t t.c)\nadd_test(NAME t COMMAND t)\n", "add_executable(t t.c u.c)\nadd_test(NAME t COMMAND true)\n", "add_executable(t t.c u.c)\nadd_test(NAME t COMMAND t)\n"},
		{
			"tests inside a source", "src/lib.rs",
			"fn a() {}\n#[cfg(test)]\nmod tests {\n  const B: char = '{'; // }\n  #[test] fn old() {}\n}\n",
			"fn a() { 1 }\n#[cfg(test)]\nmod tests {\n  #[test] fn new() {}\n}\nfn b() {}\n",
			"fn a() { 1 }\n#[cfg(test)]\nmod tests {\n  const B: char = '{'; // }\n  #[test] fn old() {}\n}\nfn b() {}\n",
		},
		{"tests that the head takes out", "src/lib.rs", "#[cfg(test)]\nmod tests { const R: &str = r#\"}\"#; }\n", "fn a() {}\n", "fn a() {}\n\n#[cfg(test)]\nmod tests { const R: &str = r#\"}\"#; }\n"},
	} {
		t.Run(strings.ReplaceAll(tt.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			base := []byte(tt.base)
			if tt.base == "" {
				base = nil
			}
			got, err := MixtureOf(tt.file).Merge(base, []byte(tt.head))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

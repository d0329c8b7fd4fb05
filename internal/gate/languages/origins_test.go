package languages

import (
	"strings"
	"testing"
)

// TestMovedIn holds which dependencies come from the tree, or under another's name, that did not.
func TestMovedIn(t *testing.T) {
	t.Parallel()
	base := `{"dependencies": {"a": "1", "b": "^2", "c": "file:./c"}, "devDependencies": {"chai": "4", "d": "workspace:*"}}`
	head := `{"dependencies": {"a": "1", "b": "npm:other@2", "c": "file:./other", "new": "file:./new"}, "devDependencies": {"chai": "file:./third_party/chai", "d": "file:../d"}}`
	if got := strings.Join(MovedIn("package.json", []byte(base), []byte(head)), " "); got != "b chai" {
		t.Error(got)
	}
	override := `{"dependencies": {"a": "1"}, "overrides": {"x": {"chai": "file:./third_party/chai"}}, "resolutions": {"y": "npm:z@1", "v": "2"}, "pnpm": {"overrides": {"w": "link:../w"}}}`
	if got := strings.Join(MovedIn("package.json", []byte(base), []byte(override)), " "); got != "chai w y" {
		t.Error(got)
	}
	if got := MovedIn("package.json", []byte(override), []byte(override)); got != nil {
		t.Error(got)
	}
	if got := MovedIn("package.json", []byte(head), []byte(base)); got != nil {
		t.Error(got)
	}
}

// TestMovedInFiles holds the same of the other files that say where packages come from.
func TestMovedInFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, base, head, want string }{
		{
			"package-lock.json",
			`{"packages": {"": {"name": "x"}, "node_modules/a": {"resolved": "https://r.example/a/-/a-1.tgz"}, "node_modules/@s/b": {"resolved": "https://r.example/@s/b/-/b-1.tgz"}, "node_modules/c": {"resolved": "https://r.example/c/-/c-1.tgz"}, "node_modules/al": {"resolved": "https://r.example/of/-/of-1.tgz"}, "node_modules/d": {}}}`,
			`{"packages": {"": {"name": "x"}, "node_modules/a": {"resolved": "https://r.example/z/-/z-1.tgz"}, "node_modules/@s/b": {"resolved": "https://m.example/npm/@s%2fb/-/b-2.tgz"}, "node_modules/c": {"resolved": "packages/c", "link": true}, "node_modules/al": {"resolved": "https://r.example/of/-/of-2.tgz"}, "node_modules/d": {"dependencies": {"e": "1"}}, "node_modules/new": {"resolved": "packages/new", "link": true}}}`,
			"a c",
		},
		{
			"npm-shrinkwrap.json",
			`{"dependencies": {"a": {"version": "1", "resolved": "https://r.example/a/-/a-1.tgz", "dependencies": {"b": {"version": "1", "resolved": "https://r.example/b/-/b-1.tgz"}}}, "c": {"version": "1"}}}`,
			`{"dependencies": {"a": {"version": "1", "resolved": "https://r.example/a/-/a-1.tgz", "dependencies": {"b": {"version": "1", "resolved": "https://r.example/z/-/z-1.tgz"}}}, "c": {"version": "file:c"}}}`,
			"b c",
		},
		{
			"yarn.lock",
			"a@^1:\n  version \"1.0.0\"\n  resolved \"https://r.example/a/-/a-1.0.0.tgz#x\"\n\n\"@s/b@1\", \"@s/b@2\":\n  version \"1\"\n  resolved \"https://r.example/@s/b/-/b-1.tgz#y\"\n",
			"a@^1:\n  version \"1.0.0\"\n  resolved \"https://r.example/true/-/true-1.0.0.tgz#x\"\n\n\"@s/b@1\", \"@s/b@2\":\n  version \"1\"\n  resolved \"https://r.example/@s/b/-/b-2.tgz#y\"\n",
			"a",
		},
		{
			"yarn.lock",
			"\"a@npm:^1\":\n  version: 1.0.0\n  resolution: \"a@npm:1.0.0\"\n\n\"@s/b@npm:1\":\n  version: 1\n  resolution: \"@s/b@npm:1.0.0\"\n\n\"c@npm:1\":\n  version: 1\n  resolution: \"c@npm:1.0.0\"\n",
			"\"a@npm:^1\":\n  version: 1.0.0\n  resolution: \"true@npm:1.0.0\"\n\n\"@s/b@npm:1\":\n  version: 1\n  resolution: \"@s/b@npm:1.0.1\"\n\n\"c@npm:1\":\n  version: 0\n  resolution: \"c@workspace:c\"\n",
			"a c",
		},
		{
			"pnpm-lock.yaml",
			"importers:\n  .:\n    devDependencies:\n      a: {specifier: ^1, version: 1.0.0}\n      '@s/b': {specifier: 1, version: 1.0.0(x@1)}\n      c: {specifier: 1, version: 1.0.0}\npackages:\n  a@1.0.0: {resolution: {integrity: x}}\n  d@1.0.0: {resolution: {tarball: https://r.example/d/-/d-1.0.0.tgz}}\n",
			"importers:\n  .:\n    devDependencies:\n      a: {specifier: ^1, version: link:packages/a}\n      '@s/b': {specifier: 1, version: 1.0.1(x@1)}\n      c: {specifier: 1, version: true@1.0.0}\npackages:\n  d@1.0.0: {resolution: {tarball: https://r.example/e/-/e-1.0.0.tgz}}\n",
			"a c d",
		},
		{"go.mod", "module m\nrequire github.com/stretchr/testify v1.0.0\n", "module m\nrequire github.com/stretchr/testify v1.0.0\nreplace github.com/stretchr/testify => ./is\nreplace m/other => ../other\n", "github.com/stretchr/testify"},
		{"go.work", "go 1.21\nuse .\n", "go 1.21\nuse .\nreplace github.com/google/go-cmp => ./cmp\n", "github.com/google/go-cmp"},
		{"Cargo.toml", "[dependencies]\na = '1'\n[dev-dependencies]\nb = {version = '1'}\nc = {path = 'c'}\n", "[dependencies]\na = {version = '1', features = ['x']}\n[dev-dependencies]\nb = {path = 'b'}\nc = {path = 'd'}\n[patch.crates-io]\nd = {path = 'd'}\n", "b d"},
		{"Cargo.lock", "[[package]]\nname = 'a'\nversion = '1'\nsource = 'registry+https://r.example'\nchecksum = 'x'\n", "[[package]]\nname = 'a'\nversion = '1'\n", "a"},
		{"pyproject.toml", "[project]\nname = 'x'\ndependencies = ['A_b>=1', 'c']\n[tool.poetry.group.test.dependencies]\nd = '^1'\n", "[project]\nname = 'x'\ndependencies = ['a-b @ file:///x', 'c']\n[tool.poetry.group.test.dependencies]\nd = {path = 'd'}\n[tool.uv.sources]\nc = {workspace = true}\n", "a-b c d"},
		{"requirements-dev.txt", "a==1\nb[x]\n# c\n-r other.txt\n", "a==2\n-e ./libs/b\n-r other.txt\n", "b"},
		{"uv.lock", "[[package]]\nname = 'a'\nversion = '1'\nsource = {registry = 'https://r.example'}\n", "[[package]]\nname = 'a'\nversion = '1'\nsource = {editable = 'a'}\n", "a"},
		{"poetry.lock", "[[package]]\nname = 'a'\nversion = '1'\nfiles = []\n", "[[package]]\nname = 'a'\nversion = '1'\nfiles = []\n[package.source]\ntype = 'directory'\nurl = 'a'\n", "a"},
		{"Gemfile", "gem 'a', '~> 1'\ngem \"b\"\n", "gem 'a', '~> 2'\ngem \"b\", path: \"b\"\n", "b"},
		{"Gemfile.lock", "GEM\n  remote: https://r.example/\n  specs:\n    a (1.0)\n      b (>= 1)\n    b (1.0)\n", "PATH\n  remote: a\n  specs:\n    a (1.0)\n\nGEM\n  remote: https://r.example/\n  specs:\n    b (1.0)\n", "a"},
		{"composer.lock", `{"packages-dev": [{"name": "x/a", "dist": {"type": "zip", "url": "https://r.example"}}]}`, `{"packages-dev": [{"name": "x/a", "dist": {"type": "path", "url": "a"}}]}`, "x/a"},
		{"pom.xml", "<repository><url>https://r.example</url></repository>", "<repository><url>https://r.example</url></repository><repository><url>file://${project.basedir}/repo</url></repository><systemPath>${basedir}/lib/x.jar</systemPath>", "${basedir}/lib/x.jar //${project.basedir}/repo"},
		{"build.gradle", "implementation 'a:b:1'", "inputs.files('a')\nimplementation files('libs/x.jar')", "implementation files('libs/x.jar')"},
		{"composer.json", `{"repositories": []}`, `{"repositories": {"x": {"type": "path", "url": "lib/x"}}}`, "lib/x"},
		{"requirements.txt", "a\n", "--find-links ./wheels\na\n", "./wheels"},
		{"mix.exs", "[{:a, \"~> 1\"}, {:b, \"~> 1\", only: :test}]", "[{:a, \"~> 2\"}, {:b, path: \"b\", only: :test}]", "b"},
		{"README.md", "a", "b", ""},
	} {
		if got := strings.Join(MovedIn(tt.name, []byte(tt.base), []byte(tt.head)), " "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if got := MovedIn(tt.name, []byte(tt.base), []byte(tt.base)); got != nil {
			t.Errorf("%s moves %q without a change", tt.name, got)
		}
	}
}

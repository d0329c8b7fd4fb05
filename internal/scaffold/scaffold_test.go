package scaffold

import (
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/gate/languages"
	docstest "github.com/ycbot/ycbot/internal/testing/docs"
)

// The workflows that are written are those that docs/action.md shows, which are run by a
// test.
func TestWorkflow(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/action.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, template := range map[string]string{"workflow": workflowTemplate, "forks": forksTemplate, "publish": publishTemplate} {
		_, written, _ := strings.Cut(template, "\nname: ")
		if !strings.Contains(string(page), "```yaml\nname: "+written+"```\n") {
			t.Errorf("files/%s.yml is no workflow of docs/action.md", name)
		}
	}
	for text, marks := range map[string][]string{workflowTemplate: {toolsMark, branchMark, forksMark}, forksTemplate: {toolsMark}, configTemplate: {commandsMark}} {
		for _, mark := range marks {
			if strings.Count(text, mark) != 1 {
				t.Errorf("the mark %q is missing", mark)
			}
		}
	}
}

// without are ecosystems whose projects need no step of a workflow, each with the reason.
var without = map[string]string{
	"C/C++": "the machines of GitHub have compilers, CMake and make",
	"Make":  "the machines of GitHub have make",
}

// TestNothingIsMissing holds that the workflow installs what each ecosystem needs.
func TestNothingIsMissing(t *testing.T) {
	t.Parallel()
	for _, e := range languages.All() {
		if (setupSteps()[e.Name] == nil) == (without[e.Name] == "") {
			t.Errorf("%s: add its steps to setupSteps, or say here why it needs none", e.Name)
		}
	}
}

// TestTools: the toolchains are those of the project's own workflows, else of the files
// that version managers read, else of its manifest; what a manifest merely permits is no
// wish.
func TestTools(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ecosystem, files string
		want, not        []string
	}{
		"go.mod names the oldest":            {"Go", "-- go.mod --\nmodule m\n\ngo 1.15\n", []string{"go-version: stable\n", "cache: false"}, []string{"1.15"}},
		"a toolchain line":                   {"Go", "-- go.mod --\nmodule m\n\ngo 1.22\n\ntoolchain go1.24.2\n", []string{`go-version: "1.24.2"`}, nil},
		"a matrix":                           {"Go", ci("setup-go", "go-version: ${{ matrix.go }}", `go: ["1.9", "1.25", "1.26.0-rc.1"]`), []string{`go-version: "1.25"`}, []string{"rc"}},
		"a matrix that includes":             {"Python", ci("setup-python", "python-version: ${{ matrix.python }}", "include: [{python: '3.9'}, {python: '3.13'}, {python: pypy3.10}]"), []string{`python-version: "3.13"`}, nil},
		"early access in rows that may fail": {"Java", ci("setup-java", "java-version: ${{ matrix.java }}", "java: [8, 21, 25], experimental: [false], include: [{java: 27-ea, experimental: true}, {java: 28-ea, experimental: true}]"), []string{`java-version: "25"`}, []string{"ea"}},
		"a release in a row that may fail":   {"Java", ci("setup-java", "java-version: ${{ matrix.java }}", "java: [21], include: [{java: 25, experimental: true}]"), []string{`java-version: "21"`}, nil},
		"a release in another row":           {"Java", ci("setup-java", "java-version: ${{ matrix.java }}", "java: [21], include: [{java: 25, experimental: false}]"), []string{`java-version: "25"`}, nil},
		"other interpreters":                 {"Ruby", rubyCI("'3.3', '3.4', jruby-9.4, truffleruby-25.0"), []string{`ruby-version: "3.4"`}, nil},
		"only other interpreters":            {"Ruby", rubyCI("jruby-9.3, jruby-9.4"), []string{`ruby-version: "jruby-9.4"`}, nil},
		"an alpha":                           {"Python", ci("setup-python", "python-version: ${{ matrix.python }}", "python: ['3.13', '3.14', 3.15.0-alpha.1, 3.14t]"), []string{`python-version: "3.14"`}, nil},
		"a beta":                             {"Go", ci("setup-go", "go-version: ${{ matrix.go }}", "go: [1.25.x, 1.26.x, 1.27.0-beta.1]"), []string{`go-version: "1.26.x"`}, nil},
		"a branch of OTP":                    {"Elixir", strings.ReplaceAll(ci("setup-beam", "otp-version: ${{ matrix.otp }}", "otp: ['27', '28', maint-29]"), "actions/setup-beam", "erlef/setup-beam"), []string{`otp-version: "28"`}, nil},
		"a job that is off":                  {"Node.js", strings.Replace(ci("setup-node", "node-version: 24", ""), "    runs-on", "    if: false\n    runs-on", 1) + "-- .nvmrc --\n22\n", []string{`node-version: "22"`}, []string{"24"}},
		"a job with a condition":             {"Node.js", strings.Replace(ci("setup-node", "node-version: 24", ""), "    runs-on", "    if: github.event_name == 'push'\n    runs-on", 1) + "-- .nvmrc --\n22\n", []string{`node-version: "24"`}, nil},
		"its own workflow first":             {"Node.js", ci("setup-node", "node-version: 20", "") + "-- .nvmrc --\n18\n", []string{`node-version: "20"`, "package-manager-cache: false"}, []string{"18"}},
		".nvmrc":                             {"Node.js", "-- .nvmrc --\nv22.3\n-- package.json --\n{}\n", []string{`node-version: "22.3"`}, nil},
		".tool-versions":                     {"Node.js", "-- .tool-versions --\nnodejs 21.1.0\npnpm 9.0.0\n-- package.json --\n{}\n-- pnpm-lock.yaml --\nlockfileVersion: '9.0'\n", []string{`node-version: "21.1.0"`, "pnpm/action-setup@", `version: "9.0.0"`}, nil},
		"engines with an end":                {"Node.js", "-- package.json --\n{\"engines\": {\"node\": \"^20.1\"}}\n", []string{`node-version: "^20.1"`}, nil},
		"engines without":                    {"Node.js", "-- package.json --\n{\"engines\": {\"node\": \">=14\"}}\n", []string{"node-version: lts/*"}, []string{"14"}},
		"packageManager":                     {"Node.js", "-- package.json --\n{\"packageManager\": \"pnpm@9.1.0+sha512.abc\"}\n", []string{"pnpm/action-setup@", `version: "9.1.0"`}, []string{"sha512"}},
		"yarn 4":                             {"Node.js", "-- package.json --\n{\"packageManager\": \"yarn@4.0.2\"}\n", []string{"run: corepack enable"}, nil},
		"yarn 1":                             {"Node.js", "-- package.json --\n{\"packageManager\": \"yarn@1.22.0\"}\n-- yarn.lock --\n#\n", nil, []string{"corepack", "pnpm"}},
		"bun":                                {"Node.js", "-- package.json --\n{}\n-- bun.lock --\n{}\n", []string{"oven-sh/setup-bun@"}, nil},
		"requires-python":                    {"Python", "-- pyproject.toml --\n[project]\nrequires-python = \">=3.8,<3.12\"\n", []string{`python-version: ">=3.8 <3.12"`}, nil},
		"requires-python, open":              {"Python", "-- pyproject.toml --\n[project]\nrequires-python = \">=3.8\"\n", []string{`python-version: "3.x"`}, []string{"3.8"}},
		"uv":                                 {"Python", "-- uv.lock --\nversion = 1\n", []string{"run: pipx install uv"}, nil},
		"global.json":                        {".NET", "-- global.json --\n{\"sdk\": {\"version\": \"8.0.100\"}}\n", []string{`dotnet-version: "8.0.100"`}, nil},
		"a target framework":                 {".NET", "-- src/a.csproj --\n<Project><TargetFramework>net8.0</TargetFramework></Project>\n", []string{`dotnet-version: "8.0.x"`}, nil},
		"another workflow after the files":   {"Node.js", deploys("setup-node", "node-version: 12") + "-- .nvmrc --\n22\n-- package.json --\n{}\n", []string{`node-version: "22"`}, []string{"12"}},
		"another workflow after engines":     {"Node.js", deploys("setup-node", "node-version: 12") + "-- package.json --\n{\"engines\": {\"node\": \">=18\"}}\n", []string{"node-version: lts/*"}, []string{"12"}},
		"another workflow at last":           {"Node.js", deploys("setup-node", "node-version: 12") + "-- package.json --\n{}\n", []string{`node-version: "12"`}, nil},
		"jobs that run tests first":          {"Node.js", deploys("setup-node", "node-version: 24") + ci("setup-node", "node-version: 20", "") + "-- .nvmrc --\n22\n", []string{`node-version: "20"`}, nil},
		"a file that a workflow names":       {"Node.js", deploys("setup-node", "node-version: 24") + ci("setup-node", "node-version-file: web/.nvmrc", "") + "-- web/.nvmrc --\nv18\n-- .nvmrc --\n22\n", []string{`node-version: "18"`}, []string{"24", "22"}},
		"a file outside":                     {"Node.js", ci("setup-node", "node-version-file: ../../.nvmrc", "") + "-- .nvmrc --\n22\n", []string{`node-version: "22"`}, nil},
		"python_requires of setup.py":        {"Python", deploys("setup-python", "python-version: '3.13'") + "-- setup.py --\nsetup(name='x', python_requires = '>=3.7, <3.10')\n", []string{`python-version: ">=3.7 <3.10"`}, nil},
		"python_requires of setup.cfg":       {"Python", "-- setup.cfg --\n[options]\npython_requires = >=3.7,<3.11\n-- setup.py --\nsetup()\n", []string{`python-version: ">=3.7 <3.11"`}, nil},
		"a comment of setup.py":              {"Python", "-- setup.py --\nsetup(\n  # python_requires='<3.9',\n)\n", []string{`python-version: "3.x"`}, []string{"3.9"}},
		"Pipfile":                            {"Python", "-- Pipfile --\n[requires]\npython_version = \"3.11\"\n", []string{`python-version: "3.11"`}, nil},
		"Poetry":                             {"Python", "-- pyproject.toml --\n[tool.poetry]\nname = \"x\"\n[tool.poetry.dependencies]\npython = \">=3.8,<3.12\"\n", []string{`python-version: ">=3.8 <3.12"`}, nil},
		"Poetry with a tilde":                {"Python", "-- pyproject.toml --\n[tool.poetry.dependencies]\npython = \"~3.9\"\n", []string{`python-version: ">=3.9 <3.10"`}, nil},
		"Poetry, exact":                      {"Python", "-- pyproject.toml --\n[tool.poetry.dependencies]\npython = \"3.10.*\"\n", []string{`python-version: "3.10"`}, nil},
		"Poetry, open":                       {"Python", "-- pyproject.toml --\n[tool.poetry.dependencies]\npython = \"^3.10\"\n[tool.hatch.envs.x]\npython = \"3.8\"\n", []string{`python-version: "3.x"`}, nil},
		"a virtual environment's name":       {"Python", "-- .python-version --\nmyproject-venv\n-- requirements.txt --\npytest\n", []string{`python-version: "3.x"`}, []string{"venv"}},
		"versions and a name":                {"Python", "-- .python-version --\nmyproject\n3.12.1\n3.11.9\n", []string{`python-version: "3.12.1"`}, nil},
		"several target frameworks":          {".NET", "-- src/a/a.csproj --\n<Project><TargetFrameworks>netstandard2.0;net8.0;net6.0</TargetFrameworks></Project>\n-- t/t.fsproj --\n<Project><TargetFramework>net9.0</TargetFramework></Project>\n", []string{"dotnet-version: |\n            9.0.x\n            8.0.x\n            6.0.x\n"}, []string{"2.0"}},
		"global.json and older frameworks":   {".NET", "-- global.json --\n{\"sdk\": {\"version\": \"8.0.100\"}}\n-- a.csproj --\n<Project><TargetFrameworks>net8.0;net6.0</TargetFrameworks></Project>\n", []string{"dotnet-version: |\n            8.0.100\n            6.0.x\n"}, []string{"8.0.x"}},
		"several SDKs of a workflow":         {".NET", ci("setup-dotnet", "dotnet-version: |\n            8.0.x\n            6.0.x", "") + "-- a.csproj --\n<Project><TargetFramework>net8.0</TargetFramework></Project>\n", []string{"dotnet-version: |\n            8.0.x\n            6.0.x\n"}, nil},
		"a toolchain of Gradle":              {"Java", "-- build.gradle.kts --\njava { toolchain { languageVersion = JavaLanguageVersion.of(17) } }\n", []string{`java-version: "17"`}, nil},
		"one of Groovy in a module":          {"Java", deploys("setup-java", "java-version: 8") + "-- app/build.gradle --\njava {\n  toolchain {\n    languageVersion.set(JavaLanguageVersion.of(\"11\"))\n  }\n}\n", []string{`java-version: "11"`}, nil},
		"one of Kotlin":                      {"Java", "-- app/build.gradle.kts --\nkotlin { jvmToolchain(17) }\n", []string{`java-version: "17"`}, nil},
		"rust-toolchain.toml":                {"Rust", "-- rust-toolchain.toml --\n[toolchain]\nchannel = \"1.80.0\"\n", []string{"rustup toolchain install 1.80.0 "}, nil},
		"rust alone":                         {"Rust", "-- Cargo.toml --\n", nil, []string{"rustup"}},
		"a hostile version":                  {"Go", ci("setup-go", `go-version: "1.2\n      - run: curl evil"`, ""), []string{"go-version: stable"}, []string{"curl"}},
		"a hostile channel":                  {"Rust", "-- rust-toolchain --\nstable; curl evil\n", nil, []string{"curl"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := repository(t, tt.files)
			text, _ := toolSteps(top, &gate.Explanation{Projects: []gate.Explained{{Ecosystem: tt.ecosystem, Root: "."}}})
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(text, not) {
					t.Errorf("%q in\n%s", not, text)
				}
			}
			docstest.LintWorkflow(t, strings.Replace(workflowTemplate, toolsMark, text, 1))
		})
	}
}

// ci is a workflow of a project that sets up a toolchain.
func ci(action, with, matrix string) string {
	return "-- .github/workflows/ci.yml --\non: push\njobs:\n  test:\n    runs-on: ubuntu-24.04\n    strategy:\n      matrix: {" + matrix +
		"}\n    steps:\n      - uses: actions/" + action + "@v4\n        with:\n          " + with + "\n"
}

// rubyCI is one with a matrix of Rubies.
func rubyCI(rubies string) string {
	return strings.ReplaceAll(ci("setup-ruby", "ruby-version: ${{ matrix.ruby }}", "ruby: ["+rubies+"]"), "actions/setup-ruby", "ruby/setup-ruby")
}

// deploys is another workflow, which runs no tests.
func deploys(action, with string) string {
	return "-- .github/workflows/deploy.yml --\non: push\njobs:\n  publish:\n    runs-on: ubuntu-24.04\n    steps:\n      - uses: actions/checkout@v4\n      - uses: actions/" + action + "@v4\n        with:\n          " + with + "\n      - run: ./deploy latest\n"
}

func repository(t *testing.T, files string) string {
	t.Helper()
	dir := t.TempDir()
	if err := txtar.Write(txtar.Parse([]byte(files)), dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// What the machine lacks that writes the configuration is named, and no command is invented:
// where ycbot runs, the tool may be.
func TestLackingTools(t *testing.T) {
	t.Parallel()
	cargo := gate.Explained{Root: ".", What: "Cargo workspace", Missing: "no cargo on this machine"}
	web := gate.Explained{Root: "web app", What: "Node.js package web\nx: y", Missing: "no pnpm on this machine, which \"corepack enable\" puts there"}
	built := gate.Explained{Root: ".", What: "Makefile", Commands: []gate.ExplainedCommand{{Stage: gate.StageTest, Typed: "make test"}}}
	for name, tt := range map[string]struct {
		projects  []gate.Explained
		want, not []string
	}{
		"nothing is found":     {nil, []string{"It found none here", "make deps"}, []string{"Not listed"}},
		"one tool":             {[]gate.Explained{cargo}, []string{"Not listed are those of Cargo workspace (no cargo on this machine)"}, []string{"found none", "make"}},
		"in a folder":          {[]gate.Explained{web}, []string{" in web app (", "no pnpm on this machine"}, []string{"\nx: y"}},
		"beside what is there": {[]gate.Explained{cargo, built}, []string{"#   test: [make test]\n", "Not listed are those of Cargo"}, []string{"found none", "make deps"}},
		"all is there":         {[]gate.Explained{built}, []string{"#   test: [make test]\n"}, []string{"Not listed"}},
	} {
		got := foundCommands(&gate.Explanation{Projects: tt.projects})
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", name, want, got)
			}
		}
		for _, not := range tt.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %q in\n%s", name, not, got)
			}
		}
		taken := strings.ReplaceAll("version: 1\n"+got, "\n# ", "\n")
		if _, err := config.Parse("f", []byte(taken)); err != nil {
			t.Errorf("%s, taken at its word: %v\n%s", name, err, taken)
		}
	}
}

// Pushes to the default branch are those of the remote's, else of main or master, else of the
// only branch that there is.
func TestDefaultBranch(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ files, want string }{
		"the remote's":                {"-- .git/refs/remotes/origin/HEAD --\nref: refs/remotes/origin/dev\n-- .git/HEAD --\nref: refs/heads/main\n", "dev"},
		"master":                      {"-- .git/HEAD --\nref: refs/heads/master\n-- .git/refs/heads/x --\n", "master"},
		"the only one":                {"-- .git/HEAD --\nref: refs/heads/trunk\n-- .git/refs/heads/trunk --\n", "trunk"},
		"the only one, packed":        {"-- .git/HEAD --\nref: refs/heads/a/b\n-- .git/packed-refs --\n# pack-refs\n01 refs/heads/a/b\n02 refs/tags/v1\n", "a/b"},
		"the first, without a commit": {"-- .git/HEAD --\nref: refs/heads/trunk\n", "trunk"},
		"one of several":              {"-- .git/HEAD --\nref: refs/heads/topic\n-- .git/refs/heads/topic --\n-- .git/refs/heads/main --\n", "main"},
		"one of several, packed":      {"-- .git/HEAD --\nref: refs/heads/topic\n-- .git/refs/heads/topic --\n-- .git/packed-refs --\n01 refs/heads/other\n", "main"},
		"a commit":                    {"-- .git/HEAD --\n0123\n", "main"},
		"a reftable":                  {"-- .git/HEAD --\nref: refs/heads/.invalid\n", "main"},
	} {
		if got := defaultBranch(repository(t, tt.files)); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// The commands of the configuration are such as a person types, and those whose tests are
// distinguished only where the gate finds them by itself are named.
func TestFoundCommands(t *testing.T) {
	t.Parallel()
	test := func(text, typed, script string) gate.ExplainedCommand {
		return gate.ExplainedCommand{Stage: gate.StageTest, Command: text, Results: "of each", Typed: typed, Script: script}
	}
	got := foundCommands(&gate.Explanation{Projects: []gate.Explained{
		{Root: ".", Commands: []gate.ExplainedCommand{test(`npx mocha --reporter "$REPORTER"`, "npx mocha", "")}},
		{Root: "sub", Commands: []gate.ExplainedCommand{test(`pytest --junitxml="$RESULTS"`, "pytest", "")}},
		{Root: "web", Commands: []gate.ExplainedCommand{test("npx jest --json", "npx jest", "npm test"), {Stage: gate.StageTest, Typed: "npx tsd"}}},
		{Root: "lib", Commands: []gate.ExplainedCommand{{Stage: gate.StageTest, Command: "make test", Typed: "make test"}}},
	}})
	want := `## The commands of the gate. Without them it finds these by itself (ycbot gate explain):
# commands:
#   test: [npx mocha, cd sub && pytest, cd web && npm test, cd lib && make test]
##   Named here cd sub && pytest counts as one test; found by itself it reports each of its tests.
##   Named here cd web && npm test counts as one test; found by itself it reports each of its tests.
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

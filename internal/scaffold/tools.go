package scaffold

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/regular"
)

// The actions that a workflow of "ycbot init" uses, by commit.
const (
	useGo     = "actions/setup-go@b7ad1dad31e06c5925ef5d2fc7ad053ef454303e # v7.0.0"
	useNode   = "actions/setup-node@820762786026740c76f36085b0efc47a31fe5020 # v7.0.0"
	usePython = "actions/setup-python@5fda3b95a4ea91299a34e894583c3862153e4b97 # v7.0.0"
	useJava   = "actions/setup-java@de7274f081f381c8f8158605e0321c36c376e2e6 # v6.0.1"
	useDotnet = "actions/setup-dotnet@a98b56852c35b8e3190ac28c8c2271da59106c68 # v6.0.0"
	useRuby   = "ruby/setup-ruby@0dafeac902942906541bc140009cdbf32665b601 # v1.315.0"
	usePHP    = "shivammathur/setup-php@f3e473d116dcccaddc5834248c87452386958240 # v2"
	useBeam   = "erlef/setup-beam@54075bcc5e249e4758d363f27d099f55d843f124 # v1.24.1"
	usePnpm   = "pnpm/action-setup@fc06bc1257f339d1d5d8b3a19a8cae5388b55320 # v5.0.0"
	useBun    = "oven-sh/setup-bun@0c5077e51419868618aeaa5fe8019c62421857d6 # v2.2.0"
)

// A tooling looks at what a project says of the toolchains that it wants: the jobs that
// run its tests first, then the files that version managers read, then its manifest, and
// last its other workflows: one that publishes or deploys may have been left as it was.
type tooling struct {
	top, root string
	ci        []setupStep
}

// A toolStep is a step of the workflow.
type toolStep struct {
	uses, run string
	with      []string // lines
	from      string   // file that decided; empty: none did
}

// setupSteps lists, by the gate's name of an ecosystem, what the steps for it are.
func setupSteps() map[string]func(tooling) []toolStep {
	return map[string]func(tooling) []toolStep{
		"Go": tooling.golang, "Node.js": tooling.node, "Python": tooling.python, "Java": tooling.java, "Ruby": tooling.ruby,
		".NET": tooling.dotnet, "PHP": tooling.php, "Elixir": tooling.elixir, "Rust": tooling.rust,
	}
}

// toolSteps are the steps that a job needs before ycbot, and which file decided each.
func toolSteps(top string, e *gate.Explanation) (text string, from []string) {
	ci, tools := ciSteps(top), setupSteps()
	var b strings.Builder
	var done []string
	for _, p := range e.Projects {
		steps, ok := tools[p.Ecosystem]
		if !ok || slices.Contains(done, p.Ecosystem) {
			continue
		}
		done = append(done, p.Ecosystem)
		for _, s := range steps(tooling{top, p.Root, ci}) {
			if s.run != "" {
				b.WriteString("      - run: " + s.run + "\n")
			} else {
				b.WriteString("      - uses: " + s.uses + "\n")
			}
			for i, line := range s.with {
				if i == 0 {
					b.WriteString("        with:\n")
				}
				b.WriteString("          " + line + "\n")
			}
			if s.from != "" {
				name, _, _ := strings.Cut(cmp.Or(s.uses, s.run), "@")
				from = append(from, name+": as "+s.from+" says")
			}
		}
	}
	if len(done) == 0 {
		return toolsMark, nil
	}
	return b.String(), from
}

// found is the first of the versions that is one, quoted for YAML, and the file that has
// it; otherwise where there is none.
func (t tooling) found(otherwise string, versions ...[2]string) (version, from string) {
	for _, v := range versions {
		if v[0] != "" && plainVersion.MatchString(v[0]) {
			return `"` + v[0] + `"`, v[1]
		}
	}
	return otherwise, ""
}

var plainVersion = pattern.New(`^[A-Za-z0-9][A-Za-z0-9.*/_-]{0,40}$|^[<>=^~ 0-9.x|*-]{1,60}$`)

// tested is what the jobs of the project's workflows that run tests give an action for a
// key: a value, or the line of the file that they name in its place.
func (t tooling) tested(action, key string) [2]string {
	if v := t.newestOf(action, key, true); v[0] != "" {
		return v
	}
	for _, s := range t.ci {
		file := filepath.ToSlash(filepath.Clean(s.with[key+"-file"]))
		if base := filepath.Base(file); !s.tests || s.name() != action || !filepath.IsLocal(file) || !strings.HasSuffix(base, "-version") && base != ".nvmrc" {
			continue
		}
		if data, err := regular.ReadIn(t.top, file); err == nil && len(data) < 1<<20 {
			return [2]string{firstLine(string(data), plainVersion), file}
		}
	}
	return [2]string{}
}

// inCI is what the other jobs give.
func (t tooling) inCI(action, key string) [2]string { return t.newestOf(action, key, false) }

func (t tooling) newestOf(action, key string, tests bool) [2]string {
	best := [2]string{}
	for _, s := range t.ci {
		if v := s.with[key]; s.tests == tests && s.name() == action && v != "" && !strings.Contains(v, "\n") && (best[0] == "" || compareVersions(v, best[0]) > 0) {
			best = [2]string{v, s.from}
		}
	}
	return best
}

// line is the first line of the first file that is there, in the project or above it.
func (t tooling) line(names ...string) [2]string { return t.lineLike(plainVersion, names...) }

// lineLike is the first line that a pattern matches.
func (t tooling) lineLike(p *pattern.Pattern, names ...string) [2]string {
	for _, name := range names {
		if text, file := t.read(name); text != "" {
			if line := firstLine(text, p); line != "" {
				return [2]string{line, file}
			}
		}
	}
	return [2]string{}
}

func firstLine(text string, p *pattern.Pattern) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimPrefix(strings.TrimSpace(line), "v"); line != "" && !strings.HasPrefix(line, "#") && p.MatchString(line) {
			return line
		}
	}
	return ""
}

// read is a file of the project, or of the repository.
func (t tooling) read(name string) (text, file string) {
	for _, dir := range slices.Compact([]string{t.root, "."}) {
		file := filepath.ToSlash(filepath.Join(dir, name))
		data, err := regular.ReadIn(t.top, file)
		if err == nil && len(data) < 1<<20 {
			return string(data), file
		}
	}
	return "", ""
}

// tool is what .tool-versions has of one of names.
func (t tooling) tool(names ...string) [2]string {
	text, file := t.read(".tool-versions")
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 1 && slices.Contains(names, words[0]) {
			return [2]string{words[1], file}
		}
	}
	return [2]string{}
}

// match is the first group of a pattern in a file.
func (t tooling) match(name string, p *pattern.Pattern) [2]string {
	text, file := t.read(name)
	if m := p.FindStringSubmatch(text); m != nil {
		return [2]string{m[1], file}
	}
	return [2]string{}
}

var (
	goToolchain    = pattern.New(`(?m)^toolchain go(\d[\w.]*)`)
	requiresPython = pattern.New(`(?m)^\s*requires-python\s*=\s*["']([^"']+)["']`)
	setupPython    = pattern.New(`(?m)^[^#\n]*\bpython_requires\s*=\s*["']([^"']+)["']`)
	setupCfg       = pattern.New(`(?m)^\s*python_requires\s*=\s*([^\n]+?)\s*$`)
	pythonVersion  = pattern.New(`^(?:pypy-?)?\d+(?:\.\d+)*(?:-?(?:dev|t|[abrc]+\d+))?$`) // and no name of a virtual environment
	globalSDK      = pattern.New(`"version"\s*:\s*"([\d.]+)"`)
	targetNets     = pattern.New(`<TargetFrameworks?>([^<]*)<`)
	targetNet      = pattern.New(`\bnet(?:coreapp)?(\d+\.\d)\b`)
	gradleJava     = pattern.New(`\blanguageVersion\b[^\n]{0,20}JavaLanguageVersion\.of\(\s*["']?(\d+)["']?\s*\)|\bjvmToolchain\(\s*(\d+)\s*\)`)
	mavenRelease   = pattern.New(`<(?:maven\.compiler\.release|java\.version|release)>(\d+)<`)
	rustChannel    = pattern.New(`(?m)^\s*channel\s*=\s*"([\w.-]+)"`)
)

// golang: the go line of go.mod is the oldest version that will do, and no wish.
func (t tooling) golang() []toolStep {
	version, from := t.found("stable", t.tested("actions/setup-go", "go-version"), t.tool("golang", "go"), t.match("go.work", goToolchain), t.match("go.mod", goToolchain),
		t.inCI("actions/setup-go", "go-version"))
	// There is no go.sum in the workspace by which its cache could be named.
	return []toolStep{{uses: useGo, with: []string{"go-version: " + version, "cache: false"}, from: from}}
}

// manifest is what ycbot init reads of package.json.
type manifest struct {
	PackageManager string            `json:"packageManager"`
	Engines        map[string]string `json:"engines"`
	Volta          map[string]string `json:"volta"`
}

func (t tooling) node() []toolStep {
	var m manifest
	text, file := t.read("package.json")
	_ = json.Unmarshal([]byte(text), &m) // the gate says what is wrong with it
	engines := strings.TrimSpace(m.Engines["node"])
	if atLeast.MatchString(engines) {
		engines = "lts/*" // any that is current will do
	}
	version, from := t.found("lts/*", t.tested("actions/setup-node", "node-version"), t.line(".nvmrc", ".node-version"), t.tool("nodejs", "node"),
		[2]string{m.Volta["node"], file}, [2]string{engines, file}, t.inCI("actions/setup-node", "node-version"))
	if version == `"lts/*"` {
		version = "lts/*"
	}
	steps := []toolStep{{uses: useNode, with: []string{"node-version: " + version, "package-manager-cache: false"}, from: from}}
	name, wanted, _ := strings.Cut(m.PackageManager, "@")
	wanted, _, _ = strings.Cut(wanted, "+")
	has := func(files ...string) bool {
		return slices.ContainsFunc(files, func(f string) bool { text, _ := t.read(f); return text != "" })
	}
	switch {
	case name == "pnpm" || name == "" && has("pnpm-lock.yaml"):
		version, from := t.found("10", [2]string{wanted, file}, t.tested("pnpm/action-setup", "version"), t.tool("pnpm"), t.inCI("pnpm/action-setup", "version"))
		steps = append(steps, toolStep{uses: usePnpm, with: []string{"version: " + version}, from: from})
	case name == "yarn" && !strings.HasPrefix(wanted, "1."), name == "" && has(".yarnrc.yml"):
		steps = append(steps, toolStep{run: "corepack enable"})
	case name == "bun" || name == "" && has("bun.lock", "bun.lockb"):
		version, from := t.found("latest", [2]string{wanted, file}, t.tested("oven-sh/setup-bun", "bun-version"), t.line(".bun-version"), t.tool("bun"), t.inCI("oven-sh/setup-bun", "bun-version"))
		steps = append(steps, toolStep{uses: useBun, with: []string{"bun-version: " + version}, from: from})
	}
	return steps
}

// atLeast is a range that has no end.
var atLeast = pattern.New(`^\s*>=?\s*v?[\d.x]+\s*$|^\*$`)

func (t tooling) python() []toolStep {
	version, from := t.found(`"3.x"`, t.tested("actions/setup-python", "python-version"), t.lineLike(pythonVersion, ".python-version"), t.tool("python"),
		t.wantedPython(), t.inCI("actions/setup-python", "python-version"))
	steps := []toolStep{{uses: usePython, with: []string{"python-version: " + version}, from: from}}
	for _, m := range [][2]string{{"uv.lock", "uv"}, {"poetry.lock", "poetry"}, {"pdm.lock", "pdm"}} {
		if text, file := t.read(m[0]); text != "" {
			return append(steps, toolStep{run: "pipx install " + m[1], from: file})
		}
	}
	return steps
}

// wantedPython is what the first of the manifests says that says anything.
func (t tooling) wantedPython() [2]string {
	manifests := []func() [2]string{
		func() [2]string { return t.match("pyproject.toml", requiresPython) },
		t.poetryPython,
		func() [2]string { return t.match("setup.cfg", setupCfg) },
		func() [2]string { return t.match("setup.py", setupPython) },
	}
	for _, m := range manifests {
		if v := m(); v[0] != "" {
			return [2]string{cmp.Or(pythonRange(v[0]), "3.x"), v[1]}
		}
	}
	var pipfile struct {
		Requires struct {
			Version string `toml:"python_version"`
			Full    string `toml:"python_full_version"`
		} `toml:"requires"`
	}
	text, file := t.read("Pipfile")
	_ = toml.Unmarshal([]byte(text), &pipfile) // pipenv says what is wrong with it
	return [2]string{cmp.Or(pipfile.Requires.Full, pipfile.Requires.Version), file}
}

// poetryPython is Poetry's range, in the words of requires-python.
func (t tooling) poetryPython() [2]string {
	var project struct {
		Tool struct {
			Poetry struct {
				Dependencies map[string]any `toml:"dependencies"`
			} `toml:"poetry"`
		} `toml:"tool"`
	}
	text, file := t.read("pyproject.toml")
	_ = toml.Unmarshal([]byte(text), &project) // poetry says what is wrong with it
	wanted, _ := project.Tool.Poetry.Dependencies["python"].(string)
	if wanted == "" || strings.Contains(wanted, "||") {
		return [2]string{}
	}
	var parts []string
	for part := range strings.SplitSeq(wanted, ",") {
		part = strings.TrimSpace(part)
		n := numbers(part)
		switch {
		case len(n) == 0:
		case strings.HasPrefix(part, "^"):
			parts = append(parts, ">="+part[1:], fmt.Sprintf("<%d", n[0]+1))
		case strings.HasPrefix(part, "~") && !strings.HasPrefix(part, "~=") && len(n) > 1:
			parts = append(parts, ">="+part[1:], fmt.Sprintf("<%d.%d", n[0], n[1]+1))
		case strings.Trim(part, "0123456789.*") == "":
			parts = append(parts, "=="+part)
		default:
			parts = append(parts, part)
		}
	}
	return [2]string{strings.Join(parts, ","), file}
}

// pythonRange makes of requires-python what setup-python reads; "" where any will do.
func pythonRange(s string) string {
	var out []string
	end := false
	for part := range strings.SplitSeq(s, ",") {
		part = strings.ReplaceAll(strings.TrimSpace(part), " ", "")
		switch {
		case part == "":
		case strings.HasPrefix(part, "~="):
			n := numbers(part)
			if len(n) < 2 {
				return ""
			}
			end = true
			if len(n) > 2 {
				out = append(out, fmt.Sprintf("~%d.%d", n[0], n[1]))
			} else {
				out = append(out, ">="+part[2:], fmt.Sprintf("<%d", n[0]+1))
			}
		case strings.HasPrefix(part, "=="):
			return strings.TrimSuffix(part[2:], ".*")
		case strings.HasPrefix(part, "!="):
		default:
			end = end || strings.HasPrefix(part, "<") && !strings.HasPrefix(part, "<4")
			out = append(out, part)
		}
	}
	if !end {
		return ""
	}
	return strings.Join(out, " ")
}

func (t tooling) java() []toolStep {
	version, from := t.found(`"21"`, t.tested("actions/setup-java", "java-version"), t.line(".java-version"), t.match("pom.xml", mavenRelease), t.gradle(),
		t.inCI("actions/setup-java", "java-version"))
	distribution, _ := t.found("temurin", t.tested("actions/setup-java", "distribution"), t.inCI("actions/setup-java", "distribution"))
	return []toolStep{{uses: useJava, with: []string{"distribution: " + strings.Trim(distribution, `"`), "java-version: " + version}, from: from}}
}

// gradle is the newest toolchain that builds of Gradle name: the one that they run with
// when it is there, as no other is fetched without the network.
func (t tooling) gradle() [2]string {
	best := [2]string{}
	for _, m := range t.matches(gradleJava, "build.gradle", "build.gradle.kts", "*/build.gradle", "*/build.gradle.kts") {
		if best[0] == "" || compareVersions(m[0], best[0]) > 0 {
			best = m
		}
	}
	return best
}

// matches are the groups of a pattern in the files of the project that have such names, and
// the file of each.
func (t tooling) matches(p *pattern.Pattern, names ...string) (out [][2]string) {
	for _, name := range names {
		files, _ := filepath.Glob(filepath.Join(t.top, filepath.FromSlash(t.root), filepath.FromSlash(name)))
		for _, file := range files {
			rel, err := filepath.Rel(t.top, file)
			if err != nil {
				continue
			}
			data, err := regular.ReadIn(t.top, rel)
			if err != nil || len(data) > 1<<20 {
				continue
			}
			for _, m := range p.FindAllStringSubmatch(string(data), -1) {
				out = append(out, [2]string{strings.Join(m[1:], ""), filepath.ToSlash(rel)})
			}
		}
	}
	return out
}

func (t tooling) ruby() []toolStep {
	version, from := t.found("ruby", t.tested("ruby/setup-ruby", "ruby-version"), t.line(".ruby-version"), t.tool("ruby"), t.inCI("ruby/setup-ruby", "ruby-version"))
	return []toolStep{{uses: useRuby, with: []string{"ruby-version: " + version}, from: from}}
}

// dotnet: the newest SDK builds for all target frameworks, and tests of each want its
// runtime, which comes with the SDK of the same version.
func (t tooling) dotnet() []toolStep {
	var targets [][2]string
	for _, m := range t.matches(targetNets, "*.??proj", "*/*.??proj", "*/*/*.??proj", "Directory.Build.props") {
		for _, v := range targetNet.FindAllStringSubmatch(m[0], -1) {
			targets = append(targets, [2]string{v[1] + ".x", m[1]})
		}
	}
	slices.SortStableFunc(targets, func(a, b [2]string) int { return compareVersions(b[0], a[0]) })
	targets = slices.CompactFunc(targets, func(a, b [2]string) bool { return a[0] == b[0] })
	newest := [2]string{}
	if len(targets) > 0 {
		newest = targets[0]
	}
	tested := t.severalTested("actions/setup-dotnet", "dotnet-version")
	version, from := t.found(`"10.0.x"`, t.match("global.json", globalSDK), tested[0], newest, t.inCI("actions/setup-dotnet", "dotnet-version"))
	all := []string{strings.Trim(version, `"`)}
	for _, v := range append(tested, targets...) {
		covered := func(has string) bool { return slices.Equal(series(has), series(v[0])) }
		if plainVersion.MatchString(v[0]) && !slices.ContainsFunc(all, covered) {
			all = append(all, v[0])
		}
	}
	with := []string{"dotnet-version: " + version}
	if len(all) > 1 {
		with = []string{"dotnet-version: |"}
		for _, v := range all {
			with = append(with, "  "+v)
		}
	}
	return []toolStep{{uses: useDotnet, with: with, from: from}}
}

// series are the first two numbers of a version, by which SDKs of .NET go.
func series(v string) []int {
	n := numbers(v)
	return n[:min(len(n), 2)]
}

// severalTested is tested for an action that takes a version a line: all of a job's, the
// newest first. There is one at least, which may be empty.
func (t tooling) severalTested(action, key string) [][2]string {
	out := [][2]string{}
	for _, s := range t.ci {
		if !s.tests || s.name() != action {
			continue
		}
		for line := range strings.Lines(s.with[key]) {
			if line = strings.TrimSpace(line); line != "" {
				out = append(out, [2]string{line, s.from})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b [2]string) int { return compareVersions(b[0], a[0]) })
	if len(out) == 0 {
		return append(out, [2]string{})
	}
	return out
}

func (t tooling) php() []toolStep {
	version, from := t.found(`"8.4"`, t.tested("shivammathur/setup-php", "php-version"), t.tool("php"), t.inCI("shivammathur/setup-php", "php-version"))
	with := []string{"php-version: " + version, "coverage: none"}
	extensions := t.tested("shivammathur/setup-php", "extensions")
	if extensions[0] == "" {
		extensions = t.inCI("shivammathur/setup-php", "extensions")
	}
	if pattern.New(`^[\w, -]+$`).MatchString(extensions[0]) {
		with = append(with, "extensions: "+extensions[0])
	}
	return []toolStep{{uses: usePHP, with: with, from: from}}
}

func (t tooling) elixir() []toolStep {
	otp, _ := t.found(`"27"`, t.tested("erlef/setup-beam", "otp-version"), t.tool("erlang"), t.inCI("erlef/setup-beam", "otp-version"))
	version, from := t.found(`"1.18"`, t.tested("erlef/setup-beam", "elixir-version"), t.tool("elixir"), t.inCI("erlef/setup-beam", "elixir-version"))
	return []toolStep{{uses: useBeam, with: []string{"otp-version: " + otp, "elixir-version: " + version}, from: from}}
}

// rust: the runner's rustup has a stable toolchain; another must be there before commands
// run that have no network.
func (t tooling) rust() []toolStep {
	version, from := t.found("stable", t.match("rust-toolchain.toml", rustChannel), t.line("rust-toolchain"), t.tested("dtolnay/rust-toolchain", "toolchain"),
		t.inCI("dtolnay/rust-toolchain", "toolchain"))
	version = strings.Trim(version, `"`)
	if from == "" || !pattern.New(`^[\w.-]+$`).MatchString(version) {
		return nil
	}
	return []toolStep{{run: "rustup toolchain install " + version + " --profile minimal --component clippy,rustfmt && rustup default " + version, from: from}}
}

package scaffold

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/pattern"
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

// A tooling looks at what a project says of the toolchains that it wants: its own
// workflows first, then the files that version managers read, then its manifest.
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

// inCI is what the project's workflows give an action for a key.
func (t tooling) inCI(action, key string) [2]string {
	best := [2]string{}
	for _, s := range t.ci {
		if v := s.with[key]; s.name() == action && v != "" && !strings.Contains(v, "\n") && (best[0] == "" || compareVersions(v, best[0]) > 0) {
			best = [2]string{v, s.from}
		}
	}
	return best
}

// line is the first line of the first file that is there, in the project or above it.
func (t tooling) line(names ...string) [2]string {
	for _, name := range names {
		if text, file := t.read(name); text != "" {
			for line := range strings.Lines(text) {
				if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
					return [2]string{strings.TrimPrefix(line, "v"), file}
				}
			}
		}
	}
	return [2]string{}
}

// read is a file of the project, or of the repository.
func (t tooling) read(name string) (text, file string) {
	for _, dir := range slices.Compact([]string{t.root, "."}) {
		file := filepath.ToSlash(filepath.Join(dir, name))
		data, err := os.ReadFile(filepath.Join(t.top, filepath.FromSlash(file)))
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
	globalSDK      = pattern.New(`"version"\s*:\s*"([\d.]+)"`)
	targetNet      = pattern.New(`<TargetFrameworks?>[^<]*\bnet(\d+\.\d)\b`)
	mavenRelease   = pattern.New(`<(?:maven\.compiler\.release|java\.version|release)>(\d+)<`)
	rustChannel    = pattern.New(`(?m)^\s*channel\s*=\s*"([\w.-]+)"`)
)

// golang: the go line of go.mod is the oldest version that will do, and no wish.
func (t tooling) golang() []toolStep {
	version, from := t.found("stable", t.inCI("actions/setup-go", "go-version"), t.tool("golang", "go"), t.match("go.work", goToolchain), t.match("go.mod", goToolchain))
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
		engines = "" // any that is current will do
	}
	version, from := t.found("lts/*", t.inCI("actions/setup-node", "node-version"), t.line(".nvmrc", ".node-version"), t.tool("nodejs", "node"),
		[2]string{m.Volta["node"], file}, [2]string{engines, file})
	steps := []toolStep{{uses: useNode, with: []string{"node-version: " + version, "package-manager-cache: false"}, from: from}}
	name, wanted, _ := strings.Cut(m.PackageManager, "@")
	wanted, _, _ = strings.Cut(wanted, "+")
	has := func(files ...string) bool {
		return slices.ContainsFunc(files, func(f string) bool { text, _ := t.read(f); return text != "" })
	}
	switch {
	case name == "pnpm" || name == "" && has("pnpm-lock.yaml"):
		version, from := t.found("10", [2]string{wanted, file}, t.inCI("pnpm/action-setup", "version"), t.tool("pnpm"))
		steps = append(steps, toolStep{uses: usePnpm, with: []string{"version: " + version}, from: from})
	case name == "yarn" && !strings.HasPrefix(wanted, "1."), name == "" && has(".yarnrc.yml"):
		steps = append(steps, toolStep{run: "corepack enable"})
	case name == "bun" || name == "" && has("bun.lock", "bun.lockb"):
		version, from := t.found("latest", [2]string{wanted, file}, t.inCI("oven-sh/setup-bun", "bun-version"), t.line(".bun-version"), t.tool("bun"))
		steps = append(steps, toolStep{uses: useBun, with: []string{"bun-version: " + version}, from: from})
	}
	return steps
}

// atLeast is a range that has no end.
var atLeast = pattern.New(`^\s*>=?\s*v?[\d.x]+\s*$|^\*$`)

func (t tooling) python() []toolStep {
	wanted := t.match("pyproject.toml", requiresPython)
	wanted[0] = pythonRange(wanted[0])
	version, from := t.found(`"3.x"`, t.inCI("actions/setup-python", "python-version"), t.line(".python-version"), t.tool("python"), wanted)
	steps := []toolStep{{uses: usePython, with: []string{"python-version: " + version}, from: from}}
	for _, m := range [][2]string{{"uv.lock", "uv"}, {"poetry.lock", "poetry"}, {"pdm.lock", "pdm"}} {
		if text, file := t.read(m[0]); text != "" {
			return append(steps, toolStep{run: "pipx install " + m[1], from: file})
		}
	}
	return steps
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
	version, from := t.found(`"21"`, t.inCI("actions/setup-java", "java-version"), t.line(".java-version"), t.match("pom.xml", mavenRelease))
	distribution, _ := t.found("temurin", t.inCI("actions/setup-java", "distribution"))
	return []toolStep{{uses: useJava, with: []string{"distribution: " + strings.Trim(distribution, `"`), "java-version: " + version}, from: from}}
}

func (t tooling) ruby() []toolStep {
	version, from := t.found("ruby", t.inCI("ruby/setup-ruby", "ruby-version"), t.line(".ruby-version"), t.tool("ruby"))
	return []toolStep{{uses: useRuby, with: []string{"ruby-version: " + version}, from: from}}
}

func (t tooling) dotnet() []toolStep {
	target := [2]string{}
	for _, pattern := range []string{"*.csproj", "*/*.csproj", "Directory.Build.props"} {
		files, _ := filepath.Glob(filepath.Join(t.top, filepath.FromSlash(t.root), pattern))
		for _, file := range files {
			rel, err := filepath.Rel(t.top, file)
			if data, failed := os.ReadFile(file); err == nil && failed == nil {
				if m := targetNet.FindSubmatch(data); m != nil && (target[0] == "" || compareVersions(string(m[1])+".x", target[0]) > 0) {
					target = [2]string{string(m[1]) + ".x", filepath.ToSlash(rel)}
				}
			}
		}
	}
	version, from := t.found(`"10.0.x"`, t.match("global.json", globalSDK), t.inCI("actions/setup-dotnet", "dotnet-version"), target)
	return []toolStep{{uses: useDotnet, with: []string{"dotnet-version: " + version}, from: from}}
}

func (t tooling) php() []toolStep {
	version, from := t.found(`"8.4"`, t.inCI("shivammathur/setup-php", "php-version"), t.tool("php"))
	with := []string{"php-version: " + version, "coverage: none"}
	if extensions := t.inCI("shivammathur/setup-php", "extensions"); pattern.New(`^[\w, -]+$`).MatchString(extensions[0]) {
		with = append(with, "extensions: "+extensions[0])
	}
	return []toolStep{{uses: usePHP, with: with, from: from}}
}

func (t tooling) elixir() []toolStep {
	otp, _ := t.found(`"27"`, t.inCI("erlef/setup-beam", "otp-version"), t.tool("erlang"))
	version, from := t.found(`"1.18"`, t.inCI("erlef/setup-beam", "elixir-version"), t.tool("elixir"))
	return []toolStep{{uses: useBeam, with: []string{"otp-version: " + otp, "elixir-version: " + version}, from: from}}
}

// rust: the runner's rustup has a stable toolchain; another must be there before commands
// run that have no network.
func (t tooling) rust() []toolStep {
	version, from := t.found("stable", t.match("rust-toolchain.toml", rustChannel), t.line("rust-toolchain"), t.inCI("dtolnay/rust-toolchain", "toolchain"))
	version = strings.Trim(version, `"`)
	if from == "" || !pattern.New(`^[\w.-]+$`).MatchString(version) {
		return nil
	}
	return []toolStep{{run: "rustup toolchain install " + version + " --profile minimal --component clippy,rustfmt && rustup default " + version, from: from}}
}

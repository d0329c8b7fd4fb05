// Package rust is Rust, by its Cargo packages and workspaces.
//
// Its tests stand among the sources: classes.go puts those of one version into another.
package rust

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// cargoData is what cargo needs to know which crates to fetch. Of sources it wants to see
// that they are there.
func cargoData(s *ecosystem.Survey, _ string) map[string][]byte {
	out := map[string][]byte{}
	for _, f := range s.Files {
		switch {
		case path.Base(f) == "Cargo.toml", path.Base(f) == "Cargo.lock":
			out[f] = s.Read(".", f)
		case path.Ext(f) == ".rs":
			out[f] = []byte{}
		}
	}
	return out
}

// New is Rust, by its Cargo packages and workspaces.
func New() *ecosystem.Ecosystem {
	return &ecosystem.Ecosystem{
		Name: "Rust", Units: "Rust packages",
		Programs:      strings.Fields("cargo rustc"),
		Hosts:         strings.Fields("index.crates.io static.crates.io crates.io"),
		Fetched:       []string{".cargo/registry", ".cargo/git"},
		Registries:    []string{"CARGO_REGISTRIES_*_INDEX", "CARGO_REGISTRIES_*_PROTOCOL", "CARGO_REGISTRY_DEFAULT", "CARGO_HTTP_PROXY", "CARGO_HTTP_MULTIPLEXING", "CARGO_NET_RETRY", "CARGO_NET_GIT_FETCH_WITH_CLI"},
		RegistryFiles: []string{"CARGO_HTTP_CAINFO"},
		SettingsFiles: []ecosystem.SettingsFile{{
			Places: []string{".cargo/config.toml", ".cargo/config"},
			Keep: ecosystem.KeepKeys([]string{"registry", "replace-with", "index", "local-registry", "directory", "protocol", "proxy", "cainfo", "retry", "git-fetch-with-cli", "default", "multiplexing"},
				[]string{"source.*", "registries.*", "registry", "http", "net"}),
		}},
		Find:     findRustProjects,
		Classes:  rustClasses(),
		IsTest:   func(name string) bool { return path.Ext(name) == ".rs" && ecosystem.InFolder(name, "tests") },
		IsSource: func(name string) bool { return path.Ext(name) == ".rs" },
		Asks:     asks(),
		Steers: func(name string) bool {
			return slices.Contains([]string{"Cargo.toml", "Cargo.lock", "rust-toolchain", "rust-toolchain.toml", "build.rs"}, path.Base(name))
		},
		Adopt:   adoptCargo,
		Cutting: &ecosystem.Cutting{Complaint: complaint, Without: withoutTests},
		Older:   ecosystem.OlderIn("Cargo.lock", ecosystem.TOMLLockVersions),
		Absent: func(output string) (string, bool) {
			m := rustMissing.FindStringSubmatch(output)
			if m == nil {
				return "", false
			}
			return m[1] + m[2] + m[3] + m[4], m[4] != ""
		},
	}
}

var rustMissing = pattern.New("(?m)no (?:method|function or associated item|variant|field|associated item) (?:named )?`(\\w+)`|(?:cannot find [\\w, ]+|could not find) `(\\w+)` in|unresolved import `[^`]*?(\\w+)`|use of (?:undeclared|unresolved) (?:crate or module|module or unlinked crate) `(\\w+)`")

// findRustProjects makes a project of each workspace, and of each package in none.
func findRustProjects(s *ecosystem.Survey) []ecosystem.Project {
	dirs := s.Dirs("Cargo.toml")
	var roots []string
	for _, dir := range dirs {
		if manifest, _ := ecosystem.ParseTOML(s.Read(dir, "Cargo.toml")); manifest.Has("workspace") {
			roots = append(roots, dir)
		}
	}
	var out []ecosystem.Project
	for _, dir := range dirs {
		manifest, broken := ecosystem.ParseTOML(s.Read(dir, "Cargo.toml"))
		root := slices.Contains(roots, dir)
		if !root && (!broken && !manifest.Has("package") || slices.ContainsFunc(roots, func(r string) bool { return ecosystem.Inside(r, dir) }) && !excluded(s, dir, roots)) {
			continue
		}
		out = append(out, rustProject(s, dir, manifest, root))
	}
	return out
}

// rustTested is what a source with tests has.
var rustTested = pattern.New(`#\[(?:\w+::)*test\b|\bcfg\(test\)`)

// excluded says whether the workspace around a package excludes it, so that no other command runs
// the tests that it has. Others below a workspace are its members, or cargo refuses them
// (https://doc.rust-lang.org/cargo/reference/workspaces.html#the-members-and-exclude-fields).
func excluded(s *ecosystem.Survey, dir string, roots []string) bool {
	around := "" // the innermost
	for _, r := range roots {
		if ecosystem.Inside(r, dir) && len(r) > len(around) || around == "" && r == "." {
			around = r
		}
	}
	manifest, _ := ecosystem.ParseTOML(s.Read(around, "Cargo.toml"))
	out := slices.ContainsFunc(manifest.Table("workspace").Texts("exclude"), func(e string) bool { return ecosystem.Inside(path.Join(around, e), dir) })
	return out && s.Apart(dir, func(name string) bool {
		return path.Ext(name) == ".rs" && rustTested.Match(s.Read(dir, name))
	})
}

func rustProject(s *ecosystem.Survey, dir string, manifest ecosystem.TOML, workspace bool) ecosystem.Project {
	p := ecosystem.Project{Dir: dir, What: "Rust package", Why: []string{path.Join(dir, "Cargo.toml")}}
	if name := manifest.Table("package").Text("name"); name != "" {
		p.What += " " + name
	}
	all := ""
	if workspace {
		p.What, all = "Cargo workspace in "+dir, " --workspace"
	}
	needs := cargoDependencies(manifest)
	for _, t := range needs {
		for _, key := range t.Keys() {
			if at := t.Table(key).Text("path"); at != "" {
				p.Uses = append(p.Uses, path.Join(dir, at))
			}
		}
	}
	if !s.Tools.Has("cargo") {
		p.Missing = s.Tools.Lack("cargo")
		return p
	}
	add := func(list *[]ecosystem.Command, stage results.Stage, words ...string) *ecosystem.Command {
		c := ecosystem.Command{Stage: stage, Unit: dir, Text: strings.Join(words, " "), Argv: words}
		*list = append(*list, c)
		return &(*list)[len(*list)-1]
	}
	words := func(s string) []string { return strings.Fields(s) }
	if len(needs) > 0 || workspace || s.Has(dir, "Cargo.lock") {
		locked := ""
		if s.Has(dir, "Cargo.lock") {
			locked = " --locked"
		}
		c := add(&p.Setup, results.StageSetup, words("cargo fetch"+locked)...)
		c.Network = sandbox.NetworkHost
		*c = c.ForStrangers("cargo fetch"+locked, cargoData)
	}
	add(&p.Build, results.StageBuild, words("cargo build --offline"+all)...)
	if s.Tools.Has("cargo-clippy") {
		add(&p.Lint, results.StageLint, words("cargo clippy --offline --all-targets"+all)...)
	}
	p.Test = []ecosystem.Command{cargoTests(ecosystem.Command{Stage: results.StageTest, Unit: dir}, "cargo test --offline --no-fail-fast"+all)}
	featured(&p, s)
	return p
}

// cargoDependencies are the tables of a manifest that name crates.
func cargoDependencies(manifest ecosystem.TOML) []ecosystem.TOML {
	out := manifest.Tables("patch")
	for _, d := range append(manifest.Tables("target"), manifest, manifest.Table("workspace")) {
		for _, name := range []string{"dependencies", "dev-dependencies", "build-dependencies"} {
			if t := d.Table(name); t != nil {
				out = append(out, t)
			}
		}
	}
	return out
}

// cargoTests runs text, a "cargo test". What its programs print and which of
// them runs, which cargo says on standard error, has to be read together. Which source each
// program is made of cargo names before, when nothing of them has run.
func cargoTests(c ecosystem.Command, text string) ecosystem.Command {
	c = c.Reporting(text+" 2>&1", cargoNames(text)...)
	c.Text = text
	c.Results = &ecosystem.Results{
		Name:    "text of cargo test",
		Apart:   true,
		Collect: results.Cargo,
		Narrow:  func(c ecosystem.Command, _ ecosystem.Part) (ecosystem.Command, bool) { return c, false },
		Probe: func(c ecosystem.Command, _ ecosystem.Probing) (ecosystem.Command, string) {
			if strings.Contains(text, " -- ") {
				return c, "repeated"
			}
			d := cargoTests(c, text+" -- --test-threads=1")
			d.Name = c.Label()
			return d, "repeated, one after the other"
		},
		Serial: !strings.Contains(text, " -- "),
	}
	c.Results.PlantedBy(ecosystem.Planter{
		// A program's tests begin in the file of its root, by which they are reported.
		Plant: plantCargo,
		Most:  3,
		Run: func(c ecosystem.Command, pkgs []string) ecosystem.Command {
			if targets := cargoTargets(pkgs); targets != "" && !strings.Contains(text, " -- ") {
				d := cargoTests(c, text+targets)
				d.Name = c.Label()
				return d
			}
			return c
		},
	})
	return c
}

// cargoNames prints what cargo says of the programs of a "cargo test"; nothing where its own
// options say what it prints.
func cargoNames(text string) []string {
	call, _, _ := strings.Cut(text+" ", " -- ")
	if strings.Contains(call, "--message-format") {
		return nil
	}
	return []string{strings.TrimSpace(call) + " --no-run --message-format=json-render-diagnostics 2>/dev/null | command -p grep -F '\"executable\":\"'"}
}

// adoptCargo reports each test of a plain "cargo test".
func adoptCargo(c ecosystem.Command, words []string) (ecosystem.Command, bool) {
	if len(words) < 2 || words[0] != "cargo" || words[1] != "test" || slices.Contains(words, "--no-run") || slices.Contains(words, "--quiet") || slices.Contains(words, "-q") {
		return c, false
	}
	if end := slices.Index(words, "--"); !slices.Contains(words, "--no-fail-fast") { // else it stops at a program of tests that fails
		if end < 0 {
			end = len(words)
		}
		words = slices.Insert(slices.Clone(words), end, "--no-fail-fast")
	}
	return cargoTests(c, strings.Join(words, " ")), true
}

// ownMain is what a program of tests has that runs them by itself.
var ownMain = pattern.New(`(?m)^\s*(?:pub\s+)?(?:async\s+)?fn\s+main\s*\(|\b\w+_main!`)

// plantCargo plants behind what a file has: Rust finds no test in a file that no other
// one names. A program without the harness of Rust has none.
func plantCargo(_ ecosystem.Command, file, src, name string) ecosystem.Planted {
	if ownMain.MatchString(src) && !ecosystem.InFolder(file, "src") {
		return ecosystem.Planted{}
	}
	return ecosystem.Planted{Path: file, Package: file, Text: src + "\n#[cfg(test)]\nmod " + name + " {\n    #[test]\n    fn " + name + "() {\n        assert_eq!(1, 2);\n    }\n}\n"}
}

// cargoTargets are the options for programs; empty where one has no option of its own.
func cargoTargets(pkgs []string) string {
	out := ""
	for _, p := range pkgs {
		option := ""
		switch dir, base := path.Base(path.Dir(p)), path.Base(p); {
		case dir == "src" && base == "lib.rs":
			option = " --lib"
		case dir == "src" && base == "main.rs":
			option = " --bins"
		case dir == "tests":
			option = " --test " + strings.TrimSuffix(base, ".rs")
		default:
			return ""
		}
		if !strings.Contains(out+" ", option+" ") { // members of a workspace have programs of one name
			out += option
		}
	}
	return out
}

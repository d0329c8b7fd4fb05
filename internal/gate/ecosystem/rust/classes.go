package rust

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

func rustClasses() ecosystem.ClassTable {
	return ecosystem.ClassTable{
		Steering: func(name string, _ []byte) bool {
			return ecosystem.InFolders(name, []string{".cargo"}) && strings.HasPrefix(path.Base(name), "config") || strings.HasSuffix(name, ".config/nextest.toml")
		},
		Test: func(name string, src []byte) bool {
			return path.Ext(name) == ".rs" && ecosystem.InFolder(name, "tests") && (src == nil || strings.Contains(string(src), "#["))
		},
		Folders:  []string{"tests"},
		ForTests: rustForTests,
		Parts:    rustParts,
		Serves:   onlyOfTests,
		Origins:  ecosystem.OriginsIn(map[string]func([]byte) ecosystem.Origins{"Cargo.toml": cargoOrigins, "Cargo.lock": ecosystem.TOMLLockOrigins}),
		Mixed: func(name string) *ecosystem.Mixture {
			switch {
			case path.Base(name) == "Cargo.toml":
				return &ecosystem.Mixture{Class: compare.Steering, Merge: ecosystem.MergeAll(
					ecosystem.MergeSections("test", "lib.test", "lib.harness", "lib.doctest", "package.autotests", "profile"),
					mergeFeatures, withoutItself)}
			case path.Ext(name) == ".rs" && !ecosystem.InFolder(name, "tests"):
				return &ecosystem.Mixture{Class: compare.Test, Merge: mergeRustTests}
			}
			return nil
		},
	}
}

// needsItself is a dependency of a package on itself, by which its tests have it with features
// that others do not get.
var needsItself = pattern.New(`(?m)^[ \t]*[\w"'-]+[ \t]*=[ \t]*\{[^}\n]*\bpath[ \t]*=[ \t]*["']\.?/?["'][^}\n]*\}[ \t]*\n?`)

// withoutItself takes such dependencies out of the head's Cargo.toml that the base has not.
func withoutItself(base, head []byte) ([]byte, error) {
	out := string(head)
	for _, line := range needsItself.FindAllString(out, -1) {
		if !strings.Contains(string(base), strings.TrimSpace(line)) {
			out = strings.Replace(out, line, "", 1)
		}
	}
	return []byte(out), nil
}

const (
	rustVisible = `(?:pub(?:\([^)]*\))?\s+)?`
	rustAttr    = `(?:(?:#\[[^\]]*\]|//[^\n]*)\s*)*`
	rustCfgTest = `#\[\s*cfg\(\s*(?:all\(\s*)?test\b[^\]]*\]\s*`
	rustForTest = rustVisible + `(?:(?:default|const|async|unsafe|extern(?:\s+"[^"]*")?)\s+)*(mod|fn|struct|enum|union|trait|impl|const|static|type|use|macro_rules!|extern\s+crate)(?:\s*<[^>]*>)?\s+([\w:]*)`
	rustTestFn  = rustAttr + `#\[\s*(?:\w+::)*(?:test|rstest|test_case|quickcheck|wasm_bindgen_test|bench)\b[^\]]*\]\s*` + rustAttr + rustVisible + `(?:(?:async|unsafe|const)\s+)*fn\s+\w+[^{;]*\{`
)

// rustTests is the head of what is compiled for tests alone inside a source file: a module, a
// helper or the declaration of a module, or of a test in none.
var rustTests = pattern.New(`(?m)^[ \t]*(?:` + rustAttr + rustCfgTest + rustAttr + rustForTest + `|` + rustTestFn + `)`)

var (
	rustTestHead = pattern.New(`(?m)^[ \t]*` + rustTestFn)
	rustFnName   = pattern.New(`\bfn\s+(\w+)`)
	rustTest     = pattern.New(`^[ \t]*` + rustTestFn)
	rustParent   = pattern.New(`(?m)^\s*use\s+(?:super|crate)::`)
	rustOffered  = pattern.New(`(?m)^pub(?:\([^)]*\))?\s+(?:fn|async|unsafe|const|static|struct|enum|union|trait|type|mod|use|macro)\b|^(?:impl|trait|fn\s+main)\b|^#\[macro_export\]`)
)

// rustTestsAlone says whether a source is a module of tests, which its parent declares for
// tests alone: it has tests that no module in it holds, uses what is above it, and offers
// nothing.
func rustTestsAlone(src []byte) bool {
	modules, between := rustModules(string(src))
	return slices.ContainsFunc(modules, rustTest.MatchString) && rustParent.Match(src) && !rustOffered.MatchString(strings.Join(between, ""))
}

// mergeRustTests puts the base's modules of tests, and tests that are in none, into the
// head's source, one for one, those that the head does not have at the end, and its examples.
// A file that was one of tests alone is that again.
func mergeRustTests(base, head []byte) ([]byte, error) {
	switch {
	case head == nil:
		return head, nil
	case rustTestsAlone(base):
		return base, nil
	}
	head, err := ecosystem.MergeExamples(rustExamples)(base, head)
	if err != nil {
		return nil, err
	}
	ours, _ := rustModules(string(base))
	theirs, rest := rustModules(string(head))
	if slices.Equal(ours, theirs) {
		return head, nil
	}
	at, left := rustPlaces(ours, theirs)
	out := rest[0]
	for i := range theirs {
		out += at[i] + rest[i+1]
	}
	for _, item := range left {
		out = strings.TrimRight(out, "\n") + "\n\n" + item + "\n"
	}
	return []byte(out), nil
}

// rustPlaces says which of the base's items stands in place of each of the head's: the one of
// its name, else the next of its kind that has no place yet. What is left has none: what is
// around a function of the head may not be compiled at all where the base has a module.
func rustPlaces(ours, theirs []string) (at, left []string) {
	at, taken := make([]string, len(theirs)), make([]bool, len(ours))
	for _, same := range []func(kind, name, kind2, name2 string) bool{
		func(kind, name, kind2, name2 string) bool { return kind == kind2 && name == name2 },
		func(kind, _, kind2, _ string) bool { return kind == kind2 },
	} {
		for i, their := range theirs {
			if at[i] != "" {
				continue
			}
			kind, name := rustNamed(their)
			for j, our := range ours {
				if kind2, name2 := rustNamed(our); !taken[j] && same(kind, name, kind2, name2) {
					at[i], taken[j] = our, true
					break
				}
			}
		}
	}
	for j, our := range ours {
		if !taken[j] {
			left = append(left, our)
		}
	}
	return at, left
}

// TestFuncs returns the text of each function that is a test, attributes included.
func TestFuncs(src string) map[string]string {
	out := map[string]string{}
	for _, m := range rustTestHead.FindAllStringSubmatchIndex(src, -1) {
		text := src[m[0]:rustEnd(src, m[1])]
		out[rustFnName.FindStringSubmatch(text)[1]] += text
	}
	return out
}

// InFile is where a test of a program that is made of several sources stands, and its own
// name there: the modules before it are files as far as has says so.
func InFile(name, test string, has func(string) bool) (file, own string) {
	if path.Ext(name) != ".rs" || !strings.Contains(test, "::") {
		return name, test
	}
	file, own = InModule(name, test, has)
	return file, own[strings.LastIndex(own, ":")+1:]
}

// InModule is the same with the modules within that file before its own name.
func InModule(name, test string, has func(string) bool) (file, within string) {
	parts := strings.Split(test, "::")
	if path.Ext(name) != ".rs" || len(parts) == 1 {
		return name, test
	}
	dir, at := path.Dir(name), 0
	for i, module := range parts[:len(parts)-1] {
		dir = path.Join(dir, module)
		for _, f := range []string{dir + ".rs", path.Join(dir, "mod.rs")} {
			if has(f) {
				name, at = f, i+1
			}
		}
	}
	return name, strings.Join(parts[at:], "::")
}

// ModuleOf is the text of the module of a source that a test stands in, by the modules around its name, without what
// lines are indented by; empty where there is no such test.
func ModuleOf(src []byte, within string) string {
	parts, text := strings.Split(within, "::"), string(src)
	for _, module := range parts[:len(parts)-1] {
		head := regexp.MustCompile(`\bmod\s+` + regexp.QuoteMeta(module) + `\s*\{`).FindStringIndex(text)
		if head == nil {
			return ""
		}
		text = text[head[1]:max(head[1], rustEnd(text, head[1])-1)]
	}
	if TestFuncs(text)[parts[len(parts)-1]] == "" {
		return ""
	}
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// rustElsewhere is what takes the text of another file into a source.
var rustElsewhere = pattern.New(`\binclude(?:_str|_bytes)?!`)

// ByItself says of the source of a crate whether it is all of it: it declares no module that stands
// in another file, and includes none.
func ByItself(src []byte) bool {
	return !rustModuleLine.Match(src) && !rustElsewhere.Match(src)
}

// rustOwnAsserts are a source's own ways to say what a test's assertion is.
var rustOwnAsserts = pattern.New(`\bmacro_rules!|\bassert\w*`)

// SameTests says whether what a source has for tests alone is what another one has, of which the
// rest brings no macro or assertion that this one has not.
func SameTests(src, other []byte) bool {
	ours, rest := rustModules(string(src))
	theirs, others := rustModules(string(other))
	count := func(parts []string) int {
		return len(rustOwnAsserts.FindAllString(strings.Join(parts, ""), -1))
	}
	return slices.Equal(ours, theirs) && count(others) <= count(rest)
}

// rustNamed is the kind of an item and its name.
func rustNamed(item string) (kind, name string) {
	m := rustTests.FindStringSubmatch(item)
	if m == nil || m[1] == "" {
		if m = rustFnName.FindStringSubmatch(item); m != nil {
			return "fn", m[1]
		}
		return "", ""
	}
	return m[1], m[2]
}

// rustModules splits a source at what is compiled for tests alone.
func rustModules(src string) (modules, between []string) {
	for {
		m := rustTests.FindStringSubmatchIndex(src)
		if m == nil {
			return modules, append(between, src)
		}
		end := rustEnd(src, m[1])
		if m[2] >= 0 {
			end = rustItemEnd(src, m[1], src[m[2]:m[3]])
		}
		modules, between = append(modules, src[m[0]:end]), append(between, src[:m[0]])
		src = src[end:]
	}
}

// rustSkipped are literals and comments of Rust, in which braces mean nothing.
var rustSkipped = pattern.New(`^(?s://[^\n]*|/\*.*?\*/|b?"(?:\\.|[^"\\])*"|'(?:\\[^']+|[^'\\])')`)

// rustItemEnd returns the place behind an item of a kind whose head ends at at: behind its
// body, or the semicolon that ends it.
func rustItemEnd(src string, at int, kind string) int {
	for depth := 0; at < len(src); at++ {
		switch src[at] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ';':
			if depth <= 0 {
				return at + 1
			}
		case '{':
			end := rustEnd(src, at+1)
			if depth <= 0 && !slices.Contains([]string{"use", "const", "static", "type"}, kind) {
				return end
			}
			at = end - 1
		case '/', '"', '\'', 'b':
			if m := rustSkipped.FindStringSubmatch(src[at:]); m != nil {
				at += len(m[0]) - 1
			}
		case 'r':
			at += rustRaw(src[at:])
		}
	}
	return len(src)
}

// rustModuleLine is the declaration of a module that stands in a file of its own.
var rustModuleLine = pattern.New(`(?m)^[ \t]*(` + rustAttr + `)` + rustVisible + `mod\s+(\w+)\s*;`)

var rustCfg = pattern.New(rustCfgTest)

// rustForTests says whether a source is compiled for tests alone: what declares it as a module
// does so for tests, or is such a source itself. read returns other files.
func rustForTests(name string, read func(string) []byte) bool {
	seen := map[string]bool{} // sources may declare one another
	for !seen[name] {
		seen[name] = true
		parent, forTests := rustDeclared(name, read)
		if parent == "" || forTests {
			return forTests
		}
		name = parent
	}
	return false
}

// onlyOfTests says whether a source is of a crate that cannot be published, and that a package
// above it has as a dependency of its tests, and of nothing else
// (https://doc.rust-lang.org/cargo/reference/specifying-dependencies.html#development-dependencies).
func onlyOfTests(name string, read func(string) []byte) bool {
	crate := path.Dir(name)
	for crate != "." && read(path.Join(crate, "Cargo.toml")) == nil {
		crate = path.Dir(crate)
	}
	own, broken := ecosystem.ParseTOML(read(path.Join(crate, "Cargo.toml")))
	if p := own.Table("package"); broken || p["publish"] != false && p["description"] != nil && (p["license"] != nil || p["license-file"] != nil) {
		return false // https://doc.rust-lang.org/cargo/reference/publishing.html asks for these
	}
	found := false
	for at := crate; at != "."; {
		at = path.Dir(at)
		manifest, broken := ecosystem.ParseTOML(read(path.Join(at, "Cargo.toml")))
		if broken {
			return false
		}
		for _, d := range append(manifest.Tables("target"), manifest) {
			for _, kind := range []string{"dependencies", "build-dependencies", "dev-dependencies"} {
				for _, t := range d.Tables(kind) {
					if from := t.Text("path"); from == "" || path.Join(at, from) != crate {
						continue
					}
					if kind != "dev-dependencies" {
						return false
					}
					found = true
				}
			}
		}
	}
	return found
}

// rustParts splits a source into what is compiled for tests alone and the rest.
func rustParts(src string) (tests, rest string) {
	modules, between := rustModules(src)
	return strings.Join(modules, "\n"), strings.Join(between, "\n")
}

// rustDeclared names the source that declares another one as a module, empty for none, and says
// whether it does so for tests alone.
func rustDeclared(name string, read func(string) []byte) (parent string, forTests bool) {
	dir, stem := path.Dir(name), strings.TrimSuffix(path.Base(name), ".rs")
	if stem == "mod" {
		dir, stem = path.Dir(dir), path.Base(dir)
	}
	for _, parent := range []string{path.Join(dir, "lib.rs"), path.Join(dir, "main.rs"), path.Join(dir, "mod.rs"), dir + ".rs"} {
		if parent == name {
			continue
		}
		for _, m := range rustModuleLine.FindAllStringSubmatch(string(read(parent)), -1) {
			if own := strings.Contains(m[1], "path"); own && strings.Contains(m[1], `"`+path.Base(name)+`"`) || !own && m[2] == stem {
				return parent, rustCfg.MatchString(m[1])
			}
		}
	}
	return "", false
}

// rustEnd returns the place behind the brace that closes the one before at.
func rustEnd(src string, at int) int {
	for depth := 1; at < len(src); at++ {
		switch src[at] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return at + 1
			}
		case '/', '"', '\'', 'b':
			if m := rustSkipped.FindStringSubmatch(src[at:]); m != nil {
				at += len(m[0]) - 1
			}
		case 'r':
			at += rustRaw(src[at:])
		}
	}
	return len(src)
}

var rustRawHead = pattern.New(`^r(#*)"`)

// rustRaw returns how far a raw string at the beginning of src reaches beyond its
// first byte; 0 where there is none.
func rustRaw(src string) int {
	m := rustRawHead.FindStringSubmatch(src)
	if m == nil {
		return 0
	}
	if end := strings.Index(src[len(m[0]):], `"`+m[1]); end >= 0 {
		return len(m[0]) + end + len(m[1])
	}
	return len(src) - 1
}

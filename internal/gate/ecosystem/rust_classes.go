package ecosystem

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/pattern"
)

func rustClasses() classTable {
	return classTable{
		steering: func(name string, _ []byte) bool {
			return inFolders(name, []string{".cargo"}) && strings.HasPrefix(path.Base(name), "config") || strings.HasSuffix(name, ".config/nextest.toml")
		},
		test: func(name string, src []byte) bool {
			return path.Ext(name) == ".rs" && InFolder(name, "tests") && (src == nil || strings.Contains(string(src), "#["))
		},
		folders: []string{"tests"},
		mixed: func(name string) *Mixture {
			switch {
			case path.Base(name) == "Cargo.toml":
				return &Mixture{compare.Steering, mergeSections("test", "lib.test", "lib.harness", "lib.doctest", "package.autotests", "profile.test")}
			case path.Ext(name) == ".rs" && !InFolder(name, "tests"):
				return &Mixture{compare.Test, mergeRustTests}
			}
			return nil
		},
	}
}

const (
	rustVisible = `(?:pub(?:\([^)]*\))?\s+)?`
	rustAttr    = `(?:(?:#\[[^\]]*\]|//[^\n]*)\s*)*`
	rustTestFn  = rustAttr + `#\[\s*(?:\w+::)*(?:test|rstest|test_case|quickcheck|wasm_bindgen_test|bench)\b[^\]]*\]\s*` + rustAttr + rustVisible + `(?:(?:async|unsafe|const)\s+)*fn\s+\w+[^{;]*\{`
)

// rustTests is the head of a module of tests inside a source file, or of a test in none.
var rustTests = pattern.New(`(?m)^[ \t]*(?:#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*` + rustVisible + `mod\s+\w+\s*\{|` + rustTestFn + `)`)

var (
	rustTest    = pattern.New(`^[ \t]*` + rustTestFn)
	rustParent  = pattern.New(`(?m)^\s*use\s+(?:super|crate)::`)
	rustOffered = pattern.New(`(?m)^pub(?:\([^)]*\))?\s+(?:fn|async|unsafe|const|static|struct|enum|union|trait|type|mod|use|macro)\b|^(?:impl|trait|fn\s+main)\b|^#\[macro_export\]`)
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
	head, err := mergeExamples(rustExamples)(base, head)
	if err != nil {
		return nil, err
	}
	ours, _ := rustModules(string(base))
	theirs, rest := rustModules(string(head))
	if slices.Equal(ours, theirs) {
		return head, nil
	}
	out := rest[0]
	for i := range theirs {
		if i < len(ours) {
			out += ours[i]
		}
		out += rest[i+1]
	}
	for i := len(theirs); i < len(ours); i++ {
		out = strings.TrimRight(out, "\n") + "\n\n" + ours[i] + "\n"
	}
	return []byte(out), nil
}

// rustModules splits a source at its modules of tests.
func rustModules(src string) (modules, between []string) {
	for {
		m := rustTests.FindStringSubmatchIndex(src)
		if m == nil {
			return modules, append(between, src)
		}
		end := rustEnd(src, m[1])
		modules, between = append(modules, src[m[0]:end]), append(between, src[:m[0]])
		src = src[end:]
	}
}

// rustSkipped are literals and comments of Rust, in which braces mean nothing.
var rustSkipped = pattern.New(`^(?s://[^\n]*|/\*.*?\*/|b?"(?:\\.|[^"\\])*"|'(?:\\[^']+|[^'\\])')`)

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

package rust

import (
	"strings"
	"testing"
)

// TestMergeRustTests holds that the base's tests stand in the head's sources, at each place where
// Rust has them.
func TestMergeRustTests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ what, base, head, want string }{
		{
			"a module in a source",
			"fn a() -> i32 { 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { assert_eq!(super::a(), 1); }\n}\n",
			"fn a() -> i32 { 2 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { assert_eq!(super::a(), 2); }\n}\n",
			"fn a() -> i32 { 2 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { assert_eq!(super::a(), 1); }\n}\n",
		},
		{
			"a module in a file of its own",
			"use super::*;\n\nfn want() -> i32 { 1 }\n\n#[test]\nfn is_a() { assert_eq!(a(), want()); }\n",
			"use super::*;\n\nfn want() -> i32 { 2 }\n\n#[test]\nfn is_a() { assert_eq!(a(), want()); }\n",
			"use super::*;\n\nfn want() -> i32 { 1 }\n\n#[test]\nfn is_a() { assert_eq!(a(), want()); }\n",
		},
		{
			"tests beside what they test",
			"pub fn a() -> i32 { 1 }\n\n#[tokio::test]\n#[ignore]\nasync fn b() {}\n\n/// It holds.\n#[should_panic]\n#[test]\nfn is_a() { assert_eq!(a(), 1); }\n",
			"pub fn a() -> i32 { 2 }\n\n/// It holds.\n#[should_panic]\n#[test]\nfn is_a() { assert_eq!(a(), 2); }\n",
			"pub fn a() -> i32 { 2 }\n\n/// It holds.\n#[should_panic]\n#[test]\nfn is_a() { assert_eq!(a(), 1); }\n\n#[tokio::test]\n#[ignore]\nasync fn b() {}\n",
		},
		{
			"what is compiled for tests alone",
			"pub fn a() -> i32 { 1 }\n\n#[cfg(test)]\nfn same(a: i32) -> bool { a == 1 }\n\n#[cfg(test)]\nuse a::{b, c};\n\n#[cfg(test)]\nmod tests;\n",
			"#[cfg(test)]\nfn more() {}\n\npub fn a() -> i32 { 2 }\n\n#[cfg(test)]\nfn same(a: i32) -> bool { a > 0 }\n\n#[cfg(test)]\n#[path = \"t.rs\"]\nmod tests;\n",
			"\n\npub fn a() -> i32 { 2 }\n\n#[cfg(test)]\nfn same(a: i32) -> bool { a == 1 }\n\n#[cfg(test)]\nmod tests;\n\n#[cfg(test)]\nuse a::{b, c};\n",
		},
		{
			"a module that is not compiled",
			"pub fn a() -> i32 { 1 }\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn is_a() { assert_eq!(a(), 1); }\n}\n",
			"pub fn a() -> i32 { 2 }\n\n#[cfg(any())]\nmod tests {\n    #[test]\n    fn is_a() { assert_eq!(a(), 1); }\n}\n",
			"pub fn a() -> i32 { 2 }\n\n#[cfg(any())]\nmod tests {\n\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn is_a() { assert_eq!(a(), 1); }\n}\n",
		},
		{
			"a program with a test is the head's",
			"use crate::b;\n\nfn main() {}\n\nfn a() -> i32 { 1 }\n\n#[test]\nfn is_a() { assert_eq!(a(), 1); }\n",
			"use crate::b;\n\nfn main() {}\n\nfn a() -> i32 { 2 }\n\n#[test]\nfn is_a() { assert_eq!(a(), 2); }\n",
			"use crate::b;\n\nfn main() {}\n\nfn a() -> i32 { 2 }\n\n#[test]\nfn is_a() { assert_eq!(a(), 1); }\n",
		},
		{
			"examples of documentation",
			"/// Old.\n/// ```\n/// assert_eq!(m::a(), 1);\n/// ```\n#[inline]\npub fn a() -> i32 { 1 }\n",
			"/// ```\n/// assert_eq!(m::b(), 3);\n/// ```\npub fn b() -> i32 { 3 }\n\n/// New.\n/// ```\n/// assert_eq!(m::a(), 2);\n/// ```\n#[inline]\npub fn a() -> i32 { 2 }\n",
			"/// ```\n/// assert_eq!(m::b(), 3);\n/// ```\npub fn b() -> i32 { 3 }\n\n/// Old.\n/// ```\n/// assert_eq!(m::a(), 1);\n/// ```\n#[inline]\npub fn a() -> i32 { 2 }\n",
		},
		{
			"nothing is tested there",
			"pub fn a() -> i32 { 1 }\n",
			"pub fn a() -> i32 { 2 }\n",
			"pub fn a() -> i32 { 2 }\n",
		},
	} {
		got, err := mergeRustTests([]byte(c.base), []byte(c.head))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.what, err, got, c.want)
		}
	}
}

// TestOnlyOfTests holds which crates of a tree are there for the tests of another one alone.
func TestOnlyOfTests(t *testing.T) {
	t.Parallel()
	const own, published = "[package]\nname = \"oracle\"\n", "[package]\nname = \"oracle\"\ndescription = \"x\"\nlicense = \"MIT\"\n"
	for name, tt := range map[string]struct {
		own, top string
		want     bool
	}{
		"for tests":       {own, "[dev-dependencies]\noracle = { path = \"tools/oracle\" }\n", true},
		"on one platform": {own, "[target.'cfg(unix)'.dev-dependencies.oracle]\npath = \"tools/oracle\"\n", true},
		"for all":         {own, "[dependencies]\noracle = { path = \"tools/oracle\" }\n", false},
		"both":            {own, "[dependencies]\noracle = { path = \"tools/oracle\" }\n[dev-dependencies]\noracle = { path = \"tools/oracle\" }\n", false},
		"of a registry":   {own, "[dev-dependencies]\noracle = \"1\"\n", false},
		"published":       {published, "[dev-dependencies]\noracle = { path = \"tools/oracle\" }\n", false},
		"not published":   {published + "publish = false\n", "[dev-dependencies]\noracle = { path = \"tools/oracle\" }\n", true},
		"no manifest":     {own, "[", false},
	} {
		files := map[string]string{"Cargo.toml": tt.top, "tools/oracle/Cargo.toml": tt.own}
		read := func(name string) []byte {
			if text, ok := files[name]; ok {
				return []byte(text)
			}
			return nil
		}
		if got := onlyOfTests("tools/oracle/src/lib.rs", read); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
		if onlyOfTests("src/lib.rs", read) {
			t.Errorf("%s: the package itself", name)
		}
	}
}

// TestParts holds how a source is split into what is compiled for tests and the rest.
func TestParts(t *testing.T) {
	t.Parallel()
	tests, rest := rustParts("fn a() {}\n\n#[cfg(test)]\nmod tests {\n    const X: &str = include_str!(\"x.txt\");\n}\n\nfn b() {}\n")
	if !strings.Contains(tests, "x.txt") || strings.Contains(rest, "x.txt") || !strings.Contains(rest, "fn b") {
		t.Errorf("tests %q, rest %q", tests, rest)
	}
}

// A test is found in the file of its module, with the modules within that before its name.
func TestInModule(t *testing.T) {
	t.Parallel()
	has := func(f string) bool { return f == "a/src/money.rs" || f == "a/src/money/tax/mod.rs" }
	for _, c := range []struct{ name, test, file, within, own string }{
		{"a/src/lib.rs", "money::tests::fmt", "a/src/money.rs", "tests::fmt", "fmt"},
		{"a/src/lib.rs", "money::tax::fmt", "a/src/money/tax/mod.rs", "fmt", "fmt"},
		{"a/src/lib.rs", "tests::fmt", "a/src/lib.rs", "tests::fmt", "fmt"},
		{"a/src/lib.rs", "fmt", "a/src/lib.rs", "fmt", "fmt"},
		{"a", "a/src/lib.rs - money::fmt", "a", "a/src/lib.rs - money::fmt", "a/src/lib.rs - money::fmt"},
	} {
		file, within := InModule(c.name, c.test, has)
		in, own := InFile(c.name, c.test, has)
		if file != c.file || within != c.within || in != c.file || own != c.own {
			t.Errorf("%s %s: %s in %s, %s in %s", c.name, c.test, within, file, own, in)
		}
	}
}

// A source that takes in no other is all of the crate that it is the root of.
func TestByItself(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]bool{
		"use super::*;\n\nmod tests {\n}\n":               true,
		"pub mod more;\n":                                 false,
		"#[cfg(test)]\nmod tests;\n":                      false,
		"const T: &str = include_str!(\"../README.md\");": false,
	} {
		if got := ByItself([]byte(src)); got != want {
			t.Errorf("%q: %v", src, got)
		}
	}
}

// What is compiled for tests alone is compared, and what could make its assertions mean something else.
func TestSameTests(t *testing.T) {
	t.Parallel()
	const tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn works() { assert_eq!(super::two(), 2); }\n}\n"
	const src = "pub fn two() -> u8 { 2 }\n" + tests
	for other, want := range map[string]bool{
		src: true,
		"//! Numbers.\n\npub fn two() -> u8 { 1 + 1 }\n" + tests:                 true,
		strings.Replace(src, "(), 2)", "(), 3)", 1):                              false,
		"pub fn two() -> u8 { 2 }\n":                                             false,
		"macro_rules! same { () => {} }\n" + src:                                 false,
		"use other::lenient as assert_eq;\n" + src:                               false,
		"#[cfg(test)]\nuse std::fmt;\n" + src:                                    false,
		"fn check() { assert!(two() > 1); }\npub fn two() -> u8 { 2 }\n" + tests: false,
	} {
		if got := SameTests([]byte(src), []byte(other)); got != want {
			t.Errorf("%q: %v", other, got)
		}
	}
}

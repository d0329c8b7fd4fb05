package gate

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ycbot/ycbot/internal/testing/variants"
)

// Tests of Rust that have a file of their own among the sources, and those that are in no
// module, are the base's: that they were given new results is named. Those of Node and Python
// are the scenarios tests_elsewhere_*.
func TestElsewhereRust(t *testing.T) {
	variants.Only(t) // it compiles a crate six times; those of Python show it, too
	t.Parallel()
	tools := &Toolchains{Go: &GoToolchain{}, Env: []string{"PATH=" + systemPath(), "HOME=" + os.Getenv("HOME")}}
	for _, tool := range []string{"cargo", "rustc", "gcc"} {
		if !tools.Has(tool) {
			t.Skipf("%s is needed", tool)
		}
	}
	const manifest = "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"
	tree := func(sum, difference, three, one string) map[string][]byte {
		return map[string][]byte{
			"Cargo.toml": []byte(manifest),
			"src/lib.rs": []byte("pub fn add(a: i32, b: i32) -> i32 { " + sum + " }\npub fn sub(a: i32, b: i32) -> i32 { " + difference + " }\n\n" +
				"#[cfg(test)]\nmod tests;\n\n#[test]\nfn subtracts() { assert_eq!(sub(3, 2), " + one + "); }\n"),
			"src/tests.rs": []byte("use super::*;\n\nfn three() -> i32 { " + three + " }\n\n#[test]\nfn adds() { assert_eq!(add(1, 2), three()); }\n"),
		}
	}
	s := &scenario{input: map[string][]string{}, base: tree("a + b", "a - b", "3", "1"), head: tree("a + b + 1", "a - b - 1", "4", "0")}
	res := judge(t, tools, s, func(g *Gate) { g.Limits.Mutation = -1 })
	var got []string
	if res.Expectations != nil {
		for _, x := range res.Expectations.Changed {
			got = append(got, string(x.Class)+" "+x.ID.String())
		}
	}
	if diff := cmp.Diff([]string{"rewritten src/lib.rs subtracts", "rewritten src/lib.rs tests::adds"}, got); diff != "" {
		t.Errorf("given up (-want +got):\n%s", diff)
	}
}

// What a crate compiles for tests alone is the base's wherever it stands, and a test that its
// sources switch off still stands.
func TestRustSwitchedOff(t *testing.T) {
	variants.Only(t) // it compiles crates many times
	t.Parallel()
	tools := &Toolchains{Go: &GoToolchain{}, Env: []string{"PATH=" + systemPath(), "HOME=" + os.Getenv("HOME")}}
	for _, tool := range []string{"cargo", "rustc", "gcc"} {
		if !tools.Has(tool) {
			t.Skipf("%s is needed", tool)
		}
	}
	const (
		manifest = "[package]\nname = \"m\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"
		good     = "pub fn add(a: i32, b: i32) -> i32 { a + b }\n"
		bad      = "pub fn add(a: i32, b: i32) -> i32 { if a == 1 { a + b + 1 } else { a + b } }\n"
		zero     = "\n#[cfg(test)]\nmod other {\n    #[test]\n    fn zero() { assert_eq!(super::add(0, 0), 0); }\n}\n"
		tests    = "mod tests {\n    use super::*;\n\n    #[test]\n    fn adds() { assert_eq!(add(1, 2), 3); }\n}\n"
		asks     = "mod tests {\n    use super::*;\n\n    #[test]\n    fn adds() { assert!(same(add(1, 2), 3)); }\n}\n"
		file     = "use super::*;\n\n#[test]\nfn adds() { assert_eq!(add(1, 2), 3); }\n"
		lenient  = "use super::*;\n\n#[test]\nfn adds() { assert!(add(1, 2) > 2); }\n"
		same     = "fn same(a: i32, b: i32) -> bool { a == b }\n"
		more     = "fn same(a: i32, b: i32) -> bool { a >= b }\n"
	)
	for name, c := range map[string]struct {
		base, head map[string]string
		want       string
	}{
		"switched off":     {map[string]string{"src/lib.rs": good + zero + "\n#[cfg(test)]\n" + tests}, map[string]string{"src/lib.rs": bad + zero + "\n#[cfg(any())]\n" + tests}, "silenced"},
		"not declared":     {map[string]string{"src/lib.rs": good + zero + "\n#[cfg(test)]\nmod tests;\n", "src/tests.rs": file}, map[string]string{"src/lib.rs": bad + zero}, "silenced"},
		"another file":     {map[string]string{"src/lib.rs": good + zero + "\n#[cfg(test)]\nmod tests;\n", "src/tests.rs": file}, map[string]string{"src/lib.rs": bad + zero + "\n#[cfg(test)]\n#[path = \"unit.rs\"]\nmod tests;\n", "src/unit.rs": lenient}, "rewritten"},
		"moved":            {map[string]string{"src/lib.rs": good + zero + "\n#[cfg(test)]\nmod tests;\n", "src/tests.rs": file}, map[string]string{"src/lib.rs": bad + zero + "\n#[cfg(test)]\nmod tests;\n", "src/tests.rs": "", "src/tests/mod.rs": lenient}, "weakened"},
		"helper":           {map[string]string{"src/lib.rs": good + "\n#[cfg(test)]\n" + same + "\n#[cfg(test)]\n" + asks}, map[string]string{"src/lib.rs": bad + "\n#[cfg(test)]\n" + more + "\n#[cfg(test)]\n" + asks}, "weakened"},
		"module of helper": {map[string]string{"src/lib.rs": good + "\n#[cfg(test)]\nmod util;\n#[cfg(test)]\nuse util::same;\n\n#[cfg(test)]\n" + asks, "src/util.rs": "pub " + same}, map[string]string{"src/lib.rs": bad + "\n#[cfg(test)]\nmod util;\n#[cfg(test)]\nuse util::same;\n\n#[cfg(test)]\n" + asks, "src/util.rs": "pub " + more}, "weakened"},
		"integration":      {map[string]string{"src/lib.rs": good, "tests/a.rs": "mod common;\n\n#[test]\nfn adds() { assert!(common::same(m::add(1, 2), 3)); }\n", "tests/common/mod.rs": "#[allow(dead_code)]\npub " + same}, map[string]string{"src/lib.rs": bad, "tests/common/mod.rs": "#[allow(dead_code)]\npub " + more}, "support"},
		"honest":           {map[string]string{"src/lib.rs": good + zero + "\n#[cfg(test)]\nmod tests;\n", "src/tests.rs": file}, map[string]string{"src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 { b + a }\n" + zero + "\n#[cfg(test)]\nmod tests;\n", "src/tests.rs": "", "src/tests/mod.rs": file}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scenario{input: map[string][]string{}, base: map[string][]byte{"Cargo.toml": []byte(manifest)}, head: map[string][]byte{}}
			for f, text := range c.base {
				s.base[f] = []byte(text)
			}
			for f, text := range c.head {
				if text == "" {
					s.removed = append(s.removed, f)
					continue
				}
				s.head[f] = []byte(text)
			}
			res := judge(t, tools, s, func(g *Gate) { g.Limits.Mutation = -1 })
			got := ""
			if res.Expectations != nil {
				for _, x := range res.Expectations.Changed {
					got += string(x.Class)
				}
			}
			if got != c.want {
				t.Errorf("given up is %q, want %q", got, c.want)
			}
		})
	}
}

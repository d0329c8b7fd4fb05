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

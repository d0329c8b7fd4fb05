package rust

import (
	"strings"
	"testing"
)

// TestWithoutItself holds that a package's tests do not get it with other features than others.
func TestWithoutItself(t *testing.T) {
	t.Parallel()
	head := "[package]\nname = \"shop\"\n\n[dev-dependencies]\nshop = { path = \".\", features = [\"exact\"] }\nother = { path = \"../other\" }\n"
	got, err := withoutItself([]byte("[package]\nname = \"shop\"\n"), []byte(head))
	if err != nil || strings.Contains(string(got), "exact") || !strings.Contains(string(got), "other") {
		t.Errorf("%s %v", got, err)
	}
	if got, err := withoutItself([]byte(head), []byte(head)); err != nil || string(got) != head {
		t.Errorf("of both sides: %s %v", got, err)
	}
}

// TestModuleOf holds what the text of a test's module is, in whatever file that is.
func TestModuleOf(t *testing.T) {
	t.Parallel()
	const inline = "pub fn add() {}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        add();\n    }\n}\n"
	const own = "use super::*;\n\n#[test]\nfn adds() {\n    add();\n}\n"
	const want = "use super::*;\n#[test]\nfn adds() {\nadd();\n}"
	for _, tt := range []struct{ src, within, want string }{
		{inline, "tests::adds", want},
		{own, "adds", want},
		{own + "\nfn add() {}\n", "adds", want + "\nfn add() {}"},
		{inline, "tests::other", ""},
		{inline, "others::adds", ""},
		{"mod tests {", "tests::adds", ""},
	} {
		if got := ModuleOf([]byte(tt.src), tt.within); got != tt.want {
			t.Errorf("%s in %q: %q, want %q", tt.within, tt.src, got, tt.want)
		}
	}
}

package classes

import (
	"strings"
	"testing"
)

// TestProductOf holds which parts of a file that steers tests make the product, and that what
// runs the tests stays the base's beside them.
func TestProductOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ why, name, base, head, has, hasNot string }{
		{"a variable", "Makefile", "F = -DA=1\ntest:\n\t./t\n", "F = -DA=2\ntest:\n\ttrue\n", "F = -DA=2\ntest:\n\t./t\n", "true"},
		{"a rule", "Makefile", "gen:\n\techo 1 >a\n\techo x\ntest: gen\n\t./t\n", "gen:\n\techo 2 >a\n\techo x\ntest:\n\t./t\n", "gen:\n\techo 2 >a\n\techo x\ntest: gen\n", ""},
		{"lines that go on", "Makefile", "F = a \\\n  -DA=1\nall:\n", "F = a \\\n  -DA=2\nall:\n", "-DA=2\nall:", "-DA=1"},
		{"what is for tests", "Makefile", "TESTFLAGS = -a\ncheck:\n\t./t\n", "TESTFLAGS =\ncheck:\n", "", ""},
		{"a script", "package.json", `{"scripts":{"build":"a","test":"t"},"jest":{}}`, `{"scripts":{"build":"b","test":"true"}}`, `"build": "b", "test": "t"`, "true"},
		{"scripts for tests", "package.json", `{"scripts":{"pretest":"a","test":"t"}}`, `{"scripts":{"pretest":"b","test":"u"}}`, "", ""},
		{"a value of its own", "package.json", `{"scripts":{"test":"t"},"config":{"tax":19}}`, `{"scripts":{"test":"u"},"config":{"tax":1}}`, `{"tax":1}`, `"u"`},
		{"no object", "package.json", `{"scripts":{}}`, `[]`, "", ""},
		{"what Cargo sets", ".cargo/config.toml", "[env]\nA = \"1\"\n", "[env]\nA = \"2\"\n", `A = "2"`, ""},
		{"how Cargo runs tests", ".cargo/config.toml", "[env]\nA = \"1\"\n", "[env]\nA = \"2\"\n[target.x]\nrunner = \"test\"\n", "", ""},
		{"a runner's", "pytest.ini", "[pytest]\n", "[pytest]\naddopts = -x\n", "", ""},
	} {
		got := string(ProductOf(tt.name, Versions{Base: []byte(tt.base), Head: []byte(tt.head)}))
		if (tt.has == "") != (got == "") || !strings.Contains(got, tt.has) || tt.hasNot != "" && strings.Contains(got, tt.hasNot) {
			t.Errorf("%s: %q", tt.why, got)
		}
	}
	if got := ProductOf("Makefile", Versions{Head: []byte("A = 1\n")}); got != nil {
		t.Errorf("of a new file: %q", got)
	}
}

// TestNamesInTree holds which sources have a file of data as their own.
func TestNamesInTree(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		src, dir, file string
		want           bool
	}{
		{`path.join(__dirname, 'tests', 'panels.json')`, "src/lab", "src/lab/tests/panels.json", true},
		{`for f in os.listdir(os.path.join(here, "fixtures")): pass`, "shop", "shop/fixtures/rates.json", true},
		{`open("tests/data/rates.json")`, ".", "tests/data/rates.json", true},
		{`find_packages(exclude=["tests"])`, ".", "tests/data/rates.json", false},
		{`open("other.json")`, "shop", "tests/data/rates.json", false},
	} {
		if got := NamesInTree(tt.src, tt.dir, tt.file); got != tt.want {
			t.Errorf("%s in %s names %s: %v", tt.src, tt.dir, tt.file, got)
		}
	}
}

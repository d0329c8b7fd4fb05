package languages_test

import (
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
)

// What stands at the old place of a source leads to the new one, in the form in which others
// ask for it.
func TestForward(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ old, now, src, wanted, want string }{
		{"lib/a.js", "src/x/a.js", "exports.a = 1;\n", "", "module.exports = require(\"../src/x/a.js\");\n"},
		{"lib/a.js", "lib/b.js", "export const a = 1;\n", "", "export * from \"./b.js\";\n"},
		{"lib/a.mjs", "lib/b.mjs", "export default 1;\n", "", "export * from \"./b.mjs\";\nexport { default } from \"./b.mjs\";\n"},
		{"lib/a.cjs", "lib/b.mjs", "export const a = 1;\n", "", ""},
		{"src/a.ts", "src/x/a.ts", "export const a = 1;\n", "import { a } from '../src/a.js'", "export * from \"./x/a.js\";\n"},
		{"src/a.ts", "src/x/a.ts", "export const a = 1;\n", "import { a } from '../src/a.ts'", "export * from \"./x/a.ts\";\n"},
		{"src/a.tsx", "src/x/a.tsx", "export const a = 1;\n", "import { a } from '../src/a'", "export * from \"./x/a\";\n"},
		{"src/a.d.ts", "src/x/a.d.ts", "export const a: number;\n", "", ""},
		{"lib/a.rb", "lib/x/a.rb", "", "", "require_relative \"./x/a.rb\"\n"},
		{"src/a.php", "lib/a.php", "", "", "<?php return require_once __DIR__ . '/../lib/a.php';\n"},
		{"a.h", "include/a.h", "", "", "#include \"./include/a.h\"\n"},
		{"a.c", "src/a.c", "", "", ""},
	} {
		got := languages.Of(tt.old).Forwarding.Whole(ecosystem.Moved{Old: tt.old, New: tt.now, Source: []byte(tt.src), Wanted: [][]byte{[]byte(tt.wanted)}})
		if string(got) != tt.want {
			t.Errorf("%s to %s: %q, want %q", tt.old, tt.now, got, tt.want)
		}
	}
}

// A source with names that moved out of it has those of its own, and the others when they are
// asked for.
func TestForwardNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ old, rest, src, to, want string }{
		{"lib/a.js", "export const b = 1;\n", "export const a = 1;\n", "lib/x/a.js", "export const b = 1;\n\nexport { a } from \"./x/a.js\";\n"},
		{"lib/a.js", "", "exports.a = 1;\n", "lib/b.js", "\nObject.defineProperty(module.exports, \"a\", { enumerable: true, configurable: true, get: () => require(\"./b.js\").a });\n"},
		{"src/a.ts", "", "export type a = string;\n", "src/b.ts", "\nexport { a } from \"./b\";\n"},
		{"p/a.py", "def __getattr__(name):\n    return 1\n", "a = 1\n", "p/b.py", ""},
	} {
		f := languages.Of(tt.old).Forwarding
		if names := f.Offers([]byte(tt.src)); len(names) != 1 || names[0] != "a" {
			t.Errorf("%s offers %q", tt.src, names)
		}
		s := ecosystem.Scattered{Old: tt.old, To: map[string]string{"a": tt.to}, Any: []byte(tt.src)}
		if tt.rest != "" {
			s.Rest = []byte(tt.rest)
		}
		if got := string(f.Names(s)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.old, got, tt.want)
		}
	}
	for src, want := range map[string]string{
		"module.exports = { a, b: 1, 'c': 2, ...rest };\n":                         "a b",
		"const x = 1;\nexport { x, y as z };\nexport default class Q {}\n":         "x z",
		"export async function f() {}\nexport class G {}\nexports.h = 1;\n":        "f G h",
		"def f(): pass\nasync def g(): pass\nclass H: pass\nI: int = 1\n  j = 2\n": "",
	} {
		name := "a.js"
		if strings.HasPrefix(src, "def") {
			name, want = "a.py", "f g H I"
		}
		if got := strings.Join(languages.Of(name).Forwarding.Offers([]byte(src)), " "); got != want {
			t.Errorf("%q offers %q, want %q", src, got, want)
		}
	}
}

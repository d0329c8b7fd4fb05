package languages_test

import (
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
		got := languages.Of(tt.old).Forward(ecosystem.Moved{Old: tt.old, New: tt.now, Source: []byte(tt.src), Wanted: [][]byte{[]byte(tt.wanted)}})
		if string(got) != tt.want {
			t.Errorf("%s to %s: %q, want %q", tt.old, tt.now, got, tt.want)
		}
	}
}

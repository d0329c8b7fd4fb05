package ecosystem

import (
	"strings"
	"testing"
)

func TestTestRecipes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, src, want string }{
		{"the target alone", "Makefile", "build:\n\tcc a.c\ntest:\n\t./a\n", "./a"},
		{"what it depends on", "Makefile", "test: a\n\t./a\na: a.c\n\tcc a.c\nb: b.c\n\tcc b.c\n", "./a; cc a.c"},
		{"that is a pattern", "Makefile", "test: a.ok\n%.ok: %\n\t./$<\n%.o: %.c\n\tcc $<\n", "./$<"},
		{"that the rule makes up", "Makefile", "test: $(OK)\n%.ok: %\n\t./$<\n", "./$<"},
		{"that both make up", "Makefile", "test: $(ALL)\n$(BIN): a.c\n\tcc a.c\n", "cc a.c"},
		{"one that is made up and not wanted", "Makefile", "test: a\n\t./a\n$(BIN): a.c\n\tcc a.c\n", "./a"},
		{"of two targets", "Makefile", "test: b\n\t./a\na b&: c\n\tgen c\n", "./a; gen c"},
		{"in one line", "Makefile", "test: a; ./a\n", "./a"},
		{"on more lines", "Makefile", "test: \\\n  a\n\t./a\na:\n\tcc a.c\n", "./a; cc a.c"},
		{"by another call", "Makefile", "test:\n\t$(MAKE) a\na:\n\t./a\n", "$(MAKE) a; ./a"},
		{"no word of a recipe", "Makefile", "test:\n\tpython3 -m unit a\na:\n\tcc a.c\n", "python3 -m unit a"},
		{"scripts by name", "package.json", `{"scripts": {"test": "npm run unit", "unit": "node a.js", "posttest": "node b.js", "lint": "eslint"}}`, "npm run unit; node b.js; node a.js"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(strings.FieldsFunc(TestRecipes(c.file, c.src), func(r rune) bool { return r == '\n' || r == '\t' }), "; "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

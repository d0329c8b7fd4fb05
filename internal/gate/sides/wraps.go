package sides

import (
	"path"
	"regexp"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// A wrapping is a way in which a test takes what a function returns in another form, and
// expects the same of it.
type wrapping struct{ is, by string }

// inBrackets is what stands in the brackets of a call, with calls in it and in these.
const inBrackets = `((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*)`

// wrappings by the extensions of files. What begins a line with an import or a mark for such
// tests belongs to them.
func wrappings(name string) []wrapping {
	awaits := []wrapping{{`\b(?:async|await)[ \t]+`, ""}}
	switch path.Ext(name) {
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx":
		return append(awaits, wrapping{`\[\.\.\.([\w.]+(?:\(` + inBrackets + `\))?)\]`, "$1"}, wrapping{`\bArray\.from\(` + inBrackets + `\)`, "$1"})
	case ".py":
		return append(awaits, wrapping{`(?m)^[ \t]*(?:import[ \t].*|from[ \t].*|@pytest\.mark\.(?:asyncio|anyio)[ \t]*)$`, ""},
			wrapping{`\b(?:list|tuple)\(` + inBrackets + `\)`, "$1"}, wrapping{`\basyncio\.run\(` + inBrackets + `\)`, "$1"})
	case ".go":
		return []wrapping{
			{`(?m)^[ \t]*"errors"$`, ""},
			{`!errors\.Is\(([^,\n]+), ([\w.]+)\)`, "$1 != $2"},
			{`\berrors\.Is\(([^,\n]+), ([\w.]+)\)`, "$1 == $2"},
		}
	case ".rs":
		return append(awaits, wrapping{`\.await\b`, ""})
	case ".cs":
		return append(awaits, wrapping{`\bTask\b`, "void"})
	}
	return nil
}

// unwrapped is a text of tests without such wrappings, and without its layout.
func unwrapped(name, text string) string {
	for _, w := range wrappings(name) {
		text = regexp.MustCompile(w.is).ReplaceAllString(text, w.by)
	}
	return strings.Join(strings.Fields(text), " ")
}

// OnlyWraps says whether the change edits a test in nothing but the form in which it takes what
// it tests, such as "await" before a call, or a list of what is generated: it passes with the
// old form too, and gives nothing up.
func (r *Reader) OnlyWraps(id results.ID) bool {
	file, src := r.TestFileOf(id)
	if src == nil || wrappings(file) == nil {
		return false
	}
	base := classes.ReadTests(file, src)
	for name, head := range r.headTests(file) {
		t := classes.ReadTests(name, head)
		before, after := base.Text(id.Test), t.Text(id.Test)
		if before == "" && (name == file || name == r.MovedTo(file)) {
			before, after = string(src), string(head)
		}
		if after != "" && after != before {
			return unwrapped(file, before) == unwrapped(name, after)
		}
	}
	return false
}

package shelltext

import (
	"errors"
	"io"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// TestLevels holds that texts of many levels, of each sort, are refused before or as they are
// parsed, and that what passes can be walked and printed.
func TestLevels(t *testing.T) {
	t.Parallel()
	for what, unit := range map[string][3]string{
		"subshells": {"(", "x", ")"}, "on lines": {"(\n", "x", "\n)"}, "blocks": {"{ ", "x;", " }"}, "blocks on lines": {"{\n", "x", "\n}"},
		"substitutions": {"$(", "x", ")"}, "quoted": {`"$(`, "x", `)"`}, "expansions": {"${a:-", "x", "}"},
		"arithmetic": {"(", "1", ")"}, "conditions": {"if ", "x;", "then x; fi;"}, "functions": {"f() ", "x", ""},
		"times": {"time ", "x", ""}, "processes": {"cat <(", "x", ")"}, "else": {"if x; then x; else ", "x;", "fi;"},
	} {
		for _, levels := range []int{10, 1000, 1 << 20} {
			text := strings.Repeat(unit[0], levels) + unit[1] + strings.Repeat(unit[2], levels)
			if what == "arithmetic" {
				text = "echo $((" + text + "))"
			}
			file, err := Parse(text)
			if refused := errors.Is(err, ErrBounds); refused != (levels > 10) {
				t.Errorf("%s, %d levels: %v", what, levels, err)
			}
			if err == nil {
				_ = syntax.NewPrinter().Print(io.Discard, file)
			}
		}
	}
	for what, text := range map[string]string{
		"commands in a row": strings.Repeat("make a && ", 5000) + "make b",
		"a pipe":            strings.Repeat("a|", 50000) + "b",
		"lines":             strings.Repeat("if x; then echo $(date); fi\n", 3000),
	} {
		file, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if err := syntax.NewPrinter().Print(io.Discard, file); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

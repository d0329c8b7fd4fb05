package python

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

var pythonNoName = pattern.New(`ImportError: cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'`)

// What a name stands for without an import. A test that runs without its import would be one
// of the language's own function.
var (
	// https://docs.python.org/3/library/functions.html
	pythonBuiltins = strings.Fields(`abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex copyright credits delattr
		dict dir divmod enumerate eval exec exit filter float format frozenset getattr globals hasattr hash help hex id input int isinstance issubclass iter len license list locals
		map max memoryview min next object oct open ord pow print property quit range repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip
		Exception BaseException ValueError TypeError KeyError IndexError AttributeError RuntimeError OSError IOError TimeoutError ConnectionError PermissionError FileNotFoundError
		NotImplementedError StopIteration LookupError ArithmeticError ZeroDivisionError OverflowError UnicodeError Warning UserWarning DeprecationWarning EnvironmentError ExceptionGroup`)
)

// unimportPython takes a name out of "from … import …".
func unimportPython(src []byte, output string) ([]byte, bool) {
	m := pythonNoName.FindStringSubmatch(output)
	if m == nil || slices.Contains(pythonBuiltins, m[1]) {
		return nil, false
	}
	module := m[2][strings.LastIndexByte(m[2], '.')+1:]
	// from the module by its name, or by a place relative to the file
	imports := regexp.MustCompile(`(?m)^[ \t]*from[ \t]+(?:\.*(?:[\w.]+\.)?` + module + `|\.+[\w.]*)[ \t]+import[ \t]+(?:\([^)]*\)|(?:[^\n\\]|\\\n)*)`)
	done := false
	out := imports.ReplaceAllStringFunc(string(src), func(statement string) string {
		head, list, _ := strings.Cut(statement, "import")
		names, cut := ecosystem.WithoutName(strings.Trim(strings.TrimSpace(list), "()"), m[1])
		if !cut {
			return statement
		}
		done = true
		lines := strings.Repeat("\n", strings.Count(statement, "\n"))
		if len(names) == 0 {
			return head[:len(head)-len(strings.TrimLeft(head, " \t"))] + "pass" + lines
		}
		if lines != "" {
			return head + "import (" + strings.Join(names, ", ") + lines + ")"
		}
		return head + "import " + strings.Join(names, ", ")
	})
	return []byte(out), done
}

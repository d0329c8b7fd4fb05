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

var pythonNoModule = pattern.New(`ModuleNotFoundError: No module named '([\w.]+)'`)

// unimportPython takes a name out of "from … import …", or all that is imported from a module that is gone.
func unimportPython(src []byte, output string) ([]byte, []string) {
	m := pythonNoName.FindStringSubmatch(output)
	if m == nil {
		if gone := pythonNoModule.FindStringSubmatch(output); gone != nil {
			return unimportModule(src, gone[1][strings.LastIndexByte(gone[1], '.')+1:])
		}
		return nil, nil
	}
	if slices.Contains(pythonBuiltins, m[1]) {
		return nil, nil
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
	if !done {
		return nil, nil
	}
	return []byte(out), m[1:2]
}

// unimportModule takes the statements out that import a module, by the last part of its name, or from it.
func unimportModule(src []byte, module string) ([]byte, []string) {
	imports := regexp.MustCompile(`(?m)^([ \t]*)(?:from[ \t]+\.*(?:[\w.]+\.)?` + module + `[ \t]+import[ \t]+(\([^)]*\)|(?:[^\n\\]|\\\n)*)|import[ \t]+(?:[\w.]+\.)?` + module + `(?:[ \t]+as[ \t]+(\w+))?[ \t]*(?:#.*)?$)`)
	var names []string
	out := imports.ReplaceAllStringFunc(string(src), func(statement string) string {
		g := imports.FindStringSubmatch(statement)
		names = append(names, module)
		if g[3] != "" {
			names = append(names, g[3])
		}
		items, _ := ecosystem.WithoutName(strings.Trim(strings.TrimSpace(g[2]), "()"), "")
		for _, item := range items {
			words := strings.Fields(item)
			names = append(names, words[len(words)-1])
		}
		return g[1] + "pass" + strings.Repeat("\n", strings.Count(statement, "\n"))
	})
	if slices.ContainsFunc(names, func(n string) bool { return n == "*" || slices.Contains(pythonBuiltins, n) }) || len(names) == 0 {
		return nil, nil
	}
	return []byte(out), names
}

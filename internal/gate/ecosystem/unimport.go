package ecosystem

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	pythonNoName  = pattern.New(`ImportError: cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'`)
	nodeNoExport  = pattern.New(`does not provide an export named '(\w+)'`)
	nodeBraces    = pattern.New(`\bimport\s+(?:[\w$]+\s*,\s*)?\{[^}]*\}`)
	importComment = pattern.New(`#[^\n]*|//[^\n]*`)
)

// unimportPython takes a name out of "from … import …".
func unimportPython(src []byte, output string) ([]byte, bool) {
	m := pythonNoName.FindStringSubmatch(output)
	if m == nil {
		return nil, false
	}
	module := m[2][strings.LastIndexByte(m[2], '.')+1:]
	// from the module by its name, or by a place relative to the file
	imports := regexp.MustCompile(`(?m)^[ \t]*from[ \t]+(?:\.*(?:[\w.]+\.)?` + module + `|\.+[\w.]*)[ \t]+import[ \t]+(?:\([^)]*\)|(?:[^\n\\]|\\\n)*)`)
	done := false
	out := imports.ReplaceAllStringFunc(string(src), func(statement string) string {
		head, list, _ := strings.Cut(statement, "import")
		names, cut := withoutName(strings.Trim(strings.TrimSpace(list), "()"), m[1])
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

// unimportNode takes a name out of "import { … } from …".
func unimportNode(src []byte, output string) ([]byte, bool) {
	m := nodeNoExport.FindStringSubmatch(output)
	if m == nil {
		return nil, false
	}
	done := false
	out := nodeBraces.ReplaceAllStringFunc(string(src), func(statement string) string {
		head, list, _ := strings.Cut(statement, "{")
		names, cut := withoutName(strings.TrimSuffix(list, "}"), m[1])
		if !cut {
			return statement
		}
		done = true
		return head + "{ " + strings.Join(names, ", ") + strings.Repeat("\n", strings.Count(statement, "\n")-strings.Count(head, "\n")) + " }"
	})
	return []byte(out), done
}

// withoutName are the items of a list of imports, but for that of a name.
func withoutName(list, name string) (items []string, cut bool) {
	for item := range strings.SplitSeq(strings.ReplaceAll(importComment.ReplaceAllString(list, ""), "\\\n", " "), ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	rest := slices.DeleteFunc(slices.Clone(items), func(item string) bool {
		first, _, _ := strings.Cut(item, " ")
		return first == name
	})
	return rest, len(rest) < len(items)
}

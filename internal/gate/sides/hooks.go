package sides

import (
	"maps"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	// importLine begins with the word by which Python imports.
	importLine = pattern.New(`^(?:import|from)[ \t]`)
	// assignment begins a statement that gives values to names, and assigned is one of these: a name that an
	// argument is given by looks the same.
	assignment = pattern.New(`^\w+[ \t]*(?::[^=\n]+)?[-+|&*]?=[^=]`)
	assigned   = pattern.New(`(\w+)[ \t]*(?::[^=\n]+)?[-+|&*]?=[^=]`)
	// markers says of a marker, or of a warning, what it is about, by which no test is chosen.
	markers = pattern.New(`\w+\.addinivalue_line\(\s*["'](?:markers|filterwarnings)["']\s*,\s*(?:"[^"\n]*"|'[^'\n]*')\s*,?\s*\)`)
)

// keywords of Python name nothing.
var keywords = strings.Fields("and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield")

// A conftest is a version of a conftest.py: its functions, and the statements outside of these.
type conftest struct {
	funcs      map[string]string
	statements []string
}

func readConftest(src []byte) conftest {
	funcs := classes.ReadTests("conftest.py", src).Funcs
	return conftest{funcs, atTop(withoutFuncs(src, funcs))}
}

// editsHooks says whether a conftest.py has other hooks than before, or other functions, values or
// imports that these get to. Beside a hook that chooses among tests it may have no statement but for
// values and imports.
func editsHooks(v classes.Versions) bool {
	was, is := readConftest(v.Base), readConftest(v.Head)
	named, choosing := namedByHooks(was, is)
	for name := range named {
		if markers.ReplaceAllString(was.funcs[name], "") != markers.ReplaceAllString(is.funcs[name], "") {
			return true
		}
	}
	for _, s := range slices.Concat(missing(was.statements, is.statements), missing(is.statements, was.statements)) {
		plain := importLine.MatchString(s) || assignment.MatchString(s)
		if choosing && !plain || hooks.MatchString(s) || slices.ContainsFunc(sets(s), func(w string) bool { return named[w] }) {
			return true
		}
	}
	return false
}

// namedByHooks are the names that hooks of either version have, and that the functions and values have
// which they name; choosing says whether one of them chooses among tests.
func namedByHooks(was, is conftest) (named map[string]bool, choosing bool) {
	texts := map[string][]string{}
	var next []string
	for _, of := range []conftest{was, is} {
		for name, text := range of.funcs {
			texts[name] = append(texts[name], text)
			chooses := hooks.MatchString(text)
			choosing = choosing || chooses
			if chooses || strings.HasPrefix(name, "pytest_") {
				next = append(next, name)
			}
		}
		for _, s := range of.statements {
			first, _, _ := strings.Cut(s, ".") // SLOW.append("a")
			texts[first] = append(texts[first], s)
			for _, m := range assigned.FindAllStringSubmatch(s, -1) {
				texts[m[1]] = append(texts[m[1]], s)
			}
			if hooks.MatchString(s) {
				choosing, next = true, append(next, sets(s)...)
			}
		}
	}
	named = map[string]bool{}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		if named[name] {
			continue
		}
		named[name] = true
		for _, text := range texts[name] {
			for w := range classes.Words([]byte(text)) {
				if !slices.Contains(keywords, w) {
					next = append(next, w)
				}
			}
		}
	}
	return named, choosing
}

// sets are the names that a statement outside of functions gives a value to; of one that does
// something else all that it names.
func sets(statement string) []string {
	var out []string
	if assignment.MatchString(statement) {
		for _, m := range assigned.FindAllStringSubmatch(statement, -1) {
			out = append(out, m[1])
		}
		return out
	}
	for w := range classes.Words([]byte(statement)) {
		if !slices.Contains(keywords, w) {
			out = append(out, w)
		}
	}
	return out
}

// atTop are the statements of a source of Python at its top, each with what is indented below it, without comments
// in lines of their own and strings that are none of a statement.
func atTop(src []byte) []string {
	var out []string
	quoted := false
	for line := range strings.Lines(string(src)) {
		text := strings.TrimSpace(line)
		goes := quoted || depth(line) > 0 || text != "" && strings.ContainsAny(text[:1], ")]}")
		if (strings.Count(line, `"""`)+strings.Count(line, "'''"))%2 == 1 {
			quoted = !quoted
		}
		switch {
		case text == "" || strings.HasPrefix(text, "#"):
		case goes && len(out) > 0:
			out[len(out)-1] += "\n" + text
		default:
			out = append(out, text)
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return strings.HasPrefix(s, `"`) || strings.HasPrefix(s, "'") })
}

// depth is how deep a line is indented.
func depth(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// withoutFuncs is a source of Python without its functions.
func withoutFuncs(src []byte, funcs map[string]string) []byte {
	out := string(src)
	for _, text := range slices.SortedFunc(maps.Values(funcs), func(a, b string) int { return len(b) - len(a) }) { // the outer ones first
		out = strings.Replace(out, text, "", 1)
	}
	return []byte(out)
}

// missing are those of all that some are not.
func missing(some, all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(some, s) })
}

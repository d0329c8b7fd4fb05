package native

import (
	"path"
	"regexp"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	makeVariable = pattern.New(`^[ ]*(?:override[ \t]+|export[ \t]+)*([\w.-]+)[ \t]*[:+?]*=(.*)$`)
	makeCase     = pattern.New(`^[ ]*(?:ifdef|ifndef|ifeq|ifneq)\b`)
	onlyObject   = pattern.New(`(?:^|\s)-c(?:\s|$)`)
)

// CompilesWhole says whether a recipe of a Makefile names a source, by itself, by a variable that has
// it in any case or as one that its target depends on, and does not stop at an object.
func CompilesWhole(makefile, source string) bool {
	ways := []string{`(?:^|[\s/])` + regexp.QuoteMeta(source) + `(?:$|[\s)])`, `\*` + regexp.QuoteMeta(path.Ext(source)) + `\b`}
	names := regexp.MustCompile(strings.Join(ways, "|"))
	depth, target := 0, ""
	for line := range strings.Lines(strings.ReplaceAll(makefile, "\\\n", " ")) {
		line = strings.TrimRight(line, "\r\n")
		if recipe, ok := strings.CutPrefix(line, "\t"); ok {
			whole := recipe
			if strings.Contains(recipe, "$^") || strings.Contains(recipe, "$+") || strings.Contains(recipe, "$<") {
				whole += " " + target
			}
			if !onlyObject.MatchString(recipe) && compiles.MatchString(recipe) && names.MatchString(whole) {
				return true
			}
			continue
		}
		m := makeVariable.FindStringSubmatch(line)
		switch {
		case makeCase.MatchString(line):
			depth++
		case strings.HasPrefix(strings.TrimSpace(line), "endif"):
			depth--
		case m != nil && depth == 0 && names.MatchString(m[2]):
			ways = append(ways, `\$[({]`+regexp.QuoteMeta(m[1])+`[)}:]`)
			names = regexp.MustCompile(strings.Join(ways, "|"))
		case m == nil && strings.Contains(line, ":"):
			_, target, _ = strings.Cut(line, ":")
		}
	}
	return false
}

// compiles is a compiler as a recipe calls it.
var compiles = pattern.New(`\$[({](?:CC|CXX|HOSTCC|LINK\.\w+|COMPILE\.\w+)[)}]|\b(?:cc|gcc|g\+\+|c\+\+|clang|clang\+\+|tcc)(?:-[\d.]+)?(?:\s|$)`)

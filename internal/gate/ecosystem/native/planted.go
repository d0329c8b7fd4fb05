package native

import (
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	mainHead    = pattern.New(`(?m)^int\s+main\s*\(([^()]*)\)\s*\{`)
	mainArgs    = pattern.New(`^\s*int\s+(\w+)\s*,[^,]*?(\w+)\s*(?:\[\s*\])?\s*$`)
	mainReturns = pattern.New(`\breturn\b[^;{}]*;\s*\}\s*$`)
	libcAssert  = pattern.New(`(?m)^\s*#\s*include\s*<(?:assert\.h|cassert)>`)
)

// plant has programs of tests end as failures, by the assertion that they use: C has no test that
// could stand beside others.
func plant(c ecosystem.Command, p ecosystem.Planting) (ecosystem.Command, []ecosystem.Planted) {
	if len(p.Passing) == 0 {
		return c, nil
	}
	var out []ecosystem.Planted
	others := 0
	for _, file := range p.Sources(c.Unit, func(f string) bool { return IsSource(f) && p.IsTest(f) }) {
		if len(out) == ecosystem.MaxPlanted || others == ecosystem.MaxPlantedOther {
			break
		}
		src, err := ecosystem.ReadInTree(p.Tree, file)
		if err != nil {
			continue
		}
		if text := failingMain(file, string(src), p.Name); text != "" {
			out = append(out, ecosystem.Planted{Path: file, Package: file, Text: text, Ends: true})
			if !p.Near(file) {
				others++
			}
		}
	}
	return c, out
}

// failingMain is a program with another main around its own; empty where that is not known to work.
func failingMain(file, src, name string) string {
	at := mainHead.FindAllStringSubmatchIndex(src, -1)
	if len(at) != 1 || path.Ext(file) != ".c" && !mainReturns.MatchString(src) { // without it only main returns in C++
		return ""
	}
	head, params := src[at[0][0]:at[0][1]], src[at[0][2]:at[0][3]]
	args := ""
	if m := mainArgs.FindStringSubmatch(params); m != nil {
		args = m[1] + ", " + m[2]
	} else if p := strings.TrimSpace(params); p != "" && p != "void" {
		return ""
	}
	end := "return 1;"
	if libcAssert.MatchString(src) {
		end = "assert(0 && \"" + name + "\"); return 0;"
	}
	own := "static " + strings.Replace(head, "main", name, 1)
	return src[:at[0][0]] + own + src[at[0][1]:] + "\nint main(" + params + ") { (void)" + name + "(" + args + "); " + end + " }\n"
}

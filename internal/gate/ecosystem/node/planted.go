package node

import (
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

var (
	esModule   = pattern.New(`(?m)^\s*import\s|^export\s`)
	chaiExpect = pattern.New(`chai`)
	typeTest   = pattern.New(`[.-](?:test|spec)-d\.[cm]?ts$`)
	ownAssert  = pattern.New(`(?m)\bassert\b[^\n]*(require\(|from\s)`)
)

// planter plants in copies of files, and where results name no files in one that runs.
func (r *nodeRunner) planter() ecosystem.Planter {
	modern := func(file, src string) bool {
		return esModule.MatchString(src) || path.Ext(file) == ".mjs" || path.Ext(file) == ".mts"
	}
	if !r.nofiles {
		return ecosystem.Planter{Plant: func(_ ecosystem.Command, file, src, name string) ecosystem.Planted {
			at := ecosystem.CopyPath(file, name)
			if typeTest.MatchString(file) {
				return ecosystem.Planted{Path: at, Package: at, Text: src + failingType(name), Types: file}
			}
			return ecosystem.Planted{Path: at, Package: at, Text: src + r.failing(src, name, modern(file, src))}
		}}
	}
	imported := pattern.New(`(require\(|from\s*)["']` + r.words[0] + `["']`)
	return ecosystem.Planter{
		File: func(p ecosystem.Planting, unit, _ string) string {
			for _, file := range p.Sources(unit, p.IsTest) {
				src, err := ecosystem.ReadInTree(p.Tree, file)
				if err == nil && imported.Match(src) && !strings.Contains(string(src), ".only(") {
					return file
				}
			}
			return ""
		},
		Plant: func(_ ecosystem.Command, file, src, name string) ecosystem.Planted {
			return ecosystem.Planted{Path: file, Package: results.TapPackage, Text: src + r.failing(src, name, modern(file, src))}
		},
		Most: 1,
		Run:  func(c ecosystem.Command, _ []string) ecosystem.Command { return c },
	}
}

func failingNodeTest(_, name string, modern bool) string {
	if modern {
		return "\n;\nimport { test as " + name + "Test } from \"node:test\";\nimport " + name + "Assert from \"node:assert\";\n" + name + "Test(\"" + name + "\", () => { " + name + "Assert.strictEqual(1, 2) });\n"
	}
	return "\n;\nrequire(\"node:test\").test(\"" + name + "\", () => { require(\"node:assert\").strictEqual(1, 2) });\n"
}

func failingVitest(src, name string, modern bool) string {
	if !strings.Contains(src, "vitest") { // its functions are global
		return failingJest(src, name, modern)
	}
	return "\n;\nimport { test as " + name + "Test, expect as " + name + "Expect } from \"vitest\";\n" + name + "Test(\"" + name + "\", () => { " + name + "Expect(1).toBe(2) });\n"
}

// failingType is for files of tests that are compiled and never run, as vitest has them.
func failingType(name string) string {
	return "\n;\ntest(\"" + name + "\", () => { const " + name + "Value: string = 1; void " + name + "Value });\n"
}

func failingJest(_, name string, _ bool) string {
	return "\n;\ntest(\"" + name + "\", () => { expect(1).toBe(2) });\n"
}

func failingMocha(src, name string, _ bool) string {
	fails := "throw new Error(\"1 is not 2\")"
	switch {
	case ownAssert.MatchString(src):
		fails = "assert.equal(1, 2)"
	case chaiExpect.MatchString(src) && strings.Contains(src, "expect"):
		fails = "expect(1).to.equal(2)"
	}
	return "\n;\nit(\"" + name + "\", () => { " + fails + " });\n"
}

// inModule is a call of a test function of a package, in a module of either kind.
func inModule(module, member, name string, modern bool, body string) string {
	call := "(\"" + name + "\", t => { " + body + " });\n"
	switch {
	case modern && member == "":
		return "\n;\nimport " + name + "Test from \"" + module + "\";\n" + name + "Test" + call
	case modern:
		return "\n;\nimport { " + member + " as " + name + "Test } from \"" + module + "\";\n" + name + "Test" + call
	case member == "":
		return "\n;\nrequire(\"" + module + "\")" + call
	}
	return "\n;\nrequire(\"" + module + "\")." + member + call
}

func failingAva(_, name string, modern bool) string {
	return inModule("ava", "", name, modern, "t.is(1, 2)")
}

func failingTape(_, name string, modern bool) string {
	return inModule("tape", "", name, modern, "t.equal(1, 2); t.end()")
}

func failingTap(_, name string, modern bool) string {
	return inModule("tap", "test", name, modern, "t.equal(1, 2); t.end()")
}

package node

import (
	"path"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/compare"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// nodeTested is a call that makes a test, in a file that no name gives away.
var nodeTested = pattern.New(`\b(?:test|it|describe|suite|specify)(?:\.\w+)*\s*\(|['"](?:node:test|tape|ava|tap)['"]`)

// nodeHolds is the same where no folder gives it away either: a call with a title, or a
// runner that is imported.
var nodeHolds = pattern.New(`(?m)^\s*(?:test|it|describe|suite|specify)(?:\.\w+)*\s*\(\s*["'` + "`" + `]|` +
	`(?:\bfrom\s*|\brequire\s*\(\s*|\bimport\s*\(?\s*)["'](?:node:test|tape|ava|tap|vitest|uvu|mocha|@jest/globals|bun:test)["']`)

// nodeNamed are the names that runners take for tests, wherever they are.
var nodeNamed = pattern.New(`([._-](test|spec|cy|e2e)|^test|^test-.*)\.[cm]?[jt]sx?$`)

func nodeClasses() ecosystem.ClassTable {
	folders := []string{"test", "tests", "__tests__", "spec", "e2e"}
	return ecosystem.ClassTable{
		Steering: ecosystem.OneOf(ecosystem.Called(".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pnpmfile.mjs", "pnpmfile.js", "bunfig.toml",
			"jest.config.*", "jest-*.config.*", "vitest.config.*", "vitest.workspace.*", ".mocharc", ".mocharc.*", "mocha.opts", "karma.conf.*", "ava.config.*",
			"jasmine.json", "playwright.config.*", "cypress.config.*", ".taprc", ".nycrc", ".nycrc.*", ".c8rc", ".c8rc.*", "turbo.json", "nx.json", "lerna.json",
			"babel.config.*", ".babelrc", ".babelrc.*", ".swcrc"), // which rewrite tests, too
			func(name string, src []byte) bool { // what vitest reads where it has no file of its own
				ok, err := path.Match("vite.config.*", path.Base(name))
				return err == nil && ok && (strings.Contains(string(src), "test") || strings.Contains(string(src), "alias"))
			}),
		Support: func(name string, _ []byte) bool {
			return slices.Contains(nodeExts, path.Ext(name)) && (ecosystem.InFolder(name, "__mocks__") ||
				ecosystem.Called("jest.setup.*", "jest-setup.*", "setupTests.*", "setup-tests.*", "vitest.setup.*", "vitest-setup.*", "test-setup.*", "test-helper.*", "test-helpers.*", "test-utils.*")(name, nil))
		},
		Test: func(name string, src []byte) bool {
			switch {
			case path.Ext(name) == ".snap":
				return false // data, in whatever folder
			case !slices.Contains(nodeExts, path.Ext(name)):
				return false
			}
			return nodeNamed.MatchString(path.Base(name)) || ecosystem.InFolder(name, folders...) && nodeTested.Match(src)
		},
		Holds:   ecosystem.WhereWritten(nil, nodeHolds),
		Folders: folders,
		Origins: ecosystem.OriginsIn(nodeOrigins),
		Mixed: ecosystem.MixedBy(map[string]*ecosystem.Mixture{
			"package.json": {Class: compare.Steering, Merge: ecosystem.MergeAll(
				ecosystem.MergeJSON("scripts", "config", "jest", "mocha", "vitest", "ava", "tap", "nyc", "c8", "jasmine", "karma", "cypress", "babel"),
				ecosystem.MergeShared("imports", func(string) bool { return true }))},
			"deno.json": {Class: compare.Steering, Merge: ecosystem.MergeJSON("tasks", "test")},
		}),
	}
}

package node

import (
	"encoding/json"
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
			"jasmine.json", "playwright.config.*", "cypress.config.*", ".taprc", ".nycrc", ".nycrc.*", "nyc.config.*", ".c8rc", ".c8rc.*", ".labrc.*", "turbo.json", "nx.json", "lerna.json",
			"babel.config.*", ".babelrc", ".babelrc.*", ".swcrc", // which rewrite tests, too
			"gulpfile.*", "Gruntfile.*", "Jakefile", "Jakefile.*", "package-scripts.*", "Herebyfile.*"), // whose tasks are called by name
			func(name string, src []byte) bool { // what vitest reads where it has no file of its own
				ok, err := path.Match("vite.config.*", path.Base(name))
				return err == nil && ok && (strings.Contains(string(src), "test") || strings.Contains(string(src), "alias"))
			}),
		Serves: onlyOfTests,
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
				ecosystem.MergeJSON("scripts", "config", "jest", "mocha", "vitest", "ava", "tap", "nyc", "c8", "jasmine", "karma", "cypress", "babel", "wireit"),
				ecosystem.MergeShared("imports", func(string) bool { return true }))},
			"deno.json": {Class: compare.Steering, Merge: ecosystem.MergeJSON("tasks", "test")},
		}),
	}
}

// needs is what a package.json says of what a package needs.
type needs struct {
	Name         string            `json:"name"`
	Private      bool              `json:"private"`
	Dev          map[string]string `json:"devDependencies"`
	Dependencies map[string]string `json:"dependencies"`
	Peers        map[string]string `json:"peerDependencies"`
	Optional     map[string]string `json:"optionalDependencies"`
}

// PackageDir is the folder of the package that a source is of, "." for the one at the top or none.
func PackageDir(name string, read func(string) []byte) string {
	dir := path.Dir(name)
	for dir != "." && read(path.Join(dir, "package.json")) == nil {
		dir = path.Dir(dir)
	}
	return dir
}

// PackageName is the name in a package.json, empty for none.
func PackageName(src []byte) string {
	var own needs
	if json.Unmarshal(src, &own) != nil {
		return ""
	}
	return own.Name
}

// DependsOn says whether a package.json names a package as what its sources need.
func DependsOn(src []byte, name string) bool {
	var by needs
	if json.Unmarshal(src, &by) != nil {
		return false
	}
	return by.Dependencies[name] != "" || by.Peers[name] != "" || by.Optional[name] != ""
}

// onlyOfTests says whether a source is of a package that is not published, and that one above it
// has as a dependency for its development, and for nothing else
// (https://docs.npmjs.com/cli/configuring-npm/package-json#devdependencies).
func onlyOfTests(name string, read func(string) []byte) bool {
	var own needs
	dir := PackageDir(name, read)
	if dir == "." || json.Unmarshal(read(path.Join(dir, "package.json")), &own) != nil || own.Name == "" {
		return false
	}
	found := false
	for at := dir; at != "."; {
		at = path.Dir(at)
		var above needs
		if json.Unmarshal(read(path.Join(at, "package.json")), &above) != nil {
			continue
		}
		if DependsOn(read(path.Join(at, "package.json")), own.Name) {
			return false
		}
		from := above.Dev[own.Name]
		found = found || from != "" && (own.Private || strings.HasPrefix(from, "file:") || strings.HasPrefix(from, "link:"))
	}
	return found
}

package languages

import (
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/pattern"
)

// A FileClass says what a file of a repository is for. The strings are stored: do
// not change them.
type FileClass string

// The classes of files, by path alone.
const (
	ClassTest     FileClass = "test"     // a test, in any language
	ClassData     FileClass = "data"     // lies in a folder of test data
	ClassSteering FileClass = "steering" // decides what a project is built with
	ClassSource   FileClass = "source"   // code
	ClassDoc      FileClass = "doc"      // people read it and nothing runs it
	ClassOther    FileClass = "other"
)

// Classify returns the class of the file with this path. It is the classification
// by which the gate lays tests over the base.
func Classify(name string) FileClass {
	switch {
	case IsTestSource(name):
		return ClassTest
	case inTestData(name):
		return ClassData
	case Steers(name):
		return ClassSteering
	case IsSource(name):
		return ClassSource
	case ecosystem.IsDoc(name):
		return ClassDoc
	}
	return ClassOther
}

// upkeep are settings of what looks at the style of sources, of editors, and of services that
// look after a repository. Neither a program nor its tests read them.
var upkeep = pattern.New(`(^|/)(\.golangci\.(ya?ml|toml|json)|\.eslintrc(\.\w+)?|eslint\.config\.[cm]?[jt]s|\.eslintignore|\.prettierrc(\.\w+)?|prettier\.config\.[cm]?js|\.prettierignore` +
	`|\.stylelintrc(\.\w+)?|biome\.jsonc?|\.?ruff\.toml|\.flake8|\.pylintrc|pylintrc|mypy\.ini|\.mypy\.ini|pyrightconfig\.json|\.isort\.cfg|\.bandit|\.rubocop(_todo)?\.yml|\.?rustfmt\.toml|\.?clippy\.toml|deny\.toml` +
	`|\.clang-(format|tidy)|phpcs\.xml(\.dist)?|phpstan\.neon(\.dist)?|psalm\.xml|\.php-cs-fixer(\.dist)?\.php|\.credo\.exs|\.formatter\.exs|\.pre-commit-config\.yaml|\.shellcheckrc|\.yamllint(\.ya?ml)?|\.markdownlint(\.\w+)?` +
	`|renovate\.json5?|\.travis\.yml|\.gitlab-ci\.yml|appveyor\.yml|azure-pipelines\.yml|\.?codecov\.yml|\.goreleaser\.ya?ml|\.readthedocs\.ya?ml|\.all-contributorsrc|cspell\.json|\.git-blame-ignore-revs|\.dockerignore)$` +
	`|^\.(vscode|idea|circleci|devcontainer|husky)/`)

// IsUpkeep recognises such files.
func IsUpkeep(name string) bool { return upkeep.MatchString(name) }

// IsTestFile recognises the files of tests, and their data, in any language.
func IsTestFile(name string) bool { return IsTestSource(name) || inTestData(name) }

// IsTestSource recognises the files of tests in any language.
func IsTestSource(name string) bool {
	return Any(func(e *ecosystem.Ecosystem) bool { return e.IsTest != nil && e.IsTest(name) })
}

// IsSource recognises files of code in any language.
func IsSource(name string) bool {
	return Any(func(e *ecosystem.Ecosystem) bool { return e.IsSource != nil && e.IsSource(name) })
}

// Steers recognises files that decide what a project is built with.
func Steers(name string) bool {
	return Any(func(e *ecosystem.Ecosystem) bool { return e.Steers != nil && e.Steers(name) })
}

// inTestData recognises the folders in which tests of many languages keep their data.
func inTestData(name string) bool {
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		switch part {
		case "testdata", "_testdata", "_test", "__snapshots__", "tap-snapshots", "__fixtures__":
			return true
		}
	}
	return false
}

package sides

import (
	"path"
	"regexp"
	"slices"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/gate/classes"
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

// awaited says whether a file is new and code of the base looks for it where the base has none:
// settings in a folder in which tests run give a program other values than users have, who start it
// elsewhere.
func (r *Reader) awaited(f change.File) bool {
	if f.Status != change.Added && f.Status != change.Renamed && f.Status != change.Copied || !mayBeAwaited(f.Path) || !r.testsRunIn(path.Dir(f.Path)) {
		return false
	}
	asks := regexp.MustCompile("[\"'`/]" + regexp.QuoteMeta(path.Base(f.Path)) + "[\"'`]")
	return slices.ContainsFunc(r.sourcesOfBase(), func(s *baseSource) bool {
		return !s.apart && r.onHead(s.name) && (asks.MatchString(r.textOf(s)) || path.Base(f.Path) == ".env" && readsEnv.MatchString(r.textOf(s)))
	})
}

// readsEnv are the libraries that read the file .env.
var readsEnv = pattern.New(`\b(?i:(?:load_|go)?dotenv)\b`)

// mayBeAwaited says whether a file may hold settings or data of a program, by its name: it is no
// source, no test or part of one, and no file by which tools and people know a project.
func mayBeAwaited(name string) bool {
	base := path.Base(name)
	return !languages.IsSource(name) && !languages.IsTestFile(name) && !classes.InTestFolder(name) &&
		!ecosystem.IgnoredDir(path.Dir(name)) && !classes.SaysBuild(name) && !ofTools.MatchString(base)
}

// ofTools are files by which tools and people know a project.
var ofTools = pattern.New(`^[A-Z]|^\.(git|docker|npm|prettier|eslint|editorconfig|pre-commit)|rc$|ignore$|\.(md|rst|lock|html|css|svg|png)$|^(package|tsconfig|composer|deno|bun)[\w.-]*\.jsonc?$|^(pyproject|setup|tox|go|mix|pom|build|cargo|docker-compose|compose)\.\w+$`)

// testsRunIn says whether tests of the base run in a folder: it is the top of a project that is
// tested, or has tests of a language that runs them where they stand.
func (r *Reader) testsRunIn(dir string) bool {
	return slices.ContainsFunc(r.Plans[results.Base].Test, func(c ecosystem.Command) bool { return path.Clean(c.Unit) == dir }) ||
		slices.ContainsFunc(r.sourcesOfBase(), func(s *baseSource) bool {
			eco := languages.Of(s.name)
			return s.test && path.Dir(s.name) == dir && eco != nil && languages.ByPackage(eco.Name)
		})
}

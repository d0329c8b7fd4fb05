package ecosystem

import (
	"path"
	"slices"

	"github.com/ycbot/ycbot/internal/pattern"
)

// FindProjects asks every ecosystem for its projects. Targets of a Makefile and
// its like count only where nothing else has tests in or below its folder.
func FindProjects(s *Survey) []Project {
	var out []Project
	for _, eco := range All() {
		for _, p := range eco.find(s) {
			p.Eco = eco
			if eco.Calls && callsOthers(s, p, out) {
				if at := slices.IndexFunc(out, func(o Project) bool { return o.Dir == p.Dir && len(o.Test) > 0 && !o.Eco.Calls }); at >= 0 {
					scripted(&out[at], s)
				}
				continue
			}
			for _, list := range [][]Command{p.Setup, p.Warm, p.Build, p.Lint, p.Test} {
				for i := range list {
					list[i].Eco = eco.Name
				}
			}
			out = append(out, p)
		}
	}
	return out
}

// callsOthers says whether the targets of a project call what is run by itself: projects in
// its folder that have tests. They do not where it has sources in C that are of none of these,
// as where files for CMake and Meson stand aside in build/.
func callsOthers(s *Survey, p Project, found []Project) bool {
	inside := func(o Project) bool { return Inside(p.Dir, o.Dir) && (len(o.Test) > 0 || o.Missing != "") }
	return slices.ContainsFunc(found, inside) && !slices.ContainsFunc(s.files, func(f string) bool {
		return Inside(p.Dir, f) && isProductSource(f) && !IgnoredDir(path.Dir(f)) &&
			!slices.ContainsFunc(found, func(o Project) bool { return inside(o) && Inside(o.Dir, f) })
	})
}

// runsTests is a call of a runner of tests, which ycbot makes by itself.
var runsTests = pattern.New(`\b(?:go\s+test|gotestsum|cargo\s+(?:nextest|test)|pytest|py\.test|unittest|tox|nox|(?:npm|yarn|pnpm|bun)\s+(?:run\s+)?test|node\s+(?:\S+\s+)*--test|jest|mocha|vitest|ava|tap|rspec|rake|minitest|phpunit|mix\s+test|mvnw?|gradlew?|ctest|meson\s+test|make|dotnet\s+test|swift\s+test)\b`)

// scripted notes the scripts that the target for tests of the project's folder runs beside the
// runner, as nothing else runs them.
func scripted(p *Project, s *Survey) {
	p.Target = TargetForTests(s, p.Dir)
	if file := fileOfTargets(s, p.Dir); file != "" {
		for _, w := range CalledIn(TestRecipes(file, string(s.read(p.Dir, file)))) {
			name := path.Join(p.Dir, w)
			if s.has(".", name) && !slices.Contains(p.scripts, name) && !runsTests.Match(s.read(".", name)) {
				p.scripts = append(p.scripts, name)
			}
		}
	}
}

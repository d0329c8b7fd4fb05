package gate

import (
	"path"
	"regexp"
	"slices"
)

// makeEcosystem is what people type where no other ecosystem has tests: targets
// of a Makefile, a justfile or a Taskfile.
func makeEcosystem() *ecosystem {
	return &ecosystem{name: "Make", units: "Makefiles", find: findMakeProjects, classes: makeClasses()}
}

// A maker is a tool with named targets.
type maker struct {
	files  []string
	tool   string
	target func(name string) *regexp.Regexp
}

func makers() []maker {
	line := func(pattern string) func(string) *regexp.Regexp {
		return func(name string) *regexp.Regexp {
			return regexp.MustCompile(`(?m)` + regexp.MustCompile(`NAME`).ReplaceAllLiteralString(pattern, name))
		}
	}
	return []maker{
		{[]string{"GNUmakefile", "makefile", "Makefile"}, "make", line(`^NAME\s*:([^=]|$)`)},
		{[]string{"justfile", "Justfile", ".justfile"}, "just", line(`^@?NAME(\s[^:=]*)?:([^=]|$)`)},
		{[]string{"Taskfile.yml", "Taskfile.yaml"}, "task", line(`^\s+["']?NAME["']?\s*:`)},
	}
}

// findMakeProjects makes a project of every such file that has a target for
// tests. Projects of other ecosystems in the same folder go first: see [findProjects].
func findMakeProjects(s *survey) []project {
	var out []project
	for _, m := range makers() {
		for _, dir := range s.dirs(m.files...) {
			file := s.first(dir, m.files...)
			text := s.read(dir, file)
			has := func(names ...string) string {
				i := slices.IndexFunc(names, func(n string) bool { return m.target(n).Match(text) })
				if i < 0 {
					return ""
				}
				return names[i]
			}
			test := has("test", "tests", "check")
			if test == "" {
				continue
			}
			p := project{dir: dir, what: file + " with a target for tests", why: []string{path.Join(dir, file)}}
			if !s.tools.has(m.tool) {
				p.missing = "no " + m.tool + " on this machine"
				out = append(out, p)
				continue
			}
			add := func(list *[]command, stage Stage, target string) {
				words := []string{m.tool}
				if target != "" {
					words = append(words, target)
				}
				*list = append(*list, command{stage: stage, unit: dir, text: quoted(words...), argv: words})
			}
			if build := has("build", "all"); build != "" {
				add(&p.build, StageBuild, build)
			}
			if lint := has("lint"); lint != "" {
				add(&p.lint, StageLint, lint)
			}
			add(&p.test, StageTest, test)
			out = append(out, p)
		}
	}
	return out
}

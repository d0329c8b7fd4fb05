package ecosystem

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/pattern"
)

func makeClasses() classTable {
	return classTable{
		steering: called("GNUmakefile", "makefile", "Makefile", "*.mk", "justfile", "Justfile", ".justfile", "Taskfile.yml", "Taskfile.yaml"),
		test: func(name string, _ []byte) bool {
			return called("*.bats")(name, nil) || slices.Contains([]string{".sh", ".bash", ".t"}, path.Ext(name)) &&
				(shellTest.MatchString(path.Base(name)) || inFolders(name, shellTestFolders))
		},
	}
}

// Tests in shell, which some target runs.
var (
	shellTest        = pattern.New(`^(test[._-].*|.*[._-]tests?)\.\w+$`)
	shellTestFolders = []string{"test", "tests", "t", "checks", "spec"}
)

// makeEcosystem is what people type where no other ecosystem has tests: targets
// of a Makefile, a justfile or a Taskfile.
func makeEcosystem() *Ecosystem {
	return &Ecosystem{
		Name: "Make", Units: "Makefiles", find: findMakeProjects, Calls: true, classes: makeClasses(),
		Programs: []string{"make", "just", "task"},
	}
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

// targets returns the first of some names that a file has as a target, "" for none.
func (m maker) targets(text []byte) func(names ...string) string {
	return func(names ...string) string {
		i := slices.IndexFunc(names, func(n string) bool { return m.target(n).Match(text) })
		if i < 0 {
			return ""
		}
		return names[i]
	}
}

// testTargets are what people call the target that runs the tests.
var testTargets = []string{"test", "tests", "check"}

// TargetForTests is the command that runs a folder's target for tests, "" where it has none.
func TargetForTests(s *Survey, dir string) string {
	for _, m := range makers() {
		if file := s.first(dir, m.files...); file != "" {
			if t := m.targets(s.read(dir, file))(testTargets...); t != "" {
				return m.tool + " " + t
			}
		}
	}
	return ""
}

// findMakeProjects makes a project of every such file that has a target for
// tests. Projects of other ecosystems in the same folder go first: see [FindProjects].
func findMakeProjects(s *Survey) []Project {
	var out []Project
	for _, m := range makers() {
		for _, dir := range s.dirs(m.files...) {
			file := s.first(dir, m.files...)
			has := m.targets(s.read(dir, file))
			test := has(testTargets...)
			if test == "" {
				continue
			}
			p := Project{Dir: dir, What: file + " with a target for tests", Why: []string{path.Join(dir, file)}}
			if !s.tools.Has(m.tool) {
				p.Missing = s.tools.lack(m.tool)
				out = append(out, p)
				continue
			}
			add := func(list *[]Command, stage Stage, target string) {
				words := []string{m.tool}
				if target != "" {
					words = append(words, target)
				}
				*list = append(*list, Command{Stage: stage, Unit: dir, Text: quoted(words...), Argv: words})
			}
			if build := has("build", "all"); build != "" {
				add(&p.Build, StageBuild, build)
			}
			if lint := has("lint"); lint != "" {
				add(&p.Lint, StageLint, lint)
			}
			add(&p.Test, StageTest, test)
			out = append(out, p)
		}
	}
	return out
}

// madeNothing are the words in which make and task say that there was nothing to do for a
// target, as where a file or folder has its name.
var madeNothing = pattern.New(`^(?:g?make(?:\[\d+\])?: (?:['\x60][^']+' is up to date\.|Nothing to be done for ['\x60][^']+'\.|(?:Entering|Leaving) directory .*)|task: Task "[^"]+" is up to date)$`)

// RanNothing says of what a command printed that it found nothing to do, and so ran no test.
func RanNothing(output string) bool {
	some := false
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if !madeNothing.MatchString(line) {
			return false
		}
		some = true
	}
	return some
}

// fileOfTargets is the file of a folder that has named targets, "" for none.
func fileOfTargets(s *Survey, dir string) string {
	for _, m := range makers() {
		if file := s.first(dir, m.files...); file != "" {
			return file
		}
	}
	return ""
}

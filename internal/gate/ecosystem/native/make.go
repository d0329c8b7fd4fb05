package native

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
)

func makeClasses() ecosystem.ClassTable {
	return ecosystem.ClassTable{
		Steering: ecosystem.Called("GNUmakefile", "makefile", "Makefile", "*.mk", "justfile", "Justfile", ".justfile", "Taskfile.yml", "Taskfile.yaml", ".proverc"),
		Test: func(name string, _ []byte) bool {
			return ecosystem.Called("*.bats")(name, nil) || slices.Contains([]string{".sh", ".bash", ".t"}, path.Ext(name)) &&
				(shellTest.MatchString(path.Base(name)) || ecosystem.InFolders(name, shellTestFolders))
		},
	}
}

// Tests in shell, which some target runs.
var (
	shellTest        = pattern.New(`^(test[._-].*|.*[._-]tests?)\.\w+$`)
	shellTestFolders = []string{"test", "tests", "t", "checks", "spec"}
)

// NewMake is what people type where no other ecosystem has tests: targets
// of a Makefile, a justfile or a Taskfile.
func NewMake() *ecosystem.Ecosystem {
	return &ecosystem.Ecosystem{
		Name: "Make", Units: "Makefiles", Find: findMakeProjects, Calls: true, Classes: makeClasses(),
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
		{[]string{"GNUmakefile", "makefile", "Makefile"}, "make", line(`^(?:[\w.-]+[ \t]+)*NAME(?:[ \t]+[\w.-]+)*\s*:([^=]|$)`)},
		{[]string{"justfile", "Justfile", ".justfile"}, "just", line(`^@?NAME(\s[^:=]*)?:([^=]|$)`)},
		{[]string{"Taskfile.yml", "Taskfile.yaml"}, "task", line(`^\s+["']?NAME["']?\s*:`)},
	}
}

// ToolOf is the program that runs the targets of a file; empty: it has none.
func ToolOf(file string) string {
	for _, m := range makers() {
		if slices.Contains(m.files, path.Base(file)) {
			return m.tool
		}
	}
	return ""
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

// moreTargets are names for it where it has none of these.
var moreTargets = []string{"runtests", "run-tests", "run_tests", "unittest", "unittests"}

// TargetsForTests are the commands that run a folder's targets for tests: first the one that
// runs another of them as well.
func TargetsForTests(s *ecosystem.Survey, dir string) []string {
	var out []string
	for _, m := range makers() {
		file := s.First(dir, m.files...)
		if file == "" {
			continue
		}
		src := Targets(s, dir, file)
		has := m.targets(src)
		for _, t := range testTargets {
			if has(t) != "" {
				out = append(out, m.tool+" "+t)
			}
		}
		if len(out) > 1 && wholeCheck.Match(src) {
			out = slices.Insert(out[:len(out)-1], 0, out[len(out)-1])
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}

// wholeCheck is a target that runs the tests and more, of a Makefile or a justfile.
var wholeCheck = pattern.New(`(?m)^check\b[^:=\n]*:[^=\n]*(?:\btests?\b|\n(?:[ \t]+.*\n)*?[ \t]+.*(?:\$[({]MAKE[)}]|\bmake|\bjust)\s+tests?\b)`)

// findMakeProjects makes a project of every such file that has a target for
// tests; in the folder of the repository's tests all that is made is one. Projects of other ecosystems in the same folder go first: see package languages.
func findMakeProjects(s *ecosystem.Survey) []ecosystem.Project {
	var out []ecosystem.Project
	for _, m := range makers() {
		for _, dir := range s.Dirs(m.files...) {
			file := s.First(dir, m.files...)
			has := m.targets(Targets(s, dir, file))
			test := cmp.Or(has(testTargets...), has(moreTargets...))
			if test == "" && m.tool == "make" && (dir == "test" || dir == "tests") {
				test = has("all")
			}
			if test == "" {
				continue
			}
			p := ecosystem.Project{Dir: dir, What: file + " with a target for tests", Why: []string{path.Join(dir, file)}}
			if !s.Tools.Has(m.tool) {
				p.Missing = s.Tools.Lack(m.tool)
				out = append(out, p)
				continue
			}
			add := func(list *[]ecosystem.Command, stage results.Stage, target string) {
				words := []string{m.tool}
				if target != "" {
					words = append(words, target)
				}
				*list = append(*list, ecosystem.Command{Stage: stage, Unit: dir, Text: ecosystem.Quoted(words...), Argv: words})
			}
			if build := has("build", "all"); build != "" && build != test {
				add(&p.Build, results.StageBuild, build)
			}
			if lint := has("lint"); lint != "" {
				add(&p.Lint, results.StageLint, lint)
			}
			add(&p.Test, results.StageTest, test)
			out = append(out, p)
		}
	}
	return out
}

// makeInclude is a part of a Makefile that stands in other files.
var makeInclude = pattern.New(`(?m)^[-s]?include[ \t]+(.*)$`)

// Targets is the text of a file of named targets, with the files of the repository that it
// includes by their names.
func Targets(s *ecosystem.Survey, dir, file string) []byte {
	text := s.Read(dir, file)
	for _, m := range makeInclude.FindAllSubmatch(text, -1) {
		for name := range strings.FieldsSeq(string(m[1])) {
			if s.Has(dir, name) {
				text = slices.Concat(text, []byte("\n"), s.Read(dir, name))
			}
		}
	}
	return text
}

// FileOfTargets is the file of a folder that has named targets, "" for none.
func FileOfTargets(s *ecosystem.Survey, dir string) string {
	for _, m := range makers() {
		if file := s.First(dir, m.files...); file != "" {
			return file
		}
	}
	return ""
}

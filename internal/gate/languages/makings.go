package languages

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/ecosystem/native"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/workflows"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/shelltext"
)

// maxMakings bounds how many commands of a project are tried that make its sources.
const maxMakings = 8

// Makings are a project's own commands that can make files which its sources need and its
// repository has not: what jobs of workflows run before its tests, what its target for tests
// depends on and runs before these, targets of usual names, and what comments of its sources
// ask for. Each stands once, where it is named first.
func Makings(s *ecosystem.Survey, p ecosystem.Project) []ecosystem.Making {
	m := makings{s: s, p: p}
	for _, f := range s.Files {
		if !workflows.Is(f) {
			continue
		}
		for _, j := range workflows.Jobs(f, s.Read(".", f), s.InRepository) {
			m.job(f, j)
		}
	}
	m.targets()
	if p.Eco.Generates != nil {
		for _, f := range s.Files {
			if command := p.Eco.Generates(f, s); command != "" && ecosystem.Inside(p.Dir, f) {
				m.add(f, p.Dir, command)
				break
			}
		}
	}
	return m.found
}

type makings struct {
	s     *ecosystem.Survey
	p     ecosystem.Project
	found []ecosystem.Making
}

func (m *makings) add(from, dir, text string) {
	if len(m.found) >= maxMakings || slices.ContainsFunc(m.found, func(f ecosystem.Making) bool { return f.Text == text && f.Unit == dir }) {
		return
	}
	c := ShellCommand(results.StageSetup, text)
	c.Unit, c.Eco = dir, m.p.Eco.Name
	m.found = append(m.found, ecosystem.Making{Command: c, From: from})
}

// job adds what a job of the workflow file runs before the project's tests.
func (m *makings) job(file string, j workflows.Job) {
	var before [][2]string // folder and line
	for _, step := range j.Steps {
		dir := path.Clean(step.Dir)
		if dir != m.p.Dir && dir != "." || step.Shell != "" && !strings.HasPrefix(step.Shell, "bash") && step.Shell != "sh" {
			continue
		}
		for _, line := range commandsOf(strings.ReplaceAll(step.Run, "\\\n", " ")) {
			if m.makes(dir, line) {
				before = append(before, [2]string{dir, line})
			} else if runsTests.MatchString(line) && !onlyMakes.MatchString(line) {
				for _, b := range before {
					m.add(file, b[0], b[1])
				}
				return
			}
		}
	}
}

// onlyMakes is a call of a target that runs no tests, by its name.
var onlyMakes = pattern.New(`^(?:make|gmake|rake)\s+(?:-\S+\s+)*(?:\w*(?:lint|fmt|format|vet|deps|tools|build|docker|image)\w*\s*)+$`)

// targets adds what the project's file of targets names.
func (m *makings) targets() {
	file := native.FileOfTargets(m.s, m.p.Dir)
	if file == "" {
		return
	}
	text := string(native.Targets(m.s, m.p.Dir, file))
	text = expanded(text, text)
	tool, from, recipes := native.ToolOf(file), path.Join(m.p.Dir, file), ecosystem.Recipes(text)
	for _, needed := range testsNeed.FindAllStringSubmatch(text, -1) {
		for target := range strings.FieldsSeq(needed[1]) {
			if _, ok := recipes[target]; ok && !otherTarget.MatchString(target) {
				m.add(from, m.p.Dir, tool+" "+target)
			}
		}
	}
	for line := range strings.Lines(ecosystem.TestRecipes(file, text)) {
		if line = strings.TrimLeft(strings.TrimSpace(line), "@-"); m.makes(m.p.Dir, line) {
			m.add(from, m.p.Dir, line)
		}
	}
	for _, target := range generating {
		if _, ok := recipes[target]; ok {
			m.add(from, m.p.Dir, tool+" "+target)
		}
	}
}

// testsNeed is a target for tests of a Makefile or a justfile. Its group is what it depends on.
var testsNeed = pattern.New(`(?m)^(?:tests?|check)[ \t]*::?([^=#|\n]*)`)

// generating are usual names of targets that make sources.
var generating = strings.Fields("generate gen codegen generated mocks mock proto protos protobuf assets")

// otherTarget is the name of a target that makes no sources: it tests, looks for style, removes,
// or reaches what lies outside.
var otherTarget = pattern.New(`(?i)test|lint|fmt|format|vet|check|docker|image|container|release|publish|deploy|push|clean|bench|cover|serve|help|^run|^install$|^up$|^down$`)

// makes says whether a line is one call of a program that can make sources: of a target, of a
// program or a script of the repository, or of a generator.
func (m *makings) makes(dir, line string) bool {
	if strings.Contains(line, "${{") {
		return false
	}
	file, err := shelltext.Parse(line)
	if err != nil || len(file.Stmts) != 1 || file.Stmts[0].Background {
		return false // a server that the tests need, for one
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	words := ecosystem.Written(&syntax.CallExpr{Args: call.Args})
	rest := words[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		rest = rest[1:]
	}
	first := ""
	if len(rest) > 0 {
		first = rest[0]
	}
	tracked := func(name string) bool { return name != "" && m.s.Has(dir, strings.TrimPrefix(name, "./")) }
	switch program := words[0]; program {
	case "make", "gmake", "$(MAKE)", "${MAKE}", "just", "task", "mage", "rake":
		return first != "" && !slices.ContainsFunc(rest, otherTarget.MatchString)
	case "go":
		return first == "generate" || first == "install" && strings.Contains(line, "@") || first == "run" && !otherTarget.MatchString(line)
	case "npm", "yarn", "pnpm":
		return first == "run" && len(rest) > 1 && !otherTarget.MatchString(rest[1])
	case "cargo":
		return first == "xtask" && !slices.ContainsFunc(rest, otherTarget.MatchString)
	case "bash", "sh", "python", "python3", "node", "ruby", "perl":
		return tracked(first) && !otherTarget.MatchString(first)
	default:
		return generators[program] || strings.Contains(program, "/") && tracked(program) && !otherTarget.MatchString(program)
	}
}

// generators are programs that make sources.
var generators = map[string]bool{
	"buf": true, "protoc": true, "sqlc": true, "templ": true, "mockgen": true, "mockery": true, "wire": true, "swag": true,
	"oapi-codegen": true, "gqlgen": true, "stringer": true, "flatc": true, "thrift": true, "capnp": true, "bison": true, "flex": true,
}

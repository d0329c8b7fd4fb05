package ecosystem

import (
	"fmt"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/workflows"
	"github.com/ycbot/ycbot/internal/pattern"
)

// OwnCommands are the texts of a tree that say how a project in a folder is tested: its
// recipes, and the workflows.
func OwnCommands(s *Survey, dir string) []string {
	var out []string
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile", "justfile", "Taskfile.yml"} {
		out = append(out, string(s.Read(dir, name)))
	}
	for _, f := range s.Files {
		if workflows.Is(f) {
			out = append(out, string(s.Read(".", f)))
		}
	}
	return out
}

// NotRun says which scripts the target for tests of the project's folder runs, and nothing
// else does; empty: none.
func (p *Project) NotRun() string {
	if len(p.Scripts) == 0 {
		return ""
	}
	command := p.Target
	if p.Dir != "." {
		command = "cd " + p.Dir + " && " + command
	}
	return fmt.Sprintf("%q also runs %s, which is not run; \"commands: {test: %s}\" in .github/ycbot.yml at the base does", command, results.Listed(p.Scripts, 3), command)
}

// IsTarget says whether a command is a call of a target for tests of the project's folder.
func (p *Project) IsTarget(c Command) bool {
	tool, _, _ := strings.Cut(p.Target, " ")
	return p.Target != "" && (c.Text == p.Target || strings.HasPrefix(c.Text, tool+" "))
}

// notOwn are the variables that are not taken from a project: they say where programs and their
// files are, which here is elsewhere.
var notOwn = pattern.New(`^(?:PATH|HOME|TMPDIR|TEMP|TMP|PYTHONPATH|PYTHONHOME|VIRTUAL_ENV|COVERAGE\w*|RUBYOPT|RUBYLIB|GEM_\w+|BUNDLE_\w+|PIP_\w+|UV_\w+|LD_\w+)$`)

// Takes says whether a variable is taken from a project.
func Takes(name string) bool { return !notOwn.MatchString(name) }

// Assignments writes variables before a command.
func Assignments(found [][2]string) string {
	var out []string
	for _, v := range found {
		if Takes(v[0]) {
			out = append(out, v[0]+"="+Quoted(v[1]))
		}
	}
	return strings.Join(out, " ")
}

package agents

import (
	"path"
	"slices"
	"strings"
)

// A Dialect is the system that an agent file was written for. All of them are
// read in the same way; a dialect decides what is meant by what a file leaves out.
type Dialect string

// The dialects. BLXCode has no agent files; its roles are settings of any file.
const (
	Ycbot     Dialect = "ycbot"     // .ycbot/agents, the operator's folder, the built-in ones
	Yottacode Dialect = "yottacode" // .yottacode/agents
	ExAthena  Dialect = "exathena"  // .exathena/agents, ~/.config/ex_athena/agents
	Molf      Dialect = "molf"      // .agents/agents
	Claude    Dialect = "claude"    // .claude/agents
)

// DialectOf reports the dialect of a file or folder by the folders of its path,
// of which the last one counts; without any that says something it is Ycbot.
func DialectOf(file string) Dialect {
	parts := strings.Split(path.Clean(strings.ReplaceAll(file, `\`, "/")), "/")
	slices.Reverse(parts)
	for _, p := range parts {
		switch p {
		case ".ycbot":
			return Ycbot
		case ".yottacode":
			return Yottacode
		case ".exathena", "ex_athena":
			return ExAthena
		case ".agents":
			return Molf
		case ".claude":
			return Claude
		}
	}
	return Ycbot
}

// namedByFile says whether a file without a name is called as its file is.
func (d Dialect) namedByFile() bool { return d != Yottacode && d != ExAthena }

// appends says whether the text of a file goes behind the run's own unless the
// file says otherwise.
func (d Dialect) appends() bool { return d == ExAthena || d == Molf || d == Claude }

// iterations is how long an agent may go on whose file does not say.
func (d Dialect) iterations() int {
	if d == Molf {
		return molfIterations
	}
	return DefaultIterations
}

// molfIterations is that system's own default.
const molfIterations = 10

package machine

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/usage"
)

// Agents reads the agents that a run by hand could have: the built-in ones, those of the
// user, of the project in dir and of the folder operator ("" for none), and what is wrong
// with their files.
func (m Machine) Agents(dir, operator string) (agents.Cast, agents.Problems, error) {
	project, err := os.OpenRoot(dir) // a link that leads out of the project is not followed
	if err != nil {
		return agents.Cast{}, nil, err
	}
	defer project.Close()
	folders, problems := agents.ProjectFolders(project.FS())
	own, err := OperatorAgents(operator)
	if err != nil {
		return agents.Cast{}, nil, err
	}
	all := agents.Load(tool.Resolve, slices.Concat(m.UserFolders(), folders, own)...)
	return all, append(problems, all.Problems...), nil
}

// OperatorAgents is the folder that --agents-dir names; none for "".
func OperatorAgents(dir string) ([]agents.Folder, error) {
	if dir == "" {
		return nil, nil
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("--agents-dir: %w", err)
	} else if !info.IsDir() {
		return nil, usage.Errorf("--agents-dir: %s is no folder", dir)
	}
	return []agents.Folder{{Origin: agents.Operator, Path: dir, Dialect: DialectOf(dir), FS: os.DirFS(dir)}}, nil
}

// UserFolders are the folders of agents of the user.
func (m Machine) UserFolders() []agents.Folder {
	home := m.Getenv("HOME")
	if !filepath.IsAbs(home) {
		home = ""
	}
	yottacode := m.Getenv("YOTTACODE_HOME")
	if yottacode == "" && home != "" {
		yottacode = filepath.Join(home, ".yottacode")
	}
	ycbot, err := m.Home()
	if err != nil {
		ycbot = "" // without a home there are no agents in it
	}
	return agents.UserFolders(func(dir string) fs.FS { return os.DirFS(dir) }, home, yottacode, ycbot)
}

// DialectOf says for which system a file of the disk was written.
func DialectOf(file string) agents.Dialect {
	if abs, err := filepath.Abs(file); err == nil {
		file = abs
	}
	return agents.DialectOf(file)
}

package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/regular"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/usage"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// Agents reads the agents that a run by hand could have: the built-in ones, those of the
// user, of the project that dir lies in and of the folder operator ("" for none), and what
// is wrong with their files.
func (m Machine) Agents(dir, operator string) (agents.Cast, agents.Problems, error) {
	if _, err := os.Stat(dir); err != nil {
		return agents.Cast{}, nil, err
	}
	project, err := os.OpenRoot(repository.Top(dir)) // a link that leads out of the project is not followed
	if err != nil {
		return agents.Cast{}, nil, err
	}
	defer project.Close()
	folders, problems := agents.ProjectFolders(unwaiting{project})
	own, err := OperatorAgents(operator)
	if err != nil {
		return agents.Cast{}, nil, err
	}
	all := agents.Load(tool.Resolve, slices.Concat(m.UserFolders(), folders, own)...)
	return all, append(problems, all.Problems...), nil
}

// unwaiting is the files below a root, of which a named pipe is opened without its writer.
type unwaiting struct{ root *os.Root }

func (u unwaiting) Open(name string) (fs.File, error) {
	return u.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// OperatorAgents is the folder that --agents-dir names; none for "".
func OperatorAgents(dir string) ([]agents.Folder, error) {
	if dir == "" {
		return nil, nil
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("--agents-dir: %w", err)
	} else if !info.IsDir() {
		return nil, usage.Errorf("--agents-dir: %s is not a folder", dir)
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

// AgentFiles are the files that are named, those of the folders that are named, and where
// nothing is, those of the folders below this one in which a run looks for agents.
func AgentFiles(named []string) ([]string, error) {
	if len(named) == 0 {
		folders, _ := agents.ProjectFolders(os.DirFS("."))
		for _, f := range folders {
			named = append(named, f.Path)
		}
		if len(named) == 0 {
			return nil, usage.Errorf("there is no folder of agents here, such as .ycbot/agents: name the files or folders to check")
		}
	}
	var out []string
	for _, name := range named {
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			out = append(out, name) // that it cannot be read is said of the file
			continue
		}
		entries, err := os.ReadDir(name)
		if err != nil {
			return nil, err
		}
		before := len(out)
		for _, e := range entries {
			if !e.IsDir() && filepath.Ext(e.Name()) == ".md" {
				out = append(out, filepath.Join(name, e.Name()))
			}
		}
		if len(out) == before {
			return nil, usage.Errorf("%s has no agent files, which end in .md: name another folder, or a file", name)
		}
	}
	return out, nil
}

// CheckAgents reads agent files, and says of each what is wrong with it.
func CheckAgents(files []string) []agents.Problems {
	out := make([]agents.Problems, len(files))
	seen := map[string]string{} // folder and agent: file
	for i, file := range files {
		d, problems := checkedAgent(file)
		key := filepath.Dir(file) + "\x00" + d.Name
		if first, ok := seen[key]; ok && d.Name != "" {
			problems = append(problems, agents.Problem{File: file, Text: fmt.Sprintf("agent %q is in %s already, and only one of them counts", d.Name, first)})
		} else {
			seen[key] = file
		}
		out[i] = problems
	}
	return out
}

// checkedAgent reads one file; that it cannot be read is a problem of the file.
func checkedAgent(file string) (agents.Definition, agents.Problems) {
	unread := func(err error) (agents.Definition, agents.Problems) {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return agents.Definition{}, agents.Problems{{File: file, Text: err.Error(), Fatal: true}}
	}
	data, err := regular.Read(file)
	if err != nil {
		return unread(err)
	}
	return agents.Parse(file, data, DialectOf(file), tool.Resolve)
}

package run

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/agent"
)

// Files in which a project says what agents may not do. The first are read at the
// base commit, the others, which are a person's own, in local runs alone.
var (
	projectRules = []string{".ycbot/permissions.json", ".yottacode/permissions.json"}
	personRules  = []string{".ycbot/permissions.local.json", ".yottacode/permissions.local.json"}
)

// permissions reads the files of the operator, of the project at its base, and of
// the person whose run it is, and makes of them what agents may do. A file that
// cannot be read ends the run.
func (s *session) permissions(ctx context.Context) (agent.Permissions, error) {
	files := append([]agent.PermissionFile(nil), s.Permissions...)
	for _, name := range projectRules {
		data, err := s.mirror.ReadFile(ctx, s.src.Change.BaseSHA, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return agent.Permissions{}, err
		}
		files = append(files, agent.PermissionFile{Name: name, Data: data})
	}
	if s.repo != nil {
		for _, name := range personRules {
			data, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return agent.Permissions{}, err
			}
			files = append(files, agent.PermissionFile{Name: name, Data: data})
		}
	}
	may, err := agent.NewPermissions(agent.Terms{Trust: s.job.Trust, Sandboxed: s.around.refused() == "", Mode: s.job.Mode, Files: files, Exec: s.exec(), Hosts: s.Hosts, Hook: s.asksHook(), Spent: s.spent})
	if err != nil {
		return agent.Permissions{}, &UsageError{err}
	}
	return may, nil
}

// spent says which limit of all agents together is reached, "" for none: nobody would
// read what a call answers after that.
func (s *session) spent() string { return s.budget.Exceeded() }

// exec is the level of execution that the operator names.
func (s *session) exec() string {
	if s.job.Cast == nil {
		return ""
	}
	return s.job.Cast.Exec
}

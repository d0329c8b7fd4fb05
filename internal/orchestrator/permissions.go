package orchestrator

import (
	"context"
	"errors"
	"io/fs"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/regular"
	"github.com/ycbot/ycbot/internal/rundir"
)

// Files in which a project says what agents may not do. The first are read at the
// base commit, the others, which are a person's own, in local runs alone.
var (
	ProjectRules = []string{".ycbot/permissions.json", ".yottacode/permissions.json"}
	personRules  = []string{".ycbot/permissions.local.json", ".yottacode/permissions.local.json"}
)

// permissions reads the files of the operator, of the project at its base, and of
// the person whose run it is, and makes of them what agents may do. A file that
// cannot be read ends the run.
func (l Loading) permissions(ctx context.Context, budget *agent.Budget) (agent.Permissions, error) {
	files := append([]agent.PermissionFile(nil), l.Permissions...)
	for _, name := range ProjectRules {
		data, err := l.Mirror.ReadFile(ctx, l.Source.Change.BaseSHA, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return agent.Permissions{}, err
		}
		files = append(files, agent.PermissionFile{Name: name, Data: data})
	}
	if l.Checkout != "" {
		for _, name := range personRules {
			data, err := regular.ReadIn(l.Checkout, name)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return agent.Permissions{}, err
			}
			files = append(files, agent.PermissionFile{Name: name, Data: data})
		}
	}
	may, err := agent.NewPermissions(agent.Terms{
		Trust: l.Trust, Sandboxed: l.Sandboxed, Mode: l.Mode, Files: files, Exec: l.Models.Exec, Hosts: l.Hosts, Hook: l.Hook,
		Spent: budget.Exceeded, // the answer to a call after that would not be read
	})
	if err != nil {
		return agent.Permissions{}, &rundir.UsageError{Err: err}
	}
	return may, nil
}

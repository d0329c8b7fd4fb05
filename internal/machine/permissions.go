package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/policy"
	"github.com/ycbot/ycbot/internal/regular"
	"github.com/ycbot/ycbot/internal/usage"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// SystemPermissions is the permission file of the machine.
const SystemPermissions = "/etc/ycbot/permissions.json"

// projectPermissions are the permission files of a project, in the order in
// which they are read; the last two are a person's own and count in local runs.
func projectPermissions() (shared, local []string) {
	return []string{".ycbot/permissions.json", ".yottacode/permissions.json"}, []string{".ycbot/permissions.local.json", ".yottacode/permissions.local.json"}
}

// PermissionFiles say which permission files are meant, beside the operator's.
type PermissionFiles struct {
	Dir   string   // whose project's files are read
	Named []string // further files of the operator's
	Local bool     // a person's own files of the project count too
}

// Permissions reads the files that are there: the operator's, those that are named, and
// those of the project's working tree.
func (m Machine) Permissions(o PermissionFiles) ([]policy.File, error) {
	out, err := m.OperatorRules()
	if err != nil {
		return nil, err
	}
	for _, f := range o.Named {
		data, err := regular.Read(f)
		if err != nil {
			return nil, fmt.Errorf("permission file: %w", err)
		}
		out = append(out, policy.File{Name: f, Data: data, Operator: true})
	}
	shared, local := projectPermissions()
	if o.Local {
		shared = append(shared, local...)
	}
	top := repository.Top(o.Dir)
	for _, name := range shared {
		data, err := regular.ReadIn(top, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("permission file: %w", err)
		}
		out = append(out, policy.File{Name: name, Data: data})
	}
	return out, nil
}

// PermissionsVariable names a further permission file of the operator's.
const PermissionsVariable = "YCBOT_PERMISSIONS"

// OperatorRules are the permission files of the operator: the machine's,
// where there is one, and the one that the environment names, which has to be there.
func (m Machine) OperatorRules() ([]policy.File, error) {
	var files []policy.File
	for _, path := range []string{SystemPermissions, m.Getenv(PermissionsVariable)} {
		if path == "" {
			continue
		}
		if path != SystemPermissions {
			if err := m.outside(path); err != nil {
				return nil, usage.Errorf("%s: %w", PermissionsVariable, err)
			}
		}
		data, err := regular.Read(path)
		if errors.Is(err, fs.ErrNotExist) && path == SystemPermissions {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("permission file of %s: %w", whose(path), err)
		}
		files = append(files, policy.File{Name: path, Data: data, Operator: true})
	}
	return files, nil
}

// whose says what names an operator's permission file.
func whose(path string) string {
	if path == SystemPermissions {
		return "this machine"
	}
	return PermissionsVariable
}

// outside refuses a file that a pull request may have written: in an Action what
// lies in the workspace.
func (m Machine) outside(path string) error {
	top := m.Getenv("GITHUB_WORKSPACE")
	if top == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%q: want an absolute path outside of the workspace", path)
	}
	if rel, err := filepath.Rel(top, path); err == nil && filepath.IsLocal(rel) {
		return fmt.Errorf("%q lies in the workspace, which may be the pull request's: want an absolute path outside of it, or .ycbot/permissions.json at the base", path)
	}
	return nil
}

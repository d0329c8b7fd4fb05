package execution

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate/languages"
)

// furnish writes what the operator has set about registries in files into the HOME
// of a side, before any command has used it.
func (m *Machine) furnish(home string) error {
	if m.Tools == nil {
		return nil
	}
	var errs []error
	for _, eco := range languages.All() {
		for _, f := range eco.SettingsFiles {
			if text := f.Read(m.Tools); text != "" {
				to := filepath.Join(home, filepath.FromSlash(f.Places[0]))
				errs = append(errs, folder.Make(filepath.Dir(to)), os.WriteFile(to, []byte(text), 0o600))
			}
		}
	}
	return errors.Join(errs...)
}

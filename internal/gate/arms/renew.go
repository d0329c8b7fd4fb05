package arms

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// renew makes all files of the side newer than what its build made of them: make would take a program
// that other rules made for one that the arm's made. They have one time, as git gives them.
func (a *Arm) renew(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("arm: %w", err)
	}
	defer root.Close()
	now := a.on.Executor.Now()
	for _, f := range a.on.Sides.Plans[a.Side].Files {
		name := filepath.FromSlash(f)
		if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if err := root.Chtimes(name, now, now); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("arm: %w", err)
		}
	}
	return nil
}

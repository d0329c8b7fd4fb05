package execution

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/languages"
)

// ownSettings takes the settings of a user out of a HOME that commands of a change may
// have written to, and writes those of the operator about registries.
func (m *Machine) ownSettings(home string) error {
	root, err := os.OpenRoot(home)
	if err != nil {
		return fmt.Errorf("HOME of a command: %w", err)
	}
	defer root.Close()
	for _, pattern := range languages.UserSettings {
		if err := takeAway(root, ".", strings.Split(strings.ReplaceAll(pattern, `\040`, " "), "/")); err != nil {
			return fmt.Errorf("settings in HOME of a command: %w", err)
		}
	}
	return m.furnish(home)
}

// takeAway removes what a path names below a folder. A link on the way is removed
// itself, because it would lead to settings at another place.
func takeAway(root *os.Root, dir string, rest []string) error {
	names := []string{rest[0]}
	if strings.Contains(rest[0], "*") {
		names = nil
		entries, err := fs.ReadDir(root.FS(), dir)
		if err != nil {
			return missing(err)
		}
		for _, e := range entries {
			if ok, err := path.Match(rest[0], e.Name()); ok && err == nil {
				names = append(names, e.Name())
			}
		}
	}
	for _, name := range names {
		at := path.Join(dir, name)
		info, err := root.Lstat(at)
		if err != nil {
			if err := missing(err); err != nil {
				return err
			}
			continue
		}
		switch {
		case info.Mode()&fs.ModeSymlink != 0 && len(rest) > 1:
			err = root.Remove(at)
		case len(rest) == 1:
			err = root.RemoveAll(at)
		case info.IsDir():
			if info.Mode().Perm()&0o700 != 0o700 { // locked by a command
				err = root.Chmod(at, 0o700)
			}
			if err == nil {
				err = takeAway(root, at, rest[1:])
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// missing forgives that there is nothing.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

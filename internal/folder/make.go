package folder

import (
	"errors"
	"os"
	"path/filepath"
)

// Make makes folders and what is missing above them, for this user alone.
func Make(dirs ...string) error {
	for _, d := range dirs {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// Exists says whether something can be seen at a path.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// IsBelow says whether a folder can be seen below another one, where no link leads out of that.
func IsBelow(dir, part string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	info, err := root.Stat(part)
	return err == nil && info.IsDir()
}

// WriteWhole writes a file so that it is there whole or as it was.
func WriteWhole(name string, data []byte) error {
	dir := filepath.Dir(name)
	if err := Make(dir); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, "part-")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(temp.Name()))
	}
	return err
}

// CopyIfThere copies a file with its modification time; a missing one is fine.
func CopyIfThere(from, to string) error {
	data, err := os.ReadFile(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

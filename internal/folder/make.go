package folder

import "os"

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

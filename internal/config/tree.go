package config

import (
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/regular"
)

// ReadTree reads the configuration as it stands in a working tree. A symbolic link is an
// error: a run reads what a commit has, where a link is the text of its target.
func ReadTree(top string) ([]byte, error) {
	for _, name := range []string{path.Dir(Path), Path} {
		info, err := os.Lstat(filepath.Join(top, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		if info.Mode()&os.ModeSymlink != 0 {
			return nil, fmt.Errorf("%s: %s", name, IsLink)
		}
	}
	return regular.ReadIn(top, Path)
}

// IsLink is what is wrong with a configuration that is a symbolic link.
const IsLink = "it is a symbolic link, and none is followed: put the file itself there"

package repository

import (
	"os"
	"path/filepath"
)

// Top is the top folder of the working tree that dir lies in, and dir where it lies in
// none.
func Top(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	for at := abs; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return abs
		}
	}
}

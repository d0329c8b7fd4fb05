package doctor

import (
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

// A usage is what the harness's own files come to.
type usage struct {
	bytes int64
	runs  int  // finished and broken off
	left  int  // worktrees of runs that are not at work any more
	cut   bool // there is more than was counted
}

// measureFiles is how many files are looked at, so that a large cache takes no time.
const measureFiles = 100_000

// measure adds up what lies below home.
func measure(home string, before time.Time) usage {
	var u usage
	n := 0
	// What cannot be read, or is gone while it is looked at, does not count.
	_ = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if n++; n > measureFiles {
			u.cut = true
			return fs.SkipAll
		}
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		rel, err := filepath.Rel(home, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		if parts := strings.Split(filepath.ToSlash(rel), "/"); d.IsDir() && len(parts) == 4 && parts[0] == "projects" {
			switch parts[2] {
			case "runs":
				u.runs++
			case "worktrees":
				if info.ModTime().Before(before) {
					u.left++
				}
			}
		}
		if info.Mode().IsRegular() {
			u.bytes += info.Size()
		}
		return nil
	})
	return u
}

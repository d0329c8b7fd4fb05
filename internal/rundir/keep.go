package rundir

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/journal"
)

// Origin is the run directory that a finished run rests on: dir itself, or the one
// that it keeps where it reused a verdict and ran nothing.
func Origin(dir string) string {
	j, err := journal.Read(filepath.Join(dir, journalFile))
	if err != nil {
		return dir // the next reader says what is wrong
	}
	if reuse, ok := Lookup[Reuse](j, "stage", "takeover"); !ok || reuse.RunID == "" {
		return dir
	}
	return filepath.Join(dir, Previous)
}

// Keep copies the directory of the last run into this one, without the run that it
// keeps itself: else each run would hold all before it.
func (d *Dir) Keep(last string) error {
	to := filepath.Join(d.Path, Previous)
	if IsFinished(to) {
		return nil
	}
	part := to + ".part" // of a copy that a crash broke off
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	err := filepath.WalkDir(last, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(last, path)
		switch {
		case err != nil:
			return err
		case e.IsDir() && rel == Previous:
			return fs.SkipDir
		case e.IsDir():
			return os.MkdirAll(filepath.Join(part, rel), 0o700)
		}
		data, err := os.ReadFile(path) // a regular file: the directory was checked
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(part, rel), data, 0o600)
	})
	if err != nil {
		return err
	}
	return os.Rename(part, to)
}

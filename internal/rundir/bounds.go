package rundir

import (
	"fmt"
	"io/fs"
	"path/filepath"
)

// What a run directory that is looked at may have. No one's run comes near; one that was
// made up could fill the memory of who checks it.
const (
	maxFiles  = 200_000
	maxFile   = 1 << 30 // bytes of a file that is only hashed
	maxParsed = 256 << 20
	maxSums   = 64 << 20
	maxTotal  = 8 << 30
)

// Bounded reports what keeps the files of a directory from being read at all: files that
// are no regular ones, such as a pipe, which would wait for ever, and sizes that no run
// leaves. It opens nothing.
func Bounded(dir string) (problems []string, err error) {
	files, total := 0, int64(0)
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if files++; files > maxFiles {
			problems = append(problems, fmt.Sprintf("more than %d files", maxFiles))
			return fs.SkipAll
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		limit := int64(maxFile)
		switch name {
		case sumsFile, "report.json":
			limit = maxSums
		case "evidence.jsonl", journalFile, "events.jsonl":
			limit = maxParsed
		}
		total += info.Size()
		switch {
		case !info.Mode().IsRegular():
			problems = append(problems, name+": no regular file")
		case info.Size() > limit:
			problems = append(problems, fmt.Sprintf("%s: %d bytes, and no run writes more than %d", name, info.Size(), limit))
		case total > maxTotal:
			problems = append(problems, fmt.Sprintf("more than %d bytes", int64(maxTotal)))
			return fs.SkipAll
		}
		return nil
	})
	return problems, err
}

package execution

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// sealBase keeps what the files of the base are before a command of the head, where
// the tier does not keep the head from all of them: Landlock alone does not deny
// changing the mode or the times of one's own files. What it returns looks again
// when the command has ended, and a change is a reason of the verdict: what is known
// of the base since then may be the head's doing.
func (e *Executor) sealBase(side results.Side) (untouched func(ecosystem.Command) error, err error) {
	nothing := func(ecosystem.Command) error { return nil }
	if e.Apart() || side != results.Head || e.Base == nil || e.baseTouched != "" {
		return nothing, nil
	}
	dirs := []string{e.Base.Dir, e.HomeOf(results.Base), e.Store().BuildCache(results.Base)} // the caches of the project are written by other runs, too
	if snap := e.prepared[results.Base]; snap != nil {
		dirs = append(dirs, snap.Tree.Dir)
		if snap.home != nil {
			dirs = append(dirs, snap.home.From)
		}
	}
	before, err := sealOf(dirs)
	if err != nil {
		return nil, err
	}
	return func(c ecosystem.Command) error {
		after, err := sealOf(dirs)
		if err != nil {
			return err
		}
		if before != after && e.baseTouched == "" {
			e.baseTouched = fmt.Sprintf("%q", c.Text)
		}
		return nil
	}, nil
}

// sealOf sums up all files below folders: their modes, owners, sizes and the times at
// which the kernel last saw them change, which no program can set.
func sealOf(dirs []string) (string, error) {
	h := sha256.New()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			var st unix.Stat_t
			if err != nil || unix.Lstat(name, &st) != nil {
				fmt.Fprintf(h, "%q is not there\n", name)
				return nil
			}
			// The number of a file's names changes by links of the harness's own copies.
			fmt.Fprintf(h, "%q %d %o %d %d %d %d.%d\n", strings.TrimPrefix(name, dir), st.Ino, st.Mode, st.Uid, st.Gid, st.Size, st.Ctim.Sec, st.Ctim.Nsec)
			return nil
		})
		if err != nil {
			return "", fmt.Errorf("files of the base: %w", err)
		}
	}
	return string(h.Sum(nil)), nil
}

//go:build !linux

package folder

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// cloneFile would share blocks; only a Linux file system is asked to.
func cloneFile(_, _ *os.File) error { return unix.ENOTSUP }

// copySparse copies a file with holes, which are filled.
func copySparse(out, in *os.File, _ int64) error {
	_, err := io.Copy(out, in)
	return err
}

// setTimes gives an open file the times of another, to the microsecond.
func setTimes(fd int, st *unix.Stat_t) error {
	return unix.Futimes(fd, []unix.Timeval{
		unix.NsecToTimeval(st.Atim.Nano()),
		unix.NsecToTimeval(st.Mtim.Nano()),
	})
}

package folder

import (
	"errors"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// cloneFile makes out share the blocks of in.
func cloneFile(out, in *os.File) error {
	return unix.IoctlFileClone(int(out.Fd()), int(in.Fd()))
}

// copySparse copies what is written in a file and leaves its holes holes, so
// that a file of a terabyte of nothing stays one.
func copySparse(out, in *os.File, size int64) error {
	if err := out.Truncate(size); err != nil {
		return err
	}
	for at := int64(0); at < size; {
		from, err := unix.Seek(int(in.Fd()), at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			return nil // nothing but a hole up to the end
		}
		if err != nil {
			return err
		}
		to, err := unix.Seek(int(in.Fd()), from, unix.SEEK_HOLE)
		if err != nil {
			return err
		}
		if _, err := out.Seek(from, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(out, io.NewSectionReader(in, from, to-from)); err != nil {
			return err
		}
		at = to
	}
	return nil
}

// setTimes gives an open file the times of another.
func setTimes(fd int, st *unix.Stat_t) error {
	return unix.UtimesNanoAt(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), []unix.Timespec{st.Atim, st.Mtim}, 0)
}

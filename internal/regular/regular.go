// Package regular reads whole files that a user named or a repository has: regular ones of a
// bounded size alone. A named pipe would be waited for, where no signal ends the wait, and a
// device such as /dev/zero never ends.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// most is more than any file has that is read as a whole: an event of GitHub's has 25 MB.
const most = 32 << 20

// mostInTree is more than GitHub takes as a file of a repository, 100 MB.
const mostInTree = 128 << 20

// FS is what lies below root, for the whole files of a tree or a HOME that commands of a change
// have written to: of these, too, regular ones of a bounded size alone can be read.
func FS(root *os.Root) fs.FS { return tree{root.FS().(rooted), root} } // as os says

// What package os says that the file system of a root has.
type rooted interface {
	fs.StatFS
	fs.ReadDirFS
	fs.ReadLinkFS
}

type tree struct {
	rooted
	root *os.Root
}

// ReadFile makes tree a [fs.ReadFileFS].
func (t tree) ReadFile(name string) ([]byte, error) {
	f, err := t.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return read(f, name, mostInTree)
}

// Read reads a file of the user's. Symbolic links are followed.
func Read(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return read(f, name, most)
}

// ReadIn reads a file below a folder, which may be the checkout of a stranger's repository: a
// symbolic link that leads out of the folder is an error.
func ReadIn(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return read(f, name, most)
}

func read(f *os.File, name string, most int64) ([]byte, error) {
	defer f.Close()
	wrong := func(err error) ([]byte, error) { return nil, &fs.PathError{Op: "read", Path: name, Err: err} }
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return wrong(syscall.EISDIR)
	case !info.Mode().IsRegular():
		return wrong(errors.New("it is not a regular file: a pipe or a device is not read, put what it has into a file"))
	case info.Size() > most:
		return wrong(fmt.Errorf("it has %d bytes, and at most %d are read", info.Size(), most))
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1)) // files of /proc have a size of 0
	if err == nil && int64(len(data)) > most {
		return wrong(fmt.Errorf("it has more than %d bytes", most))
	}
	return data, err
}

package blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A File is a bucket in a folder, which is created when something is put there. Several
// processes may use it at once, also over a shared file system.
type File struct{ Dir string }

// temporary begins the names of files that are being written.
const temporary = ".tmp-"

func (f File) path(key string) (string, error) {
	name := filepath.FromSlash(key)
	if !filepath.IsLocal(name) || strings.HasPrefix(filepath.Base(name), temporary) {
		return "", fmt.Errorf("key %q: %w", key, os.ErrInvalid)
	}
	return filepath.Join(f.Dir, name), nil
}

// Put implements [Bucket].
func (f File) Put(ctx context.Context, key string, data []byte) error {
	name, err := f.path(key)
	if err != nil {
		return err
	}
	for range 3 { // the folder may go again, with the last blob in it
		if err = ctx.Err(); err == nil {
			err = f.put(name, data)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

func (f File) put(name string, data []byte) (err error) {
	dir := filepath.Dir(name)
	if err := f.makeDir(dir); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, temporary)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}()
	_, err = temp.Write(data)
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), name); err != nil {
		return err
	}
	return syncDir(dir)
}

// makeDir makes a folder and has those above it know so for good.
func (f File) makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for at := dir; at != filepath.Dir(f.Dir) && at != filepath.Dir(at); {
		at = filepath.Dir(at)
		if err := syncDir(at); err != nil {
			return err
		}
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Get implements [Bucket].
func (f File) Get(_ context.Context, key string) (io.ReadCloser, error) {
	name, err := f.path(key)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return file, nil
}

// Delete implements [Bucket]. The folder of what was the last goes too.
func (f File) Delete(_ context.Context, key string) error {
	name := filepath.Join(f.Dir, filepath.FromSlash(key)) // also of a file that was left half written
	if !filepath.IsLocal(filepath.FromSlash(key)) {
		return fmt.Errorf("key %q: %w", key, os.ErrInvalid)
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if dir := filepath.Dir(name); dir != filepath.Clean(f.Dir) {
		_ = os.Remove(dir) // fails where there is more in it
	}
	return nil
}

// List implements [Bucket]. Files that were left half written are among them.
func (f File) List(_ context.Context, prefix string) ([]string, error) {
	dir := filepath.FromSlash(strings.TrimSuffix(prefix, "/"))
	if !filepath.IsLocal(dir) {
		return nil, fmt.Errorf("prefix %q: %w", prefix, os.ErrInvalid)
	}
	entries, err := os.ReadDir(filepath.Join(f.Dir, dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var keys []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			keys = append(keys, prefix+e.Name())
		}
	}
	return keys, err
}

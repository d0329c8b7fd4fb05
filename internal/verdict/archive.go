package verdict

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/github"
)

// Bounds of an archive that is unpacked.
const (
	MaxFiles     = 20_000
	archiveBytes = 1 << 30
)

// Download fetches the archive of an artifact and lays it out in the new folder to, whose
// parent exists.
func Download(ctx context.Context, client *github.Client, repo github.Repo, id int64, to string) error {
	archive, err := os.CreateTemp(filepath.Dir(to), "last-*.zip")
	if err != nil {
		return err
	}
	defer os.Remove(archive.Name())
	defer archive.Close()
	if err := client.Download(ctx, repo, id, archive); err != nil {
		return err
	}
	return unpack(archive, to)
}

// unpack lays the regular files of an archive out in a new folder. No name leads
// out of it.
func unpack(archive *os.File, to string) error {
	size, err := archive.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	z, err := zip.NewReader(archive, size)
	if err != nil {
		return fmt.Errorf("unpack the artifact: %w", err)
	}
	if len(z.File) > MaxFiles {
		return fmt.Errorf("unpack the artifact: %d files, and no run leaves more than %d", len(z.File), MaxFiles)
	}
	declared := uint64(0)
	for _, f := range z.File {
		if declared += min(f.UncompressedSize64, archiveBytes+1); declared > archiveBytes {
			return fmt.Errorf("unpack the artifact: more than %d bytes", int64(archiveBytes))
		}
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	left := int64(archiveBytes)
	for _, f := range z.File {
		if f.Mode().IsDir() {
			continue
		}
		if !f.Mode().IsRegular() {
			return fmt.Errorf("unpack the artifact: %q is not a regular file", f.Name)
		}
		if err := unpackFile(root, f, &left); err != nil {
			return fmt.Errorf("unpack the artifact: %q: %w", f.Name, err)
		}
	}
	return nil
}

func unpackFile(root *os.Root, f *zip.File, left *int64) error {
	if err := root.MkdirAll(filepath.Dir(filepath.FromSlash(f.Name)), 0o700); err != nil {
		return err
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := root.OpenFile(filepath.FromSlash(f.Name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, *left+1))
	if *left -= n; *left < 0 {
		err = errors.Join(err, errors.New("too large"))
	}
	return errors.Join(err, out.Close())
}

package main

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ycbot/ycbot/internal/job"
)

// Bounds of an archive that is unpacked.
const (
	archiveFiles = 20_000
	archiveBytes = 1 << 30
)

// lastRun fetches the run directory that an earlier workflow run left for the same
// branch, and returns it, or why there is none. Only what a run in this repository
// left is taken: a fork's workflow could have written anything.
func (h *host) lastRun(ctx context.Context, j job.Job, dir string) (string, error) {
	if h.hub.pull == nil || j.Full || j.Trust != job.Trusted {
		return "", nil
	}
	name := cmp.Or(h.in.ArtifactName, "ycbot")
	all, err := h.hub.client.Artifacts(ctx, h.hub.repo, name)
	if err != nil {
		return "", err
	}
	for _, a := range all {
		if a.Expired || a.Name != name || a.HeadBranch != h.hub.pull.Head.Name || a.HeadRepoID != h.hub.pull.Base.RepoID {
			continue
		}
		archive, err := os.CreateTemp(filepath.Dir(dir), "last-*.zip")
		if err != nil {
			return "", err
		}
		defer os.Remove(archive.Name())
		defer archive.Close()
		if err := h.hub.client.Download(ctx, h.hub.repo, a.ID, archive); err != nil {
			return "", err
		}
		to := dir + ".last"
		return to, unpack(archive, to)
	}
	return "", nil
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
		return fmt.Errorf("unpack the last run: %w", err)
	}
	if len(z.File) > archiveFiles {
		return fmt.Errorf("unpack the last run: %d files", len(z.File))
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
		if !f.Mode().IsRegular() {
			continue
		}
		if err := unpackFile(root, f, &left); err != nil {
			return fmt.Errorf("unpack the last run: %q: %w", f.Name, err)
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

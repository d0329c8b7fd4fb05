package reproduce

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/folder"
)

// Bounds for files that an agent added to its tree and that travel with a check.
const (
	maxProbes    = 200
	maxProbeSize = 1 << 20
)

// copyProbes copies what an agent added to its tree, such as a test beside the
// code: small regular files that the prepared head does not have. What is there
// already in to stays.
func copyProbes(from, prepared, to string) error {
	var roots [3]*os.Root
	for i, dir := range []string{from, prepared, to} {
		r, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		defer r.Close()
		roots[i] = r
	}
	left := maxProbes
	return fs.WalkDir(roots[0].FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == ".git" || left == 0 {
			return skipped(d)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		if _, err := roots[1].Lstat(name); err == nil {
			return nil
		}
		info, err := d.Info()
		if err != nil || info.Size() > maxProbeSize {
			return nil //nolint:nilerr // what cannot be read or is no probe stays behind
		}
		data, err := roots[0].ReadFile(name)
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		left--
		if err := roots[2].MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return nil //nolint:nilerr // base has a file where the agent has a folder
		}
		f, err := roots[2].OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
		if err != nil {
			return nil //nolint:nilerr // it is there already
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Close())
	})
}

// Bounds of the texts of a check's own files.
const (
	mostProbeTexts = 50
	mostProbeText  = 64 << 10
)

// probeTexts are the texts of the files that an agent made for a check: those that it
// added to its tree beside the prepared head, and those of its scratch folder that the
// command names.
func probeTexts(from evidence.Roots, prepared, command string) []string {
	var out []string
	for _, dir := range []string{from.Tree, from.Temp} {
		if dir == "" {
			continue
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			continue // it has none
		}
		_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || name == ".git" || len(out) == mostProbeTexts {
				return skipped(d)
			}
			if !d.Type().IsRegular() || dir == from.Temp && !strings.Contains(command, filepath.Base(name)) {
				return nil
			}
			if _, err := os.Lstat(filepath.Join(prepared, name)); dir == from.Tree && err == nil {
				return nil
			}
			info, err := d.Info()
			if err != nil || info.Size() > mostProbeText {
				return nil //nolint:nilerr // what cannot be read, or is no text, says nothing
			}
			if data, err := root.ReadFile(name); err == nil && utf8.Valid(data) {
				out = append(out, string(data))
			}
			return nil
		})
		_ = root.Close()
	}
	return out
}

// skipped leaves a folder out of a walk.
func skipped(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// copyScratch copies an agent's scratch files, so that one run of a check does
// not see what another one wrote. Links and special files stay behind.
func copyScratch(ctx context.Context, from, to string) error {
	if err := folder.RemoveAll(ctx, to); err != nil {
		return err
	}
	if err := folder.Make(to); err != nil {
		return err
	}
	return folder.CopyFiles(ctx, from, to)
}

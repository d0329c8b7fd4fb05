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
	"strings"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/report"
)

// Bounds of an archive that is unpacked.
const (
	archiveFiles = 20_000
	archiveBytes = 1 << 30
)

// lastRun fetches the run directory that an earlier workflow run left for the same
// branch, and returns it, or why there is none. Only what this workflow left in this
// repository is taken: any other could have written anything, such as an acceptance.
func (h *host) lastRun(ctx context.Context, j job.Job, dir string) (string, error) {
	if h.hub.pull == nil || j.Full || j.Trust != job.Trusted {
		return "", nil
	}
	name := cmp.Or(h.in.ArtifactName, "ycbot")
	all, err := h.hub.client.Artifacts(ctx, h.hub.repo, name)
	if err != nil {
		return "", err
	}
	looked := 0
	for _, a := range all {
		if a.Expired || a.Name != name || a.HeadBranch != h.hub.pull.Head.Name || a.HeadRepoID != h.hub.pull.Base.RepoID {
			continue
		}
		if looked++; looked > maxRecords {
			break
		}
		ours, err := h.ours(ctx, a, a.HeadSHA)
		if err != nil {
			return "", err
		}
		if !ours {
			continue
		}
		to := dir + ".last"
		return to, h.download(ctx, a.ID, dir, to)
	}
	return "", nil
}

// ours reports whether an artifact is what this very workflow, as the default branch has
// it, left of a commit. Outside of a workflow there is none to compare with.
func (h *host) ours(ctx context.Context, a github.Artifact, sha string) (bool, error) {
	ref := strings.SplitN(h.p.getenv("GITHUB_WORKFLOW_REF"), "/", 3) // OWNER/NAME/PATH@REF
	if len(ref) < 3 {
		return true, nil
	}
	path, _, _ := strings.Cut(ref[2], "@")
	if h.workflow == nil {
		w, err := readWorkflow(ctx, h.hub, h.hub.repo, verdictOptions{workflow: path, base: h.hub.pull.Base.Name})
		if err != nil {
			return false, err
		}
		h.workflow = w
	}
	_, why, err := h.workflow.left(ctx, a, sha)
	if why != "" {
		h.p.say(fmt.Sprintf("artifact %d does not count: workflow run %d: %s", a.ID, a.RunID, why))
	}
	return why == "", err
}

// maxRecords is how many artifacts are looked into for the run of a commit.
const maxRecords = 10

// Recorded implements [action.Host]. Only what this workflow left in this repository is
// taken, on the pull request's own branch or on the default branch, whose workflow
// comments start: any other could have written anything.
func (h *host) Recorded(ctx context.Context, j job.Job, dir string) (bool, error) {
	pull := h.hub.pull
	if pull == nil {
		return false, nil
	}
	home, err := h.hub.client.DefaultBranch(ctx, h.hub.repo)
	if err != nil {
		return false, err
	}
	name := cmp.Or(h.in.ArtifactName, "ycbot")
	all, err := h.hub.client.Artifacts(ctx, h.hub.repo, name)
	if err != nil {
		return false, err
	}
	if err := makeParent(dir); err != nil {
		return false, err
	}
	looked := 0
	for _, a := range all {
		own := a.HeadRepoID == pull.Base.RepoID && (a.HeadBranch == home || a.HeadBranch == pull.Head.Name && !pull.Fork())
		if a.Expired || a.Name != name || !own || looked == maxRecords {
			continue
		}
		looked++
		if ours, err := h.ours(ctx, a, j.HeadSHA); err != nil {
			return false, err
		} else if !ours {
			continue
		}
		to := fmt.Sprintf("%s.record%d", dir, looked)
		if err := h.download(ctx, a.ID, dir, to); err != nil {
			return false, err
		}
		if rep, err := readReport(to); err == nil && rep.HeadSHA == j.HeadSHA && rep.PR == j.Number && rep.Outcome == report.Completed {
			h.record = to
			return true, nil
		}
		if err := os.RemoveAll(to); err != nil {
			return false, err
		}
	}
	return false, nil
}

// readReport reads the report of a run directory.
func readReport(dir string) (*report.Report, error) {
	data, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		return nil, err
	}
	return report.Parse(data)
}

// download fetches an archive and lays it out in the new folder to.
func (h *host) download(ctx context.Context, id int64, dir, to string) error {
	archive, err := os.CreateTemp(filepath.Dir(dir), "last-*.zip")
	if err != nil {
		return err
	}
	defer os.Remove(archive.Name())
	defer archive.Close()
	if err := h.hub.client.Download(ctx, h.hub.repo, id, archive); err != nil {
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
	if len(z.File) > archiveFiles {
		return fmt.Errorf("unpack the artifact: %d files, and no run leaves more than %d", len(z.File), archiveFiles)
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
			return fmt.Errorf("unpack the artifact: %q is no regular file", f.Name)
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

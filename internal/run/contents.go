package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

// A Contents fetches what files under Git LFS hold. See [lfs.Client].
type Contents interface {
	Fetch(ctx context.Context, origin git.Remote, endpoint string, pointers []workspace.Pointer, keep func(workspace.Pointer, io.Reader) error) error
}

// maxContents bounds what is fetched for one side, in bytes.
const maxContents = 4 << 30

// bringContents brings the contents of a commit's files under Git LFS into the mirror: from
// the user's own clone, else from the host of the base. For a head that is not trusted, and
// its base, nothing is brought. It returns why some stay pointers; "": none does.
func (p *prepared) bringContents(ctx context.Context, commit string) (why string, err error) {
	pointers, err := p.mirror.Pointers(ctx, commit)
	if err != nil || len(pointers) == 0 {
		return "", err
	}
	if p.begun.job.Trust == untrusted {
		return "none is fetched for an untrusted head", nil
	}
	p.mirror.UseContents()
	var missing []workspace.Pointer
	var size int64
	for _, f := range pointers {
		if !p.mirror.HasContent(f) && !p.ownContent(f) {
			missing = append(missing, f)
			size += f.Size
		}
	}
	if len(missing) == 0 {
		return "", nil
	}
	if size > maxContents {
		return fmt.Sprintf("%d MB are more than the %d that are fetched", size>>20, maxContents>>20), nil
	}
	if err := p.fetchContents(ctx, missing); err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		return strings.ReplaceAll(err.Error(), "\n", "; "), nil
	}
	return "", nil
}

// ownContent takes a content from the user's own clone: what Git LFS keeps there, or the
// file as it lies in the working tree.
func (p *prepared) ownContent(f workspace.Pointer) bool {
	repo := p.begun.repo
	if repo == nil || p.begun.job.Pull != nil {
		return false
	}
	try := func(open func() (*os.File, error)) bool {
		in, err := open()
		if err != nil {
			return false
		}
		defer in.Close()
		if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() != f.Size {
			return false
		}
		return p.mirror.KeepContent(f, in) == nil
	}
	return try(func() (*os.File, error) { return os.Open(filepath.Join(repo.CommonDir, workspace.ContentPath(f.OID))) }) ||
		try(func() (*os.File, error) { return os.OpenInRoot(repo.Root, filepath.FromSlash(f.Path)) })
}

// fetchContents asks the LFS server that .lfsconfig of the base names, else that of the
// repository.
func (p *prepared) fetchContents(ctx context.Context, missing []workspace.Pointer) error {
	var origin git.Remote
	if pull := p.begun.job.Pull; pull != nil {
		origin = pull.From
	}
	config, err := p.mirror.ReadFile(ctx, p.source.Change.MergeBase, ".lfsconfig")
	if err != nil {
		config = nil // then it names no server
	}
	at := lfsEndpoint(origin.URL, string(config))
	switch {
	case p.runner.Network == rundir.NetworkNone:
		return errors.New("this run has no network")
	case at == "":
		return errors.New("the clone does not have them; `git lfs fetch` brings them")
	case p.runner.Contents == nil:
		return errors.New("nothing fetches them here")
	}
	return p.runner.Contents.Fetch(ctx, origin, at, missing, p.mirror.KeepContent)
}

// lfsEndpoint is the URL of the LFS API of a repository
// (https://github.com/git-lfs/git-lfs/blob/main/docs/api/server-discovery.md): what
// .lfsconfig names, else what follows from the address; "" where that has no host.
func lfsEndpoint(origin, config string) string {
	section := ""
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.ToLower(line)
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if section == "[lfs]" && strings.EqualFold(strings.TrimSpace(key), "url") {
			return strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	if hostOf(origin) == "" {
		return ""
	}
	u, err := url.Parse(origin)
	if err != nil {
		return origin // git@host:path, which is none of the addresses that are asked
	}
	u.User = nil
	if !strings.HasSuffix(u.Path, ".git") {
		u.Path = strings.TrimSuffix(u.Path, "/") + ".git"
	}
	return u.JoinPath("info", "lfs").String()
}

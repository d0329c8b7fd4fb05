package backtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/internal/workspace"
)

// A forge makes commits in a scratch repository.
type forge struct {
	*workspace.Scratch
}

// read returns the content of a blob.
func (f forge) read(ctx context.Context, b blob) ([]byte, error) {
	if b.oid == "" {
		return nil, nil
	}
	return f.Blob(ctx, b.oid)
}

// write stores a content.
func (f forge) write(ctx context.Context, mode string, text []byte) (blob, error) {
	out, err := f.Git(ctx, bytes.NewReader(text), nil, "hash-object", "-w", "--stdin")
	if err != nil {
		return blob{}, err
	}
	return blob{mode, strings.TrimSpace(string(out))}, nil
}

// files lists the blobs of a commit by path.
func (f forge) files(ctx context.Context, commit string) (map[string]blob, error) {
	entries, err := f.Files(ctx, commit)
	if err != nil {
		return nil, err
	}
	all := map[string]blob{}
	for _, e := range entries {
		if e.Mode != "160000" { // a submodule's commit is no blob
			all[e.Path] = blob{e.Mode, e.OID}
		}
	}
	return all, nil
}

// commit makes a commit on parent with the files of from, of which some are replaced: a
// zero blob takes the file away. It returns from's own id where nothing differs from it
// and its parent is that.
func (f forge) commit(ctx context.Context, parent, from string, put map[string]blob, subject string) (_ string, err error) {
	index, err := os.MkdirTemp(f.Dir, ".index-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(index)) }()
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(index, "index")}
	if _, err := f.Git(ctx, nil, env, "read-tree", from); err != nil {
		return "", err
	}
	var info bytes.Buffer
	for name, b := range put {
		if b.oid == "" {
			fmt.Fprintf(&info, "0 %s\t%s\x00", strings.Repeat("0", len(from)), name)
		} else {
			fmt.Fprintf(&info, "%s %s\t%s\x00", b.mode, b.oid, name)
		}
	}
	if info.Len() > 0 {
		if _, err := f.Git(ctx, &info, env, "update-index", "-z", "--index-info"); err != nil {
			return "", err
		}
	}
	tree, err := f.Git(ctx, nil, env, "write-tree")
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", "-m", subject}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	out, err := f.Git(ctx, nil, nil, append(args, strings.TrimSpace(string(tree)))...)
	if err != nil {
		return "", err
	}
	oid := strings.TrimSpace(string(out))
	_, err = f.Git(ctx, nil, nil, "update-ref", "refs/heads/cases/"+oid, oid)
	return oid, err
}

// sameTree says whether two commits have the same files.
func (f forge) sameTree(ctx context.Context, a, b string) (bool, error) {
	out, err := f.Git(ctx, nil, nil, "rev-parse", a+"^{tree}", b+"^{tree}")
	w := strings.Fields(string(out))
	return err == nil && len(w) == 2 && w[0] == w[1], err
}

// subject is the first line of a commit's message.
func (f forge) subject(ctx context.Context, commit string) (string, error) {
	out, err := f.Git(ctx, nil, nil, "log", "-1", "--format=%s", commit)
	return strings.TrimSpace(string(out)), err
}

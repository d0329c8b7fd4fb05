package workspace

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// A Put is what a composed commit has at one path, in place of what the commit has
// that it is made from.
type Put struct {
	Path string
	From string // the commit whose entry stands there, also a link or a submodule; one that has none leaves the path out
	At   string // the path of the entry in From; empty: Path
	Data []byte // where From is empty: the content of a regular file; nil: the path is left out
	Exec bool   // with Data: the file is a program
}

// Compose writes a commit that is as another one but for some paths, in the mirror
// alone. The same arguments give the same commit. A file that is put where a folder
// stands takes its place, and the reverse.
func (m *Mirror) Compose(ctx context.Context, commit string, puts []Put) (string, error) {
	out, err := m.compose(ctx, commit, puts)
	if err != nil {
		return "", fmt.Errorf("compose from %s: %w", change.Short(commit), err)
	}
	return out, nil
}

func (m *Mirror) compose(ctx context.Context, commit string, puts []Put) (string, error) {
	if err := m.need(ctx, commit); err != nil {
		return "", err
	}
	var gone, there bytes.Buffer
	for _, p := range puts {
		if !objects.ValidPath(p.Path) {
			return "", fmt.Errorf("%q is not a path of a tree", p.Path)
		}
		mode, oid, err := m.putEntry(ctx, p)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&gone, "0 %s\t%s\x00", strings.Repeat("0", len(commit)), p.Path)
		if oid != "" {
			fmt.Fprintf(&there, "%s %s\t%s\x00", mode, oid, p.Path)
		}
	}
	dir, err := os.MkdirTemp(m.git.Temp, "ycbot-compose-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	gone.Write(there.Bytes())
	for _, c := range []git.Call{
		{Args: []string{"read-tree", commit}},
		{Args: []string{"update-index", "--replace", "-z", "--index-info"}, Stdin: &gone},
	} {
		c.GitDir, c.Env = m.Dir, env
		if _, err := m.git.Run(ctx, c); err != nil {
			return "", err
		}
	}
	tree, err := m.git.Line(ctx, git.Call{GitDir: m.Dir, Env: env, Args: []string{"write-tree", "--missing-ok"}})
	if err != nil {
		return "", err
	}
	made, err := m.commit(ctx, tree, commit, "composed")
	if err != nil {
		return "", err
	}
	return made, m.keep(ctx, made)
}

// putEntry returns mode and object of what stands at a path; no object: nothing.
func (m *Mirror) putEntry(ctx context.Context, p Put) (mode, oid string, err error) {
	if p.From == "" {
		if p.Data == nil {
			return "", "", nil
		}
		oid, err = m.git.Line(ctx, git.Call{GitDir: m.Dir, Stdin: bytes.NewReader(p.Data), Args: []string{"hash-object", "-w", "--stdin"}})
		if p.Exec {
			return "100755", oid, err
		}
		return "100644", oid, err
	}
	entries, err := m.Files(ctx, p.From)
	if err != nil {
		return "", "", err
	}
	at := p.At
	if at == "" {
		at = p.Path
	}
	i, ok := slices.BinarySearchFunc(entries, at, func(e objects.Entry, path string) int { return strings.Compare(e.Path, path) })
	if !ok {
		return "", "", nil
	}
	return fmt.Sprint(entries[i].Mode), entries[i].OID, nil
}

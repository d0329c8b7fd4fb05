package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// maxFile bounds what ReadFile returns.
const maxFile = 64 << 20

// ReadFile returns a file's content as it is stored; of a symbolic link, where
// it points. The error wraps fs.ErrNotExist when the commit has no such file.
func (m *Mirror) ReadFile(ctx context.Context, commit, path string) ([]byte, error) {
	fail := func(err error) ([]byte, error) {
		return nil, fmt.Errorf("read %s:%q: %w", change.Short(commit), path, err)
	}
	if !objects.ValidPath(path) {
		return fail(fs.ErrInvalid)
	}
	if err := m.need(ctx, commit); err != nil {
		return fail(err)
	}
	data, err := m.objects.File(commit, path)
	if errors.Is(err, objects.ErrAskGit) {
		data, err = m.askFile(ctx, commit, path)
	}
	if err != nil {
		return fail(err)
	}
	return data, nil
}

// askFile asks git for a file.
func (m *Mirror) askFile(ctx context.Context, commit, path string) ([]byte, error) {
	entries, err := m.Files(ctx, commit)
	if err != nil {
		return nil, err
	}
	i, ok := slices.BinarySearchFunc(entries, path, func(e objects.Entry, path string) int { return strings.Compare(e.Path, path) })
	switch {
	case ok && entries[i].Mode == objects.ModeGitlink:
		return nil, objects.ErrSubmodule
	case !ok && slices.ContainsFunc(entries, func(e objects.Entry) bool { return strings.HasPrefix(e.Path, path+"/") }):
		return nil, objects.ErrFolder
	case !ok:
		return nil, fs.ErrNotExist
	}
	return m.git.Run(ctx, git.Call{GitDir: m.Dir, Max: maxFile, Args: []string{"cat-file", "blob", entries[i].OID}})
}

// Files returns all files of a commit, in git's order. They are not to be changed.
func (m *Mirror) Files(ctx context.Context, commit string) ([]objects.Entry, error) {
	if err := m.need(ctx, commit); err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	if entries, ok := m.known(commit); ok {
		return entries, nil
	}
	if entries, err := m.list(commit); err == nil {
		return entries, nil
	}
	out, err := m.run(ctx, "ls-tree", "-r", "-z", "-l", "--full-tree", commit)
	if err != nil {
		return nil, fmt.Errorf("files of %s: %w", change.Short(commit), err)
	}
	entries, err := parseEntries(out)
	if err == nil {
		m.remember(listing{commit, entries})
	}
	return entries, err
}

// list is Files without git, also where the answer is known: it finds all that the
// commit leads to, or fails.
func (m *Mirror) list(commit string) ([]objects.Entry, error) {
	entries, err := m.objects.Files(commit)
	if err == nil {
		m.remember(listing{commit, entries})
	}
	return entries, err
}

// A listing is the files of a commit. A run asks for those of its base and of its
// head again and again; they may be many thousands.
type listing struct {
	commit  string
	entries []objects.Entry
}

const mostListings = 3

func (m *Mirror) known(commit string) ([]objects.Entry, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.listed {
		if l.commit == commit {
			return l.entries, true
		}
	}
	return nil, false
}

func (m *Mirror) remember(l listing) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listed = append(m.listed[max(0, len(m.listed)+1-mostListings):len(m.listed):len(m.listed)], l)
}

// parseEntries reads "mode type oid size\tpath" records.
func parseEntries(out []byte) ([]objects.Entry, error) {
	var entries []objects.Entry
	for rec := range strings.SplitSeq(string(out), "\x00") {
		if rec == "" {
			continue
		}
		head, path, ok := strings.Cut(rec, "\t")
		f := strings.Fields(head)
		if !ok || len(f) != 4 {
			return nil, fmt.Errorf("git ls-tree: unexpected record %q", rec)
		}
		e := objects.Entry{Path: path, Mode: f[0], OID: f[2]}
		if e.Mode == "100664" { // written by very old versions of git
			e.Mode = objects.ModeFile
		}
		e.Size, _ = strconv.ParseInt(f[3], 10, 64)
		entries = append(entries, e)
	}
	return entries, nil
}

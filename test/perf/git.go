package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/workspace"
)

// The size of the large repository.
const (
	manyFiles   = 50_000
	manyCommits = 20_000
)

// largeRepository measures what git costs where there are many files.
func largeRepository(ctx context.Context, l *lab) ([]figure, error) {
	dir := filepath.Join(l.dir, "large.git")
	l.tell("a repository of %d files and %d commits", manyFiles, manyCommits)
	base, head, err := l.generate(ctx, dir)
	if err != nil {
		return nil, err
	}
	git, err := workspace.NewGit("git", l.env, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	from := workspace.Remote{URL: "file://" + dir}
	var cold, warm, first, reset, shell []time.Duration
	for i := range max(1, l.rounds/2) {
		began := time.Now()
		if _, err := l.command(ctx, l.dir, "git", "clone", "-q", "--depth=1", "-b", "pr", from.URL, filepath.Join(l.dir, fmt.Sprint("checkout", i))); err != nil {
			return nil, err
		}
		shell = append(shell, time.Since(began))
		at := filepath.Join(l.dir, fmt.Sprint("mirror", i))
		took, err := toDiff(ctx, git, at, from, base, head)
		if err != nil {
			return nil, err
		}
		cold = append(cold, took)
		if took, err = toDiff(ctx, git, at, from, base, head+"~1", head); err != nil {
			return nil, err
		}
		warm = append(warm, took)
		m, err := git.OpenMirror(ctx, at, "")
		if err != nil {
			return nil, err
		}
		t, err := fourTrees(ctx, m, head, filepath.Join(l.dir, fmt.Sprint("trees", i)))
		if err != nil {
			return nil, err
		}
		first, reset = append(first, t[0]), append(reset, t[1])
		for _, used := range []string{at, filepath.Join(l.dir, fmt.Sprint("trees", i)), filepath.Join(l.dir, fmt.Sprint("checkout", i))} {
			if err := os.RemoveAll(used); err != nil {
				return nil, err
			}
		}
	}
	c, w, f, r, s := median(cold), median(warm), median(first), median(reset), median(shell)
	return []figure{
		{"10", "four private worktrees, each", "≤ 0.3 s", fmt.Sprintf("%.2f s, again %.2f s", f.Seconds()/4, r.Seconds()/4), r <= 1200*time.Millisecond, "copies of a prepared tree of 50 000 files; again: brought back after use"},
		{"11", "pull request to diff, cold / warm mirror", "≤ 1 s / ≤ 0.2 s", fmt.Sprintf("%.2f / %.2f s", c.Seconds(), w.Seconds()), c <= time.Second && w <= 200*time.Millisecond, fmt.Sprintf("file://, 60 files changed; a checkout of depth 1 took %.2f s in the same rounds", s.Seconds())},
	}, nil
}

// toDiff fetches commits into a mirror and makes their diff.
func toDiff(ctx context.Context, git *workspace.Git, dir string, from workspace.Remote, base string, heads ...string) (time.Duration, error) {
	head := heads[len(heads)-1]
	began := time.Now()
	m, err := git.OpenMirror(ctx, dir, "")
	if err != nil {
		return 0, err
	}
	if err := m.Fetch(ctx, from, base, head); err != nil {
		return 0, err
	}
	merge, err := m.MergeBase(ctx, base, head)
	if err != nil {
		return 0, err
	}
	if _, err := m.Diff(ctx, merge, head); err != nil {
		return 0, err
	}
	if _, err := m.Patch(ctx, merge, head, 8<<20); err != nil {
		return 0, err
	}
	return time.Since(began), nil
}

// fourTrees makes four private copies of a tree, and brings them back.
func fourTrees(ctx context.Context, m *workspace.Mirror, head, dir string) (t [2]time.Duration, err error) {
	prepared, err := m.Worktree(ctx, filepath.Join(dir, "prepared"), head)
	if err != nil {
		return t, err
	}
	defer prepared.Close()
	var trees []*workspace.Tree
	began := time.Now()
	for i := range 4 {
		c, err := prepared.Copy(ctx, filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			return t, err
		}
		defer c.Close()
		trees = append(trees, c)
	}
	t[0] = time.Since(began)
	began = time.Now()
	for _, c := range trees {
		if err := c.Reset(ctx, prepared); err != nil {
			return t, err
		}
	}
	t[1] = time.Since(began)
	return t, nil
}

// generate makes the repository with "git fast-import".
func (l *lab) generate(ctx context.Context, dir string) (base, head string, err error) {
	if _, err := l.command(ctx, l.dir, "git", "init", "-q", "--bare", "-b", "main", dir); err != nil {
		return "", "", err
	}
	in, out := io.Pipe()
	go func() { out.CloseWithError(history50k(out)) }()
	cmd := exec.CommandContext(ctx, "git", "fast-import", "--quiet")
	cmd.Dir, cmd.Env, cmd.Stdin = dir, l.env, in
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("git fast-import: %w\n%s", err, text)
	}
	for _, args := range [][]string{{"config", "uploadpack.allowAnySHA1InWant", "true"}, {"config", "uploadpack.allowFilter", "true"}} {
		if _, err := l.command(ctx, dir, append([]string{"git"}, args...)...); err != nil {
			return "", "", err
		}
	}
	oids, err := l.command(ctx, dir, "git", "rev-parse", "main", "pr")
	if err != nil {
		return "", "", err
	}
	words := strings.Fields(string(oids))
	return words[0], words[1], nil
}

// history50k writes a stream for "git fast-import": all files in the first commit,
// then one change a commit; a branch of 60 files that left main 60 commits ago.
func history50k(w io.Writer) error {
	var b bytes.Buffer
	name := func(i int) string { return fmt.Sprintf("d%02d/e%02d/f%05d.go", i%50, i/50%40, i) }
	file := func(i, version int) {
		body := strings.Repeat(fmt.Sprintf("line %d of version %d of something that stands in a file\n", i, version), 90)
		fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", name(i), len(body), body)
	}
	commit := func(branch string, n int, from string) {
		fmt.Fprintf(&b, "commit refs/heads/%s\nmark :%d\ncommitter a <a@example.com> %d +0000\ndata 1\nx\n%s", branch, n, 1_700_000_000+n, from)
	}
	flush := func() error {
		_, err := w.Write(b.Bytes())
		b.Reset()
		return err
	}
	commit("main", 1, "")
	for i := range manyFiles {
		file(i, 0)
		if i%500 == 0 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	for n := 2; n <= manyCommits; n++ {
		commit("main", n, "")
		file(n*7919%manyFiles, n)
		if n%200 == 0 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	for n := range 12 {
		from := ""
		if n == 0 {
			from = fmt.Sprintf("from :%d\n", manyCommits-60)
		}
		commit("pr", manyCommits+1+n, from)
		for i := range 5 {
			file(1000+n*5+i, -1)
		}
	}
	return flush()
}

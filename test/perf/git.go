package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

// The size of the large repository.
const (
	manyFiles   = 50_000
	manyCommits = 20_000
)

// largeRepository measures what git costs where there are many files.
func largeRepository(ctx context.Context, l *lab) ([]figure, error) {
	dir := filepath.Join(l.dir, "large.git")
	l.logf("a repository of %d files and %d commits", manyFiles, manyCommits)
	ids, err := l.generate(ctx, dir)
	if err != nil {
		return nil, err
	}
	g, err := git.New("git", l.env, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	size, err := folder.Usage(ctx, dir)
	if err != nil {
		return nil, err
	}
	f := &fetched{git: g, from: git.Remote{URL: "file://" + dir, Size: size >> 10}, base: ids[0], head: ids[1], next: ids[2]}
	times := map[string][]time.Duration{}
	for i := range max(1, l.rounds/2) {
		round := filepath.Join(l.dir, fmt.Sprint("round", i))
		began := time.Now()
		if _, err := l.command(ctx, l.dir, "git", "clone", "-q", "--depth=1", "-b", "pr", f.from.URL, filepath.Join(round, "checkout")); err != nil {
			return nil, err
		}
		times["shell"] = append(times["shell"], time.Since(began))
		if err := f.measure(ctx, round, times); err != nil {
			return nil, err
		}
		if err := os.RemoveAll(round); err != nil {
			return nil, err
		}
	}
	in := func(what string) float64 { return median(times[what]).Seconds() }
	return []figure{
		{"10", "four private worktrees, each", "≤ 0.3 s", fmt.Sprintf("%.2f s, again %.2f s", in("copies")/4, in("reset")/4), in("reset") <= 1.2, "copies of a prepared tree of 50 000 files; again: brought back after use"},
		{
			"11", "pull request to diff, cold / warm mirror", "≤ 1 s / ≤ 0.2 s", fmt.Sprintf("%.2f / %.2f s", in("cold"), in("warm")), in("cold") <= 1 && in("warm") <= 0.2,
			fmt.Sprintf("file://, %d MB, 60 files changed; cold, both worktrees stood after %.2f s and all history was there after %.2f s more; a checkout of depth 1 took %.2f s in the same rounds",
				size>>20, in("trees"), in("whole"), in("shell")),
		},
	}, nil
}

// fetched are two changes in a repository that a mirror fetches from.
type fetched struct {
	git              *git.Git
	from             git.Remote
	base, head, next string
}

// measure does once, in dir, what a run does with a change: fetch and compare, lay out
// both sides, complete the history; and then what it does with trees.
func (f *fetched) measure(ctx context.Context, dir string, times map[string][]time.Duration) error {
	took := func(what string, since time.Time) { times[what] = append(times[what], time.Since(since)) }
	began := time.Now()
	m, merge, err := f.toDiff(ctx, filepath.Join(dir, "mirror"), f.head)
	if err != nil {
		return err
	}
	took("cold", began)
	if err := m.Trees(ctx, f.base, merge, f.head); err != nil {
		return err
	}
	var trees [2]*workspace.Tree
	group, groupCtx := errgroup.WithContext(ctx)
	for i, commit := range []string{merge, f.head} {
		group.Go(func() (err error) {
			trees[i], err = m.Worktree(groupCtx, filepath.Join(dir, fmt.Sprint("side", i)), commit)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	took("trees", began)
	began = time.Now()
	if err := m.Whole(ctx); err != nil {
		return err
	}
	took("whole", began)
	began = time.Now()
	if _, _, err := f.toDiff(ctx, m.Dir, f.next); err != nil {
		return err
	}
	took("warm", began)
	return fourTrees(ctx, trees[1], filepath.Join(dir, "trees"), took)
}

// toDiff fetches commits into a mirror and makes their diff.
func (f *fetched) toDiff(ctx context.Context, dir, head string) (m *workspace.Mirror, merge string, err error) {
	if m, err = workspace.OpenMirror(ctx, f.git, dir, ""); err != nil {
		return nil, "", err
	}
	if err := m.Fetch(ctx, f.from, f.base, head); err != nil {
		return nil, "", err
	}
	if merge, err = m.MergeBase(ctx, f.base, head); err != nil {
		return nil, "", err
	}
	if _, err := m.Diff(ctx, merge, head); err != nil {
		return nil, "", err
	}
	_, err = m.Patch(ctx, merge, head, 8<<20)
	return m, merge, err
}

// fourTrees makes four private copies of a tree, and brings them back.
func fourTrees(ctx context.Context, prepared *workspace.Tree, dir string, took func(string, time.Time)) error {
	var trees []*workspace.Tree
	began := time.Now()
	for i := range 4 {
		c, err := prepared.Copy(ctx, filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			return err
		}
		defer c.Close()
		trees = append(trees, c)
	}
	took("copies", began)
	began = time.Now()
	for _, c := range trees {
		if err := c.Reset(ctx, prepared); err != nil {
			return err
		}
	}
	took("reset", began)
	return nil
}

// generate makes the repository with "git fast-import", and returns what its branches
// main, pr and next are at.
func (l *lab) generate(ctx context.Context, dir string) ([]string, error) {
	if _, err := l.command(ctx, l.dir, "git", "init", "-q", "--bare", "-b", "main", dir); err != nil {
		return nil, err
	}
	in, out := io.Pipe()
	go func() { out.CloseWithError(history50k(out)) }()
	cmd := exec.CommandContext(ctx, "git", "fast-import", "--quiet")
	cmd.Dir, cmd.Env, cmd.Stdin = dir, l.env, in
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("git fast-import: %w\n%s", err, text)
	}
	for _, args := range [][]string{{"config", "uploadpack.allowAnySHA1InWant", "true"}, {"config", "uploadpack.allowFilter", "true"}} {
		if _, err := l.command(ctx, dir, append([]string{"git"}, args...)...); err != nil {
			return nil, err
		}
	}
	oids, err := l.command(ctx, dir, "git", "rev-parse", "main", "pr", "next")
	return strings.Fields(string(oids)), err
}

// history50k writes a stream for "git fast-import": all files in the first commit,
// then one change a commit; two branches of 60 files that left main 60 commits ago.
func history50k(w io.Writer) error {
	var b bytes.Buffer
	name := func(i int) string { return fmt.Sprintf("d%02d/e%02d/f%05d.go", i%50, i/50%40, i) }
	file := func(i, version int) {
		body := text(i, version)
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
	for i, branch := range []string{"pr", "next"} {
		for n := range 12 {
			from := ""
			if n == 0 {
				from = fmt.Sprintf("from :%d\n", manyCommits-60)
			}
			commit(branch, manyCommits+1+12*i+n, from)
			for k := range 5 {
				file(1000+1000*i+n*5+k, manyCommits+1)
			}
		}
	}
	return flush()
}

// text is a file of 200 lines, of which a version changes one in forty. It can be packed
// to a third, and has little in common with other files, as sources of people have.
func text(file, version int) string {
	var b strings.Builder
	old, young := rand.New(rand.NewPCG(uint64(file), 0)), rand.New(rand.NewPCG(uint64(file), uint64(version)))
	for line := range 200 {
		words := old.Uint64()
		if version != 0 && line%40 == file%40 {
			words = young.Uint64()
		}
		fmt.Fprintf(&b, "%08x is for %08x and\n", words>>32, words&0xffffffff)
	}
	return b.String()
}

package backtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// Sources are the repository that dir lies in, or where repos is not empty each one in the
// folder of that name.
func Sources(ctx context.Context, g *git.Git, dir, repos string) ([]Source, error) {
	if repos == "" {
		r, err := repository.Discover(ctx, g, dir)
		if err != nil {
			return nil, err
		}
		return []Source{{Name: r.Name, GitDir: r.GitDir, Format: r.Format}}, nil
	}
	entries, err := os.ReadDir(repos)
	if err != nil {
		return nil, fmt.Errorf("--repos: %w", err)
	}
	var out []Source
	seen := map[string]bool{}
	for _, e := range entries {
		dir, err := filepath.Abs(filepath.Join(repos, e.Name()))
		if err != nil {
			return nil, err
		}
		src := Source{Name: strings.TrimSuffix(e.Name(), ".git"), GitDir: dir, Format: "sha1"}
		if r, err := repository.Discover(ctx, g, dir); err == nil && sameDir(r.Root, dir) {
			src = Source{Name: r.Name, GitDir: r.GitDir, Format: r.Format}
		} else if _, err := os.Stat(filepath.Join(dir, "objects")); err != nil {
			continue // no repository
		}
		if seen[src.Name] {
			return nil, fmt.Errorf("--repos %s: two repositories are named %s: move one of them away", repos, src.Name)
		}
		seen[src.Name] = true
		out = append(out, src)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("--repos %s: there is no git repository in this folder", repos)
	}
	return out, nil
}

func sameDir(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// ProcessorTime is what this process and the ended ones that it started have used.
func ProcessorTime() time.Duration {
	var sum time.Duration
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if unix.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

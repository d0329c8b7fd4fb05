package machine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/internal/hook"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// systemHooks are the hooks of the machine.
const systemHooks = "/etc/ycbot/hooks.json"

// hooks has the operator's hooks run.
func (m Machine) hooks(ctx context.Context, g *git.Git, home string) (*hook.Runner, error) {
	all, err := readHooks(ctx, g, home)
	if err != nil {
		return nil, err
	}
	r := &hook.Runner{Hooks: all, Dir: home, Log: m.Log}
	for _, name := range []string{"PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR"} {
		if v := m.Getenv(name); v != "" {
			r.Env = append(r.Env, name+"="+strings.TrimSpace(v))
		}
	}
	return r, os.MkdirAll(home, 0o700)
}

// readHooks reads the operator's hooks: the machine's, and those in the folder where
// ycbot keeps its files, unless a repository holds that.
func readHooks(ctx context.Context, g *git.Git, home string) ([]hook.Hook, error) {
	all, err := hook.Read(systemHooks)
	if err != nil {
		return nil, err
	}
	own := filepath.Join(home, "hooks.json")
	mine, err := hook.Read(own)
	if err != nil {
		return nil, err
	}
	if len(mine) > 0 {
		if repo, err := repository.Discover(ctx, g, home); err == nil {
			return nil, fmt.Errorf("hooks: %s lies in the repository %s: hooks are the operator's and never a repository's; keep YCBOT_HOME elsewhere", own, repo.Root)
		}
	}
	return append(all, mine...), nil
}

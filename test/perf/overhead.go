package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/ycbot/ycbot/internal/sandbox"
)

// overhead starts a command that does nothing: by itself, in plain bubblewrap,
// and in the tiers of the sandbox, whose shim is the program that is measured.
// The ways take turns.
func overhead(ctx context.Context, l *lab) ([]figure, error) {
	type way struct {
		name string
		run  func() error
	}
	ways := []way{
		{"plain", func() error { return exec.CommandContext(ctx, "/bin/true").Run() }},
		{"bwrap", func() error {
			return exec.CommandContext(ctx, "bwrap", "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr",
				"--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--ro-bind", "/etc", "/etc",
				"--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "/bin/true").Run()
		}},
	}
	for _, tier := range []string{"basic", "full"} {
		box, err := sandbox.Detect(ctx, sandbox.Options{
			Mode: tier, PATH: "/usr/bin:/bin", TempDir: l.dir, Now: time.Now, Shim: []string{l.binary, "sandbox-exec"},
		})
		if err != nil {
			return nil, err
		}
		ways = append(ways, way{tier, func() error {
			_, err := box.Run(ctx, sandbox.Command{Argv: []string{"/bin/true"}})
			return err
		}})
	}
	took := map[string][]time.Duration{}
	for range 10 * l.rounds {
		for _, w := range ways {
			start := time.Now()
			if err := w.run(); err != nil {
				return nil, fmt.Errorf("%s: %w", w.name, err)
			}
			took[w.name] = append(took[w.name], time.Since(start))
		}
	}
	plain, basic, full := median(took["plain"]), median(took["basic"]), median(took["full"])
	return []figure{{
		"5", "overhead of a command, basic / full", "≤ 4 / ≤ 9 ms", fmt.Sprintf("%.1f / %.1f ms", ms(basic-plain), ms(full-plain)),
		basic-plain <= 4*time.Millisecond && full-plain <= 9*time.Millisecond,
		fmt.Sprintf("beyond `/bin/true` by itself, %.1f ms; plain bubblewrap %.1f ms", ms(plain), ms(median(took["bwrap"]))),
	}}, nil
}

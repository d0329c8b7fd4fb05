package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// demo measures what a newcomer pays: from sources and empty caches to the end of the demo.
func demo(ctx context.Context, l *lab) ([]figure, error) {
	modules, err := l.command(ctx, root, "go", "env", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	var cpu, wall []time.Duration
	for i := range l.rounds {
		dir := filepath.Join(l.dir, fmt.Sprint("demo-", i))
		empty := *l
		// The modules come from what this machine has got before, so that no network is waited for.
		empty.env = append(l.env[:len(l.env):len(l.env)], "YCBOT_HOME="+dir, "GOCACHE="+dir+"/build", "GOMODCACHE="+dir+"/modules",
			"GOFLAGS=-modcacherw", "GOPROXY=file://"+strings.TrimSpace(string(modules))+"/cache/download")
		began, burnt := time.Now(), childrenCPU()
		if _, err := empty.command(ctx, root, "go", "run", "./cmd/ycbot", "demo"); err != nil {
			return nil, err
		}
		cpu, wall = append(cpu, childrenCPU()-burnt), append(wall, time.Since(began))
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
	}
	stripped := *l
	stripped.env = append(l.env[:len(l.env):len(l.env)], "CGO_ENABLED=0")
	file := filepath.Join(l.dir, "stripped")
	flags, err := os.ReadFile(filepath.Join(root, "cmd/ycbot/build.flags"))
	if err != nil {
		return nil, err
	}
	if _, err := stripped.command(ctx, root, slices.Concat([]string{"go", "build"}, strings.Fields(string(flags)), []string{"-ldflags=-s -w", "-o", file, "./cmd/ycbot"})...); err != nil {
		return nil, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	c, size := median(cpu), float64(info.Size())/(1<<20)
	return []figure{
		{"19", "`go run ./cmd/ycbot demo` with empty caches, processor time", "≤ 197 s", fmt.Sprintf("%.0f s", c.Seconds()), c <= 197*time.Second, fmt.Sprintf("with all that it starts; build cache, module cache and ycbot's home are empty, the modules' archives come from this machine's disk; wall time %.0f s", median(wall).Seconds())},
		{"19", "stripped binary", "≤ 45 MB", fmt.Sprintf("%.1f MB", size), size <= 45, "as `make build` makes it, and as `ls -h` counts (`TestSizeOfBinary`)"},
	}, nil
}

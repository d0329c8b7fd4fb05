package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// locked are the versions of the peers and of all that they bring.
//
//go:embed peers/*/package.json peers/*/package-lock.json
var locked embed.FS

// install gets a peer from the npm registry, if it is not in the cache yet.
func (p peer) install(ctx context.Context, cache string) (program, version string, err error) {
	manifest, err := locked.ReadFile("peers/" + p.name + "/package.json")
	if err != nil {
		return "", "", err
	}
	lock, err := locked.ReadFile("peers/" + p.name + "/package-lock.json")
	if err != nil {
		return "", "", err
	}
	if version, err = pinned(manifest); err != nil {
		return "", "", err
	}
	dir := filepath.Join(cache, fmt.Sprintf("%s-%x", p.name, sha256.Sum256(lock))[:len(p.name)+13])
	done := filepath.Join(dir, ".installed")
	if _, err := os.Stat(done); err != nil {
		if err := fetch(ctx, dir, manifest, lock); err != nil {
			return "", "", err
		}
		if err := os.WriteFile(done, nil, 0o600); err != nil {
			return "", "", err
		}
	}
	found, err := filepath.Glob(filepath.Join(dir, "node_modules", filepath.FromSlash(p.program)))
	if err != nil || len(found) == 0 {
		return "", "", fmt.Errorf("%s has no %s for this machine", p.name, p.program)
	}
	return found[0], version, nil
}

// fetch installs what a lockfile names. No script of a package is run.
func fetch(ctx context.Context, dir string, manifest, lock []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for name, text := range map[string][]byte{"package.json": manifest, "package-lock.json": lock} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		line, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte("\n"))
		return fmt.Errorf("npm ci: %w: %s", err, strings.TrimSpace(string(line)))
	}
	return nil
}

// pinned is the version of the one package that a manifest names.
func pinned(manifest []byte) (string, error) {
	var in struct{ Dependencies map[string]string }
	if err := json.Unmarshal(manifest, &in); err != nil {
		return "", err
	}
	for _, version := range in.Dependencies {
		return version, nil
	}
	return "", fmt.Errorf("package.json names no package")
}

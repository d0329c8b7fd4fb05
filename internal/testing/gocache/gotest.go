// Package gotest gives tests a build cache of the go command that holds the standard
// library, so that what a test compiles costs no more than what it is about.
package gotest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ycbot/ycbot/test/bench"
)

// std is what tests import of the standard library.
var std = []string{"errors", "flag", "fmt", "io/fs", "os", "path/filepath", "strings", "syscall", "testing", "time"}

// What the standard library can be compiled for beside plain tests.
const (
	Race  = "-race"
	Fuzz  = "-fuzz=^$"
	Cover = "-cover"
)

// Std fills the build cache dir with the standard library, compiled and looked at by
// vet, and once more for each of some modes. The first that asks on a machine has it
// made, for all.
func Std(ctx context.Context, dir string, modes ...string) error {
	machine, err := goCommand(ctx, "", nil, "env", "GOVERSION", "GOROOT", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT", "CC", "CGO_ENABLED")
	if err != nil {
		return err
	}
	for _, mode := range append([]string{""}, modes...) {
		sum := sha256.Sum256(fmt.Append(nil, mode, std, machine, "vetted 2"))
		kept, err := bench.Kept("std-"+hex.EncodeToString(sum[:6]), func(dir string) error { return build(ctx, dir, mode) })
		if err == nil {
			err = lay(kept, dir)
		}
		if err == nil && mode == "" {
			err = vetted(dir)
		}
		if err != nil {
			return fmt.Errorf("standard library for tests %s: %w", mode, err)
		}
	}
	return nil
}

// lay copies what a build cache has and the other one has not.
func lay(from, to string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := filepath.Join(to, strings.TrimPrefix(name, from))
		if d.IsDir() {
			return os.MkdirAll(at, 0o700)
		}
		if _, err := os.Lstat(at); err == nil {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(at, data, 0o600)
	})
}

// vetted names the list of what vet has looked at as the gate does: by the time, which is
// when it was laid there.
func vetted(cache string) error {
	list := filepath.Join(cache, "vetted")
	info, err := os.Stat(list)
	if err != nil {
		return err
	}
	return os.Rename(list, fmt.Sprintf("%s-%d", list, info.ModTime().Unix()/(3*24*60*60)))
}

// build fills a build cache by doing what the gate does, in a module that imports std.
func build(ctx context.Context, cache, mode string) error {
	dir, err := os.MkdirTemp("", "gotest-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	src := "package m\n\nimport (\n"
	for _, p := range std {
		src += "\t_ \"" + p + "\"\n"
	}
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.21\n", "a_test.go": src + ")\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	commands := [][]string{{"test", "-exec=true", mode, "."}} // with its own part of vet
	switch mode {
	case "":
		commands = [][]string{{"vet", "."}, {"test", "-exec=true", "."}}
	case Fuzz:
		commands = [][]string{{"test", "-c", "-vet=off", "-o", os.DevNull, mode, "."}}
	}
	env := []string{"GOCACHE=" + cache, "GOWORK=off", "GOFLAGS="}
	for _, args := range commands {
		if _, err := goCommand(ctx, dir, env, args...); err != nil {
			return err
		}
	}
	if mode != "" {
		return nil
	}
	list, err := goCommand(ctx, dir, env, "list", "-export", "-deps", "-test", "-f={{.ImportPath}} {{.Export}}", ".")
	if err != nil {
		return err
	}
	var lines strings.Builder
	for line := range strings.Lines(list) { // an import path and a file of export data
		name, file, _ := strings.Cut(line, " ")
		lines.WriteString(name + " " + filepath.Base(file))
	}
	return os.WriteFile(filepath.Join(cache, "vetted"), []byte(lines.String()), 0o600)
}

func goCommand(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	if cmd.Dir = dir; dir == "" {
		cmd.Dir = string(filepath.Separator)
	}
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, &stderr)
	}
	return string(out), nil
}

// NoTelemetry turns the go command's telemetry off for a new HOME: the first go command
// there would else leave a process behind that writes to it for a while
// (https://go.dev/doc/telemetry).
func NoTelemetry(home string) error {
	dir := filepath.Join(home, ".config", "go", "telemetry")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "mode"), []byte("off\n"), 0o600)
}

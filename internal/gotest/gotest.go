// Package gotest gives tests a build cache of the go command that holds the standard
// library, so that what a test compiles costs no more than what it is about.
package gotest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// std is what tests import of the standard library.
var std = []string{"errors", "flag", "fmt", "io/fs", "os", "path/filepath", "strings", "syscall", "testing", "time"}

// Std makes the build cache dir, out of the one that the test itself was compiled with
// as far as that goes: the standard library, compiled and looked at by vet; with race
// compiled for the race detector as well.
func Std(ctx context.Context, dir string, race bool) error {
	modes := [][]string{nil}
	if race {
		modes = append(modes, []string{"-race"})
	}
	own, err := goCommand(ctx, "", nil, "env", "GOCACHE")
	if err != nil {
		return err
	}
	if err := take(ctx, strings.TrimSpace(own), dir, modes); err != nil {
		return err
	}
	return vet(ctx, dir)
}

// take copies what own has of the standard library. What it lacks is compiled there,
// which whoever tests again has then.
func take(ctx context.Context, own, dir string, modes [][]string) error {
	outputs := map[string]bool{}
	for _, mode := range modes {
		list, err := goCommand(ctx, "", nil, slices.Concat([]string{"list", "-export", "-deps", "-f={{.Export}}"}, mode, std, []string{"testing/internal/testdeps"})...)
		if err != nil {
			return err
		}
		for _, f := range strings.Fields(list) {
			outputs[strings.TrimSuffix(filepath.Base(f), "-d")] = true
		}
	}
	actions, err := filepath.Glob(filepath.Join(own, "*", "*-a"))
	if err != nil {
		return err
	}
	for _, a := range actions {
		data, err := os.ReadFile(a)
		if err != nil {
			continue // somebody trims the cache
		}
		// "v1 <action> <output> <size> <time>"
		f := strings.Fields(string(data))
		if len(f) != 5 || !outputs[f[2]] {
			continue
		}
		output, err := os.ReadFile(filepath.Join(own, f[2][:2], f[2]+"-d"))
		if err != nil {
			continue
		}
		for name, data := range map[string][]byte{filepath.Join(f[1][:2], filepath.Base(a)): data, filepath.Join(f[2][:2], f[2]+"-d"): output} {
			at := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(at, data, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// vet has vet, and the vetting part of "go test", look at the standard library.
func vet(ctx context.Context, cache string) error {
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
	env := []string{"GOCACHE=" + cache, "GOWORK=off", "GOFLAGS="}
	for _, args := range [][]string{{"vet", "."}, {"test", "-exec=true", "."}} {
		if _, err := goCommand(ctx, dir, env, args...); err != nil {
			return err
		}
	}
	return nil
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

// Package bench gets the programs ready that ycbot is tested against and that
// others wrote: emulate (GitHub), act (the Actions runner) and GitHub's own
// artifact library.
//
// Node packages are those of test/package-lock.json, in test/node_modules. act
// is built by the go command, once a version, into the user's cache. Both are
// got ready at most once, also when several test programs ask at the same time.
// What a machine lacks for it is an error that wraps [ErrMissing]; tests are
// then skipped.
package bench

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ErrMissing says that the machine lacks what would be needed, a program or a
// way to the registry. Nothing is wrong with ycbot.
var ErrMissing = errors.New("not to be had on this machine")

// ActVersion is the act that stands in for the Actions runner.
const ActVersion = "v0.2.89"

// Root is the top of the repository that the working directory is in.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "test", "package-lock.json")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("test/package-lock.json: not in this folder or one above")
		}
		dir = up
	}
}

// Node installs the packages of test/package-lock.json, if those that are
// installed are others, and returns test/node_modules.
func Node(ctx context.Context) (string, error) { return packages(ctx, "test") }

// Runners does so with test/runners: test runners and package managers of Node.
func Runners(ctx context.Context) (string, error) { return visible(ctx, "test/runners") }

// Managers does so with test/managers: package managers that would stand in the way of
// those of test/runners, or are programs of one platform.
func Managers(ctx context.Context) (string, error) { return visible(ctx, "test/managers") }

// visible does so for programs that commands in a sandbox are to find: they have a /tmp of
// their own, so that there are none where the repository lies in it.
func visible(ctx context.Context, folder string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	for _, temp := range []string{"/tmp/", "/var/tmp/"} {
		if strings.HasPrefix(root, temp) {
			return "", fmt.Errorf("%s below %s, which commands in a sandbox do not see: %w", folder, temp, ErrMissing)
		}
	}
	return packages(ctx, folder)
}

// packages installs what the lockfile in a folder of this repository names.
func packages(ctx context.Context, folder string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", fmt.Errorf("%s: %w", program, ErrMissing)
		}
	}
	dir := filepath.Join(root, filepath.FromSlash(folder))
	modules := filepath.Join(dir, "node_modules")
	want, err := digest(filepath.Join(dir, "package.json"), filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return "", err
	}
	stamp := filepath.Join(modules, ".installed")
	return modules, once("npm-"+name(dir), func() error {
		if have, err := os.ReadFile(stamp); err == nil && string(have) == want {
			return nil
		}
		// No script of a package is run: none that the tests use needs one.
		cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")
		cmd.Dir = dir
		if err := quietly(cmd); err != nil {
			return err
		}
		return os.WriteFile(stamp, []byte(want), 0o600)
	})
}

// Act builds act, if it is not there yet, and returns the program.
func Act(ctx context.Context) (string, error) {
	dir, err := Kept("act-"+ActVersion, func(dir string) error {
		cmd := exec.CommandContext(ctx, "go", "install", "github.com/nektos/act@"+ActVersion)
		cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
		cmd.Dir = dir
		return quietly(cmd)
	})
	return filepath.Join(dir, "act"), err
}

// Ycbot builds this repository's ycbot, once in a test program, and returns the program.
func Ycbot(context.Context) (string, error) { return ycbot() }

// ycbot looks at the sources itself, and does not leave that to the go command: go test
// then knows that the test depends on them, and never reuses an old pass.
var ycbot = sync.OnceValues(func() (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !d.IsDir() {
			return nil
		}
		if err == nil && path != root && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	bin := filepath.Join(cache, "bin", "ycbot-"+name(root))
	return bin, once("ycbot-"+name(root), func() error {
		cmd := exec.CommandContext(context.Background(), "go", "build", "-ldflags=-w", "-o", bin, "./cmd/ycbot") // no tables for debuggers: a third of linking
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go build ./cmd/ycbot: %w\n%s", err, out)
		}
		return nil
	})
})

// AsAction compiles this repository's ycbot with the flags of the Action, whose steps
// then find in the go command's cache what would else take them minutes, each.
func AsAction(ctx context.Context) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	return root, once("action-"+name(root), func() error {
		cmd := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-trimpath", "-f={{.Export}}", "./cmd/ycbot")
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS=", "GOARCH=", "GOEXPERIMENT=", "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("compile ./cmd/ycbot as the Action does: %w\n%s", err, out)
		}
		return nil
	})
}

// Kept returns the folder of that name in the user's cache. Where it is not there,
// fill makes its content, once, however many test programs ask at the same time. It is
// removed when no one has asked for a month and something else is made.
func Kept(name string, fill func(dir string) error) (string, error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, name)
	return dir, once(name, func() error {
		now := time.Now()
		if err := os.Chtimes(dir, now, now); err == nil {
			return nil
		}
		if err := forget(cache, now.Add(-month)); err != nil {
			return err
		}
		half, err := os.MkdirTemp(cache, "half-") // what a killed one leaves is not taken for whole
		if err != nil {
			return err
		}
		defer os.RemoveAll(half)
		if err := fill(half); err != nil {
			return err
		}
		return os.Rename(half, dir)
	})
}

// month is for how long what no one asks for is kept, such as what an older Go made.
const month = 30 * 24 * time.Hour

// forget removes what no one has asked for since.
func forget(cache string, since time.Time) error {
	for _, dir := range []string{cache, filepath.Join(cache, "bin")} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || !info.ModTime().Before(since) || e.Name() == "bin" || strings.HasSuffix(e.Name(), ".lock") {
				continue // or someone else was faster
			}
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// quietly runs a command that fetches something. What it said is in the error.
func quietly(cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	said := ""
	for line := range bytes.Lines(out) {
		if text := strings.TrimSpace(string(line)); text != "" && !strings.HasPrefix(text, "npm warn") {
			said = text
			if strings.Contains(strings.ToLower(text), "err") {
				break // the first one is the cause
			}
		}
	}
	return fmt.Errorf("%s: %w: %w: %s", strings.Join(cmd.Args[:min(3, len(cmd.Args))], " "), ErrMissing, err, said)
}

// once calls do while no other process on the machine is in a once of that name.
func once(name string, do func() error) error {
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(cache, name+".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // which also gives the lock back
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	return do()
}

func cacheDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "ycbot-test")
	return dir, os.MkdirAll(dir, 0o700)
}

// digest is one hash over files.
func digest(files ...string) (string, error) {
	h := sha256.New()
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%d\n%s", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// name is short for a path, and good as the name of a file.
func name(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:6])
}

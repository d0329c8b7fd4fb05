package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// writable tells why nothing can be kept in dir, or could be where it is not there yet.
func writable(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at):
			continue
		case err != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("%s is no folder", at)
		}
		probe, err := os.CreateTemp(at, ".ycbot-doctor-")
		if err != nil {
			return err
		}
		return errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
}

// A usage is what the harness's own files come to.
type usage struct {
	bytes int64
	runs  int  // finished and broken off
	left  int  // worktrees of runs that are not at work any more
	cut   bool // there is more than was counted
}

// measureFiles is how many files are looked at, so that a large cache takes no time.
const measureFiles = 100_000

// measure adds up what lies below home.
func measure(home string, before time.Time) usage {
	var u usage
	n := 0
	// What cannot be read, or is gone while it is looked at, does not count.
	_ = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if n++; n > measureFiles {
			u.cut = true
			return fs.SkipAll
		}
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		rel, err := filepath.Rel(home, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		if parts := strings.Split(filepath.ToSlash(rel), "/"); d.IsDir() && len(parts) == 4 && parts[0] == "projects" {
			switch parts[2] {
			case "runs":
				u.runs++
			case "worktrees":
				if info.ModTime().Before(before) {
					u.left++
				}
			}
		}
		if info.Mode().IsRegular() {
			u.bytes += info.Size()
		}
		return nil
	})
	return u
}

// diskFree is how much room the disk of dir has for this user; false where that cannot
// be told.
func diskFree(dir string) (int64, bool) {
	for at := dir; ; at = filepath.Dir(at) {
		var s syscall.Statfs_t
		err := syscall.Statfs(at, &s)
		if err == nil {
			return int64(s.Bavail) * int64(s.Bsize), true //nolint:unconvert,nolintlint // the types differ between systems
		}
		if !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return 0, false
		}
	}
}

// A need is a program that a file in the repository asks for.
type need struct{ program, marker string }

// markers are files by which a toolchain is known, and its programs. Of several lines
// of one toolchain the first that is there counts.
var markers = []struct{ files, programs string }{
	{"go.mod", "go"},
	{"pnpm-lock.yaml", "node pnpm"},
	{"yarn.lock", "node yarn"},
	{"bun.lock bun.lockb", "bun"},
	{"package.json", "node npm"},
	{"pyproject.toml setup.py requirements.txt", "python3"},
	{"Cargo.toml", "cargo"},
	{"pom.xml", "java mvn"},
	{"build.gradle build.gradle.kts", "java gradle"},
	{"*.sln *.csproj", "dotnet"},
	{"Gemfile", "ruby bundle"},
	{"composer.json", "php composer"},
	{"mix.exs", "mix"},
	{"CMakeLists.txt", "cmake"},
	{"Makefile", "make"},
	{"justfile", "just"},
}

// wrappers are files that stand for a program.
var wrappers = map[string]string{"mvn": "mvnw", "gradle": "gradlew"}

// neededPrograms are those that the top folder and the folders right below it ask for.
func neededPrograms(top string) []need {
	var out []need
	known := func(program string) bool {
		return slices.ContainsFunc(out, func(n need) bool { return n.program == program })
	}
	dirs := append([]string{"."}, folders(top)...)
	for _, m := range markers {
		for _, dir := range dirs {
			file := firstThere(top, dir, strings.Fields(m.files))
			if file == "" {
				continue
			}
			for _, program := range strings.Fields(m.programs) {
				wrapper := wrappers[program]
				_, err := os.Stat(filepath.Join(top, dir, wrapper))
				wrapped := wrapper != "" && err == nil
				if wrapped || known(program) || program == "npm" && (known("pnpm") || known("yarn") || known("bun")) {
					continue
				}
				out = append(out, need{program, file})
			}
			break
		}
	}
	return out
}

// folders are those right below top in which sources may lie.
func folders(top string) []string {
	entries, err := os.ReadDir(top)
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && !slices.Contains([]string{"node_modules", "vendor", "testdata", "target", "dist", "build"}, e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out
}

// firstThere is the first file of patterns in a folder, as it is named from top.
func firstThere(top, dir string, patterns []string) string {
	for _, p := range patterns {
		found, err := filepath.Glob(filepath.Join(globEscape(filepath.Join(top, dir)), p))
		if err == nil && len(found) > 0 {
			return filepath.ToSlash(filepath.Join(dir, filepath.Base(found[0])))
		}
	}
	return ""
}

// globEscape makes a path mean itself in a pattern.
func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

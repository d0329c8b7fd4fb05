// Package contributing makes the changes that CONTRIBUTING.md walks through.
package contributing

import (
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/testing/variants"
)

const root = "../.."

// A step is a fenced block of a walk.
type step struct {
	kind string // "diff", "sh", or the language of a new file
	file string
	text string
}

// walks reads the steps below each heading of CONTRIBUTING.md.
func walks(t *testing.T) (names []string, steps map[string][]step) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?ms)^```(\\w+) ?(\\S*)\n(.*?)^```$")
	steps = map[string][]step{}
	for _, part := range strings.Split(string(page), "\n## ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		names = append(names, name)
		for _, m := range block.FindAllStringSubmatch(text, -1) {
			steps[name] = append(steps[name], step{m[1], m[2], m[3]})
		}
	}
	return names, steps
}

// sides are what a block of a difference finds and what it leaves.
func sides(diff string) (before, after string) {
	var was, is []string
	for line := range strings.Lines(strings.TrimRight(diff, "\n")) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "-"):
			was = append(was, line[1:])
		case strings.HasPrefix(line, "+"):
			is = append(is, line[1:])
		default:
			was, is = append(was, strings.TrimPrefix(line, " ")), append(is, strings.TrimPrefix(line, " "))
		}
	}
	return strings.Join(was, "\n"), strings.Join(is, "\n")
}

// TestWalks holds that each change of CONTRIBUTING.md can be made as it stands there, one
// after the other, and with -variants that its commands succeed then.
func TestWalks(t *testing.T) {
	names, steps := walks(t)
	if len(names) != 5 {
		t.Errorf("%d walks: %q", len(names), names)
	}
	changed := map[string]string{} // files of the copy, by path
	read := func(file string) string {
		if text, ok := changed[file]; ok {
			return text
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, name := range names {
		for _, s := range steps[name] {
			switch s.kind {
			case "sh":
				continue
			case "diff":
				before, after := sides(s.text)
				text := read(s.file)
				if n := strings.Count(text, before); n != 1 {
					t.Fatalf("%s: what a difference begins with is %d times in %s:\n%s", name, n, s.file, before)
				}
				changed[s.file] = strings.Replace(text, before, after, 1)
			default:
				if _, err := os.Stat(filepath.Join(root, s.file)); err == nil {
					t.Fatalf("%s: %s is there", name, s.file)
				}
				changed[s.file] = s.text
			}
			if strings.HasSuffix(s.file, ".go") {
				src, err := format.Source([]byte(changed[s.file]))
				if err != nil {
					t.Fatalf("%s: %s: %v", name, s.file, err)
				}
				changed[s.file] = string(src)
			}
		}
	}
	if !variants.Asked() {
		return
	}
	dir := copied(t)
	for file, text := range changed {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		for _, s := range steps[name] {
			if s.kind != "sh" {
				continue
			}
			cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", s.text)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-trimpath -vet=off") // which the build cache shares between copies
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s\n%s", name, err, s.text, out)
			}
		}
	}
}

// copied is a copy of the files that the repository has or would take.
func copied(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	list, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	dir := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		from, to := filepath.Join(root, name), filepath.Join(dir, name)
		info, err := os.Lstat(from)
		if err != nil || !info.Mode().IsRegular() {
			continue // removed, or a link, which no Go file is
		}
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Package contributing makes the changes that CONTRIBUTING.md walks through.
package contributing

import (
	"errors"
	"fmt"
	"go/format"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

// apply makes the change of a step, in files that read has and changed is to have.
func (s step) apply(read func(file string) (string, error), changed map[string]string) error {
	text, err := read(s.file)
	switch {
	case s.kind == "sh":
		return nil
	case s.kind != "diff" && err == nil:
		return errors.New("is there: let the walk add something else")
	case s.kind != "diff":
		changed[s.file] = s.text
	case err != nil:
		return err
	default:
		before, after := sides(s.text)
		// gofmt aligns, so that one line moves the words of its neighbours apart.
		at := regexp.MustCompile(regexp.MustCompile(`[ \t]+`).ReplaceAllLiteralString(regexp.QuoteMeta(before), `[ \t]+`)).FindAllStringIndex(text, -1)
		if len(at) != 1 {
			return fmt.Errorf("has this %d times, and once is needed: update the diff\n%s", len(at), before)
		}
		changed[s.file] = text[:at[0][0]] + after + text[at[0][1]:]
	}
	if strings.HasSuffix(s.file, ".go") {
		src, err := format.Source([]byte(changed[s.file]))
		if err != nil {
			return err
		}
		changed[s.file] = string(src)
	}
	return nil
}

// walked makes the changes of all walks, one after the other, in the repository where it has
// other texts for some files. It returns the files that are different then.
func walked(names []string, steps map[string][]step, other map[string]string) (map[string]string, error) {
	changed := maps.Clone(other)
	read := func(file string) (string, error) {
		if text, ok := changed[file]; ok {
			return text, nil
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		return string(text), err
	}
	for _, name := range names {
		for _, s := range steps[name] {
			if err := s.apply(read, changed); err != nil {
				return nil, fmt.Errorf("CONTRIBUTING.md, %q, walks over this place: %s %w\n(go test ./test/contributing shows it again)", name, s.file, err)
			}
		}
	}
	return changed, nil
}

// TestWalks holds that each change of CONTRIBUTING.md can be made as it stands there, one
// after the other, and with -variants that its commands succeed then.
func TestWalks(t *testing.T) {
	names, steps := walks(t)
	if len(names) != 5 {
		t.Errorf("%d walks: %q", len(names), names)
	}
	for _, name := range names {
		if !slices.ContainsFunc(steps[name], func(s step) bool { return s.kind == "sh" }) {
			t.Errorf("%s: the walk ends without a command that shows what it made", name)
		}
	}
	changed, err := walked(names, steps, map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	if !variants.Asked() {
		return
	}
	dir := copied(t)
	for file, text := range changed {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			for _, s := range steps[name] {
				if s.kind != "sh" {
					continue
				}
				cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", s.text)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-trimpath -vet=off") // which the build cache shares between copies
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s\n%s", err, s.text, out)
				}
			}
		})
	}
}

// What someone adds in the usual places leaves the walks as they are.
func TestWalksAfterAdditions(t *testing.T) {
	t.Parallel()
	names, steps := walks(t)
	for _, tt := range []struct{ what, file, old, with string }{
		{"an ecosystem", "internal/gate/languages/languages.go", "elixir.New(),\n", "elixir.New(),\n\t\tzig.New(),\n"},
		{"the row of an ecosystem", "docs/detection.md", "\n| Elixir |", "\n| Zig | `build.zig` | – | `zig build test` | – | no |\n| Elixir |"},
		{"an untried ecosystem", "docs/detection.md", "tox and nox. Gradle,", "tox and nox. Gradle, Zig,"},
		{"a tool", "internal/tool/all.go", "Grep(t)}", "Grep(t), Hexdump(t)}"},
		{"a tool of a group", "agents/groups.go", `"glob", "grep"}`, `"glob", "grep", "hexdump"}`},
		{"a documented tool", "docs/agents.md", "`glob`, `grep` |", "`glob`, `grep`, `hexdump` |"},
		{"a verb", "internal/event/command.go", `VerbStatus Verb = "status"`, "VerbStatus     Verb = \"status\"\n\tVerbUnderstand Verb = \"understand\""},
		{"an answer", "app/answer.go", "event.VerbStatus: w.status,", "event.VerbStatus:     w.status,\n\t\tevent.VerbUnderstand: w.status,"},
		{"a check", "internal/gate/checks/checks.go", "Run: Use},\n", "Run: Use},\n\t\t{Name: \"sizes\", Run: Sizes},\n"},
		{"a key", "internal/config/config.go", "Annotations bool    `json", "Labels bool `json:\"labels\"`\n\tAnnotations bool    `json"},
		{"a key that is parsed", "internal/config/schema.go", `set: boolean(&c.Publish.Annotations)},`, "set: boolean(&c.Publish.Annotations)},\n\t\t\t{key: \"labels\", set: boolean(&c.Publish.Labels)},"},
		{"a key that is printed", "internal/config/print.go", "c.Publish.Annotations}}", `c.Publish.Annotations}, {"labels", c.Publish.Labels}}`},
		{"a documented key", "docs/config.md", "\n| `publish.annotations` |", "\n| `publish.labels` | | | |\n| `publish.annotations` |"},
		{"a key that is tested", "internal/config/config_test.go", "annotations: false}", "annotations: false, labels: true}"},
		{"a value of a key", "internal/config/config_test.go", "Publish{Comment: CommentOff}", "Publish{Comment: CommentOff, Labels: true}"},
	} {
		src, err := os.ReadFile(filepath.Join(root, tt.file))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(src), tt.old, tt.with, 1)
		if text == string(src) {
			t.Errorf("%s: %s has no %q", tt.what, tt.file, tt.old)
		}
		if _, err := walked(names, steps, map[string]string{tt.file: text}); err != nil {
			t.Errorf("%s: %v", tt.what, err)
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

package tool

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/languages"
)

func isBad(err error) bool {
	var b *BadCall
	return errors.As(err, &b)
}

// call runs a tool and returns its text, or the text of the BadCall.
func call(t *testing.T, tl Tool, args any) string {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	res, err := tl.Run(t.Context(), data)
	if isBad(err) {
		return "error: " + err.Error()
	}
	if err != nil {
		t.Fatalf("%s(%s): %v", tl.Name, data, err)
	}
	return res.Text
}

type m = map[string]any

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	full := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func root(t *testing.T, dir string) *os.Root {
	t.Helper()
	r, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// hostile is a head as an attacker would lay it out, and a small base.
func hostile(t *testing.T) Trees {
	t.Helper()
	outside, head, base, spill := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	write(t, outside, "key", "the runner's secret\n")
	write(t, head, "a.go", "package a\n\nfunc A() int { return 1 }\n")
	write(t, head, "sub/b.go", "package sub // needle\r\n")
	write(t, head, "sub/deep/er/c.txt", "needle in text\n")
	write(t, head, ".env", "TOKEN=needle\n")
	write(t, head, ".env.example", "TOKEN=needle-example\n")
	write(t, head, "config/credentials.json", "needle\n")
	write(t, head, "secret_test.go", "package a // needle\n")
	write(t, head, "bidi.go", "x := \"a\u202eb\u200bc\U000e0041\ufffe\"\n")
	write(t, head, "data.bin", "ab\x00needle")
	write(t, head, "empty", "")
	write(t, head, ".git", "gitdir: /elsewhere\n")
	write(t, head, "evil\nname.txt", "x\n")
	write(t, base, "a.go", "package a\n\nfunc A() int { return 0 }\n")
	write(t, spill, "E12.stdout", "all of it\n")
	for name, target := range map[string]string{
		"link-in": "a.go", "link-out": filepath.Join(outside, "key"), "dir-out": outside, "link-up": "../../../../etc/passwd",
		"link-env": ".env", "loop": "loop", "dangling": "nowhere", "link-proc": "/proc/self/environ",
	} {
		if err := os.Symlink(target, filepath.Join(head, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(head, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	return Trees{Head: root(t, head), Base: root(t, base), Spill: root(t, spill), HeadDir: "/src/tree", BaseDir: "/src/base"}
}

// A file is read when it is the project's own text; every way out, every
// device and every private file is refused with a reason that a model can use.
func TestReadFile(t *testing.T) {
	t.Parallel()
	tl := ReadFile(hostile(t))
	for _, tt := range []struct {
		name string
		args m
		want string
	}{
		{"text", m{"path": "a.go"}, "package a\n\nfunc A() int { return 1 }\n"},
		{"dot slash", m{"path": "./sub/../a.go"}, "package a\n\nfunc A() int { return 1 }\n"},
		{"base", m{"path": "a.go", "side": "base"}, "return 0"},
		{"as commands see it", m{"path": "/src/tree/a.go"}, "return 1"},
		{"the base as commands see it", m{"path": "/src/base/a.go"}, "return 0"},
		{"numbers", m{"path": "a.go", "line_numbers": true, "offset": 3}, "     3\tfunc A() int { return 1 }\n"},
		{"a piece", m{"path": "a.go", "offset": 1, "limit": 1}, "package a\n[… more from line 2 on: read it with offset=2 …]\n"},
		{"behind the end", m{"path": "a.go", "offset": 9}, "error: “a.go” has 3 lines"},
		{"empty", m{"path": "empty"}, "[the file is empty]"},
		{"hidden characters", m{"path": "bidi.go"}, "x := \"a<U+202E>b<U+200B>c<U+E0041><U+FFFE>\"\n"},
		{"binary", m{"path": "data.bin"}, "error: “data.bin” is a binary file"},
		{"folder", m{"path": "sub"}, "error: “sub” is a folder"},
		{"missing", m{"path": "nope.go"}, "error: “nope.go” does not exist"},
		{"link inside", m{"path": "link-in"}, "return 1"},
		{"link out", m{"path": "link-out"}, "error: “link-out” leads out of the project"},
		{"relative link out", m{"path": "link-up"}, "error: “link-up” leads out of the project"},
		{"link to /proc", m{"path": "link-proc"}, "error: “link-proc” leads out of the project"},
		{"through a folder link", m{"path": "dir-out/key"}, "error: “dir-out/key” leads out of the project"},
		{"link to a private file", m{"path": "link-env"}, "error: “link-env” is not read"},
		{"loop", m{"path": "loop"}, "error: “loop” is a symbolic link that leads to itself"},
		{"dangling", m{"path": "dangling"}, "error: “dangling” does not exist"},
		{"named pipe", m{"path": "pipe"}, "error: “pipe” is no regular file but a named pipe"},
		{"parent", m{"path": "../x"}, "error: “../x” is outside of the project"},
		{"absolute", m{"path": "/etc/passwd"}, "error: “/etc/passwd” is outside of the project"},
		{"absolute that looks inside", m{"path": "/src/tree/../../etc/passwd"}, "error: “/src/tree/../../etc/passwd” is outside"},
		{"private", m{"path": ".env"}, "error: “.env” is not read"},
		{"private, example", m{"path": ".env.example"}, "TOKEN=needle-example\n"},
		{"private by name", m{"path": "config/credentials.json"}, "error: “config/credentials.json” is not read"},
		{"source that is called secret", m{"path": "secret_test.go"}, "package a"},
		{"no such side", m{"path": "a.go", "side": "left"}, "error: side “left”"},
		{"NUL", m{"path": "a\x00b"}, "NUL"},
		{"spill", m{"path": "spill:E12.stdout"}, "all of it\n"},
		{"spill that is not there", m{"path": "spill:E13.stdout"}, "error: “E13.stdout” does not exist"},
		{"spill that leads out", m{"path": "spill:../report.json"}, "no handle"},
		{"negative", m{"path": "a.go", "offset": -1}, "error: offset and limit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := call(t, tl, tt.args)
			if strings.HasPrefix(tt.want, "error: side") {
				tt.want = "error: side"
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if strings.Contains(got, "runner's secret") {
				t.Errorf("the secret is out: %q", got)
			}
		})
	}
}

// Long files come in pieces that fit, long lines with what was left out.
func TestReadFileLimits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "long", strings.Repeat("line\n", 2500))
	write(t, dir, "wide", strings.Repeat("ü", 5000)+"\nnext\n")
	write(t, dir, "wider", strings.Repeat("x", 3999)+strings.Repeat("ü", 60_000)+"a"+strings.Repeat("z", 60_000)+"\nnext\n")
	write(t, dir, "huge", strings.Repeat(strings.Repeat("x", 1000)+"\n", 1500))
	tl := ReadFile(Trees{Head: root(t, dir)})
	if got := call(t, tl, m{"path": "long"}); strings.Count(got, "line\n") != 2000 || !strings.Contains(got, "offset=2001") {
		t.Errorf("long: %d lines, ends %q", strings.Count(got, "\n"), got[len(got)-60:])
	}
	if got := call(t, tl, m{"path": "long", "offset": 2001}); got != strings.Repeat("line\n", 500) {
		t.Errorf("rest of long: %d bytes", len(got))
	}
	if got := call(t, tl, m{"path": "wide"}); !strings.Contains(got, "ü[… 6001 bytes of this line left out …]\nnext\n") {
		t.Errorf("wide: …%q", got[len(got)-80:])
	}
	if got := call(t, tl, m{"path": "wider"}); !strings.Contains(got, "xx[… 180002 bytes of this line left out …]\nnext\n") {
		t.Errorf("wider: …%q", got[len(got)-80:])
	}
	if got := call(t, tl, m{"path": "huge"}); len(got) > readBytes+200 || !strings.Contains(got, "more from line") {
		t.Errorf("huge: %d bytes", len(got))
	}
}

// One bad file does not cost the others.
func TestReadManyFiles(t *testing.T) {
	t.Parallel()
	tl := ReadManyFiles(hostile(t))
	want := "==> a.go <==\npackage a\n\nfunc A() int { return 1 }\n==> link-out <==\nerror: “link-out” leads out of the project through a symbolic link and is not followed\n==> .env.example <==\nTOKEN=needle-example\n"
	if got := call(t, tl, m{"paths": []string{"a.go", "link-out", ".env.example"}}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := call(t, tl, m{"paths": make([]string, 21)}); !strings.Contains(got, "want 1 to 20") {
		t.Errorf("21 paths: %q", got)
	}
	if got := call(t, tl, m{"paths": []string{}}); !strings.Contains(got, "want 1 to 20") {
		t.Errorf("no path: %q", got)
	}
}

// Listings show what things are, follow nothing and stay within their limits.
func TestListings(t *testing.T) {
	t.Parallel()
	trees := hostile(t)
	got := call(t, ListDir(trees), m{})
	for _, want := range []string{"a.go (37 bytes)\n", "sub/\n", "link-in -> a.go\n", "pipe (named pipe)\n", "evil<U+000A>name.txt (2 bytes)\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("list_dir lacks %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, ".git\n") || strings.Contains(got, ".git (") {
		t.Errorf("list_dir shows git's own:\n%s", got)
	}
	for _, p := range []string{"dir-out", "../", "/etc"} {
		if got := call(t, ListDir(trees), m{"path": p}); !strings.HasPrefix(got, "error:") {
			t.Errorf("list_dir %s: %q", p, got)
		}
	}
	if got := call(t, ListDir(trees), m{"path": "a.go"}); !strings.Contains(got, "is no folder") {
		t.Errorf("list_dir of a file: %q", got)
	}
	tree := call(t, ListProjectStructure(trees), m{"depth": 2})
	if !strings.Contains(tree, "sub/\n  b.go (23 bytes)\n  deep/ (1 entries)\n") {
		t.Errorf("structure:\n%s", tree)
	}
	if !strings.Contains(call(t, ListProjectStructure(trees), m{"depth": 8}), "      c.txt") {
		t.Error("depth 8 does not show the deepest file")
	}
	many := t.TempDir()
	for i := range 150 {
		write(t, many, strings.Repeat("f", i+1), "")
	}
	if got := call(t, ListDir(Trees{Head: root(t, many)}), m{}); strings.Count(got, "\n") != 101 || !strings.Contains(got, "50 more") {
		t.Errorf("150 entries: %d lines", strings.Count(got, "\n"))
	}
}

// Searches find the project's own text only.
func TestSearches(t *testing.T) {
	t.Parallel()
	trees := hostile(t)
	for _, tt := range []struct {
		name string
		tl   Tool
		args m
		want string
	}{
		{"glob by name", Glob(trees), m{"pattern": "*.go"}, "a.go\nbidi.go\nsecret_test.go\nsub/b.go\n"},
		{"glob by path", Glob(trees), m{"pattern": "sub/**/*.txt"}, "sub/deep/er/c.txt\n"},
		{"glob in a folder", Glob(trees), m{"pattern": "*.go", "path": "sub"}, "sub/b.go\n"},
		{"glob of nothing", Glob(trees), m{"pattern": "*.rs"}, "[no file matches]\n"},
		{"glob does not follow", Glob(trees), m{"pattern": "**/key"}, "[no file matches]\n"},
		{"glob cannot leave", Glob(trees), m{"pattern": "../*"}, "[no file matches]\n"},
		{"glob that is broken", Glob(trees), m{"pattern": "[a"}, "error: glob: pattern “[a” is not valid"},
		{"grep", Grep(trees), m{"pattern": "needle"}, ".env.example:1: TOKEN=needle-example\nsecret_test.go:1: package a // needle\nsub/b.go:1: package sub // needle\nsub/deep/er/c.txt:1: needle in text\n[2 private or very large files were not searched]\n"},
		{"grep by glob", Grep(trees), m{"pattern": "NEEDLE", "ignore_case": true, "glob": "*.txt"}, "sub/deep/er/c.txt:1: needle in text\n"},
		{"grep of one file", Grep(trees), m{"pattern": "func", "path": "a.go"}, "a.go:3: func A() int { return 1 }\n"},
		{"grep of the base", Grep(trees), m{"pattern": "return 0", "side": "base"}, "a.go:3: func A() int { return 0 }\n"},
		{"grep does not follow", Grep(trees), m{"pattern": "runner"}, "[no line matches]\n[2 private or very large files were not searched]\n"},
		{"grep of a link out", Grep(trees), m{"pattern": "runner", "path": "link-out"}, "error: “link-out” leads out of the project"},
		{"grep through a folder link", Grep(trees), m{"pattern": "runner", "path": "dir-out"}, "error: “dir-out” leads out of the project"},
		{"grep of a pipe", Grep(trees), m{"pattern": "x", "path": "pipe"}, "[no line matches]\n"},
		{"grep of a private file", Grep(trees), m{"pattern": "TOKEN", "path": ".env"}, "[no line matches]\n[1 private or very large files were not searched]\n"},
		{"grep of a link to a private file", Grep(trees), m{"pattern": "TOKEN", "path": "link-env"}, "[no line matches]\n"},
		{"grep that is broken", Grep(trees), m{"pattern": "("}, "error: grep: pattern"},
		{"grep shows hidden characters", Grep(trees), m{"pattern": "x :="}, "bidi.go:1: x := \"a<U+202E>b<U+200B>c<U+E0041><U+FFFE>\"\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := call(t, tt.tl, tt.args); !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	dir := t.TempDir()
	write(t, dir, "many", strings.Repeat("hit\n", 80))
	for i := range 250 {
		write(t, dir, "d/"+strings.Repeat("f", i+1), "")
	}
	flood := Trees{Head: root(t, dir)}
	if got := call(t, Grep(flood), m{"pattern": "hit"}); strings.Count(got, "many:") != 50 || !strings.Contains(got, "more: narrow") {
		t.Errorf("80 hits: %d shown", strings.Count(got, "many:"))
	}
	if got := call(t, Glob(flood), m{"pattern": "f*"}); strings.Count(got, "d/f") != 200 || !strings.Contains(got, "more than 200") {
		t.Errorf("250 files: %d shown", strings.Count(got, "d/f"))
	}
}

// A rule for one tool keeps back what that tool comes across, and is none for the others.
func TestHiddenByRule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "kept/a.txt", "needle\n")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	const glob, grep, tree = "kept/a.txt\n", "kept/a.txt:1: needle\n", "kept/\n  a.txt (7 bytes)\n"
	for rule, want := range map[string][3]string{
		"Read": {glob, "[no line matches]\n[1 private or very large files were not searched]\n", tree},
		"Grep": {glob, "[no line matches]\n[1 private or very large files were not searched]\n", tree},
		"Glob": {"[no file matches]\n[1 files are left out: rules of the permission file keep them back]\n", grep, tree},
		"List": {glob, grep, "kept/ (a rule of the permission file keeps it back)\n"},
	} {
		trees := Trees{Head: root, Hidden: func(kind, path string) bool { return kind == rule && strings.HasPrefix(path+"/", "kept/") }}
		got := [3]string{call(t, Glob(trees), m{"pattern": "**/*.txt"}), call(t, Grep(trees), m{"pattern": "needle"}), call(t, ListProjectStructure(trees), m{})}
		if got != want {
			t.Errorf("%s: %q, want %q", rule, got, want)
		}
	}
}

// The list is replaced whole, and a broken one changes nothing.
func TestTodoWrite(t *testing.T) {
	t.Parallel()
	var list Todos
	tl := TodoWrite(&list)
	got := call(t, tl, m{"todos": []m{{"content": "build", "status": "completed"}, {"content": "attack", "status": "in_progress"}, {"content": "report", "status": "pending"}}})
	if got != "[x] build\n[>] attack\n[ ] report\n" {
		t.Errorf("got %q", got)
	}
	if got := call(t, tl, m{"todos": []m{{"content": "x", "status": "done"}}}); !strings.HasPrefix(got, "error:") || len(list.Items()) != 3 {
		t.Errorf("got %q, %d items", got, len(list.Items()))
	}
}

// What a rule keeps back is neither read nor found, by its name, through a link or by a search.
func TestHiddenFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "kept/a.txt", "needle\n")
	write(t, dir, "kept/deep/b.txt", "needle\n")
	write(t, dir, "open.txt", "needle\n")
	write(t, dir, "public/open.txt", "needle\n")
	for name, to := range map[string]string{"link": "kept/a.txt", "folder": "kept", "public/up": "../folder", "inside": "folder/deep", "way": "public"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	trees := Trees{Head: root, Hidden: func(_, path string) bool { return strings.HasPrefix(path+"/", "kept/") }}
	for _, p := range []string{"kept/a.txt", "./kept/../kept/a.txt", "link", "folder/a.txt", "way/up/a.txt", "inside/b.txt"} {
		if _, err := ReadFile(trees).Run(t.Context(), json.RawMessage(`{"path":"`+p+`"}`)); !isBad(err) {
			t.Errorf("%s: %v", p, err)
		}
	}
	for _, tt := range []struct {
		tl   Tool
		args m
		want string
	}{
		{Grep(trees), m{"pattern": "needle"}, "open.txt:1: needle\npublic/open.txt:1: needle\n[2 private or very large files were not searched]\n"},
		{Grep(trees), m{"pattern": "needle", "path": "folder"}, "[no line matches]\n[2 private or very large files were not searched]\n"},
		{Grep(trees), m{"pattern": "needle", "path": "way/up/a.txt"}, "[no line matches]\n[1 private or very large files were not searched]\n"},
		{Grep(trees), m{"pattern": "needle", "path": "inside"}, "[no line matches]\n[1 private or very large files were not searched]\n"},
		{Grep(trees), m{"pattern": "needle", "path": "way"}, "way/open.txt:1: needle\n"},
		{Glob(trees), m{"pattern": "*.txt"}, "open.txt\npublic/open.txt\n[2 files are left out: rules of the permission file keep them back]\n"},
		{Glob(trees), m{"pattern": "*", "path": "folder"}, "[no file matches]\n[2 files are left out: rules of the permission file keep them back]\n"},
		{Glob(trees), m{"pattern": "*.txt", "path": "way"}, "way/open.txt\n"},
		{ListProjectStructure(trees), m{"path": "way"}, "open.txt (7 bytes)\nup -> ../folder\n"},
		{ListProjectStructure(trees), m{}, "folder -> kept\ninside -> folder/deep\nkept/ (a rule of the permission file keeps it back)\nlink -> kept/a.txt\nopen.txt (7 bytes)\npublic/\n  open.txt (7 bytes)\n  up -> ../folder\nway -> public\n"},
	} {
		if got := call(t, tt.tl, tt.args); got != tt.want {
			t.Errorf("%s %v: %s", tt.tl.Name, tt.args, got)
		}
	}
}

// Sources of every ecosystem may be called after secrets.
func TestSourcesAreNotPrivate(t *testing.T) {
	t.Parallel()
	for _, e := range languages.All() {
		if e.IsSource != nil && !slices.ContainsFunc(strings.Split(sources, "|"), func(ending string) bool { return e.IsSource("secret." + ending) }) {
			t.Errorf("%s: add the endings of its files to sources", e.Name)
		}
	}
}

// Files with keys are not read, what only speaks of keys is.
func TestKeysArePrivate(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"certs/server.pem": true, "TLS.KEY": true, "a.p12": true, "a.pfx": true, "a.jks": true, "app.keystore": true, "id_ed25519": true,
		"server.pem.example": false, "key.go": false, "pem/readme.md": false, "keys.txt": false,
	} {
		if got := Private(name) != ""; got != want {
			t.Errorf("%s: private is %t, want %t", name, got, want)
		}
	}
}

package tool

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// No file tool reads the environment of the harness or anything outside of the trees, by
// none of the spellings that got past the file tools of other agents. The tools run in
// the process that has the secrets, so nothing but they themselves keep them.
func TestPublicEscapesOfFileTools(t *testing.T) {
	t.Setenv("YCBOT_TEST_CANARY", "the runner's secret")
	trees := hostile(t)
	head := trees.Head.Name()
	outside, err := os.Readlink(filepath.Join(head, "dir-out"))
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"self": "/proc/self", "fd": "/dev/fd", "root": "/proc/self/root", "cwd": "/proc/self/cwd", "sub/up": "../..", "chain": "chain2", "chain2": "link-proc",
	} {
		if err := os.Symlink(target, filepath.Join(head, name)); err != nil {
			t.Fatal(err)
		}
	}
	paths := []string{
		"/proc/self/environ", "/proc/thread-self/environ", "/proc/self/root/proc/self/environ", "/proc/1/environ", "/dev/stdin", "/dev/fd/3", "file:///proc/self/environ", "//proc/self/environ",
		"link-proc", "chain", "self/environ", "self/root" + outside + "/key", "fd/3", "root/proc/self/environ", "root" + outside + "/key", "cwd/../../etc/passwd", "sub/up/etc/passwd",
		outside + "/key", "dir-out/key", "link-out", "../" + filepath.Base(outside) + "/key", "sub/../../" + filepath.Base(outside) + "/key", "/src/tree/../../proc/self/environ", "/src/tree/link-proc",
		"/src/base/../tree/link-proc", "a.go/../../../proc/self/environ", "./././../x", "..", "...", "%2e%2e/%2e%2e/proc/self/environ", `..\..\proc\self\environ`, "~/.ssh/id_rsa", "$HOME/.ssh/id_rsa", "${HOME}",
		"/proc/self/environ\x00.go", "a.go\x00/../../proc/self/environ", "\x00", "spill:E12.stdout/../../key", "spill:../../" + filepath.Base(outside) + "/key", "spill:/proc/self/environ", "spill:E12.stdout\x00", "SPILL:E12.stdout",
	}
	tools := []Tool{ReadFile(trees), ReadManyFiles(trees), Grep(trees), Glob(trees), ListDir(trees), ListProjectStructure(trees)}
	for _, tl := range tools {
		for _, p := range paths {
			for _, side := range []string{"", "base"} {
				args := m{"path": p}
				if tl.Name == "read_many_files" {
					args = m{"paths": []string{"a.go", p}}
				}
				switch tl.Name {
				case "grep":
					args["pattern"] = "."
				case "glob":
					args["pattern"] = "**"
				}
				if side != "" {
					args["side"] = side
				}
				got := call(t, tl, args)
				if strings.Contains(got, "the runner's secret") || strings.Contains(got, "YCBOT_TEST_CANARY") || strings.Contains(got, "root:x:") || strings.Contains(got, "PATH=") {
					t.Errorf("%s(%q): %.300q", tl.Name, p, got)
				}
			}
		}
	}
	for _, pattern := range []string{"../**", "/proc/self/*", "self/*", "root/**", "**/environ", "dir-out/*", "{../../../../proc/self,x}/*"} {
		if got := call(t, Glob(trees), m{"pattern": pattern}); strings.Contains(got, "environ") || strings.Contains(got, "key") {
			t.Errorf("glob(%q): %.300q", pattern, got)
		}
	}
}

// A file and a folder are swapped for links to the secrets, again and again, while they
// are read: whenever the tool looks and whenever it opens, it stays in the tree.
func TestSwappedWhileRead(t *testing.T) {
	t.Parallel()
	trees := hostile(t)
	head := trees.Head.Name()
	write(t, head, "swap/key", "harmless\n")
	write(t, head, "swapped", "harmless\n")
	stop, stopped := make(chan struct{}), make(chan error)
	go func() {
		var err error
		for err == nil {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
				err = unix.Renameat2(unix.AT_FDCWD, filepath.Join(head, "swap"), unix.AT_FDCWD, filepath.Join(head, "dir-out"), unix.RENAME_EXCHANGE)
			}
			if err == nil {
				err = unix.Renameat2(unix.AT_FDCWD, filepath.Join(head, "swapped"), unix.AT_FDCWD, filepath.Join(head, "link-out"), unix.RENAME_EXCHANGE)
			}
		}
		stopped <- err
	}()
	harmless := 0
	for range 1500 {
		for _, got := range []string{
			call(t, ReadFile(trees), m{"path": "swap/key"}), call(t, ReadFile(trees), m{"path": "swapped"}), call(t, Grep(trees), m{"path": "swap", "pattern": "."}),
		} {
			if strings.Contains(got, "the runner's secret") {
				t.Fatal("the secret was read")
			}
			if strings.Contains(got, "harmless") {
				harmless++
			}
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if harmless == 0 {
		t.Error("the folder was never itself")
	}
}

// Where a command runs, with what environment and in what sandbox, is nothing that a
// model can say: there is no argument for it, and one that is sent changes nothing.
func TestModelChoosesNoSandbox(t *testing.T) {
	t.Parallel()
	s, sb, _ := shell(t)
	args := m{"command": "pwd; echo $MARK; echo [$EVIL]"}
	call(t, Bash(s), args)
	before := sb.last
	sent := m{
		"cwd": "/", "workdir": "/", "dir": "/", "working_directory": "/", "root": "/", "env": m{"EVIL": "1"}, "environment": []string{"EVIL=1"}, "sandbox": "none", "dangerouslyDisableSandbox": true,
		"sandbox_permissions": "require_escalated", "with_escalated_permissions": true, "network": "host", "writable": []string{"/"}, "writable_roots": []string{"/"}, "justification": "please", "run_in_background": true,
	}
	for name, value := range sent {
		if strings.Contains(string(Bash(s).Schema), `"`+name+`"`) {
			t.Errorf("run_bash has an argument %s", name)
		}
		with := m{name: value}
		for k, v := range args {
			with[k] = v
		}
		got := call(t, Bash(s), with)
		if !strings.HasPrefix(got, "error: ") && !strings.Contains(got, s.Root+"\n1\n[]\n") {
			t.Errorf("%s: %q", name, got)
		}
		last := sb.last
		if last.Dir != before.Dir || !slices.Equal(last.Env, before.Env) || last.Network != before.Network || !slices.Equal(last.Writable, before.Writable) || !slices.Equal(last.Argv, before.Argv) {
			t.Errorf("%s: the command is %+v, was %+v", name, last, before)
		}
	}
}

// What a command sets, and the start files that it writes, do not reach the next one:
// each is a shell of its own that reads none.
func TestCommandsDoNotPoisonTheNext(t *testing.T) {
	t.Parallel()
	s, _, _ := shell(t)
	home := t.TempDir()
	s.Template.Env = append(s.Template.Env, "HOME="+home)
	call(t, Bash(s), m{"command": `export EVIL=1 PAGER=evil BASH_ENV=$HOME/.bashrc; alias pwd='echo EVIL'; pwd() { echo EVIL; }; export -f pwd; hash -p /bin/false pwd; set -a; cd /; umask 0; trap 'echo EVIL' EXIT
for f in .bashrc .bash_profile .profile .bash_login .zshenv .inputrc; do echo 'echo EVIL' >$HOME/$f; done`})
	if got := call(t, Bash(s), m{"command": `pwd; echo "[$EVIL$PAGER$BASH_ENV]"`}); strings.Contains(got, "EVIL") || !strings.Contains(got, s.Root+"\n[]\n") {
		t.Errorf("the next command: %q", got)
	}
}

// What a command prints sets no clipboard and no title, and moves no cursor to another
// line, where an answer is shown. Carriage returns stay: they are the ends of lines of
// many files, and what prints a report removes them.
func TestTerminalEscapesInAnswers(t *testing.T) {
	t.Parallel()
	s, _, _ := shell(t)
	write(t, s.Root, "evil", "\x1b]52;c;ZXZpbA==\a\x1b[2K\x1b[1A\x1b]0;title\a\x1bPq\x1b\\\u009b31m\u202e\b\x7fvisible\r\n")
	got := call(t, Bash(s), m{"command": `cat evil; cat evil >&2`})
	tree := Trees{Head: root(t, s.Root)}
	got += call(t, ReadFile(tree), m{"path": "evil"}) + call(t, Grep(tree), m{"pattern": "."})
	for _, r := range got {
		if !strings.ContainsRune("\n\t\r", r) && r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' {
			t.Errorf("%U is in the answer %q", r, got)
			break
		}
	}
	if n := strings.Count(got, "visible"); n != 4 {
		t.Errorf("what is no escape is there %d times, want 4: %q", n, got)
	}
}

// What a model names in the history is never an option of git's.
func TestGitToolsTakeNoOptions(t *testing.T) {
	t.Parallel()
	r := repo(t)
	evil := filepath.Join(t.TempDir(), "written")
	tools := []Tool{GitShowFileAtRev(r), GitDiffFiles(r), GitLogFile(r), GitBlameLines(r), GitMergeBase(r), ListGitChangedFiles(r)}
	for _, option := range []string{"--output=" + evil, "-O" + evil, "--upload-pack=" + evil, "--ext-diff", "--no-index", "--textconv", "--exec-path=/", "-c", "--contents=/etc/passwd", "--open-files-in-pager=" + evil, "--end-of-options", "@{-1}", ":(top)", ":!x", "HEAD:--output=" + evil} {
		for _, tl := range tools {
			for _, key := range []string{"rev", "from", "to", "a", "b", "path", "paths"} {
				args := m{"rev": "head", "path": "a.go"}
				switch {
				case key == "paths":
					args = m{"paths": []string{option}}
				case tl.Name == "git_merge_base", key == "from", key == "to":
					args = m{key: option}
				default:
					args[key] = option
				}
				data, err := json.Marshal(args)
				if err != nil {
					t.Fatal(err)
				}
				res, err := tl.Run(t.Context(), data)
				if err != nil && !isBad(err) {
					t.Errorf("%s %s: %v", tl.Name, data, err)
				}
				if strings.Contains(res.Text, "root:x:") {
					t.Errorf("%s %s read a file outside", tl.Name, data)
				}
			}
		}
		if _, err := os.Lstat(evil); err == nil {
			t.Fatalf("%s was obeyed", option)
		}
	}
}

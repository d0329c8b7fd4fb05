package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/report"
	gotest "github.com/ycbot/ycbot/internal/testing/gocache"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

var everyKill = flag.Bool("everykill", false, "kill the run at each moment, not at some")

// killedScript has all that a run has to remember: helpers, a refusal, a file
// beside the code and one in $TMPDIR, a tracked file that was changed, a
// correction, and a bug.
const killedScript = `
-- coordinator --
> Agent {"subagent_type": "Explore", "prompt": "who calls sum.sh?"}
> git_commit {"message": "x"}
---
Attack negative numbers.
-- Explore --
> read_file {"path": "sum.sh"}
> grep {"pattern": "sum"}
---
No one but test.sh.
-- verification --
<* Attack negative numbers.
> read_file {"path": "sum.sh"}
> todo_write {"todos": [{"content": "attack", "status": "in_progress"}]}
> write_file {"path": "sum.sh"}
---
> run_bash {"command": "echo 'sh sum.sh -1 1 || exit 5' >$TMPDIR/probe.sh; echo 'sh sum.sh -2 1 || exit 6' >beside.sh"}
> run_bash {"command": "sh sum.sh 2 3"}
---
> run_bash {"command": "echo broken >sum.sh"}
> run_bash {"command": "sh $TMPDIR/probe.sh"}
> run_bash {"command": "sh beside.sh"}
---
It fails.
---
### Check: adds two numbers
**Command run:** ` + "`sh sum.sh 2 3`" + `
**Output observed:**
` + "```\n{{output 2}}\n```" + `
**Result: PASS**

### Check: zero from below [adversarial]
**Command run:** ` + "`sh $TMPDIR/probe.sh`" + `
**Output observed:**
` + "```\n{{errors 4}}\n```" + `
exit={{exit 4}}
**Result: FAIL**

### Check: one from below [adversarial]
**Command run:** ` + "`sh beside.sh`" + `
**Output observed:**
` + "```\n{{errors 5}}\n```" + `
exit={{exit 5}}
**Result: FAIL**

VERDICT: FAIL
`

var killedBase = map[string]string{
	".github/ycbot.yml": "version: 1\ncommands: {setup: [echo setup >setup.out], build: [echo built >built.out], test: [sh test.sh]}\n",
	".gitignore":        "*.out\n",
	"test.sh":           "test \"$(sh sum.sh 1 1)\" = 2 && test -f built.out\n",
	"sum.sh":            "echo $(($1 + $2))\n",
}

var killedHead = map[string]string{
	"sum.sh": "case $1 in -*) echo negative >&2; exit 3;; esac\necho \"$(($1 + $2))\"\n",
}

// A run that is killed with SIGKILL, whenever that happens, and started again
// comes to what an undisturbed one comes to; no question whose answer was
// journaled is asked twice, and nothing is left behind but one finished report.
func TestKilledRunGoesOn(t *testing.T) {
	t.Parallel()
	calm := newKilled(t)
	calm.run(t, 0)
	intact(t, calm.out)
	want := calm.concluded(t)
	if !bytes.Contains(want, []byte("verdict: FAIL")) || bytes.Count(want, []byte("introduced")) != 4 || !bytes.Contains(want, []byte("changed a tracked file")) {
		t.Fatalf("the undisturbed run came to something else:\n%s", want)
	}
	for _, k := range moments(calm.written(t), variants.Asked()) {
		t.Run(fmt.Sprintf("after %d lines", k), func(t *testing.T) {
			t.Parallel()
			r := newKilled(t)
			r.run(t, k)
			r.run(t, 7) // and once more, soon after it went on
			answered, before := r.answered(t), r.asked(t)
			if _, err := os.Stat(filepath.Join(r.out, "SHA256SUMS")); err == nil {
				answered = nil // it had ended before the signal came: the same command now begins a run of its own
			}
			r.run(t, 0)
			if diff := cmp.Diff(string(want), string(r.concluded(t))); diff != "" {
				t.Errorf("not what an undisturbed run comes to (-calm +killed):\n%s", diff)
			}
			asked := r.asked(t)
			for key := range answered {
				if asked[key] != before[key] {
					t.Errorf("question %s: asked again, though its answer was journaled", key)
				}
			}
			r.clean(t)
			intact(t, r.out)
		})
	}
}

// moments are numbers of lines after which a run that writes so many is killed:
// some on the way and, because much happens there, more towards the end; twice as many on the whole.
func moments(lines int, whole bool) []int {
	var all []int
	for k := 1; k < lines; k++ {
		if testing.Short() && k%50 != 1 {
			continue
		}
		far, near := 104, 24
		if whole {
			far, near = 26, 8
		}
		if *everyKill || k%far == 1 || k > lines-24 && k%near == 0 {
			all = append(all, k)
		}
	}
	return all
}

// A killed is a repository with a scenario, and a folder for one run's files.
type killed struct{ repo, home, out, script string }

func newKilled(t *testing.T) *killed {
	t.Helper()
	return newKilledOf(t, killedBase, killedHead, killedScript)
}

func newKilledOf(t *testing.T, base, head map[string]string, script string) *killed {
	t.Helper()
	dir := t.TempDir()
	r := &killed{repo: filepath.Join(dir, "repo"), home: filepath.Join(dir, "home"), out: filepath.Join(dir, "out"), script: filepath.Join(dir, "script")}
	makeChange(t, r.repo, base, head)
	write(t, r.script, script)
	if err := os.Mkdir(r.out, 0o700); err != nil {
		t.Fatal(err)
	}
	return r
}

// makeChange makes a repository with a change on a branch of its own.
func makeChange(t *testing.T, repo string, base, head map[string]string) {
	t.Helper()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main", "-C", repo}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	if err := os.MkdirAll(repo, 0o777); err != nil {
		t.Fatal(err)
	}
	git("init", "-q")
	for i, files := range []map[string]string{base, head} {
		for name, text := range files {
			write(t, filepath.Join(repo, name), text)
		}
		if i == 1 {
			git("checkout", "-q", "-b", "change")
		}
		git("add", "-A")
		git("commit", "-q", "-m", []string{"base", "the change"}[i])
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// run starts the program; with after it kills it when it has written so many
// lines, without it the program has to end by itself.
func (r *killed) run(t *testing.T, after int) {
	t.Helper()
	if after == 0 {
		r.until(t, nil)
		return
	}
	before := r.written(t)
	r.until(t, func() bool { return r.written(t)-before >= after })
}

// until starts the program and kills it when over says so, as asked after each thing that it
// writes; nil: the program has to end by itself.
func (r *killed) until(t *testing.T, over func() bool) {
	t.Helper()
	cmd := realProgram(t, r.home, "run", "-C", r.repo, "--provider", "script", "--base-url", r.script, "--coordinator", "--out", r.out)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stderr, &stderr
	changes := watch(t, r.out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.Wait()
		changes.Close()
	}()
	for over != nil {
		if over() {
			_ = cmd.Process.Kill()
			break
		}
		if _, err := changes.Read(make([]byte, 4096)); err != nil {
			break // it ended first
		}
	}
	err := <-ended
	if code := cmd.ProcessState.ExitCode(); over == nil && code != report.ExitFail {
		t.Fatalf("exit %d (%v)\n%s", code, err, stderr.String())
	}
}

// realProgram is the real program, in an environment of its own.
func realProgram(t *testing.T, home string, args ...string) *exec.Cmd {
	t.Helper()
	if err := gotest.NoTelemetry(home); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), programFile(t), args...)
	cmd.Args[0] = "ycbot" // testscript.Main looks at the name that it is called by
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "YCBOT_HOME=" + home, "GIT_CONFIG_GLOBAL=/dev/null", "GOPROXY=off", "TMPDIR=" + os.Getenv("TMPDIR")}
	return cmd
}

// watch reports every write in a folder: a Read returns when there was one, and
// fails when the file is closed.
func watch(t *testing.T, dir string) *os.File {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Skipf("inotify: %v", err)
	}
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_MODIFY|unix.IN_CREATE); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "inotify")
}

// written counts what the run has reported so far.
func (r *killed) written(t *testing.T) int {
	t.Helper()
	n := 0
	for _, name := range []string{"journal.jsonl", "events.jsonl", "evidence.jsonl", "model.jsonl"} {
		n += len(r.lines(t, name))
	}
	return n
}

// lines returns the whole lines of a file of the run.
func (r *killed) lines(t *testing.T, name string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(r.out, name))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	all := bytes.SplitAfter(data, []byte("\n"))
	return all[:len(all)-1]
}

func (r *killed) concluded(t *testing.T) []byte {
	t.Helper()
	var rep report.Report
	data, err := os.ReadFile(filepath.Join(r.out, "report.json"))
	if err == nil {
		err = json.Unmarshal(data, &rep)
	}
	if err != nil {
		t.Fatal(err)
	}
	return concluded(&rep)
}

// answered returns the questions whose answer is in the journal, as "id/number".
func (r *killed) answered(t *testing.T) map[string]bool {
	t.Helper()
	keys := map[string]bool{}
	for _, line := range r.lines(t, "journal.jsonl") {
		var e struct{ Kind, Key string }
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if e.Kind == "model" {
			keys[e.Key] = true
		}
	}
	return keys
}

// asked counts the exchanges with the model.
func (r *killed) asked(t *testing.T) map[string]int {
	t.Helper()
	n := map[string]int{}
	for _, line := range r.lines(t, "model.jsonl") {
		var e model.Exchange
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("model.jsonl: %v", err)
		}
		n[fmt.Sprintf("%s/%d", e.ID, e.N)]++
	}
	return n
}

// clean checks that the sums hold, and that no worktree, scratch folder or
// process of the run is left.
func (r *killed) clean(t *testing.T) {
	t.Helper()
	sums := exec.Command("sha256sum", "--quiet", "--strict", "-c", "SHA256SUMS")
	sums.Dir = r.out
	if out, err := sums.CombinedOutput(); err != nil {
		t.Errorf("sums: %v\n%s", err, out)
	}
	for _, pattern := range []string{"projects/*/worktrees/*/*", "projects/*/mirror.git/worktrees/*", "tmp/*"} {
		left, err := filepath.Glob(filepath.Join(r.home, pattern))
		if err != nil {
			t.Fatal(err)
		}
		left = slices.DeleteFunc(left, func(name string) bool {
			// Locks stay; a view of a repository that was open is left to the sweeper.
			return strings.HasSuffix(name, ".lock") || strings.HasPrefix(filepath.Base(name), "ycbot-")
		})
		if len(left) > 0 {
			t.Errorf("left behind: %s", left)
		}
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range processes {
		line, _ := os.ReadFile(p + "/cmdline")
		cwd, _ := os.Readlink(p + "/cwd")
		if bytes.Contains(line, []byte(filepath.Dir(r.home))) || strings.HasPrefix(cwd, filepath.Dir(r.home)) {
			t.Errorf("process %s is left: %q in %s", p, line, cwd)
		}
	}
}

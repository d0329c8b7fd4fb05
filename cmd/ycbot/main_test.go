package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	gotest "github.com/ycbot/ycbot/internal/testing/gocache"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

var (
	update  = flag.Bool("update", false, "write again what the scripts compare with")
	other   = flag.String("program", "", "have the scripts run this `FILE`, such as an older ycbot, in place of this one")
	keepDir = flag.String("keep", "", "leave what the scripts make in `DIR`")
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == attackCommand { // the doctor starts this very program, by its path
		main()
	}
	testscript.Main(suite{m}, map[string]func(){"ycbot": main})
}

// common is the folder of what tests share.
var common string

// A suite runs the tests with such a folder.
type suite struct{ m *testing.M }

func (s suite) Run() int {
	var err error
	if common, err = os.MkdirTemp("", "cmd-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(common)
	return s.m.Run()
}

// leftScripts are the scripts that make test leaves to make variants, each with what shows
// the same in less time.
var leftScripts = map[string]string{
	"backtest":           "the tests of internal/backtest; .ci/run has a backtest as well",
	"backtest_languages": "the tests of internal/backtest, and the gate's scenarios in these languages",
}

// longScripts are the scripts that make test leaves to make variants for the time that they
// take: they compile and test Go in many rounds, or wait for processes. TestReadme has the demo, TestKilledRunGoesOn
// a run that goes on.
var longScripts = []string{
	"acceptance08_worktree", "agents_append", "agents_base", "agents_budget", "agents_built", "agents_cast",
	"agents_cmd", "agents_forms", "agents_given", "agents_input", "agents_leftovers", "agents_liars",
	"agents_limits", "agents_links", "agents_masked", "agents_newfeature", "agents_own", "agents_permissions",
	"agents_processes", "agents_records", "agents_sample", "agents_scratch", "agents_screenshot", "agents_stands",
	"agents_suites", "agents_tools", "agents_turned", "agents_unwatched", "agents_verdict", "brief", "build",
	"cancel", "commands", "demo", "dirty", "dropped", "environment", "explain", "given_up", "helpers", "history",
	"hooks", "irregular", "levels", "lfs", "newfailing", "order", "path_own", "preexisting", "previous",
	"previous_built", "previous_files", "range", "redacted_names", "regressed", "replay", "resume", "sandbox",
	"setup_env", "spared", "submodules", "tasks", "tripwire", "tripwire_own", "unrelated", "until", "usage",
	"verifiers",
}

// shortScripts are those that -short leaves: of what runs side by side in the program, begins
// again or is cut short, and some that show a run as a whole.
var shortScripts = []string{
	"agents_fail", "agents_forms", "agents_limits", "agents_processes", "agents_unwatched", "cancel", "check", "help", "levels", "order",
	"regressed", "replay", "resume", "tasks", "tripwire", "until", "verifiers",
}

// TestScript runs the real program in scratch repositories: each script is a
// promise to the user of the command.
func TestScript(t *testing.T) {
	t.Parallel()
	home := t.TempDir() // one for all scripts that do not ask for their own
	if err := seeded(home); err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(programFile(t), filepath.Join(bin, "ycbot")); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, name := range append(slices.Collect(maps.Keys(leftScripts)), longScripts...) {
		if !slices.Contains(files, filepath.Join("testdata", "script", name+".txtar")) {
			t.Errorf("there is no script %s", name)
		}
	}
	files = slices.DeleteFunc(files, func(f string) bool {
		name := strings.TrimSuffix(filepath.Base(f), ".txtar")
		if variants.Named(t, name) {
			return false
		}
		left := leftScripts[name] != "" || slices.Contains(longScripts, name) && !testing.Short() && !*update
		return (left != variants.Asked() || left && !variants.Mine(name)) && !*update && *other == "" ||
			testing.Short() && !slices.Contains(shortScripts, name) // the others take the same ways through the program
	})
	testscript.Run(t, testscript.Params{
		Files: files, WorkdirRoot: *keepDir, TestWork: *keepDir != "",
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		ContinueOnError:     *other != "", // an older program may lack what a script asks for first
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, ".home"))
			home := home
			if *keepDir != "" { // what one script leaves in its home is not to be in a report of another
				home = filepath.Join(e.WorkDir, ".ycbot")
				if err := seeded(home); err != nil {
					return err
				}
			}
			e.Setenv("YCBOT_HOME", home)
			e.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(e.WorkDir, ".gitconfig"))
			e.Setenv("GOPROXY", "off")
			e.Setenv("GOFLAGS", "")
			e.Setenv("PATH", bin+string(filepath.ListSeparator)+e.Getenv("PATH"))
			if err := gotest.NoTelemetry(filepath.Join(e.WorkDir, ".home")); err != nil {
				return err
			}
			if err := scenarios(e.WorkDir); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(e.WorkDir, ".gitconfig"),
				[]byte("[user]\n\tname = Ann\n\temail = ann@example.com\n[init]\n\tdefaultBranch = main\n[commit]\n\tgpgsign = false\n[maintenance]\n\tauto = false\n"), 0o600)
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "bubblewrap":
				return exec.Command("bwrap", "--unshare-user", "--ro-bind", "/", "/", "true").Run() == nil, nil
			case "race":
				return exec.Command("sh", "-c", raceCheck).Run() == nil, nil
			}
			return false, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"change": changeRepo, "seed": seedHome, "fingerprint": fingerprint, "interrupt": interrupt, "conclusion": conclusion,
		},
	})
}

// seed makes the build cache that homes begin with, so that the standard library is
// compiled once, if at all.
var seed = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(common, "go-build")
	modes := []string{gotest.Cover} // of mutants, and of changed lines
	if exec.Command("sh", "-c", raceCheck).Run() == nil {
		modes = append(modes, gotest.Race)
	}
	return dir, gotest.Std(context.Background(), dir, modes...)
})

const raceCheck = "test \"$(go env CGO_ENABLED)\" = 1 && command -v \"$(go env CC)\""

// seeded gives a YCBOT_HOME the seeds for the build caches of projects: one for all.
func seeded(home string) error {
	dir, err := seed()
	if err != nil {
		return err
	}
	version, err := exec.Command("go", "env", "GOVERSION").Output()
	if err != nil {
		return err
	}
	seeds := filepath.Join(home, "cache", "go-std", strings.TrimSpace(string(version)))
	if err := os.MkdirAll(seeds, 0o700); err != nil {
		return err
	}
	return errors.Join(os.Symlink(dir, filepath.Join(seeds, "tests")), os.Symlink(dir, filepath.Join(seeds, "race")))
}

// seedHome DIR begins another YCBOT_HOME with the seed.
func seedHome(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: seed DIR")
	}
	ts.Check(seeded(ts.MkAbs(args[0])))
}

// changeRepo makes the repository "repo" with the files of base/ on main and those
// of head/ over them on the branch "change"; head/REMOVED lists what the change
// removes. It leaves the script in the repository.
func changeRepo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: change")
	}
	repo := ts.MkAbs("repo")
	git := func(args ...string) {
		ts.Check(ts.Exec("git", append([]string{"-C", repo}, args...)...))
	}
	ts.Check(os.MkdirAll(repo, 0o777))
	git("init", "-q")
	ts.Check(os.CopyFS(repo, os.DirFS(ts.MkAbs("base"))))
	git("add", "-A")
	git("commit", "-q", "--allow-empty", "-m", "base")
	git("checkout", "-q", "-b", "change")
	if _, err := os.Stat(ts.MkAbs("head")); err == nil {
		ts.Check(overlay(ts.MkAbs("head"), repo))
		git("add", "-A")
		git("commit", "-q", "-m", "the change")
	}
	ts.Check(ts.Chdir("repo"))
}

func overlay(from, to string) error {
	removed, err := os.ReadFile(filepath.Join(from, "REMOVED"))
	if err == nil {
		for name := range strings.FieldsSeq(string(removed)) {
			if err := os.Remove(filepath.Join(to, name)); err != nil {
				return err
			}
		}
	}
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "REMOVED" {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, rel)), 0o777); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o666)
	})
}

// fingerprint FILE writes down everything of the repository in the current
// folder that a user would miss if it changed.
func fingerprint(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fingerprint FILE")
	}
	cmd := exec.Command("sh", "-c", `set -e
git for-each-ref; git rev-parse HEAD; git symbolic-ref -q HEAD || true
git worktree list; git stash list
d=$(git rev-parse --git-common-dir)
cat "$d/config"; ls "$d/hooks"; cat "$d/info/exclude" 2>/dev/null || true
sha256sum "$(git rev-parse --git-dir)/index"
git --no-optional-locks status --porcelain --ignored`)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+ts.Getenv("GIT_CONFIG_GLOBAL"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		ts.Fatalf("fingerprint: %v\n%s", err, out)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), out, 0o600))
}

// interrupt SIGNAL MARK COMMAND… runs a command, sends it a signal as soon as
// its standard error says MARK, and checks that it ends with exit code 130.
// What it wrote is in the files "stdout" and "stderr" of $WORK.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: interrupt SIGNAL MARK COMMAND…")
	}
	program, err := started()
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args[3:]...)
	cmd.Args[0] = args[2] // testscript.Main looks at the name that it is called by
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "YCBOT_HOME", "GOPROXY", "GIT_CONFIG_GLOBAL", "TMPDIR"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	watch := &watcher{mark: args[1], seen: func() { _ = exec.Command("kill", "-"+args[0], strconv.Itoa(cmd.Process.Pid)).Run() }}
	cmd.Stderr = watch
	err = cmd.Run()
	ts.Check(os.WriteFile(ts.Getenv("WORK")+"/stdout", stdout.Bytes(), 0o600))
	ts.Check(os.WriteFile(ts.Getenv("WORK")+"/stderr", watch.all.Bytes(), 0o600))
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		ts.Fatalf("exit %d (%v), want 130\n%s", code, err, watch.all.String())
	}
}

// A watcher calls seen once when what is written to it contains mark.
type watcher struct {
	mark string
	seen func()
	all  bytes.Buffer
	done bool
}

func (w *watcher) Write(p []byte) (int, error) {
	w.all.Write(p)
	if !w.done && strings.Contains(w.all.String(), w.mark) {
		w.done = true
		w.seen()
	}
	return len(p), nil
}

// hangs is after what time a test calls what it waits for hung: minutes, as a machine that
// does much else makes all of it slow.
const hangs = 5 * time.Minute

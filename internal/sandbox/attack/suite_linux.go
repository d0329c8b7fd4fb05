package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/sandbox/toolchains"
)

// What [Main] is started as.
const (
	roleSuite  = "attack-suite"  // the harness: it has secrets, and runs the attacks in a sandbox
	roleRun    = "attack-run"    // inside of it
	roleDaemon = "attack-daemon" // what an attack leaves behind
)

// A plan is what the harness of the attacks gets, in a file.
type plan struct {
	Mode string
	Path string
	Dir  string // where the targets are made
	Suid string
	Shim []string
	Self []string
}

// Try runs all attacks in the tier mode and returns what came of each, by its
// number. What the attacks go for is made below dir, which must be empty. Their
// harness is a process of its own, of the user uid; what it says goes to log.
func Try(ctx context.Context, p Program, mode, dir string, uid int, log io.Writer) (map[string]Verdict, error) {
	pl := plan{Mode: mode, Path: p.Path, Dir: filepath.Join(dir, "work"), Suid: filepath.Join(dir, "suid", "cat"), Shim: p.Shim, Self: p.Self}
	for _, d := range []string{pl.Dir, filepath.Dir(pl.Suid)} {
		// No one else may come near what is setuid root.
		if err := errors.Join(os.Mkdir(d, 0o700), os.Chown(d, uid, -1)); err != nil {
			return nil, err
		}
	}
	if err := copyProgram("/bin/cat", pl.Suid, 0o755|os.ModeSetuid); err != nil {
		return nil, err
	}
	text, err := json.Marshal(pl)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "plan.json")
	if err := os.WriteFile(file, text, 0o644); err != nil { //nolint:gosec // another user reads it
		return nil, err
	}
	inherited, err := os.Create(filepath.Join(dir, "inherited"))
	if err != nil {
		return nil, err
	}
	defer inherited.Close()
	if _, err := inherited.WriteString(secretMark); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, p.Self[0], slices.Concat(p.Self[1:], []string{roleSuite, file})...)
	cmd.Env = []string{
		"TOKEN=" + secretMark, "PATH=" + p.Path, "GITHUB_TOKEN=" + secretMark, "ACTIONS_ID_TOKEN_REQUEST_TOKEN=" + secretMark,
		"ACTIONS_RUNTIME_TOKEN=" + secretMark, // writes caches that other jobs of the repository restore
	}
	folder, err := os.Open(pl.Dir)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	cmd.ExtraFiles = []*os.File{inherited, folder}
	cmd.Dir = pl.Dir
	if uid != os.Geteuid() {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	var stderr bytes.Buffer
	cmd.Stderr = io.MultiWriter(&stderr, log)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("attacks in tier %s: %w: %s", mode, err, bytes.TrimSpace(stderr.Bytes()))
	}
	verdicts := map[string]Verdict{}
	if err := json.Unmarshal(out, &verdicts); err != nil {
		return nil, fmt.Errorf("attacks in tier %s: %w", mode, err)
	}
	return verdicts, nil
}

func copyProgram(from, to string, mode os.FileMode) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(to, text, 0o755), os.Chmod(to, mode)) //nolint:gosec // a target: it must be executable
}

// Main is the program in the roles that the attacks need. It returns the exit code.
func Main(ctx context.Context, args []string, now func() time.Time, stdout, stderr io.Writer) int {
	var err error
	switch {
	case len(args) == 2 && args[0] == roleSuite:
		err = suite(ctx, args[1], now, stdout, stderr)
	case len(args) == 3 && args[0] == roleRun:
		err = runInside(args[1], args[2], stdout)
	case len(args) == 2 && args[0] == roleDaemon:
		err = daemon(args[1])
	default:
		err = errors.New("no such role")
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 3
	}
	return 0
}

// suite makes what the attacks go for, runs them in the sandbox and prints the
// verdicts. What they said goes to stderr.
func suite(ctx context.Context, file string, now func() time.Time, stdout, stderr io.Writer) error {
	var pl plan
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &pl)
	}
	if err != nil {
		return err
	}
	t, stop, err := newTarget(pl, pl.Dir)
	if err != nil {
		return err
	}
	defer stop()
	tools := toolchains.Machine{PATH: strings.Join(t.Tools, ":"), Home: t.Home}.Find()
	sb, err := sandbox.Detect(ctx, sandbox.Options{
		Mode: pl.Mode, PATH: pl.Path, Toolchains: tools, TempDir: pl.Dir + "/temp", Home: t.Home, Now: now, Shim: pl.Shim,
		Limits: sandbox.Limits{Memory: 1 << 30, Processes: 150, FileSize: 32 << 20, Disk: 100 << 20, Inodes: floodEntries / 3},
	})
	if err != nil {
		return err
	}
	var together []string
	var runs []string
	for _, a := range attacks() {
		if a.alone {
			runs = append(runs, a.id)
		} else {
			together = append(together, a.id)
		}
	}
	verdicts := map[string]Verdict{}
	if err := works(ctx, sb, t.Tools); err != nil {
		return err
	}
	for _, ids := range append(runs, strings.Join(together, ",")) {
		res, err := sb.Run(ctx, sandbox.Command{
			Argv: slices.Concat(pl.Self, []string{roleRun, t.Build + "/target.json", ids}), Dir: t.Build,
			Writable: []string{t.Build}, ReadOnly: []string{t.Pristine, t.Cache, pl.Self[0], pl.Suid}, Timeout: time.Minute,
		})
		if err != nil {
			return fmt.Errorf("%s: %w", ids, err)
		}
		fmt.Fprintf(stderr, "%s%s%s exit %d %s %s\n", res.Stdout.Bytes, res.Stderr.Bytes, ids, res.Exit, res.Signal, res.Limit)
		for line := range strings.Lines(string(res.Stdout.Bytes)) {
			if f := strings.Fields(line); len(f) >= 2 {
				verdicts[f[0]] = Verdict(f[1])
			}
		}
		if !strings.Contains(ids, ",") && verdicts[ids] == "" && (res.Limit != "" || res.Exit != 0) {
			verdicts[ids] = Held // with all the command
		}
	}
	for _, a := range attacks() {
		if a.written == nil || verdicts[a.id] == "" {
			continue
		}
		verdicts[a.id] = Held
		if a.written(t) {
			verdicts[a.id] = Open
		}
	}
	return json.NewEncoder(stdout).Encode(verdicts)
}

// works says whether commands can run the operator's tools: where they could not,
// what lies beside them would be safe for nothing.
func works(ctx context.Context, sb sandbox.Sandbox, tools []string) error {
	for _, dir := range tools {
		res, err := sb.Run(ctx, sandbox.Command{Argv: []string{dir + "/tool"}, Timeout: time.Minute})
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		if string(res.Stdout.Bytes) != "works\n" {
			return fmt.Errorf("%s: a tool in it does not work: exit %d: %s", dir, res.Exit, res.Stderr.Bytes)
		}
	}
	return nil
}

// runInside runs the attacks of the list ids, on the target of the file. One line
// each says what came of it.
func runInside(file, ids string, stdout io.Writer) error {
	text, err := os.ReadFile(file)
	var t target
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil {
		return err
	}
	for _, a := range attacks() {
		if !strings.Contains(ids, a.id) {
			continue
		}
		if err := a.run(t); err != nil {
			fmt.Fprintf(stdout, "%s %s %q\n", a.id, Held, err.Error())
		} else {
			fmt.Fprintf(stdout, "%s %s\n", a.id, Open)
		}
	}
	return nil
}

// daemon writes to a file for as long as it lives, 20 seconds at most.
func daemon(file string) error {
	for n := range 1000 {
		if err := os.WriteFile(file, fmt.Append(nil, n), 0o600); err != nil {
			return err
		}
		<-time.After(20 * time.Millisecond)
	}
	return nil
}

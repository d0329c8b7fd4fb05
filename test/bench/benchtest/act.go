package benchtest

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/test/bench"
)

// A Workflow is one that act is to run.
type Workflow struct {
	Repo    *Repo  // its clone is what the job finds checked out
	Text    string // of the workflow
	Event   Delivery
	Token   string            // secrets.GITHUB_TOKEN and github.token
	Env     map[string]string // of the job, beside what the runner sets
	Secrets map[string]string
	Vars    map[string]string
	Action  string        // folder of the action, from [StageAction]
	RunID   string        // GITHUB_RUN_ID; empty: 1
	Within  time.Duration // how long it may take; 0: some minutes
}

// A WorkflowRun is what came of it.
type WorkflowRun struct {
	OK          bool
	Steps       map[string]string            // step, as in "ycbot.run", to result: success, failure or skipped
	Outputs     map[string]map[string]string // step to name to value; of all steps, also those of the action
	Summary     string
	Annotations []Annotation
	Masks       []string
	Log         string // all that the steps printed
	artifacts   string
}

// An Annotation is a workflow command that marks a place.
type Annotation struct {
	Level string // error, warning or notice
	Text  string
	At    map[string]string // file, line, title …
}

// StageAction copies the files of the action, without those that git ignores,
// as the runner would find them.
func (g *GitHub) StageAction() string {
	t := g.t
	t.Helper()
	root, to := Need(t, bench.AsAction), t.TempDir()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	names, err := cmd.Output()
	if err != nil {
		t.Skipf("the action's files cannot be distinguished from others outside a git clone: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(names), "\x00"), "\x00") {
		if err := copyFile(filepath.Join(root, name), filepath.Join(to, name)); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func copyFile(from, to string) error {
	info, err := os.Lstat(from)
	if errors.Is(err, os.ErrNotExist) { // removed, but git does not know yet
		return nil
	}
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, info.Mode().Perm())
}

// Act runs a workflow on this machine, as GitHub's runner would.
func (g *GitHub) Act(w Workflow) *WorkflowRun {
	t := g.t
	t.Helper()
	act := Need(t, bench.Act)
	modules := Need(t, bench.Node)
	dir := t.TempDir()
	workflow, event := filepath.Join(dir, "workflow.yml"), filepath.Join(dir, "event.json")
	for name, text := range map[string][]byte{workflow: []byte(w.Text), event: w.Event.Body} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := &WorkflowRun{Steps: map[string]string{}, Outputs: map[string]map[string]string{}, artifacts: filepath.Join(dir, "artifacts")}
	args := []string{
		w.Event.Event, "-W", workflow, "-e", event, "--json", "--rm",
		"-P", "ubuntu-latest=-self-hosted", "-P", "ubuntu-24.04=-self-hosted",
		"--no-cache-server", "--artifact-server-path", run.artifacts, "--artifact-server-addr", "127.0.0.1",
		"--artifact-server-port", strconv.Itoa(freePort(t)), "--pull=false", "--action-offline-mode",
		"-s", "GITHUB_TOKEN=" + w.Token,
	}
	for use, folder := range g.standIns(w, modules) {
		args = append(args, "--local-repository", use+"="+folder)
	}
	for k, v := range g.actEnv(w, modules) {
		args = append(args, "--env", k+"="+v)
	}
	for k, v := range w.Secrets {
		args = append(args, "-s", k+"="+v)
	}
	for k, v := range w.Vars {
		args = append(args, "--var", k+"="+v)
	}
	ctx, cancel := context.WithTimeout(t.Context(), cmp.Or(w.Within, 10*patience))
	defer cancel()
	cmd := exec.CommandContext(ctx, act, args...)
	cmd.Dir = w.Repo.Dir
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "GOCACHE="+goEnv(g, "GOCACHE"))
	// act ends its steps when it is interrupted, and not when it is killed.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	run.OK = err == nil

	run.read(out)
	if len(run.Steps) == 0 {
		t.Fatalf("act ran nothing: %v\n%s", err, tail(out, 4000))
	}
	return run
}

var uses = regexp.MustCompile(`uses:\s*(\S+@\S+)`)

// standIns says which folder each "uses" is that the workflow and the action name.
func (g *GitHub) standIns(w Workflow, modules string) map[string]string {
	g.t.Helper()
	manifest, err := os.ReadFile(filepath.Join(w.Action, "action.yml"))
	if err != nil {
		g.t.Fatal(err)
	}
	out := map[string]string{}
	for _, m := range uses.FindAllStringSubmatch(w.Text+string(manifest), -1) {
		switch name, _, _ := strings.Cut(m[1], "@"); name {
		case "actions/upload-artifact", "actions/download-artifact":
			out[m[1]] = filepath.Join(filepath.Dir(modules), "bench", "benchtest", filepath.Base(name))
		case "actions/cache", "actions/cache/restore", "actions/cache/save":
			_, version, _ := strings.Cut(m[1], "@")
			out["actions/cache@"+version] = filepath.Join(filepath.Dir(modules), "bench", "benchtest", "cache")
		case "ycbot/ycbot":
			out[m[1]] = w.Action
		case "actions/setup-go", "actions/setup-node", "actions/setup-python":
			out[m[1]] = filepath.Join(filepath.Dir(modules), "bench", "benchtest", "setup")
		case "actions/checkout": // act copies the working tree in its place
		default:
			g.t.Fatalf("the workflow uses %s, for which there is no stand-in", m[1])
		}
	}
	return out
}

// actEnv is what the runner would set otherwise, or what the machine is.
func (g *GitHub) actEnv(w Workflow, modules string) map[string]string {
	g.t.Helper()
	env := map[string]string{
		"GITHUB_API_URL": g.URL, "GITHUB_SERVER_URL": g.ServerURL, "GITHUB_REPOSITORY": w.Repo.FullName(),
		"GITHUB_RUN_ID": w.RunID,
		"BENCH_MODULES": filepath.Dir(modules),
		"GOCACHE":       goEnv(g, "GOCACHE"), "GOMODCACHE": goEnv(g, "GOMODCACHE"), "GOFLAGS": "-mod=mod",
		// There is no release to be found on the network.
		"https_proxy": "http://127.0.0.1:1", "no_proxy": "127.0.0.1,localhost,.localhost",
	}
	if w.RunID == "" {
		env["GITHUB_RUN_ID"] = "1"
	}
	for k, v := range w.Env {
		env[k] = v
	}
	return env
}

func goEnv(g *GitHub, name string) string {
	g.t.Helper()
	out, err := exec.CommandContext(g.t.Context(), "go", "env", name).Output()
	if err != nil {
		g.t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// read takes act's account, one JSON object a line.
func (r *WorkflowRun) read(out []byte) {
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var l struct {
			Level, Msg, Command, Name, Arg, Content string
			Stage                                   string
			StepID                                  []string
			StepResult                              string
			KVPairs                                 map[string]string
		}
		if json.Unmarshal(lines.Bytes(), &l) != nil {
			r.Log += lines.Text() + "\n"
			continue
		}
		r.Log += strings.TrimRight(l.Msg, "\n") + "\n"
		if l.StepResult != "" && l.Stage == "Main" {
			r.Steps[strings.Join(l.StepID, ".")] = l.StepResult
		}
		switch l.Command {
		case "set-output":
			id := strings.Join(l.StepID, ".")
			if r.Outputs[id] == nil {
				r.Outputs[id] = map[string]string{}
			}
			r.Outputs[id][l.Name] = l.Arg
		case "summary":
			r.Summary += l.Content
		case "error", "warning", "notice":
			r.Annotations = append(r.Annotations, Annotation{l.Command, l.Arg, l.KVPairs})
		case "add-mask":
			r.Masks = append(r.Masks, l.Arg)
		}
	}
}

// Artifact unpacks an artifact of the run into a folder; empty where there is none.
func (g *GitHub) Artifact(run *WorkflowRun, name string) string {
	t := g.t
	t.Helper()
	found, err := filepath.Glob(filepath.Join(run.artifacts, "*", name, name+".zip"))
	if err != nil || len(found) != 1 {
		return ""
	}
	archive, err := zip.OpenReader(found[0])
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	dir := t.TempDir()
	for _, f := range archive.File {
		if f.FileInfo().IsDir() || !filepath.IsLocal(f.Name) {
			continue
		}
		if err := unpack(f, filepath.Join(dir, f.Name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func unpack(f *zip.File, to string) error {
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	text, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

package main

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/testing/variants"
	"go.yaml.in/yaml/v4"
)

// firstLine is how long after the action's first step begins its program says something, on
// a runner that has nothing of it yet, with a release server that is near.
const firstLine = 3 * time.Second

// TestActionFirstLine carries out the steps of action.yml as they stand there: the program
// is fetched from a release, unpacked, and speaks within the time. Of three attempts, each on
// a runner of its own, the fastest counts. Where the machine is busy with other tests the
// time is longer by what unpacking the program takes longer than it uses of a processor.
func TestActionFirstLine(t *testing.T) { //nolint:paralleltest // it measures
	variants.Only(t) // a speed, measured three times
	if testing.Short() {
		t.Skip("the race detector makes the program larger and slower than the one that is released")
	}
	for _, name := range []string{"bash", "curl", "gzip"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	served, packed := serveRelease(t)
	var took []string
	for range 3 {
		limit := time.Duration(float64(firstLine) * busy(t, packed))
		first, line := speaks(t, served)
		if first <= limit {
			t.Logf("after %s, of %s: %s", first, limit, line)
			return
		}
		took = append(took, fmt.Sprintf("%s of %s", first, limit))
	}
	t.Errorf("the program's first line comes after %q", took)
}

// busy is how many times longer than it takes a processor the machine needs to unpack a file.
func busy(t *testing.T, packed string) float64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "gzip", "-t", packed)
	began := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return max(1, time.Since(began).Seconds()/used.Seconds())
}

// serveRelease serves this very program as the release v1.2.3, and returns where, and the
// packed program.
func serveRelease(t *testing.T) (url, file string) {
	t.Helper()
	self := programFile(t)
	plain, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	dir, sum := t.TempDir(), sha256.New()
	packed, err := os.Create(filepath.Join(dir, "program.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	w, err := gzip.NewWriterLevel(io.MultiWriter(packed, sum), gzip.BestSpeed)
	if err == nil {
		_, err = io.Copy(w, plain)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/v1.2.3/SHA256SUMS") {
			for _, machine := range []string{"amd64", "arm64"} {
				fmt.Fprintf(w, "%x  ycbot-linux-%s.gz\n", sum.Sum(nil), machine)
			}
			return
		}
		http.ServeFile(w, r, packed.Name())
	}))
	t.Cleanup(s.Close)
	return s.URL, packed.Name()
}

// speaks carries out the steps on a new runner until the program has said something, and
// returns how long that took and what it was.
func speaks(t *testing.T, releases string) (time.Duration, string) {
	t.Helper()
	h := newHosted(t, good)
	path := filepath.Join(t.TempDir(), "_actions", "ycbot", "ycbot", strings.Repeat("a", 40))
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(path, "action"), os.DirFS("../../action")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(path, "action", "release"), "v1.2.3\n")
	step := h.command(t, "pull_request", h.opened(), map[string]string{"sandbox": "none"})
	env := append(step.Env, "GITHUB_ACTION_PATH="+path, "SANDBOX=none", "YCBOT_RELEASES="+releases, "YCBOT_RELEASES_PROTO==http,https",
		"YCBOT="+filepath.Join(h.temp, "ycbot-bin", regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(path, "-"), "ycbot"))
	text := runsOf(t)
	began := time.Now()
	for _, id := range []string{"prepare", "find", "install"} {
		cmd := exec.CommandContext(t.Context(), "bash", "-e", "-c", text[id])
		cmd.Env, cmd.Dir = env, step.Dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("step %s: %v\n%s", id, err, out)
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-e", "-c", text["run"])
	cmd.Env, cmd.Dir = env, step.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what it began ends with it
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }()
	for s := bufio.NewScanner(out); s.Scan(); {
		if strings.Contains(s.Text(), "ycbot: ") {
			return time.Since(began), s.Text()
		}
	}
	t.Fatal("the program said nothing")
	return 0, ""
}

// runsOf are the shell texts of action.yml by the ids of its steps.
func runsOf(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var a struct {
		Runs struct {
			Steps []struct{ ID, Run string }
		}
	}
	if err := yaml.Unmarshal(data, &a); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, s := range a.Runs.Steps {
		out[s.ID] = s.Run
	}
	return out
}

package pairs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/report"
)

// A bench is what the runs of one study share.
type bench struct {
	env     []string // of the programs that are started
	binary  string   // ycbot
	scratch string   // a module to download from
	total   time.Time
	runs    []time.Duration
	cpu     time.Duration
	spent   map[string]time.Duration // in commands, by side and stage
}

// newStudy builds ycbot as it stands, with a YCBOT_HOME for this study alone.
func newStudy(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	s := &bench{
		binary: filepath.Join(dir, "ycbot"), scratch: filepath.Join(dir, "scratch"), total: time.Now(), spent: map[string]time.Duration{},
		env: append(os.Environ(), "YCBOT_HOME="+filepath.Join(dir, "home"),
			"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
			"GIT_AUTHOR_NAME=pairs", "GIT_AUTHOR_EMAIL=pairs@example.com", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z",
			"GIT_COMMITTER_NAME=pairs", "GIT_COMMITTER_EMAIL=pairs@example.com", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z"),
	}
	command(t, "../..", s.env, "go", "build", "-trimpath", "-o", s.binary, "./cmd/ycbot")
	if err := os.Mkdir(s.scratch, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.scratch, "go.mod"), []byte("module scratch\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return s
}

// race says whether tests can be linked with the race detector.
func (s *bench) race(t *testing.T) bool {
	t.Helper()
	cgo, cc, _ := strings.Cut(strings.TrimSpace(string(command(t, s.scratch, s.env, "go", "env", "CGO_ENABLED", "CC"))), "\n")
	program, _, _ := strings.Cut(cc, " ")
	_, err := exec.LookPath(program)
	return cgo == "1" && err == nil
}

// command runs a program and returns its standard output.
func command(t *testing.T, dir string, env []string, argv ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(argv, " "), err, out, stderr.Bytes())
	}
	return out
}

// download lets the go command fetch and verify a version, and returns the
// folder of its module cache that holds it.
func (s *bench) download(t *testing.T, module, version string) moduleFiles {
	t.Helper()
	var m moduleFiles
	if err := json.Unmarshal(command(t, s.scratch, s.env, "go", "mod", "download", "-json", module+"@"+version), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// ycbot runs the program as its users do and returns its report.
func (s *bench) ycbot(t *testing.T, dir, out, base, head string) *report.Report {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), s.binary, "run", "--no-model", "--base", base, "--head", head, "--format", "json", "--out", out)
	cmd.Dir, cmd.Env = dir, s.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	_, err := cmd.Output()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	s.cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	data, err := os.ReadFile(filepath.Join(out, "report.json"))
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	rep := new(report.Report)
	if err := json.Unmarshal(data, rep); err != nil {
		t.Fatal(err)
	}
	want := map[report.Verdict]int{report.Pass: 0, report.Fail: 1, report.Partial: 2, report.Error: 3}[rep.Verdict]
	if code := cmd.ProcessState.ExitCode(); code != want {
		t.Errorf("%s, but exit code %d\n%s", rep.Verdict, code, stderr.Bytes())
	}
	return rep
}

// add counts where the time of a run went.
func (s *bench) add(t *testing.T, out string, rep *report.Report) {
	t.Helper()
	s.runs = append(s.runs, time.Duration(rep.Timings.DurationMS)*time.Millisecond)
	data, err := os.ReadFile(filepath.Join(out, "evidence.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e struct {
			Task     string
			Duration int64 `json:"duration_ms"`
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		s.spent[e.Task] += time.Duration(e.Duration) * time.Millisecond
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// summarize says how long the study took, and with what.
func (s *bench) summarize(t *testing.T, rows []row) {
	t.Helper()
	if len(s.runs) == 0 {
		return
	}
	slices.Sort(s.runs)
	var all time.Duration
	for _, d := range s.runs {
		all += d
	}
	t.Logf("%d runs in %s; %s in ycbot (processor time %s), median %s, longest %s", len(rows), time.Since(s.total).Round(time.Second), all.Round(time.Second), s.cpu.Round(time.Second),
		s.runs[len(s.runs)/2].Round(time.Millisecond), s.runs[len(s.runs)-1].Round(time.Millisecond))
	var commands time.Duration
	for _, task := range slices.Sorted(maps.Keys(s.spent)) {
		commands += s.spent[task]
		t.Logf("%20s %s", task, s.spent[task].Round(time.Millisecond))
	}
	t.Logf("%20s %s", "outside of commands", (all - commands).Round(time.Millisecond))
}

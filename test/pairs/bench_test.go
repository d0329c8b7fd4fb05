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
	"github.com/ycbot/ycbot/test/releases"
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
		env: append(releases.GitEnv(os.Environ(), "pairs"), "YCBOT_HOME="+filepath.Join(dir, "home")),
	}
	command(t, "../..", s.env, "go", "build", "-trimpath", "-o", s.binary, "./cmd/ycbot")
	if err := releases.Scratch(s.scratch); err != nil {
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
	out, err := releases.Command(t.Context(), dir, env, argv...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// download fetches a version and returns where it lies.
func (s *bench) download(t *testing.T, module, version string) releases.Files {
	t.Helper()
	f, err := releases.Download(t.Context(), s.scratch, s.env, module, version)
	if err != nil {
		t.Fatal(err)
	}
	return f
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
func (s *bench) summarize(t *testing.T) {
	t.Helper()
	if len(s.runs) == 0 {
		return
	}
	slices.Sort(s.runs)
	var all time.Duration
	for _, d := range s.runs {
		all += d
	}
	t.Logf("%d runs in %s; %s in ycbot (processor time %s), median %s, longest %s", len(s.runs), time.Since(s.total).Round(time.Second), all.Round(time.Second), s.cpu.Round(time.Second),
		s.runs[len(s.runs)/2].Round(time.Millisecond), s.runs[len(s.runs)-1].Round(time.Millisecond))
	var commands time.Duration
	for _, task := range slices.Sorted(maps.Keys(s.spent)) {
		commands += s.spent[task]
		t.Logf("%20s %s", task, s.spent[task].Round(time.Millisecond))
	}
	t.Logf("%20s %s", "outside of commands", (all - commands).Round(time.Millisecond))
}

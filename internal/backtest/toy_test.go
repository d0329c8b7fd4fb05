package backtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

// A toy is an engine for projects whose tests each want a word in a source file. It
// judges a head by its own tests alone, as a naive bot does: what fails there and did not
// on the base is FAIL.
type toy struct {
	git   *git.Git
	runs  string       // file that gets a line for each verification; empty: none
	after func() error // called before each verification; may be nil
}

var (
	toyTest = regexp.MustCompile(`(?s)func (Test\w+)\(t \*testing\.T\) \{(.*?)\n?\}`)
	toyWant = regexp.MustCompile(`t\.Fatal\("(\w+)"\)`)
)

func (e toy) tests(ctx context.Context, dir, commit string) ([]run.SuiteTest, error) {
	s, err := workspace.OpenScratch(ctx, e.git, dir, "sha1")
	if err != nil {
		return nil, err
	}
	f := forge{s}
	all, err := f.files(ctx, commit)
	if err != nil {
		return nil, err
	}
	sources, out := "", []run.SuiteTest{}
	for name, b := range all {
		if text, err := f.read(ctx, b); err == nil && e.Class(name) == "source" {
			sources += string(text)
		}
	}
	for name, b := range all {
		text, err := f.read(ctx, b)
		if err != nil || e.Class(name) != "test" || bytes.HasPrefix(text, []byte("//go:build ignore")) {
			continue
		}
		for _, m := range toyTest.FindAllStringSubmatch(string(text), -1) {
			t := run.SuiteTest{Unit: ".", Package: "example.com/toy", Test: m[1], Passed: true}
			for _, want := range toyWant.FindAllStringSubmatch(m[2], -1) {
				if !strings.Contains(sources, want[1]) && !strings.Contains(m[2], "t.Skip(") {
					t.Passed, t.Failed = false, true
				}
			}
			out = append(out, t)
		}
	}
	return out, nil
}

func (e toy) Suite(ctx context.Context, job run.SuiteJob) (*run.SuiteResult, error) {
	tests, err := e.tests(ctx, job.Dir, job.Commit)
	return &run.SuiteResult{Tests: tests, Took: time.Second, Whole: job.Rest}, err
}

func (e toy) Verify(ctx context.Context, v Verification) (*report.Report, error) {
	if e.after != nil {
		if err := e.after(); err != nil {
			return nil, err
		}
	}
	tests, err := e.tests(ctx, v.Dir, v.Head)
	if err != nil {
		return nil, err
	}
	before, err := e.tests(ctx, v.Dir, v.Base)
	if err != nil {
		return nil, err
	}
	old := map[string]bool{}
	for _, t := range before {
		old[t.Name()] = t.Failed
	}
	rep := &report.Report{Verdict: report.Pass, Tests: &report.Tests{}}
	for _, t := range tests {
		if t.Failed && !old[t.Name()] {
			rep.Verdict = report.Fail
			rep.Tests.Regressed = append(rep.Tests.Regressed, t.Name())
			rep.Reasons = []string{"1 test regressed"}
		}
	}
	if v.UntilFirst {
		rep.Reasons = append(rep.Reasons, "first verdict")
	}
	if e.runs != "" {
		f, err := os.OpenFile(e.runs, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		_, err = f.WriteString(v.Head + "\n")
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
	data, err := json.Marshal(rep)
	if err != nil {
		return nil, err
	}
	return rep, errors.Join(os.MkdirAll(v.Out, 0o700), os.WriteFile(filepath.Join(v.Out, "report.json"), data, 0o600))
}

func (e toy) Outside(string) (report.Verdict, []string, error) {
	return report.Partial, []string{"weakened"}, nil
}

func (e toy) Class(name string) string {
	switch {
	case strings.HasSuffix(name, "_test.go"):
		return "test"
	case strings.HasSuffix(name, ".go"):
		return "source"
	}
	return "doc"
}

func newGit(t *testing.T) *git.Git {
	t.Helper()
	g, err := git.New("git", os.Environ(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A history is a repository that tests make.
type history struct {
	t   *testing.T
	dir string
}

func newHistory(t *testing.T) history {
	t.Helper()
	h := history{t, t.TempDir()}
	h.git("init", "-q", "-b", "main")
	return h
}

func (h history) git(args ...string) string {
	h.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir = h.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files, "" removes one, and returns the commit.
func (h history) commit(subject string, files map[string]string) string {
	h.t.Helper()
	for name, text := range files {
		file := filepath.Join(h.dir, name)
		if text == "" {
			if err := os.Remove(file); err != nil {
				h.t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			h.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			h.t.Fatal(err)
		}
	}
	h.git("add", "-A")
	h.git("commit", "-q", "--allow-empty", "-m", subject)
	return h.git("rev-parse", "HEAD")
}

func (h history) source(name string) Source {
	return Source{Name: name, GitDir: filepath.Join(h.dir, ".git"), Format: "sha1"}
}

const toyHead = "package toy\n\nimport \"testing\"\n"

func toyFunc(name, want string) string {
	return "\nfunc Test" + name + "(t *testing.T) {\n\tt.Fatal(\"" + want + "\")\n}\n"
}

// toyHistory has changes with tests and without, a test that always fails, and commits
// that are no changes.
func toyHistory(t *testing.T) history {
	t.Helper()
	h := newHistory(t)
	h.commit("first", map[string]string{"a.go": "package toy // one\n", "a_test.go": toyHead + toyFunc("One", "one"), "broken_test.go": toyHead + toyFunc("Broken", "never")})
	h.commit("second", map[string]string{"a.go": "package toy // one two\n", "a_test.go": toyHead + toyFunc("One", "one") + toyFunc("Two", "two")})
	h.commit("readme", map[string]string{"README.md": "toy\n"})
	h.commit("no tests", map[string]string{"b.go": "package toy // plain\n"})
	h.commit("third", map[string]string{"c.go": "package toy // three\n", "c_test.go": toyHead + toyFunc("Three", "three")})
	h.commit("Revert \"third\"", map[string]string{"c.go": "package toy\n"})
	h.commit("third again", map[string]string{"c.go": "package toy // three\n"})
	return h
}

func newToy(t *testing.T, progress io.Writer) (*Backtest, toy) {
	t.Helper()
	g := newGit(t)
	e := toy{git: g}
	return &Backtest{Engine: e, Git: g, Version: "test", Now: time.Now, Progress: progress, Log: slog.New(slog.DiscardHandler)}, e
}

func settings(t *testing.T, sources ...Source) Settings {
	t.Helper()
	return Settings{Sources: sources, Last: 10, Arms: []Arm{Good, Undone, Unseen, Tampered}, Seed: 7, Jobs: 1, Timeout: time.Minute, Out: filepath.Join(t.TempDir(), "out")}
}

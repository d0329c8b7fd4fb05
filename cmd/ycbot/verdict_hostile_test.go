package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/github"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
	"github.com/ycbot/ycbot/internal/testing/variants"
)

const (
	verdictWorkflow = ".github/workflows/ycbot.yml"
	workflowText    = "on: pull_request\njobs: {verify: {steps: [uses: ycbot/ycbot@v1]}}\n"
)

// A left is a repository whose pull request the Action has verified, and what it left.
type left struct {
	*hosted
	head, base string
	run        githubtest.WorkflowRun // an honest one of the pull request
	dir        map[string][]byte      // the run directory
}

// newLeft makes the repository. It has the same commits each time, so that what one run
// left is good for all of them.
func newLeft(t *testing.T, text string, dir map[string][]byte) *left {
	t.Helper()
	l := &left{hosted: newHosted(t, good), dir: dir}
	l.Push(l.repo, githubtest.Commit{Branch: "main", Message: "workflow", Files: map[string]string{verdictWorkflow: text}})
	l.base = l.Head(l.repo, "main")
	l.head = l.Push(l.repo, githubtest.Commit{Branch: "work", Message: "work", Files: map[string]string{verdictWorkflow: text}})
	l.AddFork(l.repo, "mallory")
	l.run = githubtest.WorkflowRun{Path: verdictWorkflow, Event: "pull_request", HeadSHA: l.head, From: l.repo, Bases: []string{l.base}, Actor: "alice"}
	return l
}

// verified is what a run left of the repository that newLeft makes.
func verified(t *testing.T) map[string][]byte {
	t.Helper()
	l := newLeft(t, workflowText, nil)
	s := l.step(t, "pull_request", l.PullEvent(l.repo, l.pull, "synchronize", "alice", ""), nil)
	if s.code != 0 || s.outputs["verdict"] != "PASS" {
		t.Fatal(s.log)
	}
	return filesOf(t, s.outputs["report-dir"])
}

func filesOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out[path], err = fs.ReadFile(root, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// with is the honest run but for what change does.
func (l *left) with(change func(*githubtest.WorkflowRun)) githubtest.WorkflowRun {
	r := l.run
	change(&r)
	return r
}

// leave has a workflow run leave the run directory, as change makes it.
func (l *left) leave(t *testing.T, run githubtest.WorkflowRun, change func(map[string][]byte)) {
	t.Helper()
	dir := maps.Clone(l.dir)
	if change != nil {
		change(dir)
	}
	l.AddArtifactOf(l.repo, "ycbot", run, archived(t, func(z *zip.Writer) {
		for _, name := range slices.Sorted(maps.Keys(dir)) {
			entry(t, z, &zip.FileHeader{Name: name, Method: zip.Deflate}, dir[name])
		}
	}))
}

// replace changes a file of a run directory, and its sum.
func replace(dir map[string][]byte, name, from, to string) {
	was := sha256.Sum256(dir[name])
	dir[name] = []byte(strings.ReplaceAll(string(dir[name]), from, to))
	now := sha256.Sum256(dir[name])
	dir["SHA256SUMS"] = bytes.ReplaceAll(dir["SHA256SUMS"], []byte(hex.EncodeToString(was[:])), []byte(hex.EncodeToString(now[:])))
}

func archived(t *testing.T, write func(*zip.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	write(z)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func entry(t *testing.T, z *zip.Writer, h *zip.FileHeader, data []byte) {
	t.Helper()
	w, err := z.CreateHeader(h)
	if err == nil {
		_, err = w.Write(data)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// ask reads the verdict of the head as a merge robot.
func (l *left) ask(t *testing.T, args ...string) step {
	t.Helper()
	l.token = l.Token("github-actions[bot]", map[string]string{"contents": "read", "checks": "read", "pull_requests": "read", "actions": "read"}, "actions")
	return ended(t, l.command(t, "push", []byte("{}"), nil, append([]string{"verdict", "--repo", l.repo.String(), "--sha", l.head}, args...)...))
}

// Of what the default branch's workflow left of this commit the verdict counts.
func TestVerdictOfAction(t *testing.T) {
	variants.Only(t) // TestVerdict has the exit codes
	t.Parallel()
	dir := verified(t)
	for _, row := range []struct {
		name string
		do   func(*left)
		code int
		says string
		args []string
	}{
		{"the pull request's own run", func(l *left) { l.leave(t, l.run, nil) }, 0, "computed again", nil},
		{"a comment's, on the default branch", func(l *left) {
			l.leave(t, l.with(func(r *githubtest.WorkflowRun) { r.Event, r.HeadSHA, r.Bases = "issue_comment", l.base, nil }), nil)
		}, 0, "computed again", nil},
		{"a comment's, although the workflow has an action of its own", func(l *left) {
			l.Push(l.repo, githubtest.Commit{Branch: "main", Message: "local", Files: map[string]string{verdictWorkflow: "jobs: {a: {steps: [uses: ./setup]}}\n"}})
			l.leave(t, l.with(func(r *githubtest.WorkflowRun) {
				r.Event, r.HeadSHA, r.Bases = "issue_comment", l.Head(l.repo, "main"), nil
			}), nil)
		}, 0, "computed again", nil},
		{"the merge queue's", func(l *left) {
			l.leave(t, l.with(func(r *githubtest.WorkflowRun) {
				r.Event, r.Bases, r.Branch = "merge_group", nil, "gh-readonly-queue/main/pr-1-"+l.base
			}), nil)
		}, 0, "computed again", nil},
		{"after runs of other commits", func(l *left) {
			l.leave(t, l.run, nil)
			for range 3 {
				l.leave(t, l.with(func(r *githubtest.WorkflowRun) { r.HeadSHA = l.base }), nil)
			}
		}, 0, "computed again", nil},
		{"the default branch went on", func(l *left) {
			l.leave(t, l.run, nil)
			l.Push(l.repo, githubtest.Commit{Branch: "main", Message: "more", Files: map[string]string{"more": "x\n"}})
		}, 0, "computed again", nil},
		{"led to this base long before", func(l *left) {
			l.Push(l.repo, githubtest.Commit{Branch: "stack", Message: "stack", Files: map[string]string{"x": "y\n"}})
			l.SetBase(l.repo, l.pull, "stack")
			l.SetBase(l.repo, l.pull, "main")
			l.Advance(time.Hour)
			l.leave(t, l.run, nil)
		}, 0, "computed again", nil},
		{"under another name", func(l *left) {
			l.AddArtifactOf(l.repo, "other", l.run, archived(t, func(z *zip.Writer) {
				for name, data := range dir {
					entry(t, z, &zip.FileHeader{Name: name}, data)
				}
			}))
		}, 0, "computed again", []string{"--artifact", "other"}},
		{"no such workflow", func(l *left) { l.leave(t, l.run, nil) }, 3, "no such file", []string{"--workflow", ".github/workflows/none.yml"}},
		{"for another branch than its base", func(l *left) {
			l.SetBranch(l.repo, "release", l.Head(l.repo, "main")+"~1")
			l.leave(t, l.run, nil)
		}, 3, "goes into main, not release", []string{"--base", "release"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l := newLeft(t, workflowText, dir)
			row.do(l)
			if s := l.ask(t, row.args...); s.code != row.code || !strings.Contains(s.log, row.says) {
				t.Errorf("exit %d, want %d and %q: %s", s.code, row.code, row.says, s.log)
			}
		})
	}
}

// A tampering changes what lies between a workflow and who reads its verdict.
type tampering struct {
	name string
	do   func(*testing.T, *left)
	says string // of the answer, which is exit code 3
}

// Whatever someone who may push branches, open pull requests and make workflows of their
// own does to what verdict reads, it answers with no verdict and the reason.
func TestVerdictTampered(t *testing.T) {
	variants.Only(t) // TestPublishTampered edits the same files
	t.Parallel()
	dir := verified(t)
	for _, row := range slices.Concat(tamperedRuns(), tamperedBases(), tamperedArtifacts(), tamperedArchives()) {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l := newLeft(t, workflowText, dir)
			row.do(t, l)
			s := l.ask(t)
			if s.code != 3 || !strings.Contains(s.log, row.says) || strings.Contains(s.log, "PASS: ") {
				t.Errorf("exit %d, want 3 and %q: %s", s.code, row.says, s.log)
			}
		})
	}
}

// checked has the job's own token write a check run.
func (l *left) checked(t *testing.T, r github.CheckRun) {
	t.Helper()
	c, err := github.New(github.Options{BaseURL: l.URL, Token: l.Token("", mayPost, "actions"), Now: time.Now})
	if err == nil {
		r.Name, r.HeadSHA, r.ExternalID = "ycbot", l.head, strings.Repeat("a", 64)
		r.Output = &github.Output{Title: "PASS: all is well", Summary: "x"}
		_, err = c.CreateCheckRun(t.Context(), l.repo, r)
	}
	if err != nil {
		t.Fatal(err)
	}
}

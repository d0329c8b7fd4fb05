package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/githubtest"
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

// Whatever somebody who may push branches, open pull requests and make workflows of their
// own does to what verdict reads, it answers with no verdict and the reason.
func TestVerdictTampered(t *testing.T) {
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

// tamperedRuns are workflow runs that do not count.
func tamperedRuns() []tampering {
	run := func(name, says string, change func(*left, *githubtest.WorkflowRun)) tampering {
		return tampering{name, func(t *testing.T, l *left) {
			t.Helper()
			l.leave(t, l.with(func(r *githubtest.WorkflowRun) { change(l, r) }), nil)
		}, says}
	}
	type changed = githubtest.WorkflowRun
	evil := func(l *left) string {
		return l.Push(l.repo, githubtest.Commit{Branch: "evil", Message: "evil", Files: map[string]string{verdictWorkflow: workflowText + "# and forge it\n"}})
	}
	fork := github.Repo{Owner: "mallory", Name: "sums"}
	return []tampering{
		{"nothing was left", func(*testing.T, *left) {}, "no artifact"},
		{"a check of another workflow and no artifact", func(t *testing.T, l *left) {
			t.Helper()
			l.checked(t, github.CheckRun{Status: "completed", Conclusion: "success"})
		}, "no artifact"},
		{"the commit is being verified again", func(t *testing.T, l *left) {
			t.Helper()
			l.leave(t, l.run, nil)
			l.checked(t, github.CheckRun{Status: "in_progress"})
		}, "is not completed"},
		run("another workflow", "of another workflow", func(_ *left, r *changed) { r.Path = ".github/workflows/forge.yml" }),
		run("a workflow of another branch", "of another workflow", func(_ *left, r *changed) { r.Path = ".github/workflows/forge.yml@refs/heads/main" }),
		run("a fork", "of a fork", func(_ *left, r *changed) { r.From, r.Bases = fork, nil }),
		run("a fork that names a base", "of a fork", func(_ *left, r *changed) { r.From = fork }),
		run("another head", "of another commit", func(l *left, r *changed) { r.HeadSHA = l.base }),
		run("no pull request", "of no pull request", func(_ *left, r *changed) { r.Bases = nil }),
		run("a base that changes the workflow", "is another one at", func(l *left, r *changed) { r.Bases = []string{evil(l)} }),
		run("dispatched where the workflow is changed", "is another one at", func(l *left, r *changed) { r.Event, r.HeadSHA = "workflow_dispatch", evil(l) }),
		run("a comment's, from another branch", "is another one at", func(l *left, r *changed) { r.Event, r.HeadSHA = "issue_comment", evil(l) }),
		run("pull_request_target", "started by pull_request_target", func(_ *left, r *changed) { r.Event = "pull_request_target" }),
		run("workflow_run", "started by workflow_run", func(_ *left, r *changed) { r.Event = "workflow_run" }),
		run("a schedule", "started by schedule", func(_ *left, r *changed) { r.Event = "schedule" }),
		run("a push of another commit", "of another commit", func(l *left, r *changed) { r.Event, r.HeadSHA = "push", l.base }),
		run("an update by a bot", "is a claim", func(_ *left, r *changed) { r.Actor = "robot[bot]" }),
		run("a run that has not ended", "has not ended (in_progress)", func(_ *left, r *changed) { r.Status = "in_progress" }),
		run("a run that was cancelled", "ended as cancelled", func(_ *left, r *changed) { r.Conclusion = "cancelled" }),
		run("another job of it failed", "ended as failure", func(_ *left, r *changed) { r.Conclusion = "failure" }),
		{"an attempt that failed after one that passed", func(t *testing.T, l *left) {
			t.Helper()
			l.leave(t, l.with(func(r *changed) { r.ID = 4711 }), nil)
			l.leave(t, l.with(func(r *changed) { r.ID, r.Conclusion = 4711, "failure" }), func(dir map[string][]byte) { delete(dir, "SHA256SUMS") })
		}, "workflow run 4711"},
		{"the workflow is another one by now", func(t *testing.T, l *left) {
			t.Helper()
			l.leave(t, l.run, nil)
			l.Push(l.repo, githubtest.Commit{Branch: "main", Message: "another workflow", Files: map[string]string{verdictWorkflow: "on: push\n"}})
		}, "is another one at"},
		{"an action of the repository's own", func(t *testing.T, l *left) {
			t.Helper()
			text := "on: pull_request\njobs: {verify: {steps: [uses: ./setup, uses: ycbot/ycbot@v1]}}\n"
			l.Push(l.repo, githubtest.Commit{Branch: "main", Message: "local", Files: map[string]string{verdictWorkflow: text}})
			l.head = l.Push(l.repo, githubtest.Commit{Branch: "work", Message: "local", Files: map[string]string{verdictWorkflow: text, "setup/action.yml": "runs: forge\n"}})
			l.leave(t, l.with(func(r *changed) { r.HeadSHA, r.Bases = l.head, []string{l.Head(l.repo, "main")} }), nil)
		}, "uses ./setup, which a change can replace"},
	}
}

// tamperedBases are runs against a base that is not the one that the commit goes into.
func tamperedBases() []tampering {
	lax := func(l *left) { // where every change passes, and the workflow is another one
		l.Push(l.repo, githubtest.Commit{Branch: "lax", Message: "lax", Files: map[string]string{
			".github/ycbot.yml": "version: 1\ncommands: {test: 'true'}\n", verdictWorkflow: workflowText + "# and forge it\n",
		}})
	}
	return []tampering{
		{"led to the right base after the run", func(t *testing.T, l *left) {
			t.Helper()
			lax(l)
			l.SetBase(l.repo, l.pull, "lax")
			l.Advance(time.Hour)
			l.leave(t, l.run, nil)
			l.Advance(time.Hour)
			l.SetBase(l.repo, l.pull, "main")
		}, "went into another base then"},
		{"a second pull request of the branch", func(t *testing.T, l *left) {
			t.Helper()
			lax(l)
			l.OpenPull(l.repo, githubtest.Pull{Title: "Also", Author: "alice", Head: "work", Base: "lax"})
			l.leave(t, l.run, nil)
		}, "goes into lax, not main"},
		{"a second pull request, closed after the run", func(t *testing.T, l *left) {
			t.Helper()
			lax(l)
			n := l.OpenPull(l.repo, githubtest.Pull{Title: "Also", Author: "alice", Head: "work", Base: "lax"})
			l.leave(t, l.run, nil)
			l.Close(l.repo, n)
		}, "goes into lax, not main"},
		{"a branch of another name at the commit", func(t *testing.T, l *left) {
			t.Helper()
			l.leave(t, l.with(func(r *githubtest.WorkflowRun) { r.Branch = "gone" }), nil)
		}, "no pull request of its branch"},
		{"the base was rewritten", func(t *testing.T, l *left) {
			t.Helper()
			l.leave(t, l.run, nil)
			l.SetBranch(l.repo, "main", l.base+"~1")
			l.Push(l.repo, githubtest.Commit{Branch: "main", Message: "again", Files: map[string]string{verdictWorkflow: workflowText}})
		}, "not in the history of main"},
		{"a comment on a pull request into another base", func(t *testing.T, l *left) {
			t.Helper()
			lax(l)
			s := l.onLax(t)
			l.dir = filesOf(t, s.outputs["report-dir"])
			l.leave(t, l.with(func(r *githubtest.WorkflowRun) { r.Event, r.HeadSHA, r.Bases = "issue_comment", l.base, nil }), nil)
		}, "not in the history of main"},
	}
}

// onLax verifies the same head against the base where every change passes.
func (l *left) onLax(t *testing.T) step {
	t.Helper()
	was := l.pull
	l.pull = l.OpenPull(l.repo, githubtest.Pull{Title: "Also", Author: "alice", Head: "work", Base: "lax"})
	defer func() { l.pull = was }()
	s := l.step(t, "pull_request", l.opened(), map[string]string{"check": "false"})
	if s.outputs["verdict"] != "PASS" {
		t.Fatal(s.log)
	}
	return s
}

// A damage is done to a run directory after the run has left it.
type damage struct {
	name, says string
	change     func(map[string][]byte)
}

// damages are one of each kind.
func damages() []damage {
	return []damage{
		{"the report's verdict", "not intact", func(d map[string][]byte) { replace(d, "report.json", `"PASS"`, `"FAIL"`) }},
		{"the report's text", "not intact", func(d map[string][]byte) { d["report.md"] = []byte("all is well\n") }},
		{"an exit code of the log", "not intact", func(d map[string][]byte) { replace(d, "evidence.jsonl", `"exit":0`, `"exit":1`) }},
		{"a digest of the log", "not intact", func(d map[string][]byte) { replace(d, "evidence.jsonl", `"sha256":"`, `"sha256":"00`) }},
		{"the log is empty", "not intact", func(d map[string][]byte) {
			replace(d, "evidence.jsonl", string(d["evidence.jsonl"]), "")
		}},
		{"no journal", "not intact", func(d map[string][]byte) { delete(d, "journal.jsonl") }},
		{"another journal", "not intact", func(d map[string][]byte) { replace(d, "journal.jsonl", "sh test.sh", "true") }},
		{"no report", "not intact", func(d map[string][]byte) { delete(d, "report.json") }},
		{"a report that cannot be read", "not intact", func(d map[string][]byte) { replace(d, "report.json", "{", "[") }},
		{"no sums", "SHA256SUMS", func(d map[string][]byte) { delete(d, "SHA256SUMS") }},
		{"a file more", "not intact", func(d map[string][]byte) { d["more.txt"] = []byte("x\n") }},
		{"nothing at all", "SHA256SUMS", func(d map[string][]byte) { clear(d) }},
		{"a report of another commit", "not intact", func(d map[string][]byte) {
			replace(d, "report.json", `"head_sha": "`, `"head_sha": "ffff`)
		}},
		{"a report that fills the memory", "no run writes more than", func(d map[string][]byte) { d["report.json"] = make([]byte, 65<<20) }},
	}
}

// tamperedArtifacts are run directories that no run left so.
func tamperedArtifacts() []tampering {
	var out []tampering
	for _, e := range damages() {
		out = append(out, tampering{e.name, func(t *testing.T, l *left) {
			t.Helper()
			l.leave(t, l.run, nil) // what is older does not stand in for it
			l.leave(t, l.run, e.change)
		}, e.says})
	}
	return append(out, []tampering{
		{"a run of another repository", func(t *testing.T, l *left) {
			t.Helper()
			l.leave(t, l.run, func(d map[string][]byte) { replace(d, "report.json", "acme/sums", "acme/others") })
		}, "not intact"},
		{"a swapped run of another change", func(t *testing.T, l *left) {
			t.Helper()
			l.Push(l.repo, githubtest.Commit{Branch: "next", Message: "next", Files: map[string]string{"sum.sh": good["sum.sh"], verdictWorkflow: workflowText}})
			was := l.pull
			l.pull = l.OpenPull(l.repo, githubtest.Pull{Title: "Next", Author: "alice", Head: "next"})
			s := l.step(t, "pull_request", l.opened(), nil)
			l.pull, l.dir = was, filesOf(t, s.outputs["report-dir"])
			l.leave(t, l.run, nil)
		}, "its artifact is about commit"},
		{"the newest has expired", func(t *testing.T, l *left) {
			t.Helper()
			l.leave(t, l.run, nil)
			l.leave(t, l.with(func(r *githubtest.WorkflowRun) { r.Expired = true }), nil)
		}, "has expired"},
		{"two of one run, the newer one broken", func(t *testing.T, l *left) {
			t.Helper()
			one := l.with(func(r *githubtest.WorkflowRun) { r.ID = 4711 })
			l.leave(t, one, nil)
			l.leave(t, one, func(d map[string][]byte) { delete(d, "journal.jsonl") })
		}, "not intact"},
		{"many that a comment left of others", func(t *testing.T, l *left) {
			t.Helper()
			l.leave(t, l.run, nil)
			for range maxRecords {
				l.leave(t, l.with(func(r *githubtest.WorkflowRun) { r.Event, r.HeadSHA, r.Bases = "issue_comment", l.base, nil }), func(d map[string][]byte) {
					d["report.json"] = bytes.ReplaceAll(d["report.json"], []byte(l.head), []byte(l.base))
				})
			}
		}, fmt.Sprintf("none of the newest %d artifacts", maxRecords)},
	}...)
}

// tamperedArchives are archives that no upload makes.
func tamperedArchives() []tampering {
	raw := func(name, says string, write func(*testing.T, *left, *zip.Writer)) tampering {
		return tampering{name, func(t *testing.T, l *left) {
			t.Helper()
			l.leave(t, l.run, nil)
			l.AddArtifactOf(l.repo, "ycbot", l.run, archived(t, func(z *zip.Writer) {
				for _, name := range slices.Sorted(maps.Keys(l.dir)) {
					entry(t, z, &zip.FileHeader{Name: name}, l.dir[name])
				}
				write(t, l, z)
			}))
		}, says}
	}
	named := func(path string) func(*testing.T, *left, *zip.Writer) {
		return func(t *testing.T, _ *left, z *zip.Writer) {
			t.Helper()
			entry(t, z, &zip.FileHeader{Name: path}, []byte("x\n"))
		}
	}
	return []tampering{
		raw("a path that leads out", "unpack the artifact", named("../out")),
		raw("a path that leads out further down", "unpack the artifact", named("spill/../../out")),
		raw("an absolute path", "unpack the artifact", named("/tmp/out")),
		raw("a file twice", "unpack the artifact", named("report.json")),
		raw("a symbolic link", "no regular file", func(t *testing.T, _ *left, z *zip.Writer) {
			t.Helper()
			h := &zip.FileHeader{Name: "link"}
			h.SetMode(fs.ModeSymlink | 0o777)
			entry(t, z, h, []byte("/etc/passwd"))
		}),
		raw("a named pipe", "no regular file", func(t *testing.T, _ *left, z *zip.Writer) {
			t.Helper()
			h := &zip.FileHeader{Name: "pipe"}
			h.SetMode(fs.ModeNamedPipe | 0o600)
			entry(t, z, h, nil)
		}),
		raw("a bomb", "more than 1073741824 bytes", func(t *testing.T, _ *left, z *zip.Writer) {
			t.Helper()
			for i := range 3 { // as it declares itself; each is written as nothing
				h := &zip.FileHeader{Name: fmt.Sprint("bomb", i), UncompressedSize64: 500 << 20, Method: zip.Store}
				if _, err := z.CreateRaw(h); err != nil {
					t.Fatal(err)
				}
			}
		}),
		raw("a bomb that declares less", "unpack the artifact", func(t *testing.T, _ *left, z *zip.Writer) {
			t.Helper()
			h := &zip.FileHeader{Name: "bomb", UncompressedSize64: 1, CompressedSize64: 64, Method: zip.Store}
			w, err := z.CreateRaw(h)
			if err == nil {
				_, err = w.Write(make([]byte, 64))
			}
			if err != nil {
				t.Fatal(err)
			}
		}),
		raw("too many files", "20001 files", func(t *testing.T, l *left, z *zip.Writer) {
			t.Helper()
			for i := range archiveFiles + 1 - len(l.dir) {
				entry(t, z, &zip.FileHeader{Name: fmt.Sprint("f", i)}, nil)
			}
		}),
		{"a truncated archive", func(t *testing.T, l *left) {
			t.Helper()
			whole := archived(t, func(z *zip.Writer) { entry(t, z, &zip.FileHeader{Name: "report.json"}, l.dir["report.json"]) })
			l.AddArtifactOf(l.repo, "ycbot", l.run, whole[:len(whole)/2])
		}, "not a valid zip file"},
		{"no archive", func(_ *testing.T, l *left) { l.AddArtifactOf(l.repo, "ycbot", l.run, []byte("<html>")) }, "not a valid zip file"},
	}
}

// posting executes the step that posts what another job left in dir.
func (l *left) posting(t *testing.T, name string, event []byte, dir string) step {
	t.Helper()
	return l.step(t, name, event, map[string]string{"publish": dir})
}

// laidOut is the run directory, as change makes it.
func (l *left) laidOut(t *testing.T, change func(map[string][]byte)) string {
	t.Helper()
	files := maps.Clone(l.dir)
	if change != nil {
		change(files)
	}
	dir := filepath.Join(t.TempDir(), "run")
	for name, data := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// What lies between the job that executes and the job that posts is posted where it is what
// a run left of the pull request that the event is about; as a claim where another workflow
// left it; and not at all where anything of it was changed.
func TestPublishTampered(t *testing.T) {
	t.Parallel()
	dir := verified(t)
	type row struct {
		name, event string
		do          func(*testing.T, *left) (event []byte, dir string)
		says        string // of the log, where nothing is posted
		conclusion  string // of the check run, where it is
	}
	comment := func(_ *testing.T, l *left) []byte {
		_, event := l.says("alice", "/verify "+l.head)
		return event
	}
	ended := func(_ *testing.T, l *left) []byte { return l.WorkflowRunEvent(l.repo, l.pull, 77, "success", "alice") }
	rows := []row{
		{"honest, of the same workflow", "issue_comment", func(t *testing.T, l *left) ([]byte, string) { return comment(t, l), l.laidOut(t, nil) }, "", "success"},
		{"honest, of another workflow", "workflow_run", func(t *testing.T, l *left) ([]byte, string) { return ended(t, l), l.laidOut(t, nil) }, "", "neutral"},
		{"the head moved meanwhile", "workflow_run", func(t *testing.T, l *left) ([]byte, string) {
			event := ended(t, l)
			l.Push(l.repo, githubtest.Commit{Branch: "work", Message: "more", Files: map[string]string{"x": "y\n"}})
			return event, l.laidOut(t, nil)
		}, "", "cancelled"},
		{"of another pull request", "issue_comment", func(t *testing.T, l *left) ([]byte, string) {
			l.Push(l.repo, githubtest.Commit{Branch: "next", Message: "next", Files: bad})
			l.pull = l.OpenPull(l.repo, githubtest.Pull{Title: "Next", Author: "alice", Head: "next"})
			return comment(t, l), l.laidOut(t, nil)
		}, "the run is of pull request 1, and this event of 2", ""},
		{"of another head than the workflow's", "workflow_run", func(t *testing.T, l *left) ([]byte, string) {
			l.Push(l.repo, githubtest.Commit{Branch: "work", Message: "more", Files: bad})
			return ended(t, l), l.laidOut(t, nil)
		}, "and the workflow that left it of", ""},
		{"of another repository's event", "issue_comment", func(t *testing.T, l *left) ([]byte, string) {
			return bytes.ReplaceAll(comment(t, l), []byte(`"sums"`), []byte(`"others"`)), l.laidOut(t, nil)
		}, "and this workflow of acme/others", ""},
		{"of a pull request from another repository", "workflow_run", func(t *testing.T, l *left) ([]byte, string) {
			event := ended(t, l)
			l.Close(l.repo, l.pull)
			fork := github.Repo{Owner: "mallory", Name: "sums"}
			l.SetBranch(fork, "same", l.head)
			n := l.OpenPull(l.repo, githubtest.Pull{Title: "Same", Author: "mallory", Head: "same", From: fork})
			forks := l.WorkflowRunEvent(l.repo, n, 78, "success", "mallory")
			if bytes.Equal(event, forks) {
				t.Fatal("the events are the same")
			}
			return forks, l.laidOut(t, nil)
		}, "is not of the repository that pull request 1 is from", ""},
		{"a symbolic link in place of the report", "issue_comment", func(t *testing.T, l *left) ([]byte, string) {
			dir, elsewhere := l.laidOut(t, nil), filepath.Join(t.TempDir(), "report.json")
			if err := errors.Join(os.Rename(filepath.Join(dir, "report.json"), elsewhere), os.Symlink(elsewhere, filepath.Join(dir, "report.json"))); err != nil {
				t.Fatal(err)
			}
			return comment(t, l), dir
		}, "no regular file", ""},
		{"a folder that is not there", "issue_comment", func(t *testing.T, l *left) ([]byte, string) {
			return comment(t, l), filepath.Join(t.TempDir(), "none")
		}, "none", ""},
	}
	for _, d := range damages() {
		for _, name := range []string{"issue_comment", "workflow_run"} {
			of := map[string]func(*testing.T, *left) []byte{"issue_comment": comment, "workflow_run": ended}[name]
			rows = append(rows, row{d.name + ", " + name, name, func(t *testing.T, l *left) ([]byte, string) { return of(t, l), l.laidOut(t, d.change) }, d.says, ""})
		}
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l := newLeft(t, workflowText, dir)
			event, dir := row.do(t, l)
			s := l.posting(t, row.event, event, dir)
			checks := l.CheckRuns(l.repo)
			if row.conclusion != "" {
				if s.code != 0 || len(checks) != 1 || checks[0].Conclusion != row.conclusion || checks[0].HeadSHA != l.head {
					t.Errorf("exit %d, want 0 and one check run that ends as %s: %+v\n%s", s.code, row.conclusion, checks, s.log)
				}
				return
			}
			if s.code != 3 || !strings.Contains(s.log, row.says) || len(checks) != 0 || len(l.posted()) != 0 {
				t.Errorf("exit %d, want 3 and %q, check runs %+v, comments %q\n%s", s.code, row.says, checks, l.posted(), s.log)
			}
		})
	}
}

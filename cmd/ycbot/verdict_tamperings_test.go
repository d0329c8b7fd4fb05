package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/github"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
	"github.com/ycbot/ycbot/internal/verdict"
)

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
		{"no sums", "SHA256SUMS: it was broken off", func(d map[string][]byte) { delete(d, "SHA256SUMS") }},
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
			for range verdict.MaxRecords {
				l.leave(t, l.with(func(r *githubtest.WorkflowRun) { r.Event, r.HeadSHA, r.Bases = "issue_comment", l.base, nil }), func(d map[string][]byte) {
					d["report.json"] = bytes.ReplaceAll(d["report.json"], []byte(l.head), []byte(l.base))
				})
			}
		}, fmt.Sprintf("none of the newest %d artifacts", verdict.MaxRecords)},
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
		raw("a symbolic link", "not a regular file", func(t *testing.T, _ *left, z *zip.Writer) {
			t.Helper()
			h := &zip.FileHeader{Name: "link"}
			h.SetMode(fs.ModeSymlink | 0o777)
			entry(t, z, h, []byte("/etc/passwd"))
		}),
		raw("a named pipe", "not a regular file", func(t *testing.T, _ *left, z *zip.Writer) {
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
			for i := range verdict.MaxFiles + 1 - len(l.dir) {
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

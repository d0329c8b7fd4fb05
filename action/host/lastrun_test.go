package host

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/github"
	"github.com/ycbot/ycbot/internal/job"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/pullrun"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
	githubtest "github.com/ycbot/ycbot/internal/testing/github"
	"github.com/ycbot/ycbot/internal/verdict"
)

// The last run is asked for where the head is trusted, and not where /verify full says that a
// run begins again.
func TestLastRunIsAskedFor(t *testing.T) {
	t.Parallel()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"total_count": 0, "artifacts": []}`))
	}))
	t.Cleanup(server.Close)
	client, err := github.New(github.Options{BaseURL: server.URL, Token: "t", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	h := &Host{GitHub: &pullrun.GitHub{Client: client, Repo: github.Repo{Owner: "o", Name: "r"}, Pull: &github.Snapshot{}}}
	for _, tt := range []struct {
		job  job.Job
		want int
	}{{job.Job{Trust: job.Trusted}, 1}, {job.Job{Trust: job.Trusted, Full: true}, 0}, {job.Job{Trust: job.Untrusted}, 0}} {
		asked = 0
		if last, err := h.lastRun(t.Context(), tt.job, t.TempDir()); last != "" || err != nil || asked != tt.want {
			t.Errorf("%+v: %q, %v, asked %d times", tt.job, last, err, asked)
		}
	}
}

// kept is a repository in which artifacts lie, and a host that looks into them for pull request 7 of branch work.
type kept struct {
	*githubtest.Server
	*Host
	repo github.Repo
}

func newKept(t *testing.T) *kept {
	t.Helper()
	k := &kept{Server: githubtest.New(t), repo: github.Repo{Owner: "acme", Name: "sums"}}
	id := k.AddRepo(k.repo.Owner, k.repo.Name).ID
	client := k.client(t, map[string]string{"contents": "read", "checks": "write", "actions": "read"})
	pull := &github.Snapshot{Pull: github.Pull{Head: github.Ref{Name: "work", RepoID: id}, Base: github.Ref{Name: "main", RepoID: id}}}
	k.Host = &Host{GitHub: &pullrun.GitHub{Client: client, Repo: k.repo, Pull: pull}, Say: func(line string) { t.Log(line) }}
	return k
}

// client asks with a token that has these permissions.
func (k *kept) client(t *testing.T, may map[string]string) *github.Client {
	t.Helper()
	c, err := github.New(github.Options{BaseURL: k.URL, Token: k.Token("github-actions[bot]", may, "actions"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// archiveOf is the archive of an artifact that holds a folder.
func archiveOf(t *testing.T, dir string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if err := errors.Join(z.AddFS(os.DirFS(dir)), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What an earlier version recorded in another format is not concluded again, nor what is not as its run left it, and
// nothing older instead of it.
func TestRecordThatCannotBeRead(t *testing.T) {
	t.Parallel()
	k := newKept(t)
	k.Push(k.repo, githubtest.Commit{Branch: "work", Message: "later"})
	looks := func(dir string, want bool) {
		t.Helper()
		rep, err := readReport(dir)
		if err != nil {
			t.Fatal(err)
		}
		k.AddArtifact(k.repo, "ycbot", "main", k.repo, archiveOf(t, dir))
		for range verdict.MaxRecords { // of other commits of its branch
			k.AddArtifact(k.repo, "ycbot", "work", k.repo, nil)
		}
		got, err := k.Recorded(t.Context(), job.Job{HeadSHA: rep.HeadSHA}, filepath.Join(t.TempDir(), "run"))
		if err != nil || got != want {
			t.Errorf("%s can be concluded again: %v, %v", dir, got, err)
		}
	}
	recorded := func(format int) string { return fmt.Sprintf("../../internal/recheck/testdata/runs/format%d", format) }
	looks(recorded(rundir.Format-1), false)
	looks(recorded(rundir.Format), true)
	altered := filepath.Join(t.TempDir(), "altered")
	err := os.CopyFS(altered, os.DirFS(recorded(rundir.Format)))
	if err == nil {
		err = os.WriteFile(filepath.Join(altered, "evidence.jsonl"), nil, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	looks(altered, false)
}

// Where another run of the commit is under way nothing is accepted: the check run of the acceptance would be the newer
// one. A check run that a job left which died keeps no one from accepting.
func TestSettled(t *testing.T) {
	t.Parallel()
	const page = "https://github.example/acme/sums/actions/runs/"
	for name, test := range map[string]struct {
		status, page string // of a check run of the commit; empty: there is none
		want         bool
	}{
		"none":                         {"", "", true},
		"completed":                    {"completed", page + "5", true},
		"under way":                    {"in_progress", page + "5/job/9", false},
		"its workflow run has ended":   {"in_progress", page + "6", true},
		"its workflow run was removed": {"in_progress", page + "7", true},
		"of the App":                   {"in_progress", "https://ycbot.example/runs/5", false},
		"of the App, queued":           {"queued", "", false},
		"of this workflow run":         {"in_progress", page + "8", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKept(t)
			k.Machine = machine.Machine{Env: []string{"GITHUB_RUN_ID=8"}}
			head := k.Head(k.repo, "main")
			for id, status := range map[int64]string{5: "in_progress", 6: "completed", 8: "in_progress"} {
				k.AddArtifactOf(k.repo, "ycbot", githubtest.WorkflowRun{Path: ".github/workflows/ycbot.yml", HeadSHA: head, From: k.repo, ID: id, Status: status}, nil)
			}
			if test.status != "" {
				run := github.CheckRun{Name: "ycbot", HeadSHA: head, ExternalID: "job", Status: test.status, DetailsURL: test.page}
				if test.status == "completed" {
					run.Conclusion = "failure"
				}
				if _, err := k.GitHub.Client.CreateCheckRun(t.Context(), k.repo, run); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := k.Settled(t.Context(), job.Job{HeadSHA: head}); err != nil || got != test.want {
				t.Errorf("settled: %v, %v; want %v", got, err, test.want)
			}
			k.GitHub.Client = k.client(t, map[string]string{"contents": "read", "checks": "none"})
			if got, err := k.Settled(t.Context(), job.Job{HeadSHA: head}); err != nil || !got {
				t.Errorf("with a token that may not read check runs: %v, %v", got, err)
			}
		})
	}
}

// A gaveUp is a run of a pull request in which bob accepted what the change gives up, as an artifact.
type gaveUp struct {
	pull    int
	base    string
	nothing bool // was accepted
	verdict report.Verdict
	by      githubtest.WorkflowRun
}

// folder is its run directory.
func (g gaveUp) folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.CopyFS(dir, os.DirFS(fmt.Sprintf("../../internal/recheck/testdata/runs/format%d", rundir.Format))); err != nil {
		t.Fatal(err)
	}
	rep, err := readReport(dir)
	if err != nil {
		t.Fatal(err)
	}
	rep.PR, rep.Verdict = g.pull, g.verdict
	if !g.nothing {
		rep.Accepted = []report.Acceptance{{By: "bob", At: "2026-01-01T00:00:00Z"}}
	}
	body, err := rep.JSON()
	if err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(dir, "journal.jsonl")
	text, err := os.ReadFile(journal)
	if err == nil {
		err = os.WriteFile(journal, bytes.Replace(text, []byte(`"base_ref":"main"`), []byte(`"base_ref":"`+g.base+`"`), 1), 0o600)
	}
	if err = errors.Join(err, os.WriteFile(filepath.Join(dir, "report.json"), body, 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// What was accepted counts for later runs of the same pull request into the same base, whether it was accepted by a comment,
// whose workflow runs for the default branch, or by a label, and however far the head is trusted. It does not where
// others could have written it.
func TestAcceptedBefore(t *testing.T) {
	t.Parallel()
	const file, queue = ".github/workflows/ycbot.yml", "refs/heads/gh-readonly-queue/"
	comment := gaveUp{pull: 7, base: "main", verdict: report.Pass, by: githubtest.WorkflowRun{Path: file, Event: "issue_comment", Branch: "main"}}
	with := func(change func(*gaveUp)) gaveUp {
		g := comment
		change(&g)
		return g
	}
	none := with(func(g *gaveUp) { g.nothing = true })
	branch := func(name string) gaveUp {
		return with(func(g *gaveUp) { g.by.Event, g.by.Branch = "workflow_dispatch", name })
	}
	pull, other := job.Job{Number: 7, Trust: job.Untrusted}, github.Repo{Owner: "mallory", Name: "sums"}
	for name, test := range map[string]struct {
		job    job.Job
		before bool     // the pull request was opened
		left   []gaveUp // the newest last
		want   bool
	}{
		"nothing":                           {pull, false, nil, false},
		"by a comment":                      {pull, false, []gaveUp{comment}, true},
		"on a trusted head, all again":      {job.Job{Number: 7, Trust: job.Trusted, Full: true}, false, []gaveUp{comment}, true},
		"by a run on its branch":            {pull, false, []gaveUp{branch("work")}, true},
		"on another branch":                 {pull, false, []gaveUp{branch("other")}, false},
		"on another pull request":           {pull, false, []gaveUp{with(func(g *gaveUp) { g.pull = 8 })}, false},
		"for another base":                  {pull, false, []gaveUp{with(func(g *gaveUp) { g.base = "lax" })}, false},
		"not in the newest run":             {pull, false, []gaveUp{comment, none}, false},
		"before a run without a verdict":    {pull, false, []gaveUp{comment, with(func(g *gaveUp) { g.nothing, g.verdict = true, report.Error })}, true},
		"before runs of others":             {pull, false, []gaveUp{comment, with(func(g *gaveUp) { g.nothing, g.pull = true, 8 })}, true},
		"before the pull request":           {pull, true, []gaveUp{comment}, false},
		"by another workflow":               {pull, false, []gaveUp{with(func(g *gaveUp) { g.by.Path = ".github/workflows/forge.yml" })}, false},
		"by a fork's workflow":              {pull, false, []gaveUp{with(func(g *gaveUp) { g.by.From = other })}, false},
		"in the merge queue":                {job.Job{Ref: queue + "main/pr-7-" + strings.Repeat("a", 40)}, false, []gaveUp{branch("other")}, true},
		"in the merge queue, another's":     {job.Job{Ref: queue + "main/pr-8-" + strings.Repeat("a", 40)}, false, []gaveUp{comment}, false},
		"in the merge queue, another base":  {job.Job{Ref: queue + "main/pr-7-" + strings.Repeat("a", 40)}, false, []gaveUp{with(func(g *gaveUp) { g.base = "lax" })}, false},
		"in the merge queue, after a group": {job.Job{Ref: queue + "main/pr-7-" + strings.Repeat("a", 40)}, false, []gaveUp{comment, with(func(g *gaveUp) { g.nothing, g.pull, g.by.Event = true, 0, "push" })}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKept(t)
			k.AddFork(k.repo, other.Owner)
			head := k.Push(k.repo, githubtest.Commit{Branch: "main", Message: "workflow", Files: map[string]string{file: "name: ycbot\n"}})
			k.Machine = machine.Machine{Env: []string{"GITHUB_WORKFLOW_REF=acme/sums/" + file + "@refs/heads/main"}}
			for _, g := range test.left {
				run := g.by
				if run.HeadSHA = head; run.From == (github.Repo{}) {
					run.From = k.repo
				}
				k.AddArtifactOf(k.repo, "ycbot", run, archiveOf(t, g.folder(t)))
			}
			if test.before {
				k.GitHub.Pull.Created = k.Now().Add(time.Hour)
			}
			j := test.job
			if j.Repo.ID = k.GitHub.Pull.Base.RepoID; j.Number == 0 {
				k.GitHub.Pull, k.GitHub.Base = nil, "main"
			}
			got, err := k.accepted(t.Context(), j, filepath.Join(t.TempDir(), "run"))
			if err != nil || (len(got) == 1) != test.want {
				t.Errorf("accepted %+v, %v", got, err)
			}
		})
	}
}

package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/model/script"
	"github.com/ycbot/ycbot/internal/orchestrator"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

//go:embed demo/*.txtar
var demoFiles embed.FS

// A demoChange is one of the sample pull requests.
type demoChange struct {
	branch, title string
	want          report.Verdict
	says          string
}

// demoChanges are shown in this order.
var demoChanges = []demoChange{
	{"good", "refuse to sell no ticket at all", report.Pass, "The first pull request fixes a bug and brings a test for it."},
	{"bad", "compute what is left only once", report.Fail, "The second one passes all tests, its own included, and hides a bug."},
}

func demoCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Verify two sample pull requests, offline and without a key",
		Long: `Verify two sample pull requests of a small Go repository, one that is good and one
that hides a bug. The model is scripted: its answers come from a file of this
program. The gate, the sandbox, the agents' tools, the evidence, its audit and
the reports are the real ones. Needs Go and git; takes no network and no key.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.demo(cmd.Context()) },
	}
}

// demo makes the repository below the harness's home and verifies both changes.
func (p *program) demo(ctx context.Context) error {
	home, err := p.home()
	if err != nil {
		return err
	}
	if _, err := git.New("git", p.env, p.log()); err != nil {
		return fmt.Errorf("%w: install git and try again", err)
	}
	repo, err := p.demoRepository(ctx, filepath.Join(home, "demo-repository"))
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	fmt.Fprintf(p.stderr, "ycbot demo: two sample pull requests in %s.\n"+
		"The model is scripted; everything else is real.\n", repo)
	for _, c := range demoChanges {
		fmt.Fprintf(p.stderr, "\n%s\n", c.says)
		if err := p.demoRun(ctx, repo, c); err != nil {
			return err
		}
	}
	return nil
}

// demoRun verifies one of the changes and prints its report.
func (p *program) demoRun(ctx context.Context, repo string, c demoChange) error {
	text, err := demoFiles.ReadFile("demo/" + c.branch + ".txtar")
	if err != nil {
		return err
	}
	m, err := script.Parse(text)
	if err != nil {
		return err
	}
	o := newRunOptions()
	o.dir, o.base, o.head, o.task = repo, "main", c.branch, c.title
	o.noRace = "the demo leaves the race detector out, for which the standard library would be compiled once more"
	job, err := p.job(o)
	if err != nil {
		return err
	}
	job.Models = &orchestrator.ModelConfig{
		Model: func(record orchestrator.Recorder) (model.Model, error) {
			return orchestrator.Recorded(m, record), nil
		},
		Price: func(model.Usage) (float64, bool) { return 0, true },
	}
	rep, err := p.verify(ctx, o, job)
	if err != nil {
		return err
	}
	if rep.Outcome != report.Completed {
		p.code = report.Exit(rep.Verdict, "", rep.Outcome)
		return p.print(rep, "text")
	}
	if rep.Verdict != c.want {
		p.code = report.ExitError
		fmt.Fprintf(p.stderr, "ycbot demo: the verdict of %q is %s, and should be %s on a machine that has what Go needs\n", c.branch, rep.Verdict, c.want)
	}
	if err := p.print(rep, "text"); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stderr, "All files of this run: %s\n", rep.ReportDir)
	return err
}

// demoMark is the file by which the repository of the demo is known. Git ignores it.
const demoMark = ".ycbot-demo"

// demoFolder makes dir an empty folder but for the mark. What is there already goes where a
// demo has made it.
func demoFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	marked := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == demoMark })
	if len(entries) > 0 && !marked {
		return fmt.Errorf("%s was not made by a demo: move it elsewhere, or have ycbot keep its files in another folder with YCBOT_HOME", dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, demoMark), nil, 0o600)
}

// demoRepository makes the repository again: main, and a branch for each change.
func (p *program) demoRepository(ctx context.Context, dir string) (string, error) {
	if err := demoFolder(dir); err != nil {
		return "", err
	}
	data, err := demoFiles.ReadFile("demo/repository.txtar")
	if err != nil {
		return "", err
	}
	files := txtar.Parse(data).Files
	git := func(args ...string) error {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir, "-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Env = []string{
			"PATH=" + p.getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_AUTHOR_DATE=2026-01-05T10:00:00Z", "GIT_COMMITTER_DATE=2026-01-05T10:00:00Z",
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
		return nil
	}
	commit := func(branch, title string) error {
		for _, f := range files {
			name, ok := strings.CutPrefix(f.Name, branch+"/")
			if !ok {
				continue
			}
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(path, f.Data, 0o600); err != nil {
				return err
			}
		}
		if err := git("add", "-A"); err != nil {
			return err
		}
		return git("commit", "-q", "-m", title)
	}
	if err := git("init", "-q", "-b", "main", "--template="); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(dir, ".git", "info"), 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "info", "exclude"), []byte(demoMark+"\n"), 0o600); err != nil {
		return "", err
	}
	if err := commit("base", "a box office"); err != nil {
		return "", err
	}
	for _, c := range demoChanges {
		if err := git("checkout", "-q", "-b", c.branch, "main"); err != nil {
			return "", err
		}
		if err := commit(c.branch, c.title); err != nil {
			return "", err
		}
	}
	return dir, git("checkout", "-q", "main")
}

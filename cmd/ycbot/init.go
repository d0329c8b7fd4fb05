package main

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/scaffold"
	"github.com/ycbot/ycbot/internal/terminal"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

func initCommand(p *program) *cobra.Command {
	dir, force := ".", false
	forks := choice{"auto", []string{"auto", "always", "never"}}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a workflow and a configuration for this repository",
		Long: `Write .github/workflows/ycbot.yml, which runs ycbot on pull requests, and
.github/ycbot.yml, which has the usual settings as comments, with the commands that the
gate finds in this repository. The toolchains are those of the project's own
workflows, else of its version files and manifests.

For a public repository two more workflows verify pull requests of forks, and post
the result: GitHub is asked, without a token, whether it is public. Where there is no
.github/dependabot.yml, one keeps the actions current.

Nothing that is there is changed without --force, and nothing is committed.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.init(cmd.Context(), dir, force, forks.value) },
	}
	cmd.Flags().StringVarP(&dir, "directory", "C", ".", "work as if started in `DIR`")
	cmd.Flags().Var(&forks, "forks", "whether to write the workflows for forks: auto (where the repository is public), always or never")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite existing files")
	return cmd
}

// init does "ycbot init".
func (p *program) init(ctx context.Context, dir string, force bool, forks string) error {
	top := repository.Top(dir)
	if _, err := os.Stat(filepath.Join(top, ".git")); err != nil {
		return fmt.Errorf("%s is in no git repository: run \"git init\" there first, or name another folder with -C", dir)
	}
	found, err := p.found(ctx, top)
	if err != nil {
		return err
	}
	forSome := forks == "always"
	if forks == "auto" {
		if forSome, err = scaffold.Public(ctx, p.client, p.getenv("GITHUB_API_URL"), top); err != nil {
			fmt.Fprintln(p.stderr, terminal.Printable("ycbot: GitHub cannot be asked whether the repository is public ("+err.Error()+"): --forks always writes the workflows for forks"))
		}
	}
	files, from, err := scaffold.Write(scaffold.Options{Top: top, Found: found, Forks: forSome, Force: force})
	wrote := false
	for _, f := range files {
		if f.Kept {
			fmt.Fprintf(p.stdout, "%s already exists, left unchanged (--force overwrites it)\n", f.Name)
			continue
		}
		wrote = true
		fmt.Fprintf(p.stdout, "wrote %s\n", f.Name)
	}
	if err != nil {
		return err
	}
	for _, e := range found.Projects {
		fmt.Fprintf(p.stdout, "found %s (%s)\n", terminal.Printable(e.What), terminal.Printable(strings.Join(e.Why, ", ")))
	}
	for _, s := range from {
		fmt.Fprintln(p.stdout, terminal.Printable(s))
	}
	if len(found.Projects) == 0 {
		fmt.Fprintf(p.stdout, "found nothing that can be built or tested: name the commands under \"commands:\" in %s\n", config.Path)
	}
	if wrote {
		_, err = p.stdout.WriteString(nextSteps)
	}
	return err
}

// nextSteps is what remains for a person.
const nextSteps = `
Next:
  ycbot run --dirty            try it here, before anything is pushed
  git add .github              and commit: ycbot runs on pull requests once it is on the default branch
  gh secret set YCBOT_API_KEY && gh variable set YCBOT_MODEL
                               for agents; without them the deterministic gate decides alone
`

// found is what the gate finds in the working tree; where it cannot compare, as in a
// repository without a commit, in the files as they lie there.
func (p *program) found(ctx context.Context, top string) (*gate.Explanation, error) {
	o := newRunOptions()
	o.dir, o.base, o.dirty, o.sandbox.value = top, "HEAD", true, "none" // nothing is run
	job, err := p.job(o)
	if err != nil {
		return nil, err
	}
	runner, err := p.runner(ctx, o)
	if err != nil {
		return nil, err
	}
	e, err := runner.Explain(ctx, job)
	if err != nil {
		fmt.Fprintln(p.stderr, terminal.Printable("ycbot: only the files were looked at, and no commit: "+oneLine(err)))
		tools, _ := gate.FindToolchains(ctx, p.env) // what is broken is named as what a project lacks
		return &gate.Explanation{Projects: gate.Survey(top, filesBelow(top), tools)}, nil
	}
	return e, nil
}

// filesBelow are the files of a folder, but for those of git and of installed packages.
func filesBelow(top string) []string {
	var out []string
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if rel, relErr := filepath.Rel(top, path); err == nil && relErr == nil && !d.IsDir() {
			out = append(out, filepath.ToSlash(rel))
		}
		return nil // what cannot be read is not looked at
	})
	return out
}

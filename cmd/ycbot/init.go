package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/terminal"
	"github.com/ycbot/ycbot/internal/workspace"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/pattern"
)

// The files that "ycbot init" writes, with a mark for what depends on the repository.
var (
	//go:embed initfiles/workflow.yml
	workflowTemplate string
	//go:embed initfiles/forks.yml
	forksTemplate string
	//go:embed initfiles/publish.yml
	publishTemplate string
	//go:embed initfiles/dependabot.yml
	dependabotTemplate string
	//go:embed initfiles/ycbot.yml
	configTemplate string
)

// The marks in them.
const (
	toolsMark    = "      # Here: actions/setup-node and what else your tests need.\n"
	commandsMark = "{{COMMANDS}}\n"
	branchMark   = "    branches: [main]\n"
	forksMark    = "    if: >-\n"
)

// The files that are written, beside the configuration.
const (
	workflowPath   = ".github/workflows/ycbot.yml"
	forksPath      = ".github/workflows/ycbot-gate.yml"
	publishPath    = ".github/workflows/ycbot-publish.yml"
	dependabotPath = ".github/dependabot.yml"
)

// notForks keeps the first workflow from pull requests that ycbot-gate.yml verifies.
const notForks = "      (github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository && github.actor != 'dependabot[bot]') &&\n"

func initCommand(p *program) *cobra.Command {
	dir, force := ".", false
	forks := choice{"auto", []string{"auto", "always", "never"}}
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a workflow and a configuration for this repository",
		Long: `Write .github/workflows/ycbot.yml, which runs ycbot on pull requests, and
.github/ycbot.yml, which has all settings as comments, with the commands that the
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
	cmd.Flags().BoolVar(&force, "force", false, "write over files that are there")
	return cmd
}

// init does "ycbot init".
func (p *program) init(ctx context.Context, dir string, force bool, forks string) error {
	top := workspace.TopOf(dir)
	if _, err := os.Stat(filepath.Join(top, ".git")); err != nil {
		return fmt.Errorf("%s is in no git repository: run \"git init\" there first, or name another folder with -C", dir)
	}
	found, err := p.found(ctx, top)
	if err != nil {
		return err
	}
	steps, from := toolSteps(top, found)
	forSome := forks == "always" || forks == "auto" && p.public(ctx, top)
	workflow := strings.Replace(workflowTemplate, toolsMark, steps, 1)
	workflow = strings.Replace(workflow, branchMark, "    branches: ["+inlineText(defaultBranch(top))+"]\n", 1)
	if forSome {
		workflow = strings.Replace(workflow, forksMark, forksMark+notForks, 1)
	}
	files := []initFile{{workflowPath, workflow}, {configPath, strings.Replace(configTemplate, commandsMark, foundCommands(found), 1)}}
	if forSome {
		files = append(files, initFile{forksPath, strings.Replace(forksTemplate, toolsMark, steps, 1)}, initFile{publishPath, publishTemplate})
	}
	if _, err := os.Stat(filepath.Join(top, filepath.FromSlash(strings.TrimSuffix(dependabotPath, "yml")+"yaml"))); err != nil {
		files = append(files, initFile{dependabotPath, dependabotTemplate})
	}
	wrote := false
	for _, f := range files {
		// The project's own Dependabot file is never written over.
		force := force && f.name != dependabotPath
		now, err := writeNew(filepath.Join(top, filepath.FromSlash(f.name)), f.text, force)
		if err != nil {
			return err
		}
		if !now && f.name == dependabotPath {
			continue
		}
		if !now {
			fmt.Fprintf(p.stdout, "%s is there already and stays as it is; --force writes over it\n", f.name)
			continue
		}
		wrote = true
		fmt.Fprintf(p.stdout, "wrote %s\n", f.name)
	}
	for _, e := range found.Projects {
		fmt.Fprintf(p.stdout, "found %s (%s)\n", terminal.Printable(e.What), terminal.Printable(strings.Join(e.Why, ", ")))
	}
	for _, s := range from {
		fmt.Fprintln(p.stdout, terminal.Printable(s))
	}
	if len(found.Projects) == 0 {
		fmt.Fprintf(p.stdout, "found nothing that can be built or tested: name the commands under \"commands:\" in %s\n", configPath)
	}
	if wrote {
		_, err = p.stdout.WriteString(nextSteps)
	}
	return err
}

// An initFile is a file that is written.
type initFile struct{ name, text string }

// public asks GitHub, without a token, whether the repository of the remote "origin" is
// public. It is not where GitHub cannot be asked.
func (p *program) public(ctx context.Context, top string) bool {
	config, err := os.ReadFile(filepath.Join(top, ".git", "config"))
	if err != nil {
		return false
	}
	_, section, _ := strings.Cut(string(config), "[remote \"origin\"]")
	section, _, _ = strings.Cut(section, "\n[")
	m := githubURL.FindStringSubmatch(section)
	own := p.getenv("GITHUB_API_URL")
	if m == nil || m[1] != "github.com" && own == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	api := strings.TrimRight(cmp.Or(own, "https://api.github.com"), "/")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, api+"/repos/"+m[2]+"/"+m[3], http.NoBody)
	if err != nil {
		return false
	}
	res, err := p.client.Do(req)
	if err != nil {
		fmt.Fprintln(p.stderr, "ycbot: GitHub cannot be asked whether the repository is public: --forks always writes the workflows for forks")
		return false
	}
	defer res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// githubURL is the repository in the address of a remote.
var githubURL = pattern.New(`(?m)^\s*url\s*=\s*(?:https?://|ssh://git@|git@)([\w.-]+)(?::\d+)?[/:]([\w.-]+)/([\w.-]+?)(?:\.git)?/?\s*$`)

// defaultBranch is the branch whose results pull requests read.
func defaultBranch(top string) string {
	for _, name := range []string{"refs/remotes/origin/HEAD", "HEAD"} {
		data, err := os.ReadFile(filepath.Join(top, ".git", filepath.FromSlash(name)))
		if err != nil {
			continue
		}
		ref := strings.TrimSpace(strings.TrimPrefix(string(data), "ref:"))
		for _, prefix := range []string{"refs/remotes/origin/", "refs/heads/"} {
			branch, ok := strings.CutPrefix(ref, prefix)
			if ok && (name != "HEAD" || branch == "main" || branch == "master") {
				return branch
			}
		}
	}
	return "main"
}

// inlineText is a text in YAML, quoted where it must be.
func inlineText(s string) string {
	return strings.TrimSuffix(strings.TrimPrefix(inline([]string{s}), "["), "]")
}

// nextSteps is what remains for a person.
const nextSteps = `
Next:
  ycbot run --dirty            try it here, before anything is pushed
  git add .github              and commit: ycbot runs on pull requests once it is on the default branch
  gh secret set YCBOT_API_KEY && gh variable set YCBOT_MODEL
                               for agents; without them the deterministic gate decides alone
`

// found is what the gate finds in the working tree. A repository without a commit
// has nothing to find.
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
		fmt.Fprintln(p.stderr, terminal.Printable("ycbot: the repository was not looked at: "+oneLine(err)))
		return &gate.Explanation{}, nil
	}
	return e, nil
}

// writeNew writes a file that is not there, or over one where that is wanted, and
// tells whether it did.
func writeNew(name, text string, force bool) (bool, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return false, err
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(name, mode, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = f.WriteString(text)
	return err == nil, errors.Join(err, f.Close())
}

// foundCommands are the commands of a configuration as the gate finds them, as
// comments.
func foundCommands(e *gate.Explanation) string {
	var b strings.Builder
	b.WriteString("## The commands of the gate. Without them it finds these by itself (ycbot gate explain):\n# commands:\n")
	any := false
	for _, stage := range []gate.Stage{gate.StageSetup, gate.StageBuild, gate.StageTest, gate.StageLint} {
		var lines []string
		for _, p := range e.Projects {
			for _, c := range p.Commands {
				if c.Stage != stage {
					continue
				}
				text := c.Command
				if p.Root != "." {
					text = "cd " + quoted(p.Root) + " && " + text
				}
				lines = append(lines, text)
			}
		}
		if len(lines) > 0 {
			any = true
			fmt.Fprintf(&b, "#   %s: %s\n", stage, inline(lines))
		}
	}
	if !any {
		return "## The commands of the gate, each a command or a list of them. It found none here: name them.\n# commands:\n#   setup: [make deps]      # the only step with the network\n#   build: [make]\n#   test: [make test]\n"
	}
	return b.String()
}

// inline is a YAML list in one line.
func inline(lines []string) string {
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, l := range lines {
		item := &yaml.Node{}
		item.SetString(l)
		n.Content = append(n.Content, item)
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	if err := enc.Encode(n); err != nil {
		return "[]" // a list of texts has a form
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// quoted is a word for the shell.
func quoted(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

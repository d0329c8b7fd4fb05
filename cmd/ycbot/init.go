package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"github.com/ycbot/ycbot/internal/gate"
)

// The files that "ycbot init" writes, with a mark for what depends on the repository.
var (
	//go:embed initfiles/workflow.yml
	workflowTemplate string
	//go:embed initfiles/ycbot.yml
	configTemplate string
)

// The marks in them.
const (
	toolsMark    = "      # Here: actions/setup-node and what else your tests need.\n"
	commandsMark = "{{COMMANDS}}\n"
)

const workflowPath = ".github/workflows/ycbot.yml"

func initCommand(p *program) *cobra.Command {
	dir, force := ".", false
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a workflow and a configuration for this repository",
		Long: `Write .github/workflows/ycbot.yml, which runs ycbot on pull requests, and
.github/ycbot.yml, which has all settings as comments, with the commands that the
gate finds in this repository. Nothing that is there is changed without --force,
and nothing is committed.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.init(cmd.Context(), dir, force) },
	}
	cmd.Flags().StringVarP(&dir, "directory", "C", ".", "work as if started in `DIR`")
	cmd.Flags().BoolVar(&force, "force", false, "write over files that are there")
	return cmd
}

// init does "ycbot init".
func (p *program) init(ctx context.Context, dir string, force bool) error {
	top := p.topOf(dir)
	if _, err := os.Stat(filepath.Join(top, ".git")); err != nil {
		return fmt.Errorf("%s is in no git repository: run \"git init\" there first, or name another folder with -C", dir)
	}
	found, err := p.found(ctx, top)
	if err != nil {
		return err
	}
	wrote := false
	for _, f := range []struct{ name, text string }{
		{workflowPath, strings.Replace(workflowTemplate, toolsMark, toolSteps(top, found), 1)},
		{configPath, strings.Replace(configTemplate, commandsMark, foundCommands(found), 1)},
	} {
		now, err := writeNew(filepath.Join(top, filepath.FromSlash(f.name)), f.text, force)
		if err != nil {
			return err
		}
		if !now {
			fmt.Fprintf(p.stdout, "%s is there already and stays as it is; --force writes over it\n", f.name)
			continue
		}
		wrote = true
		fmt.Fprintf(p.stdout, "wrote %s\n", f.name)
	}
	for _, e := range found.Projects {
		fmt.Fprintf(p.stdout, "found %s (%s)\n", printable(e.What), printable(strings.Join(e.Why, ", ")))
	}
	if len(found.Projects) == 0 {
		fmt.Fprintf(p.stdout, "found nothing that can be built or tested: name the commands under \"commands:\" in %s\n", configPath)
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
		fmt.Fprintln(p.stderr, printable("ycbot: the repository was not looked at: "+oneLine(err)))
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

// A setupAction is how a job of GitHub Actions gets the toolchain of an ecosystem.
type setupAction struct {
	uses string
	with func(top string, root string) []string // lines
}

// setupActions are the actions that install what GitHub's runners may not have in
// the version that a project wants, by the gate's name of the ecosystem.
func setupActions() map[string]setupAction {
	fixed := func(lines ...string) func(string, string) []string {
		return func(string, string) []string { return lines }
	}
	return map[string]setupAction{
		"Go": {"actions/setup-go@v7", func(top, root string) []string {
			return []string{"go-version: " + yamlVersion(goVersion(top, root), "stable")}
		}},
		"Node.js": {"actions/setup-node@v7", func(top, root string) []string {
			return []string{"node-version: " + yamlVersion(firstLine(top, root, ".nvmrc", ".node-version"), "lts/*")}
		}},
		"Python": {"actions/setup-python@v6", func(top, root string) []string {
			return []string{"python-version: " + yamlVersion(firstLine(top, root, ".python-version"), "3.x")}
		}},
		"Java": {"actions/setup-java@v5", fixed("distribution: temurin", `java-version: "21"`)},
		"Ruby": {"ruby/setup-ruby@v1", func(top, root string) []string {
			return []string{"ruby-version: " + yamlVersion(firstLine(top, root, ".ruby-version"), "ruby")}
		}},
		".NET":   {"actions/setup-dotnet@v5", fixed(`dotnet-version: "9.0.x"`)},
		"PHP":    {"shivammathur/setup-php@v2", fixed(`php-version: "8.4"`)},
		"Elixir": {"erlef/setup-beam@v1", fixed(`otp-version: "27"`, `elixir-version: "1.18"`)},
	}
}

// toolSteps are the steps that a job needs before ycbot.
func toolSteps(top string, e *gate.Explanation) string {
	actions := setupActions()
	var b strings.Builder
	var done []string
	for _, p := range e.Projects {
		a, ok := actions[p.Ecosystem]
		if !ok || slices.Contains(done, p.Ecosystem) {
			continue
		}
		done = append(done, p.Ecosystem)
		fmt.Fprintf(&b, "      - uses: %s\n        with:\n", a.uses)
		for _, line := range a.with(top, p.Root) {
			b.WriteString("          " + line + "\n")
		}
	}
	if len(done) == 0 {
		return toolsMark
	}
	return b.String()
}

// yamlVersion is a quoted version for YAML, or what is taken where none is known.
func yamlVersion(v, otherwise string) string {
	if v == "" || strings.Trim(v, "abcdefghijklmnopqrstuvwxyz0123456789.*/-") != "" {
		return otherwise
	}
	return `"` + v + `"`
}

// firstLine is the first line of the first file that is there.
func firstLine(top, root string, names ...string) string {
	for _, dir := range []string{root, "."} {
		for _, name := range names {
			data, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(dir), name))
			if err == nil {
				line, _, _ := strings.Cut(string(data), "\n")
				return strings.TrimSpace(line)
			}
		}
	}
	return ""
}

// goVersion is what go.mod asks for.
func goVersion(top, root string) string {
	data, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(root), "go.mod"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if v, ok := strings.CutPrefix(line, "go "); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

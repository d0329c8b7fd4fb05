// Package scaffold writes the workflows and the configuration that a repository begins with.
package scaffold

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
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/regular"
)

// The files that are written, with a mark for what depends on the repository.
var (
	//go:embed files/workflow.yml
	workflowTemplate string
	//go:embed files/forks.yml
	forksTemplate string
	//go:embed files/publish.yml
	publishTemplate string
	//go:embed files/dependabot.yml
	dependabotTemplate string
	//go:embed files/ycbot.yml
	configTemplate string
)

// The marks in them.
const (
	toolsMark    = "      # Add actions/setup-node and whatever else your tests need here.\n"
	commandsMark = "{{COMMANDS}}\n"
	branchMark   = "    branches: [main]\n"
	forksMark    = "    if: >-\n"
)

// The files that are written, beside the configuration.
const (
	WorkflowPath   = ".github/workflows/ycbot.yml"
	forksPath      = ".github/workflows/ycbot-gate.yml"
	publishPath    = ".github/workflows/ycbot-publish.yml"
	dependabotPath = ".github/dependabot.yml"
)

// notForks keeps the first workflow from pull requests that ycbot-gate.yml verifies.
const notForks = "      (github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository && github.actor != 'dependabot[bot]') &&\n"

// Options say what is written for which repository.
type Options struct {
	Top   string            // its top folder
	Found *gate.Explanation // what the gate finds in it
	Forks bool              // also the workflows for pull requests of forks
	Force bool              // over files that are there
}

// A File is one that was written, or kept because it was there.
type File struct {
	Name string // below the top folder, with slashes
	Kept bool

	text string
}

// Write writes the files. It returns what became of each, also where one fails, and which
// file of the project decided what toolchains the workflow sets up. The project's own
// Dependabot file is always kept, without a word.
func Write(o Options) (files []File, from []string, err error) {
	root, err := os.OpenRoot(o.Top) // no link leads out of the repository
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	steps, from := toolSteps(o.Top, o.Found)
	for _, f := range planned(o, steps) {
		force := o.Force && f.Name != dependabotPath
		wrote, err := writeNew(root, f.Name, f.text, force)
		if err != nil {
			return files, from, err
		}
		f.Kept = !wrote
		if wrote || f.Name != dependabotPath {
			files = append(files, f)
		}
	}
	return files, from, nil
}

// planned are the files, with steps that set toolchains up.
func planned(o Options, steps string) []File {
	workflow := strings.Replace(workflowTemplate, toolsMark, steps, 1)
	workflow = strings.Replace(workflow, branchMark, "    branches: ["+inlineText(defaultBranch(o.Top))+"]\n", 1)
	if o.Forks {
		workflow = strings.Replace(workflow, forksMark, forksMark+notForks, 1)
	}
	files := []File{{Name: WorkflowPath, text: workflow}, {Name: config.Path, text: strings.Replace(configTemplate, commandsMark, foundCommands(o.Found), 1)}}
	if o.Forks {
		files = append(files, File{Name: forksPath, text: strings.Replace(forksTemplate, toolsMark, steps, 1)}, File{Name: publishPath, text: publishTemplate})
	}
	if _, err := os.Stat(filepath.Join(o.Top, filepath.FromSlash(strings.TrimSuffix(dependabotPath, "yml")+"yaml"))); err != nil {
		files = append(files, File{Name: dependabotPath, text: dependabotTemplate})
	}
	return files
}

// Public asks GitHub, without a token, whether the repository of the remote "origin" is
// public. api is the address of its API; "" is github.com's. It is not public where no
// GitHub has it; the error says that GitHub could not be asked, or did not answer that.
func Public(ctx context.Context, client *http.Client, api, top string) (bool, error) {
	settings, err := regular.Read(filepath.Join(gitFolder(top), "config"))
	if err != nil {
		return false, nil //nolint:nilerr // then there is no remote
	}
	_, section, _ := strings.Cut(string(settings), "[remote \"origin\"]")
	section, _, _ = strings.Cut(section, "\n[")
	m := githubURL.FindStringSubmatch(section)
	if m == nil || m[1] != "github.com" && api == "" {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	api = strings.TrimRight(cmp.Or(api, "https://api.github.com"), "/")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, api+"/repos/"+m[2]+"/"+m[3], http.NoBody)
	if err != nil {
		return false, nil //nolint:nilerr // no repository of GitHub's has such a name
	}
	res, err := client.Do(req)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK:
		return true, nil
	case http.StatusNotFound, http.StatusGone, http.StatusUnavailableForLegalReasons:
		return false, nil
	}
	return false, fmt.Errorf("GitHub answers %s", res.Status) // such as after too many questions
}

// gitFolder is where the settings and the refs of a repository are, of a linked worktree and
// of a submodule, too.
func gitFolder(top string) string {
	at := filepath.Join(top, ".git")
	follow := func(file, key, from string) {
		text, err := regular.Read(file)
		if err != nil {
			return
		}
		if to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), key); ok {
			if at = strings.TrimSpace(to); !filepath.IsAbs(at) {
				at = filepath.Join(from, at)
			}
		}
	}
	follow(at, "gitdir:", top)
	follow(filepath.Join(at, "commondir"), "", at)
	return at
}

// githubURL is the repository in the address of a remote.
var githubURL = pattern.New(`(?m)^\s*url\s*=\s*(?:https?://|ssh://git@|git@)([\w.-]+)(?::\d+)?[/:]([\w.-]+)/([\w.-]+?)(?:\.git)?/?\s*$`)

// defaultBranch is the branch whose results pull requests read.
func defaultBranch(top string) string {
	for _, name := range []string{"refs/remotes/origin/HEAD", "HEAD"} {
		data, err := regular.Read(filepath.Join(gitFolder(top), filepath.FromSlash(name)))
		if err != nil {
			continue
		}
		ref := strings.TrimSpace(strings.TrimPrefix(string(data), "ref:"))
		for _, prefix := range []string{"refs/remotes/origin/", "refs/heads/"} {
			branch, ok := strings.CutPrefix(ref, prefix)
			if ok && (name != "HEAD" || branch == "main" || branch == "master" || onlyBranch(top, branch)) {
				return branch
			}
		}
	}
	return "main"
}

// onlyBranch reports whether a repository has no other branch, as far as its files say.
func onlyBranch(top, branch string) bool {
	git := gitFolder(top)
	heads, only := filepath.Join(git, "refs", "heads"), branch != ".invalid" // as a repository says whose branches are in no such file
	_ = filepath.WalkDir(heads, func(path string, d fs.DirEntry, err error) error {
		if rel, relErr := filepath.Rel(heads, path); err == nil && relErr == nil && !d.IsDir() {
			only = only && filepath.ToSlash(rel) == branch
		}
		return nil
	})
	packed, _ := regular.Read(filepath.Join(git, "packed-refs")) // there may be none
	for line := range strings.Lines(string(packed)) {
		if _, name, ok := strings.Cut(strings.TrimSpace(line), " refs/heads/"); ok {
			only = only && name == branch
		}
	}
	return only
}

// inlineText is a text in YAML, quoted where it must be.
func inlineText(s string) string {
	return strings.TrimSuffix(strings.TrimPrefix(inline([]string{s}), "["), "]")
}

// writeNew writes a file that is not there, or over one where that is wanted, and
// reports whether it did.
func writeNew(root *os.Root, name, text string, force bool) (bool, error) {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return false, err
	}
	if force { // what is there may be a link
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
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
// comments. Of those whose tests are not distinguished once they are named it says so.
func foundCommands(e *gate.Explanation) string {
	var b strings.Builder
	b.WriteString("## The commands of the gate. Without them it finds these by itself (ycbot gate explain):\n# commands:\n")
	any, lacking := false, lacks(e)
	for _, stage := range []gate.Stage{gate.StageSetup, gate.StageBuild, gate.StageTest, gate.StageLint} {
		var lines, whole []string
		for _, p := range e.Projects {
			for _, c := range typed(p, stage) {
				text := c.Typed
				if p.Root != "." {
					text = "cd " + quoted(p.Root) + " && " + text
				}
				lines = append(lines, text)
				if c.Results != "" && !gate.ReportsTests(text) {
					whole = append(whole, text)
				}
			}
		}
		if len(lines) > 0 {
			any = true
			fmt.Fprintf(&b, "#   %s: %s\n", stage, inline(lines))
		}
		for _, text := range whole {
			fmt.Fprintf(&b, "##   Named here %s counts as one test; found by itself it reports each of its tests.\n", inlineText(text))
		}
	}
	switch {
	case !any && lacking != "":
		return "## The commands of the gate. Without them it finds these by itself (ycbot gate explain):\n" + lacking + "# commands: {}\n"
	case !any:
		return "## The commands of the gate, each a command or a list of them. It found none here: name them.\n# commands:\n#   setup: [make deps]      # the only step with the network\n#   build: [make]\n#   test: [make test]\n"
	}
	return b.String() + lacking
}

// lacks says of which projects no commands are listed, as the machine that writes the
// configuration cannot run them: where ycbot runs, it may.
func lacks(e *gate.Explanation) string {
	var b strings.Builder
	for _, p := range e.Projects {
		if p.Missing == "" {
			continue
		}
		in := ""
		if p.Root != "." {
			in = " in " + inlineText(p.Root)
		}
		fmt.Fprintf(&b, "##   Not listed are those of %s%s (%s): it finds them where it can run them.\n", inlineText(p.What), in, inlineText(strings.Join(strings.Fields(p.Missing), " ")))
	}
	return b.String()
}

// typed are the commands of a stage of a project, or the one that a person types in place
// of all of them.
func typed(p gate.Explained, stage gate.Stage) []gate.ExplainedCommand {
	var out []gate.ExplainedCommand
	for _, c := range p.Commands {
		if c.Stage == stage {
			out = append(out, c)
		}
	}
	if i := slices.IndexFunc(out, func(c gate.ExplainedCommand) bool { return c.Script != "" }); i >= 0 {
		out[i].Typed = out[i].Script
		return out[i : i+1]
	}
	return out
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

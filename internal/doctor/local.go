package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/disk"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/machine"
	"github.com/ycbot/ycbot/internal/policy"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/git"
	"github.com/ycbot/ycbot/internal/workspace/repository"
)

// git looks for git, the repository, and what "ycbot run" would verify.
func (in Input) git(ctx context.Context, c *area) {
	g, err := git.New("git", in.Machine.Env, in.Machine.Log)
	if err != nil {
		c.issue("install git, or put it on PATH", "%v", err)
		return
	}
	c.ok("git %s", g.Version())
	r, err := repository.Discover(ctx, g, in.Dir)
	if errors.Is(err, repository.ErrNotRepository) {
		c.skip("", "%v", err)
		return
	}
	if err != nil {
		c.issue("", "%v", err)
		return
	}
	notes := ""
	if r.Shallow {
		notes += ", shallow"
	}
	if r.Partial {
		notes += ", partial"
	}
	c.ok("repository %s at %s%s", r.Name, r.Root, notes)
	base, head, err := r.DefaultRange(ctx)
	if errors.Is(err, repository.ErrFirstCommit) {
		c.ok("\"ycbot run\" compares %s (%s) with nothing: it is the first commit", head.Name, change.Short(head.OID))
		return
	}
	if err != nil {
		c.warn("name what to compare with: ycbot run --base REF", "%v", err)
		return
	}
	c.ok("\"ycbot run\" compares %s (%s) with %s (%s)", head.Name, change.Short(head.OID), base.Name, change.Short(base.OID))
}

// sandbox tries out what runs would get.
func (in Input) sandbox(ctx context.Context, c *area) {
	temp, err := os.MkdirTemp("", "ycbot-doctor-")
	if err != nil {
		c.issue("make the system's folder for temporary files writable", "temporary directory: %v", err)
		return
	}
	defer os.RemoveAll(temp)
	tools, _ := gate.FindToolchains(ctx, in.Machine.Env) // what is wrong with them is said elsewhere
	box, err := sandbox.Detect(ctx, in.Machine.SandboxOptions(in.Sandbox, temp, tools))
	if err != nil {
		c.issue("\"ycbot sandbox doctor\" shows what each tier lacks", "%v", err)
		return
	}
	const improve = "\"sudo ycbot sandbox prepare\" does what it can; \"ycbot sandbox doctor\" has the details"
	switch s := box.Status(); s.Tier {
	case sandbox.TierFull:
		c.ok("tier full: %s", strings.Join(s.Layers, ", "))
	case sandbox.TierNone:
		c.warn(improve, "tier none: commands of a change run as you do; untrusted heads are not executed (%s)", strings.Join(s.Missing, "; "))
	default:
		c.warn(improve, "tier %s: %s; untrusted heads are not executed", s.Tier, strings.Join(s.Layers, ", "))
		for _, m := range s.Missing {
			c.warn("", "missing: %s", m)
		}
	}
	for _, canary := range box.Status().SelfTest {
		if !canary.Held {
			c.issue("do not run changes of others here; report it (SECURITY.md)", "the sandbox did not hold: %s (%s)", canary.Name, canary.Note)
		}
	}
}

// policy reads the permission files, and lints their rules.
func (in Input) policy(c *area) {
	files, err := in.Machine.Permissions(machine.PermissionFiles{Dir: in.Dir, Local: true})
	var rules []policy.Rule
	if err == nil {
		rules, err = policy.ParseFiles(files...)
	}
	if err != nil {
		c.issue("fix the file: no run begins with one that cannot be read", "%v", err)
		return
	}
	if len(files) == 0 {
		c.ok("no permission files: the built-in rules hold")
		return
	}
	c.ok("%s in %s", counted(len(rules), "rule"), counted(len(files), "permission file"))
	for _, warning := range policy.Lint(rules) {
		c.warn("\"ycbot permissions test TOOL ARGS\" shows which rule decides", "%s", warning)
	}
}

// agents reads the agent files.
func (in Input) agents(c *area) {
	all, problems, err := in.Machine.Agents(in.Dir, "")
	if err != nil {
		c.issue("", "%v", err)
		return
	}
	own := 0
	for _, d := range all.Definitions {
		if d.Origin != agents.Builtin {
			own++
		}
	}
	c.ok("%s, %d of them from files", counted(len(all.Definitions), "agent"), own)
	for _, problem := range problems {
		if problem.Fatal {
			c.issue("run \"ycbot agents check FILE\" to check it", "%s", problem)
		} else {
			c.warn("run \"ycbot agents check FILE\" to check it", "%s", problem)
		}
	}
}

// config reads the configuration as it stands in the working tree.
func (in Input) config(c *area) {
	data, err := config.ReadTree(repository.Top(in.Dir))
	_, misnamed := os.Lstat(filepath.Join(repository.Top(in.Dir), config.Misnamed))
	switch {
	case errors.Is(err, fs.ErrNotExist) && misnamed == nil:
		c.issue("rename it", "%s", config.NotRead)
		return
	case errors.Is(err, fs.ErrNotExist):
		c.ok("no %s: the defaults apply, and the gate finds the commands", config.Path)
		return
	case err != nil:
		c.issue("make it readable", "%v", err)
		return
	}
	_, err = config.Parse(config.Path, data)
	var problems config.Problems
	if all, _, failed := in.Machine.Agents(in.Dir, ""); err == nil && failed == nil {
		problems = config.UnknownAgents(config.Path, data, all.Lacks)
	}
	if errors.As(err, &problems) || len(problems) > 0 {
		for _, problem := range problems {
			c.issue("docs/config.md lists the keys; run \"ycbot config check\" to check it", "%s", problem.Error())
		}
		return
	}
	for _, w := range config.Warnings(config.Path, data) {
		c.warn("", "%s", w.Error())
	}
	c.ok("%s is valid; a run reads it at the base commit", config.Path)
}

// operator looks at the settings and files of who runs this, with which every run begins.
func (in Input) operator(ctx context.Context, c *area) {
	for _, err := range in.Machine.Problems(ctx) {
		c.issue("put it right, or take it away: no run begins with it", "%v", err)
	}
}

// toolchains says which projects the gate finds, and what they lack here.
func (in Input) toolchains(ctx context.Context, c *area) {
	g, err := git.New("git", in.Machine.Env, in.Machine.Log)
	if err != nil {
		c.skip("", "git is not there")
		return
	}
	r, err := repository.Discover(ctx, g, in.Dir)
	if err != nil {
		c.skip("", "no repository: nothing to build")
		return
	}
	files, err := r.Files(ctx, "HEAD")
	if err != nil {
		c.skip("", "no commit: nothing to build")
		return
	}
	tools, broken := gate.FindToolchains(ctx, in.Machine.Env)
	found := gate.Survey(r.Root, files, tools)
	if len(found) == 0 && namesCommands(in.Dir) {
		c.ok("%s names the commands; the gate finds nothing else at HEAD", config.Path)
		return
	}
	if len(found) == 0 {
		c.warn("name commands in .github/ycbot.yml", "the gate finds nothing at HEAD that it can build or test by itself")
		return
	}
	for i, e := range found {
		if i == projectsMost {
			c.skip("\"ycbot gate explain\" has all", "%s more", counted(len(found)-i, "project"))
			return
		}
		what := fmt.Sprintf("%s (%s)", e.What, strings.Join(e.Why, ", "))
		switch {
		case broken != nil && e.Ecosystem == "Go":
			c.warn("repair the installation of Go", "%s: %v", what, broken)
		case e.Missing != "":
			c.warn("install it, or run ycbot where it is installed", "%s: %s", what, e.Missing)
		case e.Ecosystem == "Go" && tools.NoRace() != "":
			c.warn("install a C compiler, and leave CGO_ENABLED alone", "%s: %s without the race detector: %s", what, tools.Go.Version, tools.NoRace())
		case len(e.Commands) == 0:
			c.warn("name commands in .github/ycbot.yml", "%s: nothing is known to build or test it", what)
		default:
			c.ok("%s: %s", what, counted(len(e.Commands), "command"))
		}
	}
}

// namesCommands reports whether the configuration of the working tree has commands.
func namesCommands(dir string) bool {
	data, err := config.ReadTree(repository.Top(dir))
	if err != nil {
		return false
	}
	c, err := config.Parse(config.Path, data)
	return err == nil && len(slices.Concat(c.Commands.Setup, c.Commands.Build, c.Commands.Test, c.Commands.Lint)) > 0
}

// projectsMost is how many projects are listed.
const projectsMost = 12

// state looks at ycbot's own files.
func (in Input) state(c *area) {
	home, err := in.Machine.Home()
	if err != nil {
		c.issue("set YCBOT_HOME", "%v", err)
		return
	}
	if err := disk.Writable(home); err != nil {
		c.issue("make it writable, or set YCBOT_HOME to a folder that is", "%v", err)
		return
	}
	use := measure(home, in.Machine.Now().Add(-workspace.TempAge))
	size := "size " + disk.Text(use.bytes)
	if use.cut {
		size = "more than " + disk.Text(use.bytes)
	}
	c.ok("%s is writable, %s, %s", home, size, counted(use.runs, "run"))
	if use.left > 0 {
		c.warn("\"ycbot worktree sweep --older-than 24h\" removes them", "%s of broken-off runs lie around", counted(use.left, "worktree"))
	}
	if free, err := folder.Free(home); err == nil && free < lowDisk {
		c.warn("make room: a run needs space for two copies of the repository and its build", "%s free on the disk of %s", disk.Text(free), home)
	} else if err == nil {
		c.ok("%s free on its disk", disk.Text(free))
	}
}

// lowDisk is less than a run of a middling repository takes.
const lowDisk = 5 << 30

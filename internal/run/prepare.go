package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/folder"
	"github.com/ycbot/ycbot/internal/orchestrator"
	"github.com/ycbot/ycbot/internal/regular"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/workspace"
	"github.com/ycbot/ycbot/internal/workspace/objects"
)

// untrusted is the trust of a head whose author, or whose repository, has no
// write permission.
const untrusted = "untrusted"

// A held mirror is the project's bare repository in use by a run. While it is held, it
// and the caches beside it are not trimmed.
type held struct {
	mirror *workspace.Mirror
	lock   *workspace.Lock
	layout rundir.Layout // folders of the run that go when it ends
}

// openMirror opens the mirror and makes the folder of the run's worktrees.
func (r *Runner) openMirror(ctx context.Context, b *begun) (*held, error) {
	lock, err := workspace.LockRun(ctx, b.layout.Trees)
	if err != nil {
		return nil, err
	}
	m := &held{lock: lock, layout: b.layout}
	kind := ""
	if b.repo != nil {
		kind = b.repo.Format
	} else {
		kind = format(b.job.Pull.Head)
	}
	if m.mirror, err = workspace.OpenMirror(ctx, r.Git, b.layout.Mirror(), kind); err != nil {
		m.close(r.Log)
		return nil, err
	}
	return m, nil
}

// close removes the run's worktrees. What cannot be removed is left to the sweeper.
func (m *held) close(log *slog.Logger) {
	m.lock.Release()
	for _, dir := range []string{m.layout.Temp, m.layout.Trees} {
		if err := folder.RemoveAll(context.Background(), dir); err != nil {
			log.Warn("remove worktrees", "dir", dir, "error", err)
		}
	}
}

// A prepared run has all that its stages need which come after the checkout.
type prepared struct {
	runner   *Runner
	begun    *begun
	source   rundir.Source
	held     *held
	mirror   *workspace.Mirror
	history  *backfill // nil: nothing is brought
	hide     func()    // ends what prepares the history that commands see; nil: nothing does
	config   configuration
	services []sandbox.Service    // of the job, that commands may reach
	agents   *orchestrator.Agents // nil: gate only
	inbox    *orchestrator.Inbox
	pool     workspace.Pool // of trees for what is run again

	mu    sync.Mutex
	trees []*workspace.Tree // to be removed
}

// ready opens what the stages after the checkout need, also in a run that is continued.
func (r *Runner) ready(ctx context.Context, b *begun, h *held, src rundir.Source) (*prepared, error) {
	p := &prepared{runner: r, begun: b, source: src, held: h, mirror: h.mirror, inbox: &orchestrator.Inbox{}}
	for _, step := range []func(context.Context) error{p.bringHistory, p.unmoved, p.clean, p.configure, p.loadAgents, p.brief} {
		if err := step(ctx); err != nil {
			p.close()
			return nil, err
		}
	}
	return p, nil
}

// close ends what works beside the run and removes its worktrees.
func (p *prepared) close() {
	log := p.runner.Log
	p.history.stop()
	if p.hide != nil {
		p.hide()
	}
	if err := p.pool.Close(); err != nil {
		log.Warn("remove worktrees that were kept", "error", err)
	}
	for _, t := range slices.Backward(p.trees) {
		if err := t.Close(); err != nil {
			log.Warn("remove worktree", "dir", t.Dir, "error", err)
		}
	}
	if err := p.agents.Close(); err != nil {
		log.Warn("close the record of the models' answers", "error", err)
	}
	p.held.close(log)
}

// keepTree has a tree removed when the run ends.
func (p *prepared) keepTree(t *workspace.Tree) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trees = append(p.trees, t)
}

// unmoved makes sure that a working tree is still the one that a run which is
// continued began with.
func (p *prepared) unmoved(ctx context.Context) error {
	if !p.begun.job.Dirty || p.begun.dir.Fresh {
		return nil
	}
	snap, err := p.mirror.Snapshot(ctx, p.begun.repo, "uncommitted changes")
	if err != nil {
		return err
	}
	if snap.Commit != p.source.Change.HeadSHA {
		return &rundir.UsageError{Err: fmt.Errorf("the working tree is not the one that the run in %s began with: remove that folder or name another with --out", p.begun.dir.Path)}
	}
	return nil
}

// shownHistory is the folder with the history that the run's commands see.
const shownHistory = "history"

// scratch is the folder of what commands may write besides their trees.
const scratch = "scratch"

// clean makes the folder of the run's worktrees ready. What an earlier attempt at
// the run left there, because it was killed, goes, but for the scratch files of
// agents and what they added to their trees: their conversations go on.
func (p *prepared) clean(ctx context.Context) error {
	l := p.begun.layout
	err := errors.Join(
		removeBut(ctx, l.Trees, rundir.AgentTrees, rundir.EarlierTrees, scratch),
		removeBut(ctx, filepath.Join(l.Trees, scratch), rundir.AgentTrees),
		orchestrator.SetAside(ctx, l),
	)
	if err != nil {
		return err
	}
	c := p.source.Change
	p.hide, err = p.mirror.Show(ctx, filepath.Join(l.Trees, shownHistory), c.BaseSHA, c.MergeBase, c.HeadSHA)
	return err
}

// removeBut removes what is in a folder, except entries with one of these names and
// those whose names begin with a dot, such as the lock.
func removeBut(ctx context.Context, dir string, keep ...string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if slices.Contains(keep, e.Name()) || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := folder.RemoveAll(ctx, filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// A configuration is that of a run, and where it is from.
type configuration struct {
	values *config.Config
	name   string // for a statement and for messages
	data   []byte // of the repository's configuration, or of what was named in its place
	sum    string // of the repository's configuration, or of what was named in its place; empty: none
}

// digests are the sums of the files of the configuration, by their names.
func (c configuration) digests() map[string]string {
	if c.sum == "" {
		return nil
	}
	return map[string]string{c.name: c.sum}
}

// configure reads the configuration: that of the base commit over the user's,
// or the file that was named instead of the repository's.
func (p *prepared) configure(ctx context.Context) error {
	c, err := UserConfig(p.runner.Home)
	if err != nil {
		return err
	}
	base := p.source.Change.BaseSHA
	out := configuration{name: configFile}
	name, data := configFile+" at "+change.Short(base), []byte(nil)
	if named := p.begun.job.Config; named != nil {
		name, data = named.Name, named.Data
		out.name = filepath.Base(cmp.Or(named.Name, configFile))
	} else {
		data, err = p.mirror.ReadFile(ctx, base, configFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil {
			if _, err := p.mirror.ReadFile(ctx, base, config.Misnamed); err == nil {
				p.source.Notes = append(p.source.Notes, config.NotRead)
			}
		}
	}
	if out.values, err = c.With(name, data); err != nil {
		if p.begun.job.Config == nil && linked(ctx, p.mirror, base) {
			err = fmt.Errorf("%s: %s", name, config.IsLink)
		}
		return &rundir.UsageError{Err: err}
	}
	if f := p.runner.Force; f != nil {
		out.values = f.Over(out.values)
		p.source.Notes = append(p.source.Notes, "the operator's file decides about "+strings.Join(f.Keys, ", ")+", whatever the repository's says")
	}
	p.source.Notes = append(p.source.Notes, heldLimits(out.values.Limits, p.begun.job)...)
	out.sum, out.data = rundir.Digest(string(data)), data
	p.config = out
	p.services, err = findServices(ctx, p.begun.job.Trust, out.values.Network.Allow)
	return err
}

// linked says whether a commit has a symbolic link in place of the configuration.
func linked(ctx context.Context, m *workspace.Mirror, commit string) bool {
	tree, err := m.FS(ctx, commit, func(e objects.Entry) bool { return e.Path == configFile })
	if err != nil {
		return false
	}
	_, err = tree.Open(configFile)
	return errors.Is(err, fs.ErrInvalid)
}

// findServices resolves what the configuration lets commands reach; commands of
// an untrusted head reach nothing.
func findServices(ctx context.Context, trust string, allow []string) ([]sandbox.Service, error) {
	if trust == untrusted {
		return nil, nil
	}
	services, err := sandbox.FindServices(ctx, &net.Resolver{}, allow)
	if err != nil {
		return nil, &rundir.UsageError{Err: fmt.Errorf("network.allow: %w", err)}
	}
	return services, nil
}

// UserConfig reads the user's own file below home, over which the repository's is laid.
func UserConfig(home string) (*config.Config, error) {
	name := filepath.Join(home, "config.yml")
	data, err := regular.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return config.Default(), nil
	}
	if err != nil {
		return nil, err
	}
	c, err := config.Parse(name, data)
	if err != nil {
		return nil, &rundir.UsageError{Err: err}
	}
	return c, nil
}

// env is the configuration's environment in the form of os.Environ; commands of
// an untrusted head have none of it.
func (c configuration) env(trust string) []string {
	if trust == untrusted {
		return nil
	}
	var out []string
	for k, v := range c.values.Env {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return out
}

// loadAgents reads who the agents are and what they may do.
func (p *prepared) loadAgents(ctx context.Context) (err error) {
	b, r := p.begun, p.runner
	if b.job.Models == nil {
		return nil
	}
	checkout := ""
	if b.repo != nil {
		checkout = b.root
	}
	p.agents, err = orchestrator.Load(ctx, orchestrator.Loading{
		Dir: b.dir, Source: p.source, Mirror: p.mirror, Config: p.config.values, ConfigName: p.config.name, ConfigData: p.config.data, Models: b.job.Models,
		Folders: r.Agents, AgentsDir: b.job.AgentsDir,
		Permissions: r.Permissions, Checkout: checkout, Trust: b.job.Trust, Sandboxed: b.settings.Refused() == "", Mode: b.job.Mode,
		Hosts: r.Hosts, Hook: r.hooks(b, p.source).preToolUse(), Pull: seen(b.job.Pull), Emit: b.progress.emit,
	})
	return err
}

// seen is the pull request as agents may read it; nil: there is none.
func seen(p *Pull) *tool.Pull {
	if p == nil {
		return nil
	}
	return p.Seen
}

// withLimit gives a run its time: what was asked for, under the configuration's limit. What is
// left of a cancelled or expired run is a report that says so.
func withLimit(ctx context.Context, asked time.Duration, c configuration) (context.Context, context.CancelFunc) {
	timeout := c.values.Limits.Under(config.Limits{Timeout: asked}).Timeout
	return context.WithTimeoutCause(ctx, timeout, &timeLimit{timeout})
}

// heldLimits names the limits of the configuration that hold although more was asked for.
func heldLimits(own config.Limits, job Job) (notes []string) {
	asked := config.Limits{Timeout: job.Timeout}
	if job.Models != nil {
		asked = job.Models.Limits()
		asked.Timeout = job.Timeout
	}
	for _, l := range []struct {
		above          bool
		key            string
		holds, instead string
	}{
		{own.Timeout > 0 && asked.Timeout > own.Timeout, "timeout", inWords(own.Timeout), inWords(asked.Timeout)},
		{own.Tokens > 0 && asked.Tokens > own.Tokens, "tokens", fmt.Sprint(own.Tokens), fmt.Sprint(asked.Tokens)},
		{own.CostUSD > 0 && asked.CostUSD > own.CostUSD, "cost_usd", fmt.Sprint(own.CostUSD), fmt.Sprint(asked.CostUSD)},
	} {
		if l.above {
			notes = append(notes, fmt.Sprintf("limits.%s of the configuration is %s, which holds: %s was asked for", l.key, l.holds, l.instead))
		}
	}
	return notes
}

// timeLimit is the cause of a run's end by its own time limit.
type timeLimit struct{ limit time.Duration }

func (e *timeLimit) Error() string {
	return "the time limit of " + inWords(e.limit) + " was reached"
}

// inWords is a duration without parts that are nothing, such as 1h30m and 40s.
func inWords(d time.Duration) string {
	text := d.String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// Is makes it a deadline like a context's own.
func (e *timeLimit) Is(target error) bool { return target == context.DeadlineExceeded }

package orchestrator

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/config"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/workspace"
)

// Loading is what it takes to know the agents of a run and what they may do.
type Loading struct {
	Dir        *rundir.Dir
	Source     rundir.Source
	Mirror     *workspace.Mirror
	Config     *config.Config
	ConfigName string // of the configuration, for messages
	ConfigData []byte // of the repository's, or of what was named in its place
	Models     *ModelConfig

	Folders   []agents.Folder // with agent files: of the person who runs this, and of the operator
	AgentsDir string          // a folder of the base commit whose agents count as the operator's; empty: none

	Permissions []agent.PermissionFile // the operator's
	Checkout    string                 // the person's own repository, in a local run; empty: there is none
	Trust       string                 // of the head
	Sandboxed   bool                   // commands of the change may be executed
	Mode        string                 // verify, or plan to run nothing
	Hosts       []string               // that agents may fetch from
	Hook        func(agent.HookCall) string

	Pull *tool.Pull // the pull request as agents may read it; nil: there is none
	Emit agent.Emit
}

// Agents are the agents of a run, before and while they work.
type Agents struct {
	models *ModelConfig
	set    Set
	defs   []agents.Definition
	may    agent.Permissions
	pull   *tool.Pull
	budget *agent.Budget // of all agents
	config *config.Config
	source rundir.Source
	dir    *rundir.Dir
	emit   agent.Emit

	exchanges *modelLog // model.jsonl, once it is needed
}

// Load reads the agents of a run and what they may do. Which agents there are is in
// the journal, and read there when the run is continued. The error is a
// [rundir.UsageError] where a file or a name that someone gave is wrong.
func Load(ctx context.Context, l Loading) (*Agents, error) {
	limits := l.Config.Limits.Under(l.Models.Limits())
	a := &Agents{
		models: l.Models, config: l.Config, source: l.Source, dir: l.Dir, emit: l.Emit,
		budget: &agent.Budget{Tokens: limits.Tokens, CostUSD: limits.CostUSD},
	}
	if limits.Tokens == 0 {
		a.budget.Unpriced = unpricedTokens
	}
	var err error
	if a.may, err = l.permissions(ctx, a.budget); err != nil {
		return nil, err
	}
	a.set, err = journal.OnceSoon(l.Dir.Journal, "run", "agents", func() (Set, error) {
		if r := l.Models.Recorded; r != nil && r.Set != nil {
			return *r.Set, nil
		}
		set, err := l.read(ctx)
		for _, warning := range a.may.Warnings() {
			set.Warnings = append(set.Warnings, warning)
			_ = l.Emit(agent.Event{Type: agent.EventNote, Text: warning})
		}
		return set, err
	})
	if err != nil {
		return nil, err
	}
	a.pull, err = journal.OnceSoon(l.Dir.Journal, "run", "pull", func() (*tool.Pull, error) {
		if r := l.Models.Recorded; r != nil && r.Pull != nil {
			return r.Pull, nil
		}
		return l.Pull, nil
	})
	if err != nil {
		return nil, err
	}
	a.defs, err = a.set.definitions()
	return a, err
}

// unpricedTokens bounds the uncached tokens of models whose price is not known, and
// which no bound of the cost can end.
const unpricedTokens = 2_000_000

// openLog opens model.jsonl, once.
func (a *Agents) openLog() error {
	if a.exchanges != nil {
		return nil
	}
	log, err := openModelLog(filepath.Join(a.dir.Path, rundir.AnswersFile), a.dir.Redact)
	if err != nil {
		return err
	}
	a.exchanges = log
	return nil
}

// Close closes the record of the models' answers. nil has none.
func (a *Agents) Close() error {
	if a == nil || a.exchanges == nil {
		return nil
	}
	return a.exchanges.Close()
}

// definition is that of an agent of this run.
func (a *Agents) definition(name string) (agents.Definition, error) {
	d, ok := agents.Find(a.defs, name)
	if !ok {
		return d, errors.New("there is no agent " + name)
	}
	return d, nil
}

package rundir

import (
	"fmt"
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sandbox"
	"github.com/ycbot/ycbot/internal/workspace"
)

// Identity is what must be the same for a run to be continued. The names of its
// fields are stored: do not change them.
type Identity struct {
	Run    string `json:"run"`
	Root   string `json:"root"`
	Base   string `json:"base"`
	Head   string `json:"head"`
	Range  string `json:"range"` // what the refs stood for, so that what is new is verified and not what was
	Dirty  bool   `json:"dirty"`
	Task   string `json:"task"`
	Config string `json:"config"`
	Model  string `json:"model"` // who is asked, and which agents
	Where  string `json:"where"` // sandbox and network, which the evidence depends on
	Trees  string `json:"trees"` // where its worktrees lay as it began; may be another when it is continued
}

// same says whether the two are one job. By which names it was asked for is nothing where
// it is known what they stand for.
func (i Identity) same(j Identity) bool {
	i.Run, j.Run, i.Trees, j.Trees = "", "", "", ""
	if i.Range != "" {
		i.Base, i.Head, j.Base, j.Head = "", "", "", ""
	}
	return i == j
}

// A Network says when commands of the change may use the network.
type Network string

// When commands may use the network. The zero value is as NetworkSetup.
const (
	NetworkNone  Network = "none"
	NetworkSetup Network = "setup" // while dependencies are fetched
	NetworkFull  Network = "full"
)

// Settings are what a run was begun with and its report needs: they are in the
// journal (kind "run", key "circumstances"), so that a report can be made from the run
// directory alone. The names of the fields are stored: do not change them.
type Settings struct {
	Began    time.Time           `json:"began"`
	Trigger  string              `json:"trigger"`
	Actor    string              `json:"actor"`
	Trust    string              `json:"trust"`
	Require  sandbox.Tier        `json:"require"`
	Sandbox  sandbox.Status      `json:"sandbox"`
	Network  Network             `json:"network"`
	Machine  bool                `json:"machine,omitempty"`
	Accepted []report.Acceptance `json:"accepted,omitempty"` // what people accepted, for whichever head gives up the same
	First    bool                `json:"first,omitempty"`    // only the decisive part was asked for
	Model    bool                `json:"model"`              // agents were asked for
	Config   string              `json:"config"`             // the file that was named in place of the repository's
	Versions report.Versions     `json:"versions"`
	Format   int                 `json:"format,omitempty"` // of the directory: see [Format]

	// What it takes besides to do the same again.
	Timeout time.Duration  `json:"timeout,omitempty"` // 0: the configuration's
	NoRace  string         `json:"no_race,omitempty"` // why Go's race detector was left out
	Agents  *AgentSettings `json:"cast,omitempty"`
}

// AgentSettings are what was asked of the agents.
type AgentSettings struct {
	Agents      []string `json:"agents"`
	Coordinator bool     `json:"coordinator"`
	MaxTokens   int      `json:"max_tokens"`
	MaxCostUSD  float64  `json:"max_cost_usd"`

	MaxIterations int  `json:"max_iterations,omitempty"`
	NoBackground  bool `json:"no_background,omitempty"`

	Mode string `json:"mode,omitempty"`
	Exec string `json:"exec,omitempty"`

	Effort string `json:"effort,omitempty"`

	Flags []string `json:"flags,omitempty"` // that name the model
	Dir   string   `json:"dir,omitempty"`   // of agents beside those of base and user, as it was named; empty: none, or of a server
}

// tiers from the weakest to the strongest.
var tiers = []sandbox.Tier{sandbox.TierNone, sandbox.TierBasic, sandbox.TierStrong, sandbox.TierFull}

// Refused says why nothing of the change may be executed; "" where it may be.
func (s Settings) Refused() string {
	have := s.Sandbox.Tier
	if s.Require == "" || slices.Index(tiers, have) >= slices.Index(tiers, s.Require) {
		return ""
	}
	return fmt.Sprintf("nothing of the change was executed: a head of this trust (%s) needs sandbox tier %s, and this machine gives %s",
		s.Trust, s.Require, have)
}

// A Source is what the checkout stage found: the change, and what is said about it.
// The names of its fields are stored: do not change them.
type Source struct {
	Change  change.Change      `json:"change"`
	BaseRef string             `json:"base_ref"` // as a person names it
	HeadRef string             `json:"head_ref"`
	Commits []workspace.Commit `json:"commits"` // from merge base to head, newest first
	Notes   []string           `json:"notes"`
	Hidden  []report.Finding   `json:"hidden"`          // characters that a reviewer does not see
	Lacks   string             `json:"lacks,omitempty"` // why there is no merge base: NoMergeBase, EmptyRepo; "": there is one
}

// Why a change is compared with something else than a merge base. They are flags of
// the brief, and stored.
const (
	NoMergeBase = "no_merge_base" // base and head have no commit in common: with the base as it is
	EmptyRepo   = "empty_repo"    // the head is the first commit: with nothing
)

// Lacking says in words what the change is compared with instead of a merge base.
func (s Source) Lacking() string {
	if s.Lacks == EmptyRepo {
		return "there is no commit to compare with: all of the head counts as new"
	}
	return "base and head have no commit in common: the head is compared with the base as it is, and what only the base has counts as removed"
}

// A Reuse is what became of the last run (stage "takeover"): its directory is kept in
// this one, and its verdict is reused where it verified the same files. The names of
// the fields are stored: do not change them.
type Reuse struct {
	RunID  string `json:"run_id"` // of the run whose verdict is reused; empty: none is
	Head   string `json:"head"`
	Digest string `json:"digest"`        // of the SHA256SUMS of what is kept; empty: nothing is
	Why    string `json:"why,omitempty"` // nothing is kept
	// Accepted says that the verdict is not reused but concluded again, with what a
	// person accepted.
	Accepted bool `json:"accepted,omitempty"`
}

// Reused says whether the verdict of the last run is reused or concluded again.
func (r *Reuse) Reused() bool { return r != nil && r.RunID != "" }

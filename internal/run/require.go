package run

import (
	"fmt"
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// circumstances are what a run was begun with and its report needs: they are in
// the journal, so that a report can be made from the run directory alone.
type circumstances struct {
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

	// What it takes besides to do the same again.
	Timeout time.Duration `json:"timeout,omitempty"` // 0: the configuration's
	NoRace  string        `json:"no_race,omitempty"` // why Go's race detector was left out
	Cast    *castFacts    `json:"cast,omitempty"`
}

// castFacts are what was said of the agents.
type castFacts struct {
	Agents      []string `json:"agents"`
	Coordinator bool     `json:"coordinator"`
	MaxTokens   int      `json:"max_tokens"`
	MaxCostUSD  float64  `json:"max_cost_usd"`

	MaxIterations int  `json:"max_iterations,omitempty"`
	NoBackground  bool `json:"no_background,omitempty"`

	Mode string `json:"mode,omitempty"`
	Exec string `json:"exec,omitempty"`
}

func (s *session) circumstances() (circumstances, error) {
	c := circumstances{
		Began: s.began.UTC(), Trigger: s.job.Trigger, Actor: s.job.Actor, Trust: s.job.Trust, Require: s.job.Require,
		Sandbox: s.Sandbox.Status(), Network: s.Network, Model: s.job.Cast != nil && !s.job.UntilFirst,
		First: s.job.UntilFirst, Machine: s.job.Machine, Accepted: slices.Clone(s.job.Accepted),
		Versions: report.Versions{Ycbot: s.Version, Git: s.Git.Version(), OS: s.OS},
	}
	for i := range c.Accepted {
		if c.Accepted[i].At == "" { // by a trailer: it holds from the run on
			c.Accepted[i].At = c.Began.Format(time.RFC3339)
		}
	}
	if s.job.Config != nil {
		c.Config = s.job.Config.Name
	}
	c.Timeout = s.job.Timeout
	c.NoRace = s.Tools.NoRace()
	if k := s.job.Cast; k != nil {
		c.Cast = &castFacts{Agents: k.Agents, Coordinator: k.Coordinator, MaxTokens: k.MaxTokens, MaxCostUSD: k.MaxCostUSD, MaxIterations: k.MaxIterations, NoBackground: k.NoBackground, Mode: s.job.Mode, Exec: k.Exec}
	}
	return c, nil
}

// tiers from the weakest to the strongest.
var tiers = []sandbox.Tier{sandbox.TierNone, sandbox.TierBasic, sandbox.TierStrong, sandbox.TierFull}

// refused says why nothing of the change may be executed; "" where it may be.
func (c circumstances) refused() string {
	have := c.Sandbox.Tier
	if c.Require == "" || slices.Index(tiers, have) >= slices.Index(tiers, c.Require) {
		return ""
	}
	return fmt.Sprintf("nothing of the change was executed: a head of this trust (%s) needs sandbox tier %s, and this machine gives %s",
		c.Trust, c.Require, have)
}

// refusal is the gate's result where nothing may be executed.
func refusal(why string) *gate.Result {
	return &gate.Result{
		Verdict: gate.Verdict(report.Partial), Reasons: []string{why},
		NotCovered: []string{"build, tests and probes: nothing was executed"},
	}
}

package rundir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// Header is the report of a run without what was found: what does not depend on it.
func (b Begun) Header(records []evidence.Record) *report.Report {
	s := b.Settings
	rep := &report.Report{
		Schema: report.Schema, RunID: b.ID, Trigger: s.Trigger, Actor: s.Actor, Trust: s.Trust,
		Sandbox: sandboxFacts(s.Sandbox), Notes: slices.Clone(b.Source.Notes),
		Timings:   report.Timings{Started: s.Began.UTC()},
		Versions:  s.Versions,
		ReportDir: b.Dir,
	}
	rep.FromChange(b.Source.Change)
	for _, r := range records {
		if r.Executed {
			rep.Usage.Commands++
		}
	}
	if s.First {
		rep.Phase = report.PhaseFirst
	}
	zero := 0.0
	rep.Usage.CostUSD = &zero
	if !s.Model {
		rep.NotCovered = []string{"what no test or probe exercises: no model looked at the change"}
	}
	rep.Reproduce = b.command()
	if s.Network == NetworkFull {
		rep.Notes = append(rep.Notes, "all commands of the change could use the network (--network full)")
	}
	return rep
}

// command verifies the same range again, as far: what was not asked for is not asked for
// again. Which model answers is said by those who run it.
func (b Begun) command() string {
	c, s := b.Source.Change, b.Settings
	cmd := "ycbot run --base " + c.BaseSHA + " --head " + c.HeadSHA
	switch {
	case c.PR != 0:
		cmd = fmt.Sprintf("ycbot run --pr %d --repo %s --head %s", c.PR, c.Repo, c.HeadSHA)
	case c.Dirty:
		cmd = "ycbot run --dirty --base " + c.BaseSHA
	}
	if s.Config != "" && c.PR == 0 {
		cmd += " --config " + Quote(s.Config)
	}
	switch {
	case s.First:
		cmd += " --until first"
	case !s.Model:
		cmd += " --no-model"
	case s.Agents != nil && len(s.Agents.Agents) > 0:
		cmd += " --agents " + Quote(strings.Join(s.Agents.Agents, ","))
	}
	return cmd
}

// Quote is a word as a shell takes it for one.
func Quote(word string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func sandboxFacts(st sandbox.Status) report.Sandbox {
	out := report.Sandbox{Tier: string(st.Tier), Layers: st.Layers, Missing: st.Missing}
	for _, c := range st.SelfTest {
		out.SelfTest = append(out.SelfTest, report.Canary(c))
	}
	return out
}

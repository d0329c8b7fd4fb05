package rundir

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

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
	case s.Agents != nil:
		cmd = strings.Join(append([]string{cmd}, s.Agents.chosen()...), " ")
	}
	return cmd
}

// resume is the command that goes on with the run in its directory, which must be given all
// that its identity has. For what was not recorded stands the name of what it takes.
func (b Begun) resume() string {
	c, s := b.Source.Change, b.Settings
	words := []string{b.command()}
	add := func(flag, value string) {
		if value != "" {
			words = append(words, flag, Quote(value))
		}
	}
	if c.PR != 0 {
		add("--config", s.Config)
	} else {
		add("-C", b.Identity.Root)
	}
	switch {
	case b.Identity.Task == "":
	case Digest(c.Task) == b.Identity.Task && strings.IndexFunc(c.Task, unicode.IsControl) < 0:
		add("--task", c.Task)
	default:
		add("--task-file", "FILE")
	}
	if a := s.Agents; a != nil {
		words = append(words, a.words(s.First)...)
	} else if s.First {
		words = append(words, "--no-model")
	}
	if s.Timeout != 0 {
		add("--timeout", s.Timeout.String())
	}
	if s.Network != NetworkSetup {
		add("--network", string(s.Network))
	}
	if s.Refused() == "" { // else a run that is begun from the start would be refused nothing
		add("--sandbox", string(s.Sandbox.Tier))
	}
	add("--out", b.Dir)
	if s.Agents != nil && s.Agents.Exec != "" {
		words = slices.Insert(words, 0, "YCBOT_EXEC="+Quote(s.Agents.Exec))
	}
	return strings.Join(words, " ")
}

// A flags is words of a command line.
type flags []string

func (f *flags) add(set bool, flag, value string) {
	if set {
		*f = append(*f, flag)
	}
	if set && value != "" {
		*f = append(*f, Quote(value))
	}
}

// chosen are the flags that say which agents look at the change.
func (a *AgentSettings) chosen() []string {
	var words flags
	words.add(len(a.Agents) > 0, "--agents", strings.Join(a.Agents, ","))
	words.add(a.Dir != "", "--agents-dir", a.Dir)
	words.add(a.Coordinator, "--coordinator", "")
	return words
}

// words are the flags that ask for the same of the agents, but for which these are, unless
// that is to be said, too.
func (a *AgentSettings) words(which bool) []string {
	var words flags
	for _, word := range a.Flags {
		words = append(words, Quote(word))
	}
	words.add(len(a.Flags) == 0, "--model", "NAME")
	if which {
		words = append(words, a.chosen()...)
	}
	words.add(a.NoBackground, "--no-background", "")
	words.add(a.Mode != "" && a.Mode != "verify", "--mode", a.Mode)
	words.add(a.Effort != "", "--effort", a.Effort)
	words.add(a.MaxTokens != 0, "--max-tokens", strconv.Itoa(a.MaxTokens))
	words.add(a.MaxCostUSD != 0, "--max-cost-usd", strconv.FormatFloat(a.MaxCostUSD, 'f', -1, 64))
	words.add(a.MaxIterations != 0, "--max-iterations", strconv.Itoa(a.MaxIterations))
	return words
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

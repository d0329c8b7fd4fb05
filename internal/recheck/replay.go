package recheck

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/orchestrator"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/run"
	"github.com/ycbot/ycbot/internal/rundir"
	"github.com/ycbot/ycbot/internal/tool"
)

// A RecordedModel answers with what was answered before.
type RecordedModel interface {
	model.Model
	// Recorded is the id that the agent had in the record which is id now.
	Recorded(agent, id string) string
}

// ReplayOptions say how a run is replayed.
type ReplayOptions struct {
	Repo  string        // a folder in a repository that has the commits
	Dry   bool          // commands are not executed: their recorded results stand for them
	Model RecordedModel // nil: there is none, which will do for a gate-only run
	Price agent.Price   // of the model, for limits on cost
}

// A Departure is where a replay does not go the way of the record.
type Departure struct {
	Where string // such as "agent verification, turn 2"
	What  string // one line
	Diff  string // may be empty
}

// Replayed is what came of driving a run again.
type Replayed struct {
	Report *report.Report
	// Way are the first departures of the gate, of each agent and of what was
	// tried again; Result are the parts of the report that are another. A replay
	// may depart on its way and come to the same report.
	Way, Result []Departure
}

// Replay drives the loop of the finished run in dir again, with the recorded
// answers of its model, and compares. An error means that it could not be done.
func Replay(ctx context.Context, r *run.Runner, dir string, o ReplayOptions) (_ *Replayed, err error) {
	p, err := openPast(dir, r.Version)
	if err != nil {
		return nil, err
	}
	switch {
	case p.report.Outcome != report.Completed && p.report.Outcome != report.Refused:
		return nil, fmt.Errorf("the run was broken off (%s): there is no way to its end that could be gone again", p.report.Outcome)
	case p.run.Begun.Settings.Model && o.Model == nil:
		return nil, errors.New("the answers of its model are not there (model.jsonl)")
	}
	like := *r
	recorded := &playback{past: p, moved: strings.NewReplacer(), real: r.Sandbox, used: map[string]bool{}}
	if o.Dry {
		like.Sandbox = recorded
	}
	moved := strings.NewReplacer()
	records := func() []evidence.Record { return nil } // of this time
	options := run.RepeatOptions{Repo: o.Repo, Previous: p.kept()}
	if p.run.Begun.Settings.Model {
		options.Models = p.models(o, func(text string) string { return moved.Replace(text) }, func(was, now string) numbers {
			n := numbers{}
			n.pairDeciding(p.run.Records, records(), gate.Agent)
			n.pair(p.run.Records, records(), was, now)
			return n
		})
	}
	repeat, err := like.Repeat(ctx, p.run, options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, repeat.Close()) }()
	moved, records = p.moved(repeat.Layout), repeat.Dir.Evidence.Records
	recorded.moved = moved
	rep, err := repeat.Verify(ctx)
	if err != nil {
		return nil, err
	}
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	c := &comparison{
		past: p, model: o.Model, moved: moved, ids: numbers{},
		now: &past{
			run:   &rundir.Recorded{Begun: rundir.Begun{Dir: repeat.Dir.Path}, Journal: repeat.Dir.Journal, Records: repeat.Dir.Evidence.Records()},
			found: run.FoundIn(repeat.Dir.Journal),
		},
	}
	if err := c.all(); err != nil {
		return nil, err
	}
	if n := len(recorded.unknown); n > 0 && len(c.way) == 0 {
		c.depart("a command", fmt.Sprintf("%q is not recorded", recorded.unknown[0]), "")
	}
	js, err := rep.JSON()
	if err != nil {
		return nil, err
	}
	if rep, err = report.Parse(js); err != nil { // as the recorded one was read
		return nil, err
	}
	return &Replayed{Report: rep, Way: c.way, Result: c.report(rep)}, nil
}

// models is the recorded model side, with the recorded model.
func (p *past) models(o ReplayOptions, moved func(string) string, ids func(was, now string) numbers) *orchestrator.ModelConfig {
	c := &orchestrator.ModelConfig{Name: "replay", Price: o.Price, Recorded: &orchestrator.RecordedAgents{}}
	if k := p.run.Begun.Settings.Agents; k != nil {
		c.Agents, c.Coordinator, c.MaxTokens, c.MaxCostUSD, c.MaxIterations = k.Agents, k.Coordinator, k.MaxTokens, k.MaxCostUSD, k.MaxIterations
		c.NoBackground, c.Exec, c.Effort = k.NoBackground, k.Exec, k.Effort
	}
	if set, ok := rundir.Lookup[orchestrator.Set](p.run.Journal, "run", "agents"); ok {
		c.Recorded.Set = &set
	}
	c.Recorded.Machine, _ = rundir.Lookup[[]string](p.run.Journal, "run", "machine")
	c.Recorded.Pull, _ = rundir.Lookup[*tool.Pull](p.run.Journal, "run", "pull")
	if was, ok := rundir.Lookup[orchestrator.Preflight](p.run.Journal, "stage", "preflight"); ok {
		c.Preflight = func(context.Context, orchestrator.Recorder) (model.Usage, *orchestrator.Trouble) {
			return was.Usage, nil
		}
	}
	c.Model = func(record orchestrator.Recorder) (model.Model, error) {
		return &relocated{Model: orchestrator.Recorded(o.Model, record), moved: moved, ids: ids, recorded: o.Model.Recorded}, nil
	}
	return c
}

// relocated puts the folders and the ids that agents and their evidence have now in the
// place of those that recorded answers name.
type relocated struct {
	model.Model
	moved    func(string) string
	ids      func(was, now string) numbers // of the evidence of an agent
	recorded func(agent, id string) string
}

func (r *relocated) Generate(ctx context.Context, req *model.Request, on func(model.Delta)) (*model.Response, error) {
	resp, err := r.Model.Generate(ctx, req, nil)
	was := r.recorded(req.Agent, req.ID)
	ids := r.ids(was, req.ID)
	move := func(text string) string { return ids.replace(r.moved(text)) }
	if was != req.ID && was != "" {
		renamed := strings.NewReplacer(was, req.ID, "/"+rundir.Short(was), "/"+rundir.Short(req.ID))
		move = func(text string) string { return renamed.Replace(ids.replace(r.moved(text))) }
	}
	if resp == nil {
		return nil, err
	}
	resp.Message.Text = move(resp.Message.Text)
	resp.Message.Calls = slices.Clone(resp.Message.Calls)
	for i := range resp.Message.Calls {
		resp.Message.Calls[i].Args = move(resp.Message.Calls[i].Args)
	}
	if on != nil && resp.Message.Text != "" {
		on(model.Delta{Text: resp.Message.Text})
	}
	return resp, err
}

// A comparison holds a replay against its record.
type comparison struct {
	past, now *past
	model     RecordedModel
	moved     *strings.Replacer
	ids       numbers // of evidence, once the agents are known
	way       []Departure
}

// here is a recorded text with the folders and ids of this time.
func (c *comparison) here(text string) string { return c.ids.replace(c.moved.Replace(text)) }

func (c *comparison) depart(where, what, d string) {
	c.way = append(c.way, Departure{Where: where, What: what, Diff: d})
}

// all finds the first departures of the gate, of each agent and of what was run again
// for failing checks.
func (c *comparison) all() error {
	for _, who := range []string{gate.Agent, reproduce.Host} {
		c.ids.pairDeciding(c.past.run.Records, c.now.run.Records, who)
	}
	err := c.commands("gate", deciding(gateRecords(c.past.run.Records, c.past.found.Gate)), deciding(gateRecords(c.now.run.Records, c.now.found.Gate)))
	if err != nil {
		return err
	}
	c.agents()
	was := reproduce.Tried(whole(c.past.run))
	was = was[max(0, len(was)-len(c.past.tries())):]
	return c.commands("what was run again", slices.Concat(was...), slices.Concat(reproduce.Tried(whole(c.now.run))...))
}

// commands names the first of two lists of commands that is not the same.
func (c *comparison) commands(who string, was, now []evidence.Record) error {
	for i := range max(len(was), len(now)) {
		switch {
		case i >= len(now):
			c.depart(who+", "+was[i].ID, fmt.Sprintf("%q is not run any more", was[i].Command), "")
			return nil
		case i >= len(was):
			c.depart(who+", "+now[i].ID, fmt.Sprintf("%q is not recorded", now[i].Command), "")
			return nil
		}
		a, b := was[i], now[i]
		where := fmt.Sprintf("%s, %s (%s)", who, a.ID, a.Task)
		if a.Task != b.Task || !evidence.SameCommand(c.here(a.Command), b.Command) || a.Cwd != b.Cwd {
			c.depart(where, fmt.Sprintf("%q was %q", b.Command, a.Command), "")
			return nil
		}
		d, err := c.outputs(a, b)
		if err != nil {
			return err
		}
		switch {
		case a.Exit != b.Exit:
			c.depart(where, fmt.Sprintf("%q ends with exit %d, which was %d", b.Command, b.Exit, a.Exit), d)
			return nil
		case d != "":
			c.depart(where, fmt.Sprintf("%q prints something else", b.Command), d)
			return nil
		}
	}
	return nil
}

// outputs is the diff of what two records' commands wrote.
func (c *comparison) outputs(was, now evidence.Record) (string, error) {
	stdout, stderr, err := c.past.run.Output(was)
	if err != nil {
		return "", err
	}
	stdoutNow, stderrNow, err := c.now.run.Output(now)
	if err != nil {
		return "", err
	}
	return unified("stdout", c.here(string(stdout)), string(stdoutNow)) + unified("stderr", c.here(string(stderr)), string(stderrNow)), nil
}

// agents finds the first turn of each agent that is another.
func (c *comparison) agents() {
	now := map[string]string{} // ids of this time by those of the record
	for _, e := range c.now.run.Journal.Entries("turn") {
		now[c.model.Recorded(c.now.agentOf(e.Key), e.Key)] = e.Key
	}
	for was, id := range now {
		c.ids.pair(c.past.run.Records, c.now.run.Records, was, id)
	}
	for _, e := range c.past.run.Journal.Entries("turn") {
		name := c.past.agentOf(e.Key)
		id, ok := now[e.Key]
		if !ok {
			c.depart("agent "+name, "it is not started any more", "")
			continue
		}
		c.turns(name, e.Key, id)
	}
}

// agentOf is the agent that an id stands for.
func (p *past) agentOf(id string) string {
	if o, ok := rundir.Lookup[agent.Order](p.run.Journal, "subagent", id); ok {
		return o.Agent
	}
	return id // the coordinator's
}

// turns compares one agent's conversations.
func (c *comparison) turns(name, was, now string) {
	where := func(n int) string { return fmt.Sprintf("agent %s, turn %d", name, n) }
	if d := c.openings(was, now); d != "" {
		c.depart(where(1), "it is given something else", d)
	}
	for n := 1; ; n++ {
		before, had := rundir.Lookup[model.Response](c.past.run.Journal, "model", fmt.Sprintf("%s/%d", was, n))
		_, has := rundir.Lookup[model.Response](c.now.run.Journal, "model", fmt.Sprintf("%s/%d", now, n))
		if !had && !has {
			c.endings(where(n), was, now)
			return
		}
		if !has || !had {
			what := "it is not asked any more"
			if has {
				what = "it goes on"
			}
			c.depart(where(n), what+": "+cmp.Or(c.now.result(now).Reason, "it has ended"), "")
			return
		}
		for i, call := range before.Message.Calls {
			d := c.answers(fmt.Sprintf("%s/%d.%d", was, n, i), fmt.Sprintf("%s/%d.%d", now, n, i))
			if d != "" {
				c.depart(fmt.Sprintf("%s, call %d", where(n), i+1), fmt.Sprintf("%s %s is answered with something else", call.Name, agent.Cut(call.Args, 200)), d)
				return
			}
		}
	}
}

// endings finds where an agent ended in another way.
func (c *comparison) endings(where, was, now string) {
	a, b := c.past.result(was), c.now.result(now)
	if a.Outcome != b.Outcome {
		c.depart(where, fmt.Sprintf("it ends with %s (%s), which was %s", b.Outcome, b.Reason, a.Outcome), "")
	}
}

// result is what an agent came to.
func (p *past) result(id string) agent.Result {
	if j := p.found.Judged; j != nil {
		for _, r := range j.Results {
			if r.ID == id {
				return r
			}
		}
	}
	return agent.Result{}
}

// openings is the diff of what two agents are given at first.
func (c *comparison) openings(was, now string) string {
	read := func(p *past, id string) string {
		type opening struct {
			System   string          `json:"system"`
			Messages []model.Message `json:"messages"`
		}
		o, _ := rundir.Lookup[opening](p.run.Journal, "turn", id)
		text := o.System
		for _, m := range o.Messages {
			text += "\n" + m.Text
		}
		return evidence.Untimed(text)
	}
	given := read(c.now, now)
	same := map[string]bool{}
	for line := range strings.Lines(given) {
		same[line] = true
	}
	var before strings.Builder
	for line := range strings.Lines(c.moved.Replace(read(c.past, was))) {
		if !same[line] { // an id in an example of the instructions is that of no command
			line = c.ids.replace(line)
		}
		before.WriteString(line)
	}
	return unified("given", before.String(), given)
}

// answers is the diff of the answers to two calls.
func (c *comparison) answers(was, now string) string {
	read := func(p *past, key string) string {
		type answer struct {
			Text string `json:"text"`
		}
		a, _ := rundir.Lookup[answer](p.run.Journal, "tool", key)
		return a.Text
	}
	return unified("answer", c.here(read(c.past, was)), read(c.now, now))
}

// report names the parts of the report that are another.
func (c *comparison) report(now *report.Report) []Departure {
	was := c.past.report
	var out []Departure
	for _, part := range []struct {
		name     string
		was, now any
	}{
		{"verdict", was.Verdict, now.Verdict},
		{"reasons", was.Reasons, now.Reasons},
		{"checks", was.Checks, now.Checks},
		{"findings", was.Findings, now.Findings},
		{"not_covered", was.NotCovered, now.NotCovered},
		{"denied", was.Denied, now.Denied},
	} {
		d := unified(part.name, c.here(listed(part.was)), listed(part.now))
		if d != "" {
			out = append(out, Departure{Where: "report", What: part.name + another(part.was, part.now), Diff: d})
		}
	}
	return out
}

func another(was, now any) string {
	if v, ok := now.(report.Verdict); ok {
		return fmt.Sprintf(": %s, which was %s", v, was)
	}
	return ": not the recorded ones"
}

// listed is a part of a report in lines; nothing and an empty list are the same.
func listed(part any) string {
	js, err := json.MarshalIndent(part, "", " ")
	if err != nil || string(js) == "null" {
		js = []byte("[]")
	}
	lines := strings.Split(evidence.Untimed(string(js)), "\n")
	return strings.Join(lines, "\n") + "\n"
}

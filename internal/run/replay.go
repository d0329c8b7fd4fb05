package run

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
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/report"
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

// A Replay is what came of driving a run again.
type Replay struct {
	Report *report.Report
	// Way are the first departures of the gate, of each agent and of what was
	// tried again; Result are the parts of the report that are another. A replay
	// may depart on its way and come to the same report.
	Way, Result []Departure
}

// Replay drives the loop of the finished run in dir again, with the recorded
// answers of its model, and compares. An error means that it could not be done.
func (r *Runner) Replay(ctx context.Context, dir string, o ReplayOptions) (*Replay, error) {
	p, err := openPast(dir)
	if err != nil {
		return nil, err
	}
	switch {
	case p.rep.Outcome != report.Completed && p.rep.Outcome != report.Refused:
		return nil, fmt.Errorf("the run was broken off (%s): there is no way to its end that could be gone again", p.rep.Outcome)
	case p.around.Model && o.Model == nil:
		return nil, errors.New("the answers of its model are not there (model.jsonl)")
	}
	driven := *r
	t := &tape{past: p, real: r.Sandbox, used: map[string]bool{}}
	if o.Dry {
		driven.Sandbox = t
	}
	moved := strings.NewReplacer()
	var cast *Cast
	if p.around.Model {
		cast = p.cast(o, func(text string) string { return moved.Replace(text) })
	}
	s, err := driven.again(ctx, p, o.Repo, cast)
	if err != nil {
		return nil, err
	}
	defer s.close()
	moved = p.moved(s)
	t.moved = moved
	rep, err := s.drive(ctx)
	if err != nil {
		return nil, err
	}
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	c := &comparison{past: p, session: s, model: o.Model, moved: moved}
	if c.now, err = s.recall(); err != nil {
		return nil, err
	}
	if err := c.gate(); err != nil {
		return nil, err
	}
	c.agents()
	if err := c.tries(); err != nil {
		return nil, err
	}
	if n := len(t.unknown); n > 0 && len(c.way) == 0 {
		c.depart("a command", fmt.Sprintf("%q is not recorded", t.unknown[0]), "")
	}
	js, err := rep.JSON()
	if err != nil {
		return nil, err
	}
	if rep, err = report.Parse(js); err != nil { // as the recorded one was read
		return nil, err
	}
	return &Replay{Report: rep, Way: c.way, Result: c.report(rep)}, nil
}

// cast is the recorded one, with the recorded model.
func (p *past) cast(o ReplayOptions, moved func(string) string) *Cast {
	c := &Cast{Name: "replay", Price: o.Price}
	if k := p.around.Cast; k != nil {
		c.Agents, c.Coordinator, c.MaxTokens, c.MaxCostUSD, c.MaxIterations = k.Agents, k.Coordinator, k.MaxTokens, k.MaxCostUSD, k.MaxIterations
		c.NoBackground, c.Exec = k.NoBackground, k.Exec
	}
	var k crew
	if p.lookup("run", "agents", &k) {
		c.crew = &k
	}
	p.lookup("run", "pull", &c.pull)
	var was preflight
	if p.lookup("stage", "preflight", &was) {
		c.Preflight = func(context.Context, Recorder) (model.Usage, *Trouble) { return was.Usage, nil }
	}
	c.Model = func(record Recorder) (model.Model, error) {
		return &relocated{Model: Recorded(o.Model, record), moved: moved, recorded: o.Model.Recorded}, nil
	}
	return c
}

// relocated puts the folders and the ids that agents have now in the place of
// those that recorded answers name.
type relocated struct {
	model.Model
	moved    func(string) string
	recorded func(agent, id string) string
}

func (r *relocated) Generate(ctx context.Context, req *model.Request, on func(model.Delta)) (*model.Response, error) {
	move := r.moved
	resp, err := r.Model.Generate(ctx, req, nil)
	if was := r.recorded(req.Agent, req.ID); was != req.ID && was != "" {
		renamed := strings.NewReplacer(was, req.ID, "/"+first8(was), "/"+first8(req.ID))
		move = func(text string) string { return renamed.Replace(r.moved(text)) }
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
	*session // of the replay
	past     *past
	now      kept
	model    RecordedModel
	moved    *strings.Replacer
	way      []Departure
}

func (c *comparison) depart(where, what, d string) {
	c.way = append(c.way, Departure{Where: where, What: what, Diff: d})
}

// gate finds the first command of the gate that went another way.
func (c *comparison) gate() error {
	now := &past{session: &session{read: c.log.Records()}, kept: c.now}
	return c.commands("gate", c.past.steps(), now.steps())
}

// tries does so with what was run again for failing checks.
func (c *comparison) tries() error {
	last := func(records []evidence.Record, tries int) []evidence.Record {
		groups := tried(records)
		return slices.Concat(groups[max(0, len(groups)-tries):]...)
	}
	was, now := c.past.tries(), tried(c.log.Records())
	return c.commands("what was run again", last(c.past.read, len(was)), slices.Concat(now...))
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
		if a.Task != b.Task || typed(c.moved.Replace(a.Command)) != typed(b.Command) || a.Cwd != b.Cwd {
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
	stdout, stderr, err := c.past.output(was)
	if err != nil {
		return "", err
	}
	here := &past{session: &session{dir: c.dir}}
	stdoutNow, stderrNow, err := here.output(now)
	if err != nil {
		return "", err
	}
	return unified("stdout", c.moved.Replace(string(stdout)), string(stdoutNow)) + unified("stderr", c.moved.Replace(string(stderr)), string(stderrNow)), nil
}

// agents finds the first turn of each agent that is another.
func (c *comparison) agents() {
	now := map[string]string{} // ids of this time by those of the record
	for _, e := range c.journal.Entries("turn") {
		now[c.model.Recorded(named(c.session, e.Key), e.Key)] = e.Key
	}
	for _, e := range c.past.journal.Entries("turn") {
		name := named(c.past.session, e.Key)
		id, ok := now[e.Key]
		if !ok {
			c.depart("agent "+name, "it is not sent out any more", "")
			continue
		}
		c.turns(name, e.Key, id)
	}
}

// named is the agent that an id stands for.
func named(s *session, id string) string {
	var o agent.Order
	if s.lookup("subagent", id, &o) {
		return o.Agent
	}
	return id // the coordinator's
}

// turns compares one agent's conversations.
func (c *comparison) turns(name, was, now string) {
	where := func(n int) string { return fmt.Sprintf("agent %s, turn %d", name, n) }
	if d := c.openings(was, now); d != "" {
		c.depart(where(1), "it is told something else", d)
	}
	for n := 1; ; n++ {
		var before, after model.Response
		had := c.past.lookup("model", fmt.Sprintf("%s/%d", was, n), &before)
		has := c.lookup("model", fmt.Sprintf("%s/%d", now, n), &after)
		if !had && !has {
			c.endings(where(n), was, now)
			return
		}
		if !has || !had {
			what := "it is not asked any more"
			if has {
				what = "it goes on"
			}
			c.depart(where(n), what+": "+cmp.Or(c.result(c.now, now).Reason, "it has ended"), "")
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

// endings tells where an agent ended in another way.
func (c *comparison) endings(where, was, now string) {
	a, b := c.result(c.past.kept, was), c.result(c.now, now)
	if a.Outcome != b.Outcome {
		c.depart(where, fmt.Sprintf("it ends with %s (%s), which was %s", b.Outcome, b.Reason, a.Outcome), "")
	}
}

// result is what an agent came to.
func (c *comparison) result(k kept, id string) agent.Result {
	if k.judged != nil {
		for _, r := range k.judged.Results {
			if r.ID == id {
				return r
			}
		}
	}
	return agent.Result{}
}

// openings is the diff of what two agents are told at first.
func (c *comparison) openings(was, now string) string {
	read := func(s *session, id string) string {
		var o struct {
			System   string          `json:"system"`
			Messages []model.Message `json:"messages"`
		}
		s.lookup("turn", id, &o)
		text := o.System
		for _, m := range o.Messages {
			text += "\n" + m.Text
		}
		return timeoutFlag.ReplaceAllString(text, "")
	}
	return unified("told", c.moved.Replace(read(c.past.session, was)), read(c.session, now))
}

// answers is the diff of the answers to two calls.
func (c *comparison) answers(was, now string) string {
	read := func(s *session, key string) string {
		var a struct {
			Text string `json:"text"`
		}
		s.lookup("tool", key, &a)
		return a.Text
	}
	return unified("answer", c.moved.Replace(read(c.past.session, was)), read(c.session, now))
}

// report names the parts of the report that are another.
func (c *comparison) report(now *report.Report) []Departure {
	was := c.past.rep
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
		d := unified(part.name, c.moved.Replace(listed(part.was)), listed(part.now))
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
	lines := strings.Split(timeoutFlag.ReplaceAllString(string(js), ""), "\n")
	return strings.Join(lines, "\n") + "\n"
}

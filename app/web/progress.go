package web

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/transcript"
)

// A progress is what the events of a run add up to. They are given to it in their order.
type progress struct {
	Stages []*stage
	Agents []*agentCard
	Ended  bool // by the run's own account
	agents map[string]*agentCard
}

// A stage is one of the run's.
type stage struct {
	Name     string
	Started  time.Time
	Took     time.Duration
	Done     bool
	Reason   string // why it did not end well
	Commands []*command
}

// A command is one that no agent asked for.
type command struct {
	transcript.Step
	Started  time.Time
	Took     time.Duration
	Done     bool
	Evidence string
}

// Failed reports whether the command ended badly.
func (c *command) Failed() bool { return c.Done && (c.TimedOut || c.Exit != nil && *c.Exit != 0) }

// An agentCard is one agent at work.
type agentCard struct {
	ID, Name, Parent   string
	About              string
	Model, Isolation   string
	N, Max             int
	Started            time.Time
	Input, Output      int
	CostUSD            *float64
	Took               time.Duration
	Done               bool
	Outcome, Verdict   string
	Error, Said        string
	ToolCalls, Refused int
	Calls              []*call // the last ones
	Earlier            int     // calls before them
	open               map[[2]int]*call
}

// A call is one of a tool.
type call struct {
	Name, Args string
	Started    time.Time
	Took       time.Duration
	Done       bool
	Errored    bool
	Denied     string
	Evidence   []string
}

// shownCalls is how many calls of an agent its card has; the transcript has all.
const shownCalls = 12

// add takes in one event.
func (p *progress) add(e transcript.Event) {
	if e.ID != "" {
		p.agent(e)
		return
	}
	switch e.Type {
	case transcript.RunResumed:
		p.Ended = false
	case transcript.RunDone:
		p.Ended = true
	case transcript.StageStart, transcript.StageDone:
		p.stage(e)
	case transcript.CommandStart, transcript.CommandDone:
		p.command(e)
	}
}

func (p *progress) stage(e transcript.Event) {
	if e.Step == nil {
		return
	}
	var st *stage
	for _, have := range p.Stages {
		if have.Name == e.Step.Stage {
			st = have
		}
	}
	if st == nil {
		st = &stage{Name: e.Step.Stage, Started: e.Time}
		p.Stages = append(p.Stages, st)
	}
	if e.Type == transcript.StageStart { // a run that was gone on with begins some again
		st.Done, st.Started = false, e.Time
		return
	}
	st.Done, st.Took, st.Reason = true, millis(e.DurationMS), e.Reason
}

func (p *progress) command(e transcript.Event) {
	if e.Step == nil {
		return
	}
	if len(p.Stages) == 0 {
		p.Stages = append(p.Stages, &stage{Name: "gate", Started: e.Time})
	}
	st := p.Stages[len(p.Stages)-1]
	if e.Type == transcript.CommandStart {
		st.Commands = append(st.Commands, &command{Step: *e.Step, Started: e.Time})
		return
	}
	var c *command
	for i := len(st.Commands) - 1; i >= 0 && c == nil; i-- {
		have := st.Commands[i]
		if !have.Done && have.Stage == e.Step.Stage && have.Side == e.Step.Side && have.Unit == e.Step.Unit && have.Command == e.Step.Command {
			c = have
		}
	}
	if c == nil {
		c = &command{Started: e.Time}
		st.Commands = append(st.Commands, c)
	}
	c.Step, c.Done, c.Took = *e.Step, true, millis(e.DurationMS)
	if len(e.Evidence) > 0 {
		c.Evidence = e.Evidence[0]
	}
}

func (p *progress) agent(e transcript.Event) {
	a := p.agents[e.ID]
	if a == nil {
		a = &agentCard{ID: e.ID, Name: e.Agent, Parent: e.Parent, Started: e.Time, open: map[[2]int]*call{}}
		if p.agents == nil {
			p.agents = map[string]*agentCard{}
		}
		p.agents[e.ID] = a
		p.Agents = append(p.Agents, a)
	}
	if e.N > a.N {
		a.N = e.N
	}
	if e.Max > 0 {
		a.Max = e.Max
	}
	switch e.Type {
	case transcript.SubagentStart, transcript.TurnStart:
		if m := e.Meta; m != nil {
			a.Model, a.Isolation, a.About = first(m.Model, a.Model), first(m.Isolation, a.Isolation), first(a.About, m.Description)
		}
	case transcript.Message:
		if strings.TrimSpace(e.Text) != "" {
			a.Said = e.Text
		}
		if u := e.Usage; u != nil && !a.Done {
			a.Input, a.Output = a.Input+u.Input, a.Output+u.Output
		}
	case transcript.Failure:
		a.Error = e.Text
	case transcript.SubagentDone, transcript.TurnDone, transcript.TurnInterrupted:
		a.end(e)
	default:
		a.tool(e)
	}
}

func (a *agentCard) end(e transcript.Event) {
	if e.Done == nil {
		return
	}
	d := e.Done
	a.Done, a.Outcome, a.Verdict, a.CostUSD = true, d.Outcome, first(d.Verdict, a.Verdict), d.CostUSD
	a.Input, a.Output, a.ToolCalls = d.Usage.Input, d.Usage.Output, max(a.ToolCalls, d.ToolCalls)
	a.Took, a.Error = millis(d.DurationMS), first(d.Error, a.Error)
}

func (a *agentCard) tool(e transcript.Event) {
	if e.Call == nil {
		return
	}
	at := [2]int{e.N, e.Call.Index}
	c := a.open[at]
	if c == nil {
		c = &call{Name: e.Call.Name, Args: argument(e.Call.Args), Started: e.Time}
		a.open[at] = c
		a.ToolCalls++
		a.Calls = append(a.Calls, c)
		if len(a.Calls) > shownCalls {
			a.Calls, a.Earlier = a.Calls[1:], a.Earlier+1
		}
	}
	switch e.Type {
	case transcript.CallDenied:
		a.Refused++
		c.Denied = "refused"
		if e.Denied != nil {
			c.Denied = first(e.Denied.Code, c.Denied)
		}
	case transcript.ToolResult:
		c.Done, c.Errored, c.Evidence, c.Took = true, e.Errored, e.Evidence, millis(e.DurationMS)
	}
}

// argument is what says most about a call: its command, path or pattern.
func argument(args string) string {
	var fields map[string]any
	if json.Unmarshal([]byte(args), &fields) != nil {
		return args
	}
	for _, key := range []string{"command", "path", "file_path", "pattern", "url", "file", "query"} {
		if text, ok := fields[key].(string); ok && text != "" {
			return text
		}
	}
	if len(fields) == 0 {
		return ""
	}
	return args
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func first(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

package terminal

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/pattern"
)

// Event shows one event of the run.
func (p *Progress) Event(e agent.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.detail == Quiet {
		return
	}
	if e.ID != "" {
		p.agentEvent(e)
	} else {
		p.runEvent(e)
	}
	p.draw()
}

// runEvent says what happened to the run itself.
func (p *Progress) runEvent(e agent.Event) {
	switch e.Type {
	case agent.EventRunStart:
		p.line("run " + e.Text)
	case agent.EventRunResumed:
		p.line("run " + e.Text + " goes on where it was broken off")
	case agent.EventStageStart:
		p.stage = e.Step.Stage
		if e.Step.Stage == "checkout" {
			p.begin("checkout")
		}
	case agent.EventStageDone:
		p.stage = ""
		if e.Step.Stage == "checkout" {
			p.end("checkout", e.Reason == "", "ok "+took(e.DurationMS))
		}
	case agent.EventNote:
		p.line(e.Text)
	case agent.EventCommandStart:
		p.begin(label(e.Step))
		if a := p.doing[label(e.Step)]; a != nil {
			a.last = e.DurationMS
		}
	case agent.EventCommandDone:
		p.end(label(e.Step), !e.Step.TimedOut && (e.Step.Exit == nil || *e.Step.Exit == 0), ending(e))
	}
}

// begin shows that a command of the gate runs.
func (p *Progress) begin(text string) {
	p.doing[text] = &activity{text: text, since: p.now(), minor: housekeeping(text)}
}

// end says how it ended.
func (p *Progress) end(text string, good bool, how string) {
	a := p.doing[text]
	delete(p.doing, text)
	if housekeeping(text) && (a == nil || p.now().Sub(a.since) < long) {
		return
	}
	p.ended(good, text, how)
}

// ended writes how something ended.
func (p *Progress) ended(good bool, text, how string) {
	if p.screen == nil {
		p.line(text + "  " + how)
		return
	}
	mark := p.colour(green, "✓")
	if !good {
		mark = p.colour(red, "✗")
	}
	p.put(mark + " " + Printable(text) + "  " + p.colour(faint, how))
}

// agentEvent says what happened to an agent.
func (p *Progress) agentEvent(e agent.Event) {
	a := p.doing[e.ID]
	switch {
	case e.Type == agent.EventSubagentStart:
		p.doing[e.ID] = &activity{name: e.Agent, since: p.now(), calls: map[int]running{}}
		if p.screen == nil {
			p.line("agent " + e.Agent + " starts")
		}
		return
	case e.Type == agent.EventSubagentDone && e.Done != nil:
		p.leave(e)
		return
	case a == nil:
		a = &activity{name: e.Agent, since: p.now(), calls: map[int]running{}} // one that no one sent out, such as the coordinator
		p.doing[e.ID] = a
	}
	switch e.Type {
	case agent.EventMessage:
		a.turns++
		if e.Usage != nil {
			a.usage = a.usage.Add(model.Usage{Input: e.Usage.Input, Output: e.Usage.Output, Cached: e.Usage.Cached, Written: e.Usage.Written})
		}
		if p.detail == Verbose && strings.TrimSpace(e.Text) != "" {
			p.line("agent " + e.Agent + " says: " + agent.Cut(strings.TrimSpace(e.Text), 400))
		}
	case agent.EventToolStart:
		a.calls[e.Call.Index] = running{text: call(e.Call), since: p.now()}
	case agent.EventToolResult:
		delete(a.calls, e.Call.Index)
		if how := answer(e); p.screen == nil || p.detail == Verbose || how == refused {
			p.ended(how == "ok", "agent "+e.Agent+" "+call(e.Call), how+" "+took(e.DurationMS))
		}
	case agent.EventTurnDone, agent.EventTurnInterrupted:
		clear(a.calls)
	}
}

// leave takes an agent that has ended from what is shown.
func (p *Progress) leave(e agent.Event) {
	if a := p.doing[e.ID]; a != nil {
		p.spent = p.spent.Add(a.usage)
		delete(p.doing, e.ID)
	}
	if e.Done.CostUSD == nil {
		p.unknown = true
	} else {
		p.usd += *e.Done.CostUSD
	}
	how := fmt.Sprintf("%s after %d answers and %d calls, %s", strings.TrimPrefix(e.Done.Outcome, "runner_"), e.Done.Iterations, e.Done.ToolCalls, took(e.Done.DurationMS))
	if p.screen == nil {
		p.line("agent " + e.Agent + " " + how)
		return
	}
	p.ended(e.Done.Status == "completed", "agent "+e.Agent, how)
}

// housekeeping matches commands of the gate that no one need see, unless they take long: a
// cache that is filled for the first time can take minutes.
func housekeeping(text string) bool {
	words := strings.Fields(text) // side, stage, command
	return len(words) > 1 && strings.Contains(text, "go list") && (words[1] == string(gate.StageList) || words[1] == string(gate.StageWarm))
}

func label(s *agent.Step) string {
	where := ""
	if s.Unit != "" && s.Unit != "." {
		where = " (" + s.Unit + ")"
	}
	if s.Rest {
		where += ", which the change does not touch"
	}
	command := s.Command
	if s.Stage == string(gate.StageWarm) && strings.HasPrefix(command, "go list") {
		command = "compiling what tests need, once: " + command
	}
	return fmt.Sprintf("%s %-5s %s%s", s.Side, strings.ReplaceAll(s.Stage, "_", "-"), command, where)
}

// call shows a tool call in one line: of commands the command, of others the arguments.
func call(c *agent.Call) string {
	var args struct{ Command string }
	if json.Unmarshal([]byte(c.Args), &args) == nil && args.Command != "" {
		return "$ " + args.Command
	}
	return c.Name + " " + c.Args
}

// refused is what is shown of a call that was not carried out.
const refused = "refused or wrong"

// answer says in a word what became of a call.
func answer(e agent.Event) string {
	if m := exitCode.FindStringSubmatch(e.Text); m != nil && m[1] != "0" {
		return "exit " + m[1]
	}
	if e.Errored {
		return refused
	}
	return "ok"
}

// exitCode is in the first line of a command's answer.
var exitCode = pattern.New(`^\[E\d+\] exit=(-?\d+) `)

func ending(e agent.Event) string {
	switch {
	case e.Step.TimedOut:
		return "timed out after " + took(e.DurationMS)
	case e.Step.Exit != nil && *e.Step.Exit != 0:
		return fmt.Sprintf("exit %d %s", *e.Step.Exit, took(e.DurationMS))
	default:
		return "ok " + took(e.DurationMS)
	}
}

func took(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// News is what is said of an event while the run goes; "" for nothing.
func News(e agent.Event) string {
	switch e.Type {
	case agent.EventStageStart:
		return "stage: " + e.Step.Stage
	case agent.EventCommandStart:
		if text := label(e.Step); !housekeeping(text) {
			return "running: " + text
		}
	case agent.EventSubagentStart:
		return "agent " + e.Agent + " works"
	case agent.EventToolStart:
		return "agent " + e.Agent + ": " + call(e.Call)
	}
	return ""
}

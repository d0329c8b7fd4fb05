package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/ycbot/ycbot/agent"
	"github.com/ycbot/ycbot/agents"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/reproduce"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/workspace/git"
)

// addedMost is how many helpers a coordinator may add.
const addedMost = 8

// run dispatches the agents and judges what those that owe a verdict reply. First
// come those that look around, side by side; then the coordinator, if there is
// one; then the verification, which reads what all of them found; last, where it
// was asked for, an attempt to refute what the verification says is broken.
func (w *work) run(ctx context.Context) (*Judgement, error) {
	w.beginShare(ctx)
	if err := w.runner.Resume(ctx); err != nil {
		return nil, err
	}
	helpers, err := w.dispatch(ctx, w.scouts()...)
	if err != nil {
		return nil, err
	}
	notes := ""
	for _, res := range helpers {
		notes += section(found(res.Agent), res.Text)
	}
	if w.agents.asked(coordinatorAgent) {
		res, err := w.coordinate(ctx, notes)
		if err != nil {
			return nil, err
		}
		helpers = append(helpers, res)
		notes += section("What the coordinator wants looked at", res.Text)
	}
	if _, err := w.dispatch(ctx, w.verifications(notes)...); err != nil {
		return nil, err
	}
	w.runner.Drain()
	if cause := context.Cause(ctx); cause != nil {
		j, err := w.judgement(context.WithoutCancel(ctx), helpers, true)
		if err == nil {
			j.Notes = w.breaker.all()
		}
		return j, errors.Join(cause, err, w.keepTrees(context.WithoutCancel(ctx)))
	}
	j, err := w.judgement(ctx, helpers, false)
	if err == nil && ctx.Err() == nil {
		err = w.refute(ctx, j)
	}
	if err == nil {
		j.Notes = w.breaker.all()
	}
	return j, errors.Join(context.Cause(ctx), err, w.keepTrees(context.WithoutCancel(ctx)))
}

// found is the heading of what a helper says in the request to the verification.
func found(name string) string {
	if name == exploreAgent {
		return "What an agent found that looked around"
	}
	return "What agent " + name + " found, which no one has verified"
}

// scouts are the orders of the agents that work before the verification: what
// they say are hints for it and no verdicts.
func (w *work) scouts() []agent.Order {
	var out []agent.Order
	if w.agents.large() || w.agents.asked(exploreAgent) {
		out = append(out, agent.Order{Agent: exploreAgent, Prompt: explorePrompt(w.agents.briefing())})
	}
	for _, name := range w.agents.set.Wanted {
		switch name {
		case Verification, exploreAgent, coordinatorAgent, refuterAgent:
		default:
			out = append(out, agent.Order{Agent: name, Prompt: adviserPrompt(w.agents.briefing(), w.gate)})
		}
	}
	return out
}

// dispatch starts agents in this order, side by side, and waits for all of them.
// Work that went wrong is a result; only what makes going on senseless is an error.
func (w *work) dispatch(ctx context.Context, orders ...agent.Order) ([]agent.Result, error) {
	ids := make([]string, len(orders))
	for i, o := range orders {
		o.Prompt = w.redacted(o.Prompt)
		if spec, ok := w.runner.Find(o.Agent); ok {
			o.Background = spec.Background && !w.agents.models.NoBackground
		}
		id, err := w.runner.Start(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("agent %s: %w", o.Agent, err)
		}
		ids[i] = id
	}
	var out []agent.Result
	for _, id := range ids {
		<-w.runner.WaitFor(id) // it ends with ctx, and its own account of that is worth having
		rec, _ := w.runner.Get(id)
		out = append(out, rec.Result)
	}
	return out, nil
}

// coordinate lets a model plan the verification, with helpers that it may start
// itself: so many, and only such as run nothing. What it says is a hint for the
// verification, no verdict.
func (w *work) coordinate(ctx context.Context, notes string) (agent.Result, error) {
	const id = "coordinator"
	res := agent.Result{ID: id, Agent: coordinatorAgent, Isolation: agents.InProcess}
	spec, ok := w.runner.Find(coordinatorAgent)
	if !ok {
		return res, errors.New("there is no coordinator among the agents")
	}
	st, err := w.provision(ctx, spec, agent.Record{ID: id, Order: agent.Order{Agent: coordinatorAgent}})
	if err != nil {
		return res, err
	}
	defer func() {
		if err := st.Close(ctx); err != nil {
			w.log.WarnContext(ctx, "close the coordinator's workspace", "error", err)
		}
	}()
	delegate, err := w.runner.Tools(ctx, id, w.agents.addable())
	if err != nil {
		return res, err
	}
	cfg := st.Config
	cfg.Name, cfg.ID = coordinatorAgent, id
	res.Model = cfg.Model.Name()
	cfg.Tools = append(pick(cfg.Tools, spec.Tools), delegate...)
	cfg.Aliases = merged(cfg.Aliases, agent.SpawnAliases())
	cfg.Wake, cfg.Inbox = w.runner.Wake(id), w.runner.Listen(id)
	budget, most := w.shareOf(spec)
	cfg.MaxIterations, cfg.Timeout, cfg.OutputTokens, cfg.Budget = spec.MaxIterations, spec.Timeout, spec.OutputTokens, budget
	if most > 0 && (cfg.Timeout <= 0 || most < cfg.Timeout) {
		cfg.Timeout = most
	}
	cfg.Reserve = reportReserve
	if most := w.runner.Caps.MaxIterations; most > 0 {
		cfg.MaxIterations = min(cfg.MaxIterations, most)
	}
	w.runner.Equip(&cfg)
	began := w.now()
	res.End, res.Err = agent.Work(ctx, &cfg, w.redacted(coordinatorPrompt(w.agents.briefing(), w.gate, notes)), w.emit)
	w.runner.Drain()
	res.Status, res.DurationMS = res.Outcome.Status(), w.now().Sub(began).Milliseconds()
	w.planner = &res
	return res, nil
}

// addable are the agents that a coordinator may start: those that run nothing and
// have no place of their own in a run.
func (a *Agents) addable() []string {
	var out []string
	for _, d := range a.defs {
		switch d.Name {
		case Verification, coordinatorAgent, refuterAgent:
			continue
		}
		if !d.Executes() {
			out = append(out, d.Name)
		}
	}
	return out
}

// noTree says why there is no worktree: there is no git any more, or no mirror to
// make it from, or it could not be made.
func noTree(err error, mirror string) string {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, git.ErrNoGit) {
		return agent.NoGit
	}
	if _, gone := os.Stat(mirror); gone != nil {
		return agent.NotARepo
	}
	return agent.NotCreated
}

// expand names the tools that a name of a tool or a group stands for.
func expand(name string) []string {
	if tools, ok := agents.Group(name); ok {
		return tools
	}
	return []string{tool.Canonical(name)}
}

// pick keeps the tools that a definition names; nil names all of them.
func pick(tools []tool.Tool, names []string) []tool.Tool {
	if names == nil {
		return tools
	}
	return slices.DeleteFunc(slices.Clone(tools), func(t tool.Tool) bool { return !slices.Contains(names, t.Name) })
}

func merged(a, b map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range []map[string]string{a, b} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// refutedMost is how many failing checks are looked at once more by reading.
const refutedMost = 5

// A dispute is a failing check that an agent was sent to refute.
type dispute struct {
	Task  string `json:"task"` // of the agent
	Title string `json:"title"`
}

// refute sends an agent to refute each failing check that stands, where someone
// asked for it by name. What it says stands beside the check and changes no
// verdict: the check failed, and that was seen.
func (w *work) refute(ctx context.Context, j *Judgement) error {
	if !w.agents.asked(refuterAgent) {
		return nil
	}
	var orders []agent.Order
	for _, a := range j.Agents {
		for _, k := range a.Checks {
			if k.Stands() && len(orders) < refutedMost {
				orders = append(orders, agent.Order{Agent: refuterAgent, Description: k.Title, Prompt: refuterPrompt(w.agents.briefing(), k.Check)})
			}
		}
	}
	results, err := w.dispatch(ctx, orders...)
	if err != nil {
		return err
	}
	for i, res := range results {
		j.add(res)
		if err := w.judged(ctx, j, res, false, reproduce.Share(ctx, w.now(), reproduce.ShareOfHeld)); err != nil {
			return err
		}
		j.Disputed = append(j.Disputed, dispute{res.ID, orders[i].Description})
		if res.Outcome != agent.Completed {
			j.NotCovered = append(j.NotCovered, fmt.Sprintf("whether check %q can be refuted by reading: agent %s did not complete: %s", orders[i].Description, res.Agent, reason(res)))
		}
	}
	j.Usage, j.CostUSD, j.CostOK = w.runner.Budget.Used()
	return context.Cause(ctx)
}

// refuterPrompt is about one failing check.
func refuterPrompt(brief string, k report.Check) string {
	finding := fmt.Sprintf("%s\n\nIt ran:\n%s\n\nExpected and seen, in its words:\n%s\n\nWhat it shows of the output:\n%s\n", k.Title, k.Command, k.Expected, k.Actual)
	return fmt.Sprintf("Try to refute this finding about the following change. It was made by an agent that ran the change; running it again gave: %s.\n\n## The finding\n\n%s\n%s", k.Reproduction, evidence.Fence(finding), brief)
}

// disputed lists the checks that an agent refuted; its FAIL says that the claim
// of the check does not hold.
func (j *Judgement) disputed() []report.Finding {
	var out []report.Finding
	for _, d := range j.Disputed {
		i := slices.IndexFunc(j.Results, func(r agent.Result) bool { return r.ID == d.Task })
		if i < 0 || j.Results[i].Outcome != agent.Completed || agent.Verdict(j.Results[i].Text) != string(report.Fail) {
			continue
		}
		out = append(out, report.Finding{
			Severity: report.SeverityInfo, Title: fmt.Sprintf("agent %s disputes check %q, by reading alone", refuterAgent, d.Title),
			Detail: strings.TrimSpace(j.Results[i].Text),
		})
	}
	return out
}

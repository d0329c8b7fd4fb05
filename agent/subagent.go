package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/model"
	"github.com/ycbot/ycbot/internal/tool"
	"github.com/ycbot/ycbot/internal/transcript"
)

// work is a task from its slot to its result. Whatever happens, the task gets a
// result and its subagent_done event.
func (r *Runner) work(ctx context.Context, spec Spec, t *task) {
	began := r.Now()
	res, known := r.earlier(t.rec.ID)
	if !known {
		res = r.provided(ctx, spec, t)
		res.DurationMS = r.Now().Sub(began).Milliseconds()
		if err := r.settle(res); err != nil {
			res.Outcome, res.Status, res.Reason, res.Err = Errored, StatusFailed, err.Error(), err
		}
	}
	end := done(res)
	r.mu.Lock()
	end.ByUser = t.rec.CanceledByUser
	r.mu.Unlock()
	ends := []transcript.Type{transcript.SubagentDone}
	if t.rec.Background {
		ends = append(ends, transcript.SubagentBackgroundDone)
	}
	for _, typ := range ends {
		if err := r.emit(t, Event{Type: typ, N: res.Iterations, Done: end}); err != nil && res.Err == nil {
			res.Outcome, res.Status, res.Reason, res.Err = Errored, StatusFailed, err.Error(), err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.rec.Model, t.rec.Isolation = res.Model, res.Isolation
	t.finish(res, r.Now().UTC())
}

// earlier returns the result that a process before this one got.
func (r *Runner) earlier(id string) (Result, bool) {
	if r.Journal == nil {
		return Result{}, false
	}
	raw, ok := r.Journal.Lookup(kindTaskDone, id)
	if !ok {
		return Result{}, false
	}
	var res Result
	if err := json.Unmarshal(raw, &res); err != nil {
		return Result{}, false // unreadable: the turn's own entries lead to the same result
	}
	r.Budget.Charge(res.Usage, res.CostUSD, res.CostKnown)
	return res, true
}

// settle journals a result that stands. A cancelled or failed subagent goes on
// when the run is resumed.
func (r *Runner) settle(res Result) error {
	if r.Journal == nil || res.Outcome == Canceled || res.Outcome == Errored {
		return nil
	}
	return r.Journal.Append(kindTaskDone, res.ID, res)
}

// provided waits for a slot, provides the environment, runs the turn and gives the environment back.
func (r *Runner) provided(ctx context.Context, spec Spec, t *task) (res Result) {
	r.mu.Lock()
	rec := t.snapshot()
	r.mu.Unlock()
	res = Result{ID: rec.ID, Agent: spec.Name, Transcript: rec.TranscriptPath, Sidechain: rec.SidechainPath}
	failed := func(err error) Result {
		res.Outcome, res.Reason, res.Err = Errored, err.Error(), err
		if ctx.Err() != nil {
			res.Outcome, res.Reason = interruption(ctx)
			res.Err = nil
		}
		res.Status = res.Outcome.Status()
		return res
	}
	if ctx.Err() != nil { // with a slot free, select would take either
		return failed(context.Cause(ctx))
	}
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return failed(context.Cause(ctx))
	}
	defer func() {
		if p := recover(); p != nil {
			r.logger().ErrorContext(ctx, "subagent panicked", "agent", spec.Name, "task", rec.ID, "panic", p, "stack", string(debug.Stack()))
			res = failed(&panicError{spec.Name, p})
		}
	}()
	env, err := r.Provision(ctx, spec, rec)
	if err != nil {
		if ctx.Err() == nil { // what was stopped on its way to an environment says nothing of environments
			res.Isolation = notProvided(err)
		}
		err = fmt.Errorf("subagent %s: %w", spec.Name, err)
		if failed := r.emit(t, Event{Type: transcript.SubagentStart, Text: rec.Prompt, Meta: r.meta(spec, rec, res)}); failed != nil {
			err = errors.Join(err, failed)
		}
		return failed(err)
	}
	defer func() {
		if err := r.leave(ctx, env); err != nil {
			r.logger().WarnContext(ctx, "subagent's environment was not given back", "agent", spec.Name, "task", rec.ID, "error", err)
		}
	}()
	res.Model, res.Isolation = env.Model.Name(), env.Isolation
	if err := r.emit(t, Event{Type: transcript.SubagentStart, Text: spec.task(rec.Prompt), Meta: r.meta(spec, rec, res)}); err != nil {
		return failed(err)
	}
	if r.Admit != nil {
		if err := r.Admit(ctx, rec, res.Isolation); err != nil {
			res = failed(err)
			res.Outcome, res.Err = Canceled, nil // asked again when the run is continued: the answer may be another by then
			res.Status = res.Outcome.Status()
			return res
		}
	}
	if f := env.Fallback; f != nil {
		if err := r.emit(t, fellBack(f.Wanted, res.Model, f.Why)); err != nil {
			return failed(err)
		}
	}
	res.End, res.Provenance, res.Err = r.turn(ctx, spec, env, t)
	res.Status = res.Outcome.Status()
	if res.Submitted != nil {
		res.Status = submitted(res.Submitted)
	}
	read := env.Verdict
	if read == nil {
		read = Verdict
	}
	res.Verdict = read(res.Text)
	return res
}

// Bounds of how often and for how long a question is tried again that no provider
// answered, after all the tries of its own.
const (
	triesMost  = 5
	silentMost = 2 // of one whose answer brought nothing
	triesFor   = 2 * time.Minute
	firstPause = 5 * time.Second // before a question is tried again; the next are twice as long each
)

// tries counts how often one question failed. Faults of several questions, each of
// which was answered in the end, do not add up.
type tries struct {
	at    int // answers before the question that failed
	count int
	since time.Time
}

// spent counts a failure after so many answers, and says whether it was the last. What
// starts over has not come further by coming as far.
func (t *tries) spent(err error, answers int, now time.Time, goesOn bool) bool {
	if t.count == 0 || goesOn && answers > t.at {
		*t = tries{at: answers, since: now}
	}
	t.count++
	most := triesMost
	if errors.Is(err, model.ErrSilent) {
		most = silentMost
	}
	return t.count >= most || now.Sub(t.since) > triesFor
}

// Work runs a turn about one message, and again where that may repair what ended it, after a
// pause that grows: with the journal it goes on at the question that failed.
func Work(ctx context.Context, cfg *Config, message string, emit Emit) (End, error) {
	again := *cfg
	var stuck tries
	for {
		history := []model.Message{{Role: model.User, Text: message}}
		end, err := Turn(ctx, &again, &history, emit)
		if end.Outcome.Category(err) != Retryable || ctx.Err() != nil || stuck.spent(err, end.Iterations, cfg.Now(), cfg.Journal != nil) {
			if stuck.count > 1 && err != nil {
				err = fmt.Errorf("%w (in each of %d rounds)", err, stuck.count)
			}
			return end, err
		}
		if cfg.Wait != nil && errors.Is(err, model.ErrDown) && !errors.Is(err, model.ErrSilent) {
			if cfg.Wait(ctx, firstPause<<(stuck.count-1)) != nil {
				return end, err
			}
		}
		if cfg.Journal != nil {
			again.Charged = max(again.Charged, end.Iterations)
		}
		if cfg.Log != nil {
			cfg.Log.WarnContext(ctx, "agent is tried again", "agent", cfg.Name, "id", cfg.ID, "error", err)
		}
	}
}

// turn runs the loop of a task.
func (r *Runner) turn(ctx context.Context, spec Spec, env *Environment, t *task) (End, Provenance, error) {
	cfg := r.config(spec, env, t)
	if r.Lead > 0 {
		cfg.Model = &led{Model: cfg.Model, leads: &r.leads, most: r.Lead}
	}
	did := &ledger{}
	emit := func(e Event) error {
		r.mu.Lock()
		t.note(e)
		did.note(e)
		r.mu.Unlock()
		if err := r.Emit(e); err != nil {
			return err
		}
		if e.Type == transcript.ToolStart {
			return r.emit(t, Event{Type: transcript.SubagentProgress, Text: clip(e.Call.Name+" "+e.Call.Args, activityRunes)})
		}
		return nil
	}
	end, err := Work(ctx, cfg, spec.task(t.rec.Prompt)+env.Place, emit)
	return end, did.sum(), err
}

// meta is what a subagent is started with, as its first event says.
func (r *Runner) meta(spec Spec, rec Record, res Result) *transcript.Meta {
	return &transcript.Meta{
		Model: res.Model, Description: rec.Description, Source: spec.Source, SourcePath: spec.SourcePath,
		Background: rec.Background, Isolation: res.Isolation,
	}
}

// task is a prompt as the agent reads it.
func (s Spec) task(prompt string) string {
	if s.Task == nil {
		return prompt
	}
	return s.Task(prompt)
}

// config narrows the environment to what the spec and the order allow.
func (r *Runner) config(spec Spec, env *Environment, t *task) *Config {
	cfg := env.Config
	rec := t.rec.Order
	cfg.Name, cfg.ID, cfg.Parent = spec.Name, t.rec.ID, rec.Parent
	cfg.Tools = nil
	var taken []tool.Tool
	for _, tl := range env.Tools {
		if spec.Offers(tl, rec) || (spec.Structured && tl.Name == env.Submit) {
			cfg.Tools = append(cfg.Tools, tl)
		} else {
			taken = append(taken, tl)
		}
	}
	cfg.Known = denials(env.Known, taken)
	for name := range spawnAliases {
		cfg.Known[name] = tool.Delegate
	}
	cfg.Known[AgentTool], cfg.Known[ResultTool] = tool.Delegate, tool.Delegate
	if !spec.Structured {
		cfg.Submit = ""
	}
	cfg.Background = rec.Background
	cfg.MaxIterations = spec.MaxIterations
	if cfg.MaxIterations <= 0 {
		cfg.MaxIterations = DefaultIterations
	}
	cfg.MaxIterations = lowest(MaxIterations, r.Caps.MaxIterations, cfg.MaxIterations, rec.MaxIterations)
	budget, most := r.Budget, time.Duration(0)
	if r.Share != nil {
		budget, most = r.Share(spec)
	}
	cfg.Timeout = lowest(timeoutMost, r.Caps.Timeout, spec.Timeout, most)
	cfg.OutputTokens = lowest(r.Caps.OutputTokens, spec.OutputTokens)
	cfg.MaxOut, cfg.Mode = spec.MaxOut, spec.Mode
	cfg.Reserve = r.Reserve
	cfg.Inbox = func() []string {
		r.mu.Lock()
		defer r.mu.Unlock()
		said := t.inbox
		t.inbox = nil
		return said
	}
	cfg.Budget = &Budget{CostUSD: lowest(r.Caps.CostUSD, spec.CostUSD), Parent: budget}
	r.Equip(&cfg)
	return &cfg
}

// Equip gives an agent what all agents of the run share: the journal, the clock, the pauses
// before a question that no provider answered, and the log.
func (r *Runner) Equip(cfg *Config) {
	cfg.Journal, cfg.Now, cfg.Wait, cfg.Log = r.Journal, r.Now, r.Pause, r.Log
}

// lowest is the least of the bounds that there are: zero is none.
func lowest[T int | time.Duration | float64](bounds ...T) T {
	var least T
	for _, b := range bounds {
		if b > 0 && (least == 0 || b < least) {
			least = b
		}
	}
	return least
}

// Offers reports whether an agent of this spec gets a tool of its environment for an
// order.
func (s Spec) Offers(tl tool.Tool, o Order) bool {
	switch {
	case tl.Class == tool.Delegate: // one level of agents, whatever a definition lists
		return false
	case s.Classes != nil && !slices.Contains(s.Classes, tl.Class):
		return false
	case s.Tools != nil && !slices.Contains(s.Tools, tl.Name):
		return false
	case o.Tools != nil && !slices.Contains(o.Tools, tl.Name):
		return false
	}
	return !slices.Contains(s.Without, tl.Name)
}

// leave closes the environment, also when the task was cancelled.
func (r *Runner) leave(ctx context.Context, env *Environment) error {
	if env.Close == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	return env.Close(ctx)
}

// emit sends an event about the task itself.
func (r *Runner) emit(t *task, e Event) error {
	e.Time, e.Agent, e.ID, e.Parent = r.Now().UTC(), t.rec.Agent, t.rec.ID, t.rec.Parent
	if err := r.Emit(e); err != nil {
		return fmt.Errorf("subagent %s: event %s: %w", t.rec.Agent, e.Type, err)
	}
	return nil
}

func (r *Runner) logger() *slog.Logger {
	if r.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return r.Log
}

// submitted reads the status of a structured result.
func submitted(raw json.RawMessage) Status {
	var v struct {
		Status Status `json:"status"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return StatusFailed
	}
	switch v.Status {
	case StatusBlocked, StatusFailed:
		return v.Status
	}
	return StatusCompleted
}

// A panicError is a fault of the program itself, which ended a subagent.
type panicError struct {
	agent string
	value any
}

func (e *panicError) Error() string { return fmt.Sprintf("subagent %s panicked: %v", e.agent, e.value) }

func done(res Result) *transcript.Done {
	d := &transcript.Done{
		Outcome: string(res.Outcome), Status: string(res.Status), Verdict: res.Verdict, Text: res.Text,
		Iterations: res.Iterations, ToolCalls: res.ToolCalls, Usage: *usage(res.Usage),
		DurationMS: res.DurationMS, Isolation: res.Isolation,
	}
	if res.CostKnown {
		d.CostUSD = &res.CostUSD
	}
	if res.Outcome != Completed {
		d.Error = res.Reason
	}
	var fault *panicError
	d.Panicked = errors.As(res.Err, &fault)
	if p := res.Provenance; p.Ran+p.Denied > 0 {
		d.Ran, d.Failed, d.Denied = p.Ran, p.Failed, p.Denied
	}
	return d
}

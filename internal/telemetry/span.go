package telemetry

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/ycbot/ycbot/internal/transcript"
)

// RunInfo is what a trace has of a run beside its events.
type RunInfo struct {
	Door     string // run, action or app
	Provider string // of the model, such as "openai"; empty: none
	Model    string
	Repo     string // owner/name; empty: not known
	Number   int    // of the pull request; 0: none
	Head     string // commit; empty: not known yet
	Trigger  string
	Trust    string
}

// A RunTrace makes the spans of one run of its events: the run, in it its stages, in
// these the commands of the gate and the agents, in those the answers of models and the
// calls of tools. Names and attributes follow the conventions of OpenTelemetry for
// generative AI. They hold no text of the change, of commands, of models or of tools.
//
// It is safe for concurrent use. Events come in the order in which they happened.
type RunTrace struct {
	tracer trace.Tracer
	info   RunInfo

	mu     sync.Mutex
	root   open
	stage  *open // the one that goes on; nil: none
	agents map[string]*agentSpans
	steps  map[string]*open // commands of the gate
	last   time.Time
}

// An open is a span that goes on, with the context in which its children begin.
type open struct {
	ctx  context.Context
	span trace.Span
}

// agentSpans are those of one agent.
type agentSpans struct {
	open
	model string
	tools []string         // that it was given
	asked *open            // the question to the model that goes on; nil: none
	calls map[string]*open // by what names the call
}

// Run begins the trace of a run at a time; nil where there are no traces.
func (t *Tracing) Run(info RunInfo, at time.Time) *RunTrace {
	if t == nil {
		return nil
	}
	r := &RunTrace{tracer: t.tracer, info: info, agents: map[string]*agentSpans{}, steps: map[string]*open{}, last: at}
	attrs := []attribute.KeyValue{
		attribute.String("ycbot.door", info.Door), attribute.String("ycbot.trigger", info.Trigger), attribute.String("ycbot.trust", info.Trust),
	}
	if info.Repo != "" {
		attrs = append(attrs, attribute.String("vcs.repository.name", info.Repo))
	}
	if info.Number != 0 {
		attrs = append(attrs, attribute.Int("vcs.change.id", info.Number))
	}
	if info.Head != "" {
		attrs = append(attrs, attribute.String("vcs.ref.head.revision", info.Head))
	}
	r.root = r.begin(t.parent, "run", at, trace.SpanKindInternal, attrs...)
	return r
}

func (r *RunTrace) begin(parent context.Context, name string, at time.Time, kind trace.SpanKind, attrs ...attribute.KeyValue) open {
	ctx, span := r.tracer.Start(parent, name, trace.WithTimestamp(at), trace.WithSpanKind(kind), trace.WithAttributes(attrs...))
	return open{ctx, span}
}

func (o *open) end(at time.Time) {
	if o != nil {
		o.span.End(trace.WithTimestamp(at))
	}
}

// fail marks a span. kind is a word, never a text of someone's.
func (o *open) fail(kind string) {
	o.span.SetStatus(codes.Error, kind)
	o.span.SetAttributes(attribute.String("error.type", kind))
}

// End ends the run's span, and what an early end left open. It may be called again.
func (r *RunTrace) End(err error) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.root.fail("run")
	}
	for _, a := range r.agents {
		r.endAgent(a, r.last)
	}
	for _, s := range r.steps {
		s.end(r.last)
	}
	r.stage.end(r.last)
	r.root.end(r.last)
	clear(r.agents)
	clear(r.steps)
	r.stage = nil
}

// Observe makes of an event what it says. It does nothing without traces.
func (r *RunTrace) Observe(e transcript.Event) {
	if r == nil || e.Type.Transient() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Time.After(r.last) {
		r.last = e.Time
	}
	if e.ID != "" {
		r.ofAgent(e)
		return
	}
	switch e.Type {
	case transcript.RunStart, transcript.RunResumed:
		r.root.span.SetAttributes(attribute.String("ycbot.run.id", e.Text), attribute.Bool("ycbot.run.resumed", e.Type == transcript.RunResumed))
	case transcript.StageStart:
		o := r.begin(r.root.ctx, "stage "+e.Step.Stage, e.Time, trace.SpanKindInternal, attribute.String("ycbot.stage", e.Step.Stage))
		r.stage = &o
	case transcript.StageDone:
		if r.stage != nil && e.Reason != "" {
			r.stage.fail("stage")
		}
		r.stage.end(e.Time)
		r.stage = nil
	case transcript.CommandStart:
		o := r.begin(r.above(), "command "+e.Step.Stage, e.Time, trace.SpanKindInternal,
			attribute.String("ycbot.gate.stage", e.Step.Stage), attribute.String("ycbot.side", e.Step.Side))
		r.steps[stepKey(e.Step)] = &o
	case transcript.CommandDone:
		r.commandDone(e)
	case transcript.RunDone:
		r.root.span.SetAttributes(attribute.String("ycbot.verdict", e.Text), attribute.String("ycbot.outcome", e.Reason))
	}
}

// above is where what belongs to no agent hangs.
func (r *RunTrace) above() context.Context {
	if r.stage != nil {
		return r.stage.ctx
	}
	return r.root.ctx
}

func stepKey(s *transcript.Step) string {
	return fmt.Sprintf("%s\x00%s\x00%s\x00%s", s.Stage, s.Side, s.Unit, s.Command)
}

func (r *RunTrace) commandDone(e transcript.Event) {
	key := stepKey(e.Step)
	o := r.steps[key]
	if o == nil {
		return
	}
	delete(r.steps, key)
	if e.Step.Exit != nil {
		o.span.SetAttributes(attribute.Int("process.exit.code", *e.Step.Exit))
	}
	if len(e.Evidence) > 0 {
		o.span.SetAttributes(attribute.StringSlice("ycbot.evidence", e.Evidence))
	}
	if e.Step.TimedOut {
		o.fail("timed_out")
	}
	o.end(e.Time)
}

// ofAgent is for the events of agents.
func (r *RunTrace) ofAgent(e transcript.Event) {
	a := r.agents[e.ID]
	if a == nil {
		if e.Type != transcript.SubagentStart && e.Type != transcript.TurnStart {
			return // a part of what was reported before the run was begun again
		}
		a = r.startAgent(e)
	}
	if e.Meta != nil {
		if e.Meta.Model != "" {
			a.model = e.Meta.Model
			a.span.SetAttributes(attribute.String("gen_ai.request.model", a.model))
		}
		if len(e.Meta.Tools) > 0 {
			a.tools = e.Meta.Tools
		}
	}
	switch e.Type {
	case transcript.IterationStart:
		a.asked.end(e.Time)
		o := r.begin(a.ctx, "chat "+a.model, e.Time, trace.SpanKindClient, r.genAI("chat",
			attribute.String("gen_ai.request.model", a.model), attribute.Int("ycbot.iteration", e.N))...)
		a.asked = &o
	case transcript.Message:
		if a.asked != nil {
			a.asked.span.SetAttributes(usageAttributes(e.Usage)...)
			a.asked.end(e.Time)
			a.asked = nil
		}
	case transcript.ToolStart:
		r.startCall(a, e)
	case transcript.CallDenied:
		if _, ok := a.calls[callKey(e)]; !ok {
			r.startCall(a, e)
		}
		a.calls[callKey(e)].span.SetAttributes(attribute.String("ycbot.denied.code", e.Denied.Code))
	case transcript.ToolResult:
		endCall(a, e)
	case transcript.Failure:
		a.fail("agent")
	case transcript.TurnInterrupted:
		a.fail("interrupted")
	case transcript.TurnDone, transcript.SubagentDone:
		r.agentDone(a, e)
	}
}

func (r *RunTrace) startAgent(e transcript.Event) *agentSpans {
	parent := r.above()
	if up := r.agents[e.Parent]; up != nil {
		parent = up.ctx
	}
	a := &agentSpans{calls: map[string]*open{}, model: r.info.Model}
	a.open = r.begin(parent, "invoke_agent "+e.Agent, e.Time, trace.SpanKindInternal, r.genAI("invoke_agent",
		attribute.String("gen_ai.agent.name", e.Agent), attribute.String("gen_ai.agent.id", e.ID))...)
	r.agents[e.ID] = a
	return a
}

// genAI are the attributes that all operations of generative AI have.
func (r *RunTrace) genAI(operation string, more ...attribute.KeyValue) []attribute.KeyValue {
	out := []attribute.KeyValue{attribute.String("gen_ai.operation.name", operation)}
	if r.info.Provider != "" {
		out = append(out, attribute.String("gen_ai.provider.name", r.info.Provider))
	}
	return append(out, more...)
}

func usageAttributes(u *transcript.Usage) []attribute.KeyValue {
	if u == nil {
		return nil
	}
	return []attribute.KeyValue{
		attribute.Int("gen_ai.usage.input_tokens", u.Input), attribute.Int("gen_ai.usage.output_tokens", u.Output),
		attribute.Int("gen_ai.usage.cache_read.input_tokens", u.Cached),
	}
}

func callKey(e transcript.Event) string { return fmt.Sprintf("%d.%d", e.N, e.Call.Index) }

// startCall begins the span of a call. Models make names up, which stay out.
func (r *RunTrace) startCall(a *agentSpans, e transcript.Event) {
	name := e.Call.Name
	if !slices.Contains(a.tools, name) {
		name = "other"
	}
	o := r.begin(a.ctx, "execute_tool "+name, e.Time, trace.SpanKindInternal, r.genAI("execute_tool",
		attribute.String("gen_ai.tool.name", name), attribute.String("gen_ai.tool.type", "function"), attribute.String("gen_ai.tool.call.id", fmt.Sprintf("%d.%d", e.N, e.Call.Index)))...)
	a.calls[callKey(e)] = &o
}

func endCall(a *agentSpans, e transcript.Event) {
	o := a.calls[callKey(e)]
	if o == nil {
		return
	}
	delete(a.calls, callKey(e))
	if len(e.Evidence) > 0 {
		o.span.SetAttributes(attribute.StringSlice("ycbot.evidence", e.Evidence))
	}
	if e.Errored {
		o.fail("tool")
	}
	o.end(e.Time)
}

// agentDone ends the span of an agent with the last event that reports its end.
func (r *RunTrace) agentDone(a *agentSpans, e transcript.Event) {
	if d := e.Done; d != nil {
		a.span.SetAttributes(append(usageAttributes(&d.Usage), attribute.String("ycbot.outcome", d.Outcome), attribute.Int("ycbot.iterations", d.Iterations), attribute.Int("ycbot.tool_calls", d.ToolCalls))...)
		if d.Verdict != "" {
			a.span.SetAttributes(attribute.String("ycbot.verdict", d.Verdict))
		}
		if d.CostUSD != nil {
			a.span.SetAttributes(attribute.Float64("ycbot.cost_usd", *d.CostUSD))
		}
	}
	if e.Type == transcript.SubagentDone {
		r.endAgent(a, e.Time)
		delete(r.agents, e.ID)
	}
}

func (r *RunTrace) endAgent(a *agentSpans, at time.Time) {
	a.asked.end(at)
	a.asked = nil
	for key, c := range a.calls {
		c.end(at)
		delete(a.calls, key)
	}
	a.end(at)
}

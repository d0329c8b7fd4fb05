package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/sorted"
	"github.com/ycbot/ycbot/internal/tool"
)

// A Spec is an agent as far as running it goes. Zero fields mean the default.
type Spec struct {
	Name          string
	Description   string // one line, for the model that picks an agent
	Prompt        string // body of the definition; Provision makes the system prompt of it
	Source        string // builtin, project, user, operator
	SourcePath    string
	Tools         []string     // names; nil: every tool of the run that Classes allows
	Without       []string     // names that are taken away again
	Classes       []tool.Class // ceiling; nil: every class but delegate
	Model         string
	Background    bool
	MaxIterations int
	Timeout       time.Duration
	MaxOut        int // output tokens of one answer
	OutputTokens  int // output tokens in all
	CostUSD       float64
	Mode          Mode
	Structured    bool // the result must be handed in with Environment.Submit
	// Task puts what the definition demands of every task around one; nil: nothing.
	Task func(prompt string) string
}

// An Order is work for a subagent.
type Order struct {
	Agent         string   `json:"agent"`
	Prompt        string   `json:"prompt"`
	Description   string   `json:"description,omitempty"`
	Parent        string   `json:"parent,omitempty"`
	Batch         string   `json:"batch,omitempty"`
	Background    bool     `json:"background,omitempty"`
	Attempt       int      `json:"attempt,omitempty"`        // distinguishes the same work when it is wanted again
	MaxIterations int      `json:"max_iterations,omitempty"` // can only lower the agent's own
	Tools         []string `json:"tools,omitempty"`          // can only narrow the agent's own; nil: all of them
}

// An Environment is what one subagent works with.
type Environment struct {
	Config // Model, System, Tools, Known, Aliases, Decide, Corrective, Price; the Runner sets the rest
	// Verdict reads the verdict of a final reply; nil: [Verdict].
	Verdict   func(text string) string
	Place     string                      // follows the task: where the agent works, which differs from run to run
	Isolation string                      // such as "worktree" or "in_process(no_git)"
	Fallback  *Fallback                   // set where Model is not the one that the Spec names
	Close     func(context.Context) error // gives back what the environment holds; may be nil
}

// A Runner starts subagents and keeps the registry of their tasks. Set the
// fields, then use it; it is safe for concurrent use. Subagents never get tools
// of class delegate, so that none of them has a Runner behind it.
type Runner struct {
	RunID string
	Specs []Spec
	// Provision makes the environment of a subagent: its worktree, its tools, its system
	// prompt. What the environment offers is the ceiling; the Spec narrows it.
	Provision func(ctx context.Context, spec Spec, rec Record) (*Environment, error)
	// Admit is asked before a subagent begins to work, when its environment is known; its
	// error refuses it. May be nil.
	Admit func(ctx context.Context, rec Record, isolation string) error
	// Expand names the tools that a name of a tool or a group stands for, in any
	// system's words. nil: names are ycbot's own.
	Expand func(name string) []string
	// Called returns the name of the agent that a name in another spelling means, ""
	// for none. nil: there are no others.
	Called func(name string) string
	// NoBackground says that nothing outlives a call: agents that would work in the
	// background by their definition are waited for, and asking for it is refused.
	NoBackground bool
	Caps         Caps    // the operator's, over those of every definition
	Most         int     // subagents that one agent starts in all; 0: 16
	Limit        int     // subagents at a time; 0: 3, at most 8
	Budget       *Budget // of all of them together
	// Share is what an agent may use at most of what all of them have: a budget that
	// charges Budget as well, and time, 0 for no limit of its own. nil: all of it.
	Share   func(spec Spec) (*Budget, time.Duration)
	Reserve float64 // share of each limit that is kept for the final report; see [Config]
	Journal *journal.Journal
	Emit    Emit
	Now     func() time.Time
	Pause   func(ctx context.Context, d time.Duration) error // Wait of [Config]
	Log     *slog.Logger
	// Lead is how long a subagent waits with its first question for the beginning of
	// the first answer to another with the same system text and tools, which the
	// provider then has in its cache; 0: it does not.
	Lead time.Duration

	leads leads
	mu    sync.Mutex
	tasks map[string]*task
	said  []string // to all of them, also those that begin later
	slots chan struct{}
	wg    sync.WaitGroup
}

// Caps bound every subagent, whatever its definition and its order say. Zero
// fields bound nothing.
type Caps struct {
	MaxIterations int
	Timeout       time.Duration
	OutputTokens  int
	CostUSD       float64
}

// Limits of a Runner.
const (
	timeoutMost  = 30 * time.Minute
	limitDefault = 3
	limitMost    = 8
	closeTime    = 10 * time.Second
)

// Causes with which tasks are cancelled.
var (
	ErrStopped    = errors.New("stopped")
	ErrSuperseded = errors.New("superseded")
)

// Find returns the spec of name, spelt exactly or else the only one that differs
// in case, or else the one that Called knows.
func (r *Runner) Find(name string) (Spec, bool) {
	var folded []Spec
	for _, s := range r.Specs {
		if s.Name == name {
			return s, true
		}
		if strings.EqualFold(s.Name, name) {
			folded = append(folded, s)
		}
	}
	if len(folded) == 1 {
		return folded[0], true
	}
	if r.Called == nil {
		return Spec{}, false
	}
	called := r.Called(name)
	i := slices.IndexFunc(r.Specs, func(s Spec) bool { return s.Name == called })
	if i < 0 {
		return Spec{}, false
	}
	return r.Specs[i], true
}

// Start begins o and returns the id of its task. ctx bounds the task's life, so
// for work in the background it is the run's. The id follows from the order:
// the same work of the same parent is one task, also when another asks for it again, and a
// resumed run finds its journal. An agent that does not exist is a tool.BadCall.
func (r *Runner) Start(ctx context.Context, o Order) (string, error) {
	id, _, err := r.start(ctx, o)
	return id, err
}

func (r *Runner) start(ctx context.Context, o Order) (id string, fresh bool, err error) {
	spec, ok := r.Find(o.Agent)
	if !ok {
		return "", false, tool.Badf("error: unknown subagent_type %q (available: %s)", o.Agent, strings.Join(r.names(), ", "))
	}
	o.Agent = spec.Name
	id = r.id(o)
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.tasks[id]; ok {
		return id, false, nil
	}
	if r.Journal != nil {
		if _, ok := r.Journal.Lookup(kindTask, id); !ok {
			if err := r.Journal.AppendSoon(kindTask, id, o); err != nil {
				return "", false, fmt.Errorf("subagent %s: %w", o.Agent, err)
			}
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	t := &task{done: make(chan struct{}), cancel: cancel, inbox: r.unheard(id), rec: Record{
		Order: o, ID: id, Status: TaskRunning, Started: r.Now().UTC(), LastActivityAt: r.Now().UTC(),
		TranscriptPath: path.Join("subagents", o.Agent+"-"+id+".md"),
		SidechainPath:  path.Join("sessions", r.RunID, "sidechains", id+".jsonl"),
	}}
	if r.tasks == nil {
		r.tasks = map[string]*task{}
		limit := r.Limit
		if limit <= 0 {
			limit = limitDefault
		}
		r.slots = make(chan struct{}, min(limit, limitMost))
	}
	r.tasks[id] = t
	r.wg.Go(func() {
		defer cancel(nil)
		r.work(ctx, spec, t)
	})
	return id, true, nil
}

// Run starts o and waits for it. The Result of work that went wrong is a Result.
func (r *Runner) Run(ctx context.Context, o Order) (Result, error) {
	id, fresh, err := r.start(ctx, o)
	if err != nil {
		return Result{}, err
	}
	if fresh {
		<-r.WaitFor(id) // it ends with ctx, and its own account of that is worth having
	}
	return r.Wait(ctx, id)
}

// Resume takes up the tasks of a process before this one: those that have a
// result are known again, and those in the background that have none go on.
// Others go on when the one that waits for them asks again.
func (r *Runner) Resume(ctx context.Context) error {
	if r.Journal == nil {
		return nil
	}
	for _, e := range r.Journal.Entries(kindTask) {
		var o Order
		if err := json.Unmarshal(e.Data, &o); err != nil {
			return fmt.Errorf("journal %s %s: %w", e.Kind, e.Key, err)
		}
		if _, ended := r.Journal.Lookup(kindTaskDone, e.Key); !ended && !o.Background {
			continue
		}
		if _, err := r.Start(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// WaitFor returns a channel that is closed when the task is over, and at once for
// an unknown one.
func (r *Runner) WaitFor(id string) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t, ok := r.tasks[id]; ok {
		return t.done
	}
	closed := make(chan struct{})
	close(closed)
	return closed
}

// Wait returns the task's result when it is over.
func (r *Runner) Wait(ctx context.Context, id string) (Result, error) {
	done := r.WaitFor(id)
	for {
		if rec, ok := r.Get(id); !ok {
			return Result{}, fmt.Errorf("subagent task %s: unknown", id)
		} else if rec.Status != TaskRunning {
			return rec.Result, nil
		}
		select {
		case <-done:
		case <-ctx.Done():
			return Result{}, context.Cause(ctx)
		}
	}
}

// Drain waits until every task is over.
func (r *Runner) Drain() { r.wg.Wait() }

// Get returns the only task whose id begins with prefix.
func (r *Runner) Get(prefix string) (Record, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.find(prefix); t != nil {
		return t.snapshot(), true
	}
	return Record{}, false
}

func (r *Runner) find(prefix string) *task {
	var found *task
	for id, t := range r.tasks {
		if id == prefix {
			return t
		}
		if prefix != "" && strings.HasPrefix(id, prefix) {
			if found != nil {
				return nil
			}
			found = t
		}
	}
	return found
}

// List returns all tasks, newest first.
func (r *Runner) List() []Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []Record
	for _, t := range r.tasks {
		out = append(out, t.snapshot())
	}
	sorted.By(out, func(a, b Record) int {
		return cmp.Or(b.Started.Compare(a.Started), strings.Compare(a.ID, b.ID))
	})
	return out
}

// Cancel stops the only task whose id begins with prefix, for a person. It
// reports whether there was one that ran.
func (r *Runner) Cancel(prefix string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.find(prefix)
	if t == nil || t.rec.Status != TaskRunning {
		return false
	}
	t.rec.CanceledByUser = true
	t.cancel(ErrStopped)
	return true
}

// CancelBatch stops the tasks of one batch for a person.
func (r *Runner) CancelBatch(batch string) {
	r.cancelAll(ErrStopped, func(t *task) bool { return t.rec.Batch == batch })
}

// CancelAll stops every task because of cause, which their results name.
func (r *Runner) CancelAll(cause error) { r.cancelAll(cause, func(*task) bool { return true }) }

func (r *Runner) cancelAll(cause error, which func(*task) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.tasks {
		if t.rec.Status == TaskRunning && which(t) {
			t.cancel(cause)
		}
	}
}

// id names the work of o: 16 hex digits.
func (r *Runner) id(o Order) string {
	h := sha256.New()
	for _, s := range []string{r.RunID, o.Parent, o.Agent, o.Prompt, fmt.Sprint(o.Attempt)} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

func (r *Runner) names() []string {
	var names []string
	for _, s := range r.Specs {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names
}

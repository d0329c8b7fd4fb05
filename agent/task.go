package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/transcript"
)

// A TaskStatus is where a task is. The strings are stored: do not change them.
type TaskStatus string

// Where a task is. It begins as TaskRunning, also while it waits for a slot, and
// has one of the others when it is over.
const (
	TaskRunning  TaskStatus = "running"
	TaskDone     TaskStatus = "done"
	TaskErrored  TaskStatus = "errored"
	TaskCanceled TaskStatus = "canceled"
	TaskIterCap  TaskStatus = "iter-cap"
)

// A Record is a copy of what is known of a task.
type Record struct {
	Order
	ID             string     `json:"id"`
	Status         TaskStatus `json:"status"`
	Started        time.Time  `json:"started"`
	Finished       time.Time  `json:"finished,omitzero"` // zero while it runs
	Model          string     `json:"model,omitempty"`
	Isolation      string     `json:"isolation,omitempty"`
	Iterations     int        `json:"iterations"`
	ToolCalls      int        `json:"tool_calls"`
	Tokens         int        `json:"tokens"`
	CanceledByUser bool       `json:"canceled_by_user,omitempty"`
	Activities     []string   `json:"activities,omitempty"` // the latest things it did, oldest first
	LastActivityAt time.Time  `json:"last_activity_at,omitzero"`
	TranscriptPath string     `json:"transcript"`
	SidechainPath  string     `json:"sidechain"`
	Result         Result     `json:"result,omitzero"` // set when it is over
}

// Bounds of the activities that are kept.
const (
	activityMost  = 64
	activityRunes = 96
)

// A task is one subagent's work; the Runner's lock guards rec.
type task struct {
	rec    Record
	repeat int // how often the last activity came in a row
	latest string
	seen   bool          // the agent that started it has read its result
	inbox  []string      // what was said to it and not read yet
	done   chan struct{} // closed when rec.Result is set
	cancel func(cause error)
}

// note keeps what an event of the subagent says.
func (t *task) note(e Event) {
	t.rec.LastActivityAt = e.Time
	switch e.Type {
	case transcript.IterationStart:
		t.rec.Iterations = e.N
	case transcript.Message:
		if e.Usage != nil {
			t.rec.Tokens += e.Usage.Input + e.Usage.Output
		}
	case transcript.ToolStart:
		t.rec.ToolCalls++
		t.activity(e.Call.Name + " " + e.Call.Args)
	}
}

func (t *task) activity(line string) {
	line = clip(strings.Join(strings.Fields(line), " "), activityRunes)
	if line == t.latest {
		t.repeat++
		t.rec.Activities[len(t.rec.Activities)-1] = fmt.Sprintf("%s (repeated x%d)", line, t.repeat)
		return
	}
	t.latest, t.repeat = line, 1
	t.rec.Activities = append(t.rec.Activities, line)
	if extra := len(t.rec.Activities) - activityMost; extra > 0 {
		t.rec.Activities = slices.Delete(t.rec.Activities, 0, extra)
	}
}

// snapshot copies the record.
func (t *task) snapshot() Record {
	rec := t.rec
	rec.Activities = slices.Clone(rec.Activities)
	return rec
}

// finish sets the result once; later ones are dropped.
func (t *task) finish(res Result, now time.Time) bool {
	if t.rec.Status != TaskRunning {
		return false
	}
	switch res.Outcome {
	case Completed:
		t.rec.Status = TaskDone
	case Canceled:
		t.rec.Status = TaskCanceled
	case IterCapped:
		t.rec.Status = TaskIterCap
	default:
		t.rec.Status = TaskErrored
	}
	t.rec.Result, t.rec.Finished = res, now
	t.rec.Iterations, t.rec.ToolCalls, t.rec.Tokens = res.Iterations, res.ToolCalls, res.Usage.Input+res.Usage.Output
	close(t.done)
	return true
}

package ecosystem

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// A Step is one command that the gate ran.
type Step struct {
	Stage       results.Stage `json:"stage"`
	Side        results.Side  `json:"side"`
	Unit        string        `json:"unit"`    // folder in the repository, "." for its top
	Command     string        `json:"command"` // as it was run
	Shown       string        `json:"shown"`   // as a person would type it: without what asks for results
	Evidence    string        `json:"evidence"`
	Exit        int           `json:"exit"`
	TimedOut    bool          `json:"timed_out"`
	Limit       string        `json:"limit,omitempty"` // the limit of the sandbox for which it was ended, such as "memory"
	Duration    time.Duration `json:"duration"`
	Output      string        `json:"output"`                // for people, cut; only of steps that failed, and of linters until they are compared
	PerTest     bool          `json:"per_test"`              // its output named each test
	NoTests     bool          `json:"no_tests,omitempty"`    // its runner reported no test
	Empty       bool          `json:"-"`                     // it reported a whole run that has no test
	Lacks       string        `json:"lacks,omitempty"`       // the program for want of which it failed
	Environment string        `json:"environment,omitempty"` // why the failure says nothing about the change, such as a registry out of reach
	Aside       string        `json:"aside,omitempty"`       // why the failure on the head does not count, such as a target that the change renames
}

// Label is the command for people.
func (s Step) Label() string { return cmp.Or(s.Shown, s.Command) }

// Failed says whether the command ended badly.
func (s Step) Failed() bool { return s.Exit != 0 || s.Stopped() }

// Limited says whether the command was ended for a limit, which says nothing of what it would
// have come to. One that wrote too much is not: it counts as one test.
func (s Step) Limited() bool { return s.Limit != "" && s.Limit != sandbox.LimitOutput }

// Stopped says whether the command was ended for its time or for a limit, so that what it had
// not reported by then is not known.
func (s Step) Stopped() bool { return s.TimedOut || s.Limited() }

// Ending says why a command was stopped.
func (s Step) Ending() string {
	if s.TimedOut {
		return "did not end in its time"
	}
	return "was ended by ycbot: limit of " + s.Limit
}

// Steps are what was run, in the order in which it ended.
type Steps []Step

// Of are the steps of one stage at one side.
func (l Steps) Of(stage results.Stage, side results.Side) Steps {
	var out Steps
	for _, s := range l {
		if s.Stage == stage && s.Side == side {
			out = append(out, s)
		}
	}
	return out
}

// again says whether t is a run of the command of s on the same side.
func (s Step) again(t Step) bool {
	return t.Side == s.Side && t.Stage == s.Stage && t.Unit == s.Unit && t.Command == s.Command
}

// RanAgain says whether the command of the step at an index was run again on the same side,
// so that the last run of it counts.
func (l Steps) RanAgain(at int) bool { return slices.ContainsFunc(l[at+1:], l[at].again) }

// Last is the last run of the command of a step, on the same side.
func (l Steps) Last(s Step) Step {
	for _, t := range slices.Backward(l) {
		if s.again(t) {
			return t
		}
	}
	return s
}

// Unforeseen is a name that no change can know: it is made of how long the commands took, to
// the precision of the log, so that a run that is played back from its log has the same. What
// only fills caches is left out: whether it is run depends on the machine.
func (l Steps) Unforeseen() string {
	var took []string
	for _, s := range l {
		if !s.Stage.FillsCaches() {
			took = append(took, fmt.Sprintln(s.Side, s.Duration.Milliseconds()))
		}
	}
	slices.Sort(took) // commands that run side by side end in any order
	h := sha256.Sum256([]byte(strings.Join(took, "")))
	var b strings.Builder
	for _, c := range h[:12] {
		b.WriteByte('a' + c%26)
	}
	return b.String()
}

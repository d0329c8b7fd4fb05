package gate

import (
	"slices"
	"sync"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/workspace"
)

// phantoms are the tests that fail, or do not end, inside of a passing package on
// the base: libraries for suites run such tests inside of others. It is safe for
// concurrent use.
type phantoms struct {
	mu       sync.Mutex
	ids      map[ID]bool
	forgiven map[ID][]string // evidence of the runs in which one was forgiven
}

func newPhantoms() *phantoms { return &phantoms{ids: map[ID]bool{}, forgiven: map[ID][]string{}} }

// note keeps a test of the base that is one.
func (p *phantoms) note(id ID, t Test) {
	if !t.Masked {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids[id] = true
}

func (p *phantoms) has(id ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ids[id]
}

// forgive says whether a test is one, and keeps what shows it.
func (p *phantoms) forgive(id ID, evidence string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ids[id] && !slices.Contains(p.forgiven[id], evidence) {
		p.forgiven[id] = append(p.forgiven[id], evidence)
	}
	return p.ids[id]
}

// cases are those that were forgiven.
func (p *phantoms) cases() []Case {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Case
	for id, evidence := range p.forgiven {
		slices.Sort(evidence)
		out = append(out, Case{ID: id, Evidence: evidence})
	}
	ecosystem.SortCases(out)
	return out
}

// collected is what a command reported of its tests in a tree of a side. What the
// base itself shows as a phantom is forgiven.
func (r *runner) collected(side Side, tree *workspace.Tree, c ecosystem.Command, stream ecosystem.Collector, step Step) Suite {
	s := stream.Suite(step.Evidence, tree.Dir)
	s.SetEcosystem(c.Eco)
	if side == Base && tree == r.in.Base {
		for id, t := range s {
			r.phantoms.note(id, t)
		}
	}
	r.forgive(s)
	return s
}

// noteRetried names the tests of the head whose runner ran them again after a failure.
func (r *runner) noteRetried() {
	var names []string
	for id, t := range r.suites[Head] {
		if t.Retried {
			names = append(names, id.String())
		}
	}
	if slices.Sort(names); len(names) > 0 {
		r.note("%s after a failure, because the test runner ran %s again: %s", ecosystem.Count(len(names), "test passes only", "tests pass only"), ecosystem.Plural(len(names), "it", "them"), ecosystem.Listed(names, 5))
	}
}

// forgive takes the tests that fail inside of a passing package on the base for
// passed, and every other failure for one, whatever its program ended with. A
// package whose program failed and that has no other failure has failed itself.
func (r *runner) forgive(s Suite) {
	failing := map[ID]bool{}
	for id, t := range s {
		if id.Test == "" || t.Status != Failed && t.Status != NotRun {
			continue
		}
		if r.phantoms.forgive(id, t.Evidence) {
			t.Status, t.Output = Passed, ""
			s[id] = t
			continue
		}
		failing[ID{Unit: id.Unit, Package: id.Package}] = true
	}
	for id, t := range s {
		if id.Test == "" && id.Command == "" && t.Ended == Failed && t.Status == Passed && !failing[id] {
			t.Status = Failed
			s[id] = t
		}
	}
}

package runs

import (
	"slices"
	"sync"

	"github.com/ycbot/ycbot/internal/gate/results"
)

// Phantoms are the tests that fail, or do not end, inside of a passing package on
// the base: libraries for suites run such tests inside of others. It is safe for
// concurrent use.
type Phantoms struct {
	mu       sync.Mutex
	ids      map[results.ID]bool
	forgiven map[results.ID][]string // evidence of the runs in which one was forgiven
}

// NewPhantoms are none yet.
func NewPhantoms() *Phantoms {
	return &Phantoms{ids: map[results.ID]bool{}, forgiven: map[results.ID][]string{}}
}

// Note keeps a test of the base that is one.
func (p *Phantoms) Note(id results.ID, t results.Test) {
	if !t.Masked {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids[id] = true
}

func (p *Phantoms) Has(id results.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ids[id]
}

// forgive says whether a test is one, and keeps what shows it.
func (p *Phantoms) forgive(id results.ID, evidence string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ids[id] && !slices.Contains(p.forgiven[id], evidence) {
		p.forgiven[id] = append(p.forgiven[id], evidence)
	}
	return p.ids[id]
}

// Cases are those that were forgiven.
func (p *Phantoms) Cases() []results.Case {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []results.Case
	for id, evidence := range p.forgiven {
		slices.Sort(evidence)
		out = append(out, results.Case{ID: id, Evidence: evidence})
	}
	results.SortCases(out)
	return out
}

// ForgiveIn takes the tests that fail inside of a passing package on the base for
// passed, and every other failure for one, whatever its program ended with. A
// package whose program failed and that has no other failure has failed itself.
func (p *Phantoms) ForgiveIn(s results.Suite) {
	failing := map[results.ID]bool{}
	for id, t := range s {
		if id.Test == "" || t.Status != results.Failed && t.Status != results.NotRun {
			continue
		}
		if p.forgive(id, t.Evidence) {
			t.Status, t.Output = results.Passed, ""
			s[id] = t
			continue
		}
		failing[results.ID{Unit: id.Unit, Package: id.Package}] = true
	}
	for id, t := range s {
		if id.Test == "" && id.Command == "" && t.Ended == results.Failed && t.Status == results.Passed && !failing[id] {
			t.Status = results.Failed
			s[id] = t
		}
	}
}

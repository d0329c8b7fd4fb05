package runs

import (
	"slices"
	"sync"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// Phantoms are the tests that fail, or do not end, inside of a passing package on
// the base: libraries for suites run such tests inside of others. It is safe for
// concurrent use.
type Phantoms struct {
	mu       sync.Mutex
	ids      map[ecosystem.ID]bool
	forgiven map[ecosystem.ID][]string // evidence of the runs in which one was forgiven
}

// NewPhantoms are none yet.
func NewPhantoms() *Phantoms {
	return &Phantoms{ids: map[ecosystem.ID]bool{}, forgiven: map[ecosystem.ID][]string{}}
}

// Note keeps a test of the base that is one.
func (p *Phantoms) Note(id ecosystem.ID, t ecosystem.Test) {
	if !t.Masked {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids[id] = true
}

func (p *Phantoms) Has(id ecosystem.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ids[id]
}

// forgive says whether a test is one, and keeps what shows it.
func (p *Phantoms) forgive(id ecosystem.ID, evidence string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ids[id] && !slices.Contains(p.forgiven[id], evidence) {
		p.forgiven[id] = append(p.forgiven[id], evidence)
	}
	return p.ids[id]
}

// Cases are those that were forgiven.
func (p *Phantoms) Cases() []ecosystem.Case {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []ecosystem.Case
	for id, evidence := range p.forgiven {
		slices.Sort(evidence)
		out = append(out, ecosystem.Case{ID: id, Evidence: evidence})
	}
	ecosystem.SortCases(out)
	return out
}

// ForgiveIn takes the tests that fail inside of a passing package on the base for
// passed, and every other failure for one, whatever its program ended with. A
// package whose program failed and that has no other failure has failed itself.
func (p *Phantoms) ForgiveIn(s ecosystem.Suite) {
	failing := map[ecosystem.ID]bool{}
	for id, t := range s {
		if id.Test == "" || t.Status != ecosystem.Failed && t.Status != ecosystem.NotRun {
			continue
		}
		if p.forgive(id, t.Evidence) {
			t.Status, t.Output = ecosystem.Passed, ""
			s[id] = t
			continue
		}
		failing[ecosystem.ID{Unit: id.Unit, Package: id.Package}] = true
	}
	for id, t := range s {
		if id.Test == "" && id.Command == "" && t.Ended == ecosystem.Failed && t.Status == ecosystem.Passed && !failing[id] {
			t.Status = ecosystem.Failed
			s[id] = t
		}
	}
}

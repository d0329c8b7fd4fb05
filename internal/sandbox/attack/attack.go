// Package attack tries, on the machine at hand, whether the tiers of the sandbox
// hold: it makes secrets, files, services and processes, and commands that go for
// them from inside.
//
// The attacks are those of the threat study, by its numbers, and published escapes
// from the sandboxes of others. Nothing of anyone else's is touched: what they would read, write or end was made for them. An
// attack that fails in tier none, which does nothing against it, shows nothing
// about the others on this machine, and [Table] says so.
//
// The attacks need this program in several roles, each a process of its own: see
// [Main].
package attack

import "github.com/ycbot/ycbot/internal/sandbox"

// A Program is how the attacks start this program.
type Program struct {
	Self []string // calls [Main] with what follows
	Shim []string // calls [sandbox.RunShim] with what follows; empty: the sandbox has no shim
	Path string   // where bubblewrap is looked for
}

// A Verdict is what came of an attack.
type Verdict string

// What came of an attack; it is stored in the doctor's JSON.
const (
	Held          Verdict = "held"           // the sandbox stopped it
	Open          Verdict = "open"           // it worked
	NotApplicable Verdict = "not applicable" // it does not work without a sandbox either
)

// A Row is one attack and what came of it in each tier that was tried.
type Row struct {
	ID      string                   `json:"id"`
	Name    string                   `json:"name"`
	Results map[sandbox.Tier]Verdict `json:"results"`
}

// Table arranges what [Try] returned for each tier. With tier none among them,
// it shows which attacks are real ones here.
func Table(tried map[sandbox.Tier]map[string]Verdict) []Row {
	var rows []Row
	for _, a := range attacks() {
		r := Row{ID: a.id, Name: a.name, Results: map[sandbox.Tier]Verdict{}}
		for tier, verdicts := range tried {
			v := verdicts[a.id]
			if none, ok := tried[sandbox.TierNone]; ok && !a.never && v == Held && none[a.id] == Held {
				v = NotApplicable
			}
			if v == "" {
				v = Open // it did not say that it was stopped
			}
			r.Results[tier] = v
		}
		rows = append(rows, r)
	}
	return rows
}

// Broken returns the attacks that worked in tier although it promises that they
// do not.
func Broken(rows []Row, tier sandbox.Tier) []string {
	var out []string
	for _, r := range rows {
		if v, tried := r.Results[tier]; tried && v == Open && !left(tier, r.ID) {
			out = append(out, r.ID)
		}
	}
	return out
}

// left reports whether tier does not promise to stop an attack. The list stands in
// docs/security.md, too; an attack that is stopped later must leave both.
func left(tier sandbox.Tier, id string) bool {
	switch tier {
	case sandbox.TierNone:
		return true
	case sandbox.TierBasic:
		return id == "A23" || id == "A24" || id == "P08" // TCP to another host, and to a service of this one
	default:
		return false
	}
}

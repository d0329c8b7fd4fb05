package preparation

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/execution"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/gate/sides"
)

// Setup of a head that is not trusted runs nothing that the head names while registries
// can be reached:
//
//   - Commands that fetch run in a folder with data of the tree and nothing else, which
//     the harness writes: manifests and lockfiles, cut to what says which packages are
//     needed. Their HOME is one that no command of the tree ever had.
//   - All other commands of setup have no network. They find what was fetched in HOME.
//   - Where the manifest is code, or names code that the package manager would run, only
//     the base's setup has registries, and the head's finds what that has fetched.

// SetupOf are the commands that set a side up: p's, or those for a head that is not trusted.
func (prep *Preparation) SetupOf(side results.Side, p *sides.Plan) []ecosystem.Command {
	if prep.Network != execution.NetworkRegistries {
		return p.Setup
	}
	var fetches, rest []ecosystem.Command
	for _, c := range slices.Concat(p.Fetches, p.Setup) {
		if languages.Untested(c.Text) != "" && !prep.Apart() {
			continue // see unproven
		}
		list := []ecosystem.Command{c}
		if c.Untrusted != nil {
			list = c.Untrusted(side)
		}
		eco := c.Eco
		for _, c := range list {
			c.Eco = eco
			if c.Data != nil || c.FillsModCache() {
				fetches = append(fetches, c)
			} else {
				rest = append(rest, c)
			}
		}
	}
	return append(fetches, rest...)
}

// unproven says which package managers set p up that no test tries: the report names them,
// and commands that share anything with this machine are not left to them.
func (prep *Preparation) unproven(p *sides.Plan) {
	if prep.Network != execution.NetworkRegistries {
		return
	}
	for _, c := range slices.Concat(p.Fetches, p.Setup) {
		name := languages.Untested(c.Text)
		if name == "" {
			continue
		}
		if !prep.Apart() && prep.why == "" {
			prep.why = "setup by " + name + ", which is untested: for a head that is not trusted it needs a sandbox of tier full"
		}
		text := "setup by " + name + " of a head that is not trusted: untested: it is set up by its documented settings, and was not tried with the program"
		if prep.Apart() && prep.As == nil {
			prep.Note("%s", text)
		}
	}
}

// offline explains a setup that fails for a head that is not trusted, because what it needs
// was not fetched. It returns what could not be fetched so far.
func (prep *Preparation) offline(c ecosystem.Command, s ecosystem.Step, unfetched string) string {
	if prep.Network != execution.NetworkRegistries || !s.Failed() || prep.why != "" {
		return unfetched
	}
	steered := slices.ContainsFunc(prep.Change.Paths(), func(name string) bool {
		return slices.ContainsFunc(languages.All(), func(e *ecosystem.Ecosystem) bool { return e.Steers != nil && e.Steers(name) })
	})
	switch {
	case c.Data != nil:
		return cmp.Or(unfetched, fmt.Sprintf("%s: %s: exit %d", s.Side, s.Command, s.Exit))
	case unfetched != "":
		prep.why = unfetched
		prep.baseFails = s.Side == results.Base
	case s.Side == results.Head && !c.Reaches(results.Head) && (steered || c.Eco == ""):
		prep.why = fmt.Sprintf("%s: %s: for a head that is not trusted it is run without a network, with what the base has fetched", s.Side, s.Command)
	}
	return unfetched
}

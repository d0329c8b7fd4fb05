package preparation

import (
	"slices"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/execution"
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
func (prep *Preparation) SetupOf(side ecosystem.Side, p *sides.Plan) []ecosystem.Command {
	if prep.Network != execution.NetworkRegistries {
		return p.Setup
	}
	var fetches, rest []ecosystem.Command
	for _, c := range slices.Concat(p.Fetches, p.Setup) {
		if ecosystem.Untested(c.Text) != "" && !prep.Apart() {
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
		name := ecosystem.Untested(c.Text)
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

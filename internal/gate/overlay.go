package gate

import (
	"github.com/ycbot/ycbot/internal/gate/ecosystem"
	"github.com/ycbot/ycbot/internal/gate/languages"
	"github.com/ycbot/ycbot/internal/gate/results"
)

// changedFiles are the test files of the change that a command runs by themselves;
// none where it has to run whole, because their data or what they share changed too.
func (r *runner) changedFiles(c ecosystem.Command) []string {
	var out []string
	for _, f := range r.res.FailToPass.Files {
		switch {
		case !r.sides.Runs(Base, c, f):
		case languages.IsTestSource(f) && results.HasPackage(r.sides.Suites[Head], ID{Unit: c.Unit, Package: f}):
			out = append(out, f)
		case !r.sides.GoneFromHead(f):
			return nil
		}
	}
	return out
}

func wantsAbsent(wants func(Test) (deps, api bool), t Test) bool {
	deps, api := wants(t)
	return deps || api
}

// needsAPI words that the change's tests want what only the change has.
func (r *runner) needsAPI(over Suite) string {
	for _, o := range over {
		if o.Eco != "" && !languages.ByPackage(o.Eco) && o.Status == Failed {
			return "the change's tests cannot be run without the change, whose API they need: no reproduction claimed"
		}
	}
	return "the change's tests do not compile without the change, whose API they need: no reproduction claimed"
}

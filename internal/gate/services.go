package gate

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ycbot/ycbot/internal/gate/databases"
	"github.com/ycbot/ycbot/internal/gate/results"
	"github.com/ycbot/ycbot/internal/pattern"
	"github.com/ycbot/ycbot/internal/sandbox"
)

// findServices finds the services that the project's own CI has beside its tests, and
// which of them can be started. Those that the operator allows commands to reach are not.
func (r *runner) findServices(ctx context.Context) error {
	p := r.sides.Plans[Base]
	if len(p.Test)+len(p.Left) == 0 {
		return nil
	}
	var failed error
	found, env := databases.Find(r.read(ctx, r.in.Base, &failed), p.Files)
	if failed != nil {
		return failed
	}
	before := len(found)
	if !r.in.Untrusted { // what a maintainer's change gives its new tests
		more, vars := databases.Find(r.read(ctx, r.in.Head, &failed), slices.DeleteFunc(r.in.Change.Paths(), r.sides.GoneFromHead))
		if failed != nil {
			return failed
		}
		for _, s := range more {
			if !slices.ContainsFunc(found, func(f databases.Service) bool { return f.Name == s.Name || f.Kind == s.Kind && s.Kind != "" }) {
				found = append(found, s)
			}
		}
		if len(found) > before {
			env = append(env, slices.DeleteFunc(vars, func(v string) bool {
				name, _, _ := strings.Cut(v, "=")
				return slices.ContainsFunc(env, func(o string) bool { return strings.HasPrefix(o, name+"=") })
			})...)
		}
	}
	for i, s := range found {
		if s.Kind != "" && r.allows(s.Port) {
			continue
		}
		why := ""
		var programs map[string]string
		switch {
		case s.Kind == "":
			why = "ycbot starts only PostgreSQL, Redis and MySQL"
		case !slices.Contains(r.Sandbox.Status().Layers, "network namespace"):
			why = "it is started only where commands have a loopback interface of their own"
		default:
			var missing string
			if programs, missing = s.Kind.Programs(r.serverProgram); missing != "" {
				why = "no " + missing + " on this machine"
			}
		}
		if why != "" {
			r.notCovered("what needs the service %s (%s) of %s: %s", s.Name, s.Image, s.From, why)
			if i >= before {
				r.unserved = append(r.unserved, fmt.Sprintf("the service %s (%s) that the change names in %s: %s", s.Name, s.Image, s.From, why))
			}
			continue
		}
		r.executor.Beside.Services = append(r.executor.Beside.Services, databases.Started{Service: s, Programs: programs})
		r.note("%s of this machine is started for each test command, on port %d, as %s has %s", s.Kind, s.Port, s.From, s.Image)
	}
	if len(r.executor.Beside.Services) > 0 {
		r.executor.Beside.Env = env
	}
	return nil
}

var unreachable = pattern.New(`(?i)connection ?refused|ECONNREFUSED|name resolution|ENOTFOUND|no such host|could not resolve|UnknownHost|name or service not known`)

// leaveUnserved takes the blame from new tests that reach no service where the change names one
// that is not started: nothing is known of them.
func (r *runner) leaveUnserved() {
	t := &r.res.Tests
	if len(r.unserved) == 0 {
		return
	}
	stay, gone := results.Parted(t.NewFailing, func(c Case) bool {
		return c.ID.Test != "" && r.sides.Suites[Base][c.ID].Status == "" && unreachable.MatchString(c.Output)
	})
	t.NewFailing, t.Unknown = stay, append(slices.Clip(t.Unknown), gone...) // the lists are concluded from again
	t.Sort()
	if len(gone) > 0 {
		r.facts.Unprepared = cmp.Or(r.facts.Unprepared, "new tests reach no service: "+strings.Join(r.unserved, "; "))
	}
}

// allows says whether the operator lets commands reach a service at this port.
func (r *runner) allows(port int) bool {
	return slices.ContainsFunc(r.Services, func(s sandbox.Service) bool { return int(s.Port) == port })
}

// serverProgram finds a program of a server, also where distributions put it outside of the
// search path.
func (r *runner) serverProgram(name string) string {
	if at := r.Tools.LookPath(name); at != "" {
		return at
	}
	at := "" // the newest version
	for _, pattern := range []string{"/usr/sbin", "/usr/lib/postgresql/*/bin", "/usr/libexec"} {
		found, _ := filepath.Glob(filepath.Join(pattern, name)) // the patterns are well-formed
		slices.SortFunc(found, func(a, b string) int { return version(a) - version(b) })
		if len(found) > 0 && at == "" {
			at = found[len(found)-1]
		}
	}
	return at
}

// version is the number that a folder of a path is.
func version(name string) int {
	for part := range strings.SplitSeq(name, "/") {
		if n, err := strconv.Atoi(part); err == nil {
			return n
		}
	}
	return 0
}

// Package suites writes results of tests in few words, for tests.
package suites

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/results"
)

// ID parses "package Test" or, with a colon at its end, a command.
func ID(s string) results.ID {
	if c, ok := strings.CutSuffix(s, ":"); ok {
		return results.ID{Unit: ".", Command: c}
	}
	pkg, test, _ := strings.Cut(s, " ")
	return results.ID{Unit: ".", Package: pkg, Test: test}
}

// Of parses "pass m TestA", a result a line; the mark "!" behind a status
// says that the package ended early, "#" that it did not compile.
func Of(lines ...string) results.Suite {
	s := results.Suite{}
	for _, line := range lines {
		status, name, _ := strings.Cut(line, " ")
		t := results.Test{Leaf: true, Evidence: "E1"}
		t.Cut = strings.HasSuffix(status, "!")
		t.Broken = strings.HasSuffix(status, "#")
		t.Status = results.Status(strings.TrimRight(status, "!#"))
		s[ID(name)] = t
	}
	for _, pkg := range []string{"m", "n"} {
		results.MarkParents(s, ".", pkg)
	}
	return s
}

// Cases makes cases of identities.
func Cases(ids ...string) []results.Case {
	var out []results.Case
	for _, s := range ids {
		out = append(out, results.Case{ID: ID(s), Evidence: []string{"E1"}})
	}
	return out
}

// Statuses lists a suite, "pass m TestA" a line, sorted by name.
func Statuses(s results.Suite) string {
	var out []string
	for id, t := range s {
		mark := ""
		if t.Cut {
			mark += "!"
		}
		if t.Broken {
			mark += "#"
		}
		if !t.Leaf && id.Test != "" {
			mark += "+"
		}
		if t.Retried {
			mark += "^"
		}
		if t.Masked {
			mark += "~"
		}
		out = append(out, id.String()+" "+string(t.Status)+mark)
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

// lists are those of a comparison of two suites, as its JSON names them.
var lists = []string{"regressed", "new_failing", "fixed", "pre_existing", "flaky", "flaky_new", "new_flakiness", "unsettled", "removed", "skipped", "not_run", "unknown"}

// Show lists the cases of a comparison of two suites, "regressed m TestA" a line.
func Show(t testing.TB, comparison any) string {
	t.Helper()
	data, err := json.Marshal(comparison)
	if err != nil {
		t.Fatal(err)
	}
	var of map[string]json.RawMessage
	if err := json.Unmarshal(data, &of); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, list := range lists {
		var cases []results.Case
		if err := json.Unmarshal(of[list], &cases); err != nil {
			t.Fatal(err)
		}
		for _, k := range cases {
			out = append(out, list+" "+k.ID.String())
		}
	}
	return strings.Join(out, "; ")
}

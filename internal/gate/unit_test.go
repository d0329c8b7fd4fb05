package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/ycbot/ycbot/internal/gate/ecosystem"
)

// id parses "package Test" or, with a colon at its end, a command.
func id(s string) ID {
	if c, ok := strings.CutSuffix(s, ":"); ok {
		return ID{Unit: ".", Command: c}
	}
	pkg, test, _ := strings.Cut(s, " ")
	return ID{Unit: ".", Package: pkg, Test: test}
}

// suiteOf parses "pass m TestA", a result a line; the mark "!" behind a status
// says that the package ended early, "#" that it did not compile.
func suiteOf(lines ...string) Suite {
	s := Suite{}
	for _, line := range lines {
		status, name, _ := strings.Cut(line, " ")
		t := Test{Leaf: true, Evidence: "E1"}
		t.Cut = strings.HasSuffix(status, "!")
		t.Broken = strings.HasSuffix(status, "#")
		t.Status = Status(strings.TrimRight(status, "!#"))
		s[id(name)] = t
	}
	for _, pkg := range []string{"m", "n"} {
		ecosystem.MarkParents(s, ".", pkg)
	}
	return s
}

// show lists the cases of a comparison, "regressed m TestA" a line.
func show(c Comparison) string {
	var out []string
	add := func(what string, cases []Case) {
		for _, k := range cases {
			out = append(out, what+" "+k.ID.String())
		}
	}
	add("regressed", c.Regressed)
	add("new", c.NewFailing)
	add("fixed", c.Fixed)
	add("pre-existing", c.PreExisting)
	add("flaky", c.Flaky)
	add("flaky-new", c.FlakyNew)
	add("new-flakiness", c.NewFlakiness)
	add("unsettled", c.Unsettled)
	add("removed", c.Removed)
	add("skipped", c.Skipped)
	add("not-run", c.NotRun)
	add("unknown", c.Unknown)
	return strings.Join(out, "; ")
}

// casesOf makes cases of identities.
func casesOf(ids ...string) []Case {
	var out []Case
	for _, s := range ids {
		out = append(out, Case{ID: id(s), Evidence: []string{"E1"}})
	}
	return out
}

// statuses lists a suite, "pass m TestA" a line, sorted by name.
func statuses(s Suite) string {
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

// sameStrings compares two lists; nil is an empty one.
func sameStrings(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

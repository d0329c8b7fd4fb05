package pairs

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	asked  = flag.Bool("pairs", false, "run the study; needs the module proxy and some minutes")
	update = flag.Bool("update", false, "with -pairs: write docs/pairs.md anew, keeping its explanations")
)

// committed is the table of the last study.
const committed = "../../docs/pairs.md"

// A pair is two adjacent releases of a module.
type pair struct{ module, from, to string }

// study is what is studied. The comment says what is special about a pair.
var study = []pair{
	{"github.com/Masterminds/semver/v3", "v3.3.0", "v3.3.1"},
	{"github.com/mitchellh/mapstructure", "v1.4.1", "v1.4.2"},
	{"github.com/rivo/uniseg", "v0.4.3", "v0.4.4"},
	{"github.com/tidwall/match", "v1.1.0", "v1.1.1"},
	{"github.com/sirupsen/logrus", "v1.9.2", "v1.9.3"},         // a panic takes the rest of its package along
	{"github.com/mattn/go-runewidth", "v0.0.20", "v0.0.21"},    // a generated table
	{"github.com/google/go-cmp", "v0.5.8", "v0.5.9"},           // a golden file
	{"github.com/yuin/goldmark", "v1.7.12", "v1.7.13"},         // of the tests, only data
	{"github.com/hashicorp/go-version", "v1.2.0", "v1.2.1"},    // a new function and its tests
	{"github.com/spf13/pflag", "v1.0.8", "v1.0.9"},             // the same
	{"github.com/hashicorp/golang-lru/v2", "v2.0.6", "v2.0.7"}, // the same, and a fix in another package
	{"github.com/gorilla/mux", "v1.7.3", "v1.7.4"},             // removed tests, new tests in new files
	{"github.com/dustin/go-humanize", "v1.0.0", "v1.0.1"},      // the first go.mod
	{"github.com/spf13/cobra", "v1.8.0", "v1.8.1"},             // a newer dependency
	{"gopkg.in/yaml.v3", "v3.0.0", "v3.0.1"},                   // an incomplete go.sum
	{"github.com/google/uuid", "v1.3.0", "v1.3.1"},             // a fix without a test
	{"github.com/pelletier/go-toml/v2", "v2.2.1", "v2.2.2"},    // a refactoring
	{"github.com/stretchr/testify", "v1.8.3", "v1.8.4"},        // nothing but a workflow
}

// TestPairs holds that no release is judged FAIL against the one before it,
// that undoing a release is judged FAIL wherever a test of it notices, and that
// both are as they were when docs/pairs.md was written.
func TestPairs(t *testing.T) {
	if !*asked {
		t.Skip("the study of module pairs runs with -pairs (make pairs); it needs the module proxy and some minutes")
	}
	s := newStudy(t)
	if !s.race(t) {
		t.Skip("no C compiler: docs/pairs.md is a table of runs with the race detector")
	}
	var rows []row
	for _, p := range study {
		t.Run(strings.ReplaceAll(p.module, "/", "_"), func(t *testing.T) { rows = append(rows, s.pair(t, p)...) })
	}
	s.summarize(t, rows)
	old := readTable(t)
	explain(rows, old)
	if *update {
		if err := os.WriteFile(committed, []byte(render(rows)), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(keys(old), keys(rows)); diff != "" {
		t.Errorf("docs/pairs.md differs (-committed +now); if this is meant, add -update:\n%s", diff)
	}
	for _, problem := range unexplained(rows) {
		t.Error(problem)
	}
}

// pair studies p in both directions.
func (s *bench) pair(t *testing.T, p pair) []row {
	t.Helper()
	from, to := s.download(t, p.module, p.from), s.download(t, p.module, p.to)
	repo := newRepo(t, s.env)
	repo.commit(t, p.from, func() { repo.fill(t, from) })
	repo.commit(t, p.to, func() { repo.fill(t, to) })
	changed := repo.commit(t, "undone", func() { repo.undo(t, from, to) })
	rows := []row{s.run(t, repo, p, forward, p.from, p.to)}
	if changed {
		rows = append(rows, s.run(t, repo, p, undone, p.to, "undone"))
	}
	return rows
}

// run lets ycbot judge head against base.
func (s *bench) run(t *testing.T, repo repo, p pair, d direction, base, head string) row {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	rep := s.ycbot(t, repo.dir, out, base, head)
	s.add(t, out, rep)
	r := row{Module: p.module, From: p.from, To: p.to, Direction: d, Verdict: string(rep.Verdict), Time: time.Duration(rep.Timings.DurationMS) * time.Millisecond}
	if rep.Tests != nil {
		r.Fail = listOf(p.module, slices.Concat(rep.Tests.Regressed, rep.Tests.NewFailing))
		r.FailToPass = listOf(p.module, rep.Tests.FailToPass)
	}
	for _, c := range rep.Checks {
		if c.Kind == "fail_to_pass" && r.FailToPass.N == 0 {
			r.Note, _, _ = strings.Cut(c.Actual, ":")
		}
	}
	t.Logf("%s %s→%s %s: %s in %s\n  reasons: %q\n  fail: %q\n  fail-to-pass: %q", p.module, p.from, p.to, d, r.Verdict, r.Time, rep.Reasons, r.Fail, r.FailToPass)
	return r
}

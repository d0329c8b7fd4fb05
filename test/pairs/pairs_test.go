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

	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/test/releases"
)

var (
	asked  = flag.Bool("pairs", false, "run the study; needs the module proxy and some minutes")
	update = flag.Bool("update", false, "with -pairs: write docs/pairs.md anew, keeping its explanations")
)

// committed is the table of the last study.
const committed = "../../docs/pairs.md"

// TestPairs holds that no release is judged FAIL against the one before it,
// that undoing a release is judged FAIL wherever a test of it notices, and that
// both are as they were when docs/pairs.md was written. With -run, it holds that
// of the pairs that are run.
func TestPairs(t *testing.T) {
	if !*asked {
		t.Skip("the study of module pairs runs with -pairs (make pairs); it needs the module proxy and some minutes")
	}
	s := newStudy(t)
	if !s.race(t) {
		t.Skip("no C compiler: docs/pairs.md is a table of runs with the race detector")
	}
	var ran []row
	for _, p := range releases.Study() {
		t.Run(strings.ReplaceAll(p.Module, "/", "_"), func(t *testing.T) { ran = append(ran, s.pair(t, p)...) })
	}
	s.summarize(t)
	old := readTable(t)
	explain(ran, old)
	if *update {
		if err := os.WriteFile(committed, []byte(render(merge(releases.Study(), old, ran))), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(keys(pick(old, ran)), keys(ran)); diff != "" {
		t.Errorf("docs/pairs.md differs (-committed +now); if this is meant, add -update:\n%s", diff)
	}
	for _, problem := range unexplained(ran) {
		t.Error(problem)
	}
}

// pair studies p in both directions.
func (s *bench) pair(t *testing.T, p releases.Pair) []row {
	t.Helper()
	from, to := s.download(t, p.Module, p.From), s.download(t, p.Module, p.To)
	repo, err := releases.NewRepo(t.Context(), t.TempDir(), s.env)
	if err != nil {
		t.Fatal(err)
	}
	commit := func(tag string, write func() error) bool {
		changed, err := repo.Commit(t.Context(), tag, tag, write)
		if err != nil {
			t.Fatal(err)
		}
		return changed
	}
	commit(p.From, func() error { return repo.Fill(from) })
	commit(p.To, func() error { return repo.Fill(to) })
	changed := commit("undone", func() error { return repo.Undo(from, to) })
	rows := []row{s.run(t, repo, p, forward, p.From, p.To)}
	if changed {
		rows = append(rows, s.run(t, repo, p, undone, p.To, "undone"))
	}
	return rows
}

// run lets ycbot judge head against base.
func (s *bench) run(t *testing.T, repo releases.Repo, p releases.Pair, d direction, base, head string) row {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	rep := s.ycbot(t, repo.Dir, out, base, head)
	s.add(t, out, rep)
	r := row{Module: p.Module, From: p.From, To: p.To, Direction: d, Verdict: string(rep.Verdict), Time: time.Duration(rep.Timings.DurationMS) * time.Millisecond}
	if rep.Tests != nil {
		r.Fail = listOf(p.Module, slices.Concat(rep.Tests.Regressed, rep.Tests.NewFailing))
		r.FailToPass = listOf(p.Module, rep.Tests.FailToPass)
	}
	for _, c := range rep.Checks {
		if c.Kind == report.KindFailToPass && d == forward && r.FailToPass.N == 0 {
			r.Note, _, _ = strings.Cut(c.Actual, ":")
		}
	}
	t.Logf("%s %s→%s %s: %s in %s\n  reasons: %q\n  fail: %q\n  fail-to-pass: %q", p.Module, p.From, p.To, d, r.Verdict, r.Time, rep.Reasons, r.Fail, r.FailToPass)
	return r
}

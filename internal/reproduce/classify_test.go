package reproduce

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/rundir"
)

// A ran is how a command ended.
type ran struct {
	exit     int
	out, err string
	timedOut bool
	limit    string
}

// record keeps it as the log does.
func (r ran) record(t *testing.T, dir, id string) evidence.Record {
	t.Helper()
	keep := func(name, text string) evidence.Output {
		if err := os.WriteFile(filepath.Join(dir, "spill", id+"."+name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(text))
		return evidence.Output{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(text)), Spill: "spill/" + id + "." + name}
	}
	return evidence.Record{ID: id, Command: "sh probe", Executed: true, Exit: r.exit, TimedOut: r.timedOut, Limit: r.limit, Stdout: keep("stdout", r.out), Stderr: keep("stderr", r.err)}
}

// The table reads like the rules: how the command ended on the head and on the base,
// what the check says and the trees, and what that makes of it.
func TestClassify(t *testing.T) {
	t.Parallel()
	const head, base = "/x/worktrees/r/again/E1-head/", "/x/worktrees/r/again/E1-base/"
	failed, bug := ran{exit: 1, err: "wrong: 5\n"}, ran{exit: 1, out: "BUG\n"}
	const noName = "ImportError: cannot import name 'clamp' from 'shop'\n"
	for _, tc := range []struct {
		name     string
		head     ran
		base     ran
		expected string
		grounds  Grounds
		want     report.Reproduction
		oracle   string // a part of it
	}{
		{"passes on base", failed, ran{out: "4\n"}, "", Grounds{}, report.Introduced, ""},
		{"the same failure", failed, failed, "", Grounds{}, report.PreExisting, ""},
		{"the same, in other lines of other folders", ran{exit: 1, err: head + "a.sh: line 7: no\n"}, ran{exit: 1, err: base + "a.sh: line 3: no\n"}, "", Grounds{}, report.PreExisting, ""},
		{"the same error after other output", ran{exit: 1, out: "a\nb\n", err: "no\n"}, ran{exit: 1, out: "a\n", err: "no\n"}, "", Grounds{}, report.PreExisting, ""},
		{"another error", failed, ran{exit: 1, err: "usage\n"}, "", Grounds{}, report.Unclear, ""},
		{"another exit", failed, ran{exit: 2, err: "wrong: 5\n"}, "", Grounds{}, report.Unclear, ""},
		{"another error, and the task promises", failed, ran{exit: 1, err: "usage\n"}, `"words are refused"`, Grounds{}, report.Unfulfilled, ""},
		{"the same failure, and the task promises", failed, failed, `"words are refused"`, Grounds{}, report.Unfulfilled, ""},
		{"silent on both, of what only the head has", ran{exit: 1}, ran{exit: 1}, "", Grounds{HeadOnly: []string{"--twice"}}, report.HeadOnly, ""},
		{"silent on both", ran{exit: 1}, ran{exit: 1}, "", Grounds{}, report.PreExisting, ""},
		{"the same words on both, of what only the head has", failed, failed, "", Grounds{HeadOnly: []string{"--twice"}}, report.HeadOnly, ""},
		{"the same crash on both, beside what only the head has", ran{exit: 139}, ran{exit: 139}, "", Grounds{HeadOnly: []string{"--twice"}}, report.HeadOnly, ""},
		{"a word of the probe that only the head has", failed, ran{exit: 2, err: "usage\n"}, "", Grounds{Words: []string{"total"}}, report.HeadOnly, ""},
		{"such a word, and the base passes", failed, ran{out: "4\n"}, "", Grounds{Words: []string{"total"}}, report.Introduced, ""},
		{"documented and not there", failed, failed, "", Grounds{HeadOnly: []string{"--twice"}, Quote: "it is doubled", QuoteAt: "README.md"}, report.HeadOnly, "README.md"},
		{"head only", failed, ran{exit: 2, err: "unknown option --twice\n"}, "12", Grounds{HeadOnly: []string{"--twice"}}, report.HeadOnly, ""},
		{"head only, and the base lets it pass", failed, ran{out: "5\n"}, "12", Grounds{HeadOnly: []string{"--twice"}}, report.HeadOnly, ""},
		{"head only, with a sentence", failed, ran{exit: 2, err: "unknown option\n"}, "", Grounds{HeadOnly: []string{"--twice"}, Quote: "it is doubled", QuoteAt: "README.md"}, report.HeadOnly, "README.md"},
		{"head only, and the task promises", failed, ran{exit: 2, err: "unknown option\n"}, `"words are refused"`, Grounds{HeadOnly: []string{"--twice"}}, report.HeadOnly, "the task"},
		{"head only, with a crash", ran{exit: 139}, ran{exit: 2, err: "unknown option\n"}, "", Grounds{HeadOnly: []string{"--twice"}}, report.HeadOnly, "SIGSEGV"},
		{"head only, and the probe does not run", ran{exit: 1, err: "curl: (7) Failed to connect to localhost: Connection refused\n"}, ran{exit: 2, err: "unknown option\n"}, `"words are refused"`, Grounds{HeadOnly: []string{"--twice"}}, report.HeadOnly, ""},
		{"by output: the base prints what is expected", ran{out: "5\n"}, ran{out: "12\n"}, "12 was expected, 5 came", Grounds{}, report.Introduced, ""},
		{"by output: nor does the base", ran{out: "5\n"}, ran{out: "7\n"}, "12 was expected", Grounds{}, report.Unclear, ""},
		{"by output: the base fails", ran{out: "5\n"}, ran{exit: 1, out: "12\n"}, "12 was expected", Grounds{}, report.Unclear, ""},
		{"by its end: the base refuses, with that status", ran{out: "0\n"}, ran{exit: 7, err: "no number\n"}, "Expected: exit code 7, got 0", Grounds{}, report.Introduced, ""},
		{"by its end: the base refuses, with another status", ran{out: "0\n"}, ran{exit: 2, err: "no number\n"}, "Expected: exit code 7", Grounds{}, report.Unclear, ""},
		{"by its end: the base refuses, as expected", ran{out: "0\n"}, ran{exit: 7, err: "no number\n"}, "Expected: it exits with a non-zero status", Grounds{}, report.Introduced, ""},
		{"by its end: the base has the message", ran{out: "0\n"}, ran{exit: 7, err: "x: no number\n"}, "Expected: no number", Grounds{}, report.Introduced, ""},
		{"by its end: success is expected", ran{out: "0\n"}, ran{exit: 7, err: "no number\n"}, "Expected: 12", Grounds{}, report.Unclear, ""},
		{"by output: the same", ran{out: "5\n"}, ran{out: "5\n"}, "12 was expected", Grounds{}, report.PreExisting, ""},
		{"the program is not there, and the base ends well", bug, ran{out: "rejected\n", err: "bash: line 1: ./app: No such file or directory\n"}, "", Grounds{}, report.Unclear, ""},
		{"silently", bug, ran{out: "rejected\n"}, "", Grounds{LeftOut: []string{"app"}}, report.Unclear, ""},
		{"silently on both", ran{exit: 1}, ran{exit: 1}, "", Grounds{LeftOut: []string{"app"}}, report.Unclear, ""},
		{"silently, about what only the head has", bug, ran{out: "rejected\n"}, "", Grounds{LeftOut: []string{"app"}, HeadOnly: []string{"--twice"}}, report.HeadOnly, ""},
		{"silently, and the task promises", bug, ran{out: "rejected\n"}, `"words are refused"`, Grounds{LeftOut: []string{"app"}}, report.Unfulfilled, ""},
		{"a symbol is not there, and the base ends well", bug, ran{out: "rejected\n", err: noName}, "", Grounds{}, report.Unclear, ""},
		{"one that only the head has", bug, ran{out: "rejected\n", err: noName}, "", Grounds{Words: []string{"clamp"}}, report.HeadOnly, ""},
		{"such a flag, in words of a project", bug, ran{out: "rejected\n", err: "unknown option: --twice\n"}, "", Grounds{Words: []string{"twice"}}, report.HeadOnly, ""},
		{"a flag that neither has", bug, ran{out: "rejected\n", err: "unknown option: --twice\n"}, "", Grounds{}, report.Introduced, ""},
		{"a server does not start, and the base ends well", bug, ran{out: "rejected\n", err: "curl: (7) Failed to connect to localhost port 80\n"}, "", Grounds{}, report.Unclear, ""},
		{"what the check expects to be missing", bug, ran{out: "no such file\n"}, "it says: no such file", Grounds{}, report.Introduced, ""},
		{"the head says so, too", ran{exit: 1, err: "x: No such file\n"}, ran{out: "y: No such file\n"}, "", Grounds{}, report.Introduced, ""},
		{"by its end: the program is not there", ran{out: "0\n"}, ran{exit: 127, err: "bash: ./app: No such file or directory\n"}, "Expected: it exits with a non-zero status", Grounds{}, report.HeadOnly, ""},
		{"by its end: it was left out", ran{out: "0\n"}, ran{exit: 127, err: "bash: ./app: No such file or directory\n"}, "Expected: it exits with a non-zero status", Grounds{LeftOut: []string{"app"}}, report.Unclear, ""},
		{"a crash of what was left out", ran{exit: 139}, ran{exit: 127, err: "bash: ./app: No such file or directory\n"}, "", Grounds{LeftOut: []string{"app"}}, report.Unclear, ""},
		{"by its end: a module is not there", ran{out: "0\n"}, ran{exit: 1, err: noName}, "Expected: it exits with a non-zero status", Grounds{}, report.Unclear, ""},
		{"hangs on the head alone", ran{exit: 137, timedOut: true}, ran{out: "5\n"}, "", Grounds{}, report.Introduced, ""},
		{"ended for a limit on both", ran{exit: 137, limit: "memory"}, ran{exit: 137, limit: "memory"}, "", Grounds{}, report.PreExisting, ""},
		{"ended for another limit", ran{exit: 137, limit: "memory"}, ran{exit: 137, limit: "disk"}, "", Grounds{}, report.Unclear, ""},
		{"by output: the base is ended for a limit", ran{out: "0\n"}, ran{exit: 137, limit: "memory"}, "Expected: it exits with a non-zero status", Grounds{}, report.Unclear, ""},
		{"hangs on both", ran{exit: 137, timedOut: true}, ran{exit: 137, timedOut: true}, "", Grounds{}, report.PreExisting, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "spill"), 0o700); err != nil {
				t.Fatal(err)
			}
			j := Judge{Dir: dir, Source: rundir.Source{Change: change.Change{Task: "Sum: words are refused."}}}
			got, err := j.Classify(Trial{
				Claim: report.AgentCheck{Expected: tc.expected}, First: tc.head.record(t, dir, "E1"), Head: tc.head.record(t, dir, "E2"),
				OnBase:  func() (evidence.Record, error) { return tc.base.record(t, dir, "E3"), nil },
				Grounds: func(evidence.Record) (Grounds, error) { return tc.grounds, nil },
				More: func(int) (Pair, bool, error) {
					return Pair{tc.head.record(t, dir, "E4"), tc.base.record(t, dir, "E5")}, true, nil
				},
			})
			if err != nil || got.Reproduction != tc.want || (got.Oracle == "") != (tc.oracle == "") || !strings.Contains(got.Oracle, tc.oracle) {
				t.Errorf("%+v %v, want %s %q", got, err, tc.want, tc.oracle)
			}
		})
	}
	t.Run("the base of a check of the last run", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "spill"), 0o700); err != nil {
			t.Fatal(err)
		}
		was, base := ran{out: "rejected\n"}, ran{out: "rejected\n", err: noName}
		_, got, err := (&Last{Dir: dir}).Became(Judge{Dir: dir}, Revisited{
			Check: report.Check{Result: report.ResultPass, Support: report.Supported}, Was: was.record(t, dir, "E1"), Head: bug.record(t, dir, "E2"),
			OnBase: func() (evidence.Record, error) { return base.record(t, dir, "E3"), nil },
			More:   func(int) (Pair, bool, error) { return Pair{}, false, nil },
		})
		if err != nil || got != report.Unclear {
			t.Errorf("%s %v, want %s", got, err, report.Unclear)
		}
	})
	t.Run("passes when it is run again", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "spill"), 0o700); err != nil {
			t.Fatal(err)
		}
		got, err := Judge{Dir: dir}.Classify(Trial{First: failed.record(t, dir, "E1"), Head: ran{out: "4\n"}.record(t, dir, "E2")})
		if err != nil || got.Reproduction != report.NotReproduced {
			t.Errorf("%+v %v", got, err)
		}
	})
}

// What fails on the head and passes on the base once may do so by chance: it is the change's
// only where it does so each time. What takes long is not run as often.
func TestRounds(t *testing.T) {
	t.Parallel()
	bad, good := evidence.Record{Exit: 1}, evidence.Record{}
	for _, tc := range []struct {
		name  string
		took  int64 // milliseconds
		pairs []Pair
		want  report.Reproduction
	}{
		{"each time", 10, []Pair{{bad, good}, {bad, good}}, report.Introduced},
		{"not once more on the head", 10, []Pair{{bad, good}, {good, good}}, report.NotReproduced},
		{"on the base, too", 10, []Pair{{bad, bad}}, report.Unclear},
		{"no time was left", 10, []Pair{{bad, good}}, report.Introduced},
		{"long", 40_000, []Pair{{bad, good}, {good, good}}, report.Introduced},
		{"longer still", 400_000, []Pair{{good, good}}, report.Introduced},
	} {
		got, err := again(Pair{evidence.Record{Exit: 1, DurationMS: tc.took}, good}, func(n int) (Pair, bool, error) {
			if n-2 >= len(tc.pairs) {
				return Pair{}, false, nil
			}
			return tc.pairs[n-2], true, nil
		}, func(r evidence.Record) bool { return r.Exit != 0 }, func(r evidence.Record) bool { return r.Exit == 0 })
		if got != tc.want || err != nil {
			t.Errorf("%s: %s %v, want %s", tc.name, got, err, tc.want)
		}
	}
}

// A command that ran into its limit is given about as long again, and no other less than
// a command may take.
func TestPatience(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		r    evidence.Record
		want time.Duration
	}{
		{evidence.Record{DurationMS: 1000}, longest},
		{evidence.Record{DurationMS: 10_000, TimedOut: true}, 16 * time.Second},
		{evidence.Record{DurationMS: 900_000, TimedOut: true}, longest},
	} {
		if got := patience(tc.r); got != tc.want {
			t.Errorf("%+v: %s", tc.r, got)
		}
	}
}

package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/evidence"
	"github.com/ycbot/ycbot/internal/gate"
	"github.com/ycbot/ycbot/internal/report"
	"github.com/ycbot/ycbot/internal/workspace"
)

// Bounds of what is run again of the last run.
const (
	revisitMost = 30
	revisitDiff = 64 << 10
)

// A revisited is what became of the last run's checks: its commands were run
// again on this head and, where they fail, on the base, without a model.
type revisited struct {
	RunID   string           `json:"run_id"`
	Head    string           `json:"head"`
	Verdict report.Verdict   `json:"verdict"`
	Checks  []report.Revisit `json:"checks"`
	Diff    string           `json:"diff"`  // from that head to this one, cut
	Notes   []string         `json:"notes"` // why it is less than all
}

// revisit runs the checks of the last run's agents again. What the gate found
// there the gate looks at anew. A last run that cannot be used is said and is no
// error.
func (s *session) revisit(ctx context.Context, t *takeover, result *gate.Result) (*revisited, error) {
	none := func(format string, args ...any) (*revisited, error) {
		return &revisited{Notes: []string{"the last run was not looked at again: " + fmt.Sprintf(format, args...)}}, nil
	}
	if t == nil || t.Digest == "" {
		why := "it was not kept"
		if t != nil && t.Why != "" {
			why = t.Why
		}
		return none("%s", why)
	}
	r, err := s.revisitor()
	if err != nil {
		return none("%v", err)
	}
	if r.report.Repo != s.src.Change.Repo || r.report.PR != s.src.Change.PR {
		return none("it is of %s#%d", r.report.Repo, r.report.PR)
	}
	r.result, r.seats = result, map[string]*seat{}
	if err := r.prepared(ctx); err != nil {
		return none("%v", err)
	}
	r.out.Diff = s.since(ctx, r.report.HeadSHA)
	r.until = s.shareOf(ctx, rerunShare)
	for _, c := range r.report.Checks {
		if err := r.check(ctx, c); err != nil {
			return r.out, err
		}
	}
	return r.out, nil
}

// revisitor reads the last run that this one keeps.
func (s *session) revisitor() (*revisitor, error) {
	dir := filepath.Join(s.dir, previousDir)
	was, err := readReport(dir)
	if err != nil {
		return nil, err
	}
	records, err := evidence.ReadVerified(dir, was.RunID)
	if err != nil {
		return nil, err
	}
	out := &revisited{RunID: was.RunID, Head: was.HeadSHA, Verdict: was.Verdict}
	r := &revisitor{host: &host{session: s}, out: out, dir: dir, report: was, records: map[string]evidence.Record{}}
	for _, rec := range records {
		r.records[rec.ID] = rec
	}
	return r, nil
}

// shareOf is when the n-th part of the time that the run has left is over.
func (s *session) shareOf(ctx context.Context, n time.Duration) time.Time {
	end, ok := ctx.Deadline()
	if !ok {
		return time.Time{}
	}
	now := s.Now()
	return now.Add(end.Sub(now) / n)
}

// since is what differs from an earlier head to this one; "" where the mirror has
// not got that head.
func (s *session) since(ctx context.Context, head string) string {
	if head == s.src.Change.HeadSHA {
		return ""
	}
	patch, err := s.mirror.Patch(ctx, head, s.src.Change.HeadSHA, revisitDiff)
	if err != nil && !errors.Is(err, workspace.ErrTooLarge) {
		return ""
	}
	return string(patch)
}

// A revisitor runs the checks of one last run again.
type revisitor struct {
	*host
	out     *revisited
	dir     string // of the last run, as this one keeps it
	report  *report.Report
	records map[string]evidence.Record
	until   time.Time
	ran     int
}

// recordOf is what a check of the last run rests on, where it can be run again.
func (r *revisitor) recordOf(c report.Check) (evidence.Record, bool) {
	if c.Kind != report.KindAgent || c.Result == report.ResultSkip || len(c.Evidence) == 0 {
		return evidence.Record{}, false
	}
	was, ok := r.records[c.Evidence[len(c.Evidence)-1]]
	return was, ok && was.Executed
}

// check runs one check of the last run again.
func (r *revisitor) check(ctx context.Context, c report.Check) error {
	was, ok := r.recordOf(c)
	if !ok {
		return nil
	}
	v := report.Revisit{Title: c.Title, Command: c.Command, Was: c.Result, Evidence: []string{}}
	switch {
	case r.ran >= revisitMost, !r.until.IsZero() && r.Now().After(r.until):
		v.Now = report.NotRevisited
	default:
		r.ran++
		if err := r.compare(ctx, c, was, &v); err != nil {
			return err
		}
	}
	r.out.Checks = append(r.out.Checks, v)
	return nil
}

// revisitTask begins the names of the tasks under which commands of the last run
// stand in the log. It is stored: do not change it.
const revisitTask = "again/"

// compare runs the command of a check and says what it does now.
func (r *revisitor) compare(ctx context.Context, c report.Check, was evidence.Record, v *report.Revisit) error {
	task := revisitTask + c.ID
	head, err := r.repeat(ctx, was, r.head, task+"/head")
	if err != nil {
		return err
	}
	v.Evidence = append(v.Evidence, head.ID)
	v.Now, v.Reproduction, err = r.judge(c.Result, was, head, func() (evidence.Record, error) {
		base, err := r.repeat(ctx, was, r.base, task+"/base")
		if err == nil {
			v.Evidence = append(v.Evidence, base.ID)
		}
		return base, err
	})
	return err
}

// judge says what the command of a check that had this result does now. A failure
// counts only where the base, which is asked then, does not have it.
func (r *revisitor) judge(had report.Result, was, head evidence.Record, onBase func() (evidence.Record, error)) (report.Became, report.Reproduction, error) {
	same := r.sameAs(was, head)
	now := report.StillFails
	switch {
	case lacking(r.wrote(head), r.recorded(was), nil) || head.Exit == 126 || head.Exit == 127:
		return report.CannotRun, "", nil
	case had == report.ResultPass && same:
		return report.Holds, "", nil
	case had == report.ResultFail && !same:
		return report.Fixed, "", nil
	case had == report.ResultPass && head.Exit == 0:
		return report.Differs, "", nil // it ends well and prints something else: for people to look at
	case had == report.ResultPass:
		now = report.Broke
	}
	base, err := onBase()
	switch {
	case err != nil:
		return now, "", err
	case lacking(r.wrote(base), r.wrote(head), added(r.src.Change.Files)):
		return now, report.HeadOnly, nil
	case !r.alike(head, base):
		return now, report.Introduced, nil
	}
	return now, report.PreExisting, nil
}

// treesOf are the folders of an agent in the run that recorded a command.
func treesOf(run string) *regexp.Regexp {
	return regexp.MustCompile(`/\S*/worktrees/` + regexp.QuoteMeta(run) + `/agents/[0-9a-f]+`)
}

// repeat runs a command of the last run in a fresh copy of a prepared snapshot.
func (r *revisitor) repeat(ctx context.Context, was evidence.Record, of *workspace.Tree, task string) (evidence.Record, error) {
	dir := filepath.Join(r.trees, "again", strconv.Itoa(r.ran)+"-"+filepath.Base(task))
	tree, err := r.pool.Copy(ctx, of, dir)
	if err != nil {
		return evidence.Record{}, err
	}
	defer r.pool.Put(tree, of)
	home, temp := dir+"-home", filepath.Join(r.temps(), "p"+strconv.Itoa(r.ran)+filepath.Base(task))
	defer os.RemoveAll(temp)
	command := treesOf(r.report.RunID).ReplaceAllLiteralString(spokenBefore(was), tree.Dir)
	x := evidence.Execution{Agent: "host", Task: task, Command: command, Root: tree.Dir, Cwd: was.Cwd, Tree: tree.OID}
	if x.Run, err = r.template(ctx, tree, home, temp); err != nil {
		return evidence.Record{}, err
	}
	x.Run.Argv = []string{"bash", "--noprofile", "--norc", "-o", "pipefail", "-c", command}
	x.Run.Timeout = rerunTime
	rec, _, err := r.log.Run(ctx, r.Sandbox, x)
	return rec, err
}

// spokenBefore is the command of a record of the last run.
func spokenBefore(was evidence.Record) string {
	if was.Command == "" {
		return strings.Join(was.Argv, " ")
	}
	return was.Command
}

// sameAs compares with a record of the last run.
func (r *revisitor) sameAs(was, now evidence.Record) bool {
	if was.TimedOut || now.TimedOut {
		return was.TimedOut == now.TimedOut
	}
	if was.Exit != 0 {
		return now.Exit != 0
	}
	out, err := evidence.ReadOutput(r.dir, was.Stdout)
	return err == nil && now.Exit == 0 && comparable(string(out)) == r.printed(now)
}

// recorded is all that a command of the last run wrote.
func (r *revisitor) recorded(was evidence.Record) string {
	var b strings.Builder
	for _, o := range []evidence.Output{was.Stdout, was.Stderr} {
		if out, err := evidence.ReadOutput(r.dir, o); err == nil {
			b.Write(out)
		}
	}
	return b.String()
}

// concludeRevisit brings what became of the last run's checks into the report: a
// check that fails here and not on the base is a failure, whoever looks.
func (s *session) concludeRevisit(rep *report.Report, v *revisited) {
	if v == nil {
		return
	}
	rep.Notes = append(rep.Notes, v.Notes...)
	if v.RunID == "" {
		return
	}
	rep.Previous = &report.Previous{RunID: v.RunID, HeadSHA: v.Head, Verdict: v.Verdict, Checks: v.Checks}
	for _, c := range v.Checks {
		if c.Reproduction != report.Introduced && c.Reproduction != report.HeadOnly || rep.Outcome == report.Cancelled || rep.Verdict == report.Error {
			continue
		}
		rep.Checks = append(rep.Checks, report.Check{
			ID: "C" + strconv.Itoa(len(rep.Checks)+1), Title: c.Title + " (check of the last run)", Kind: report.KindProbe, Result: report.ResultFail,
			Command: c.Command, Evidence: c.Evidence, Support: report.Supported, Reproduction: c.Reproduction,
		})
		if rep.Verdict != report.Fail {
			rep.Verdict, rep.Reasons = report.Fail, append([]string{fmt.Sprintf("check %q of the last run %s (%s)", c.Title, c.Now.Words(), c.Reproduction)}, rep.Reasons...)
		}
	}
}

// previousNotes tell an agent what the last run found and what came since.
func (v *revisited) previousNotes() string {
	if v == nil || v.RunID == "" {
		return ""
	}
	var b, checks strings.Builder
	fmt.Fprintf(&b, "\n## The last run\n\nIt verified %s and said %s. Its checks were run again on this head, by their commands:\n\n", change.Short(v.Head), v.Verdict)
	for _, c := range v.Checks {
		fmt.Fprintf(&checks, "%s: was %s, now %s %s\n", c.Title, c.Was, c.Now.Words(), strings.Join(c.Evidence, " "))
	}
	b.WriteString(fence(checks.String()))
	if v.Diff != "" {
		b.WriteString("\nWhat came since then; look at this first, and do not repeat what holds:\n\n" + fence(v.Diff))
	}
	return b.String()
}

package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ycbot/ycbot/internal/change"
	"github.com/ycbot/ycbot/internal/journal"
	"github.com/ycbot/ycbot/internal/report"
)

// previousDir is where the run directory lies from which a verdict was taken over.
const previousDir = "previous"

// A takeover is the verdict of an earlier run on the same files.
type takeover struct {
	RunID  string `json:"run_id"` // empty: there is none
	Head   string `json:"head"`
	Digest string `json:"digest"` // of its SHA256SUMS
}

// takeOver looks whether the last run verified the very same: the same files at
// head, merge base and configuration, the same task, model and program. Then its
// verdict is this run's, and its directory is copied into this one, so that all
// that carries it is here. Nothing but PASS and FAIL is taken over: the rest may
// have been the fault of that day.
func (s *session) takeOver(ctx context.Context) (*takeover, error) {
	dir := s.job.Previous
	if sub := filepath.Join(dir, previousDir); isRun(sub) {
		dir = sub // it had taken its verdict over itself
	}
	was, err := Check(dir, "")
	if err != nil || len(was.Problems) > 0 {
		return &takeover{}, nil //nolint:nilerr // what is wrong with it the checks of the last run say
	}
	same, err := s.sameWork(ctx, dir, was.Report)
	if err != nil || !same {
		return &takeover{}, err
	}
	if err := os.CopyFS(filepath.Join(s.dir, previousDir), os.DirFS(dir)); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("take the last run over: %w", err)
	}
	return &takeover{RunID: was.Report.RunID, Head: was.Report.HeadSHA, Digest: was.Digest}, nil
}

func isRun(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "SHA256SUMS"))
	return err == nil
}

// sameWork compares what that run did with what this one would do.
func (s *session) sameWork(ctx context.Context, dir string, was *report.Report) (bool, error) {
	c := s.src.Change
	if was.Verdict != report.Pass && was.Verdict != report.Fail || was.Outcome != report.Completed ||
		was.Repo != c.Repo || was.PR != c.PR || was.Trust != s.around.Trust || was.Versions.Ycbot != s.around.Versions.Ycbot {
		return false, nil
	}
	j, err := journal.Read(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		return false, err
	}
	old := &session{Runner: &Runner{}, dir: dir, journal: j}
	var id identity
	if _, err := old.recall(); err != nil || !old.lookup("run", "identity", &id) {
		return false, nil //nolint:nilerr // it is no run that can be compared
	}
	mine := s.identity()
	if id.Model != mine.Model || id.Config != mine.Config || id.Where != mine.Where || old.src.Change.Task != c.Task {
		return false, nil
	}
	for _, pair := range [][2]string{{was.HeadSHA, c.HeadSHA}, {was.MergeBase, c.MergeBase}} {
		if same, err := s.sameTree(ctx, pair[0], pair[1]); err != nil || !same {
			return false, nil //nolint:nilerr // the mirror has not got that commit any more
		}
	}
	a, errA := s.mirror.ReadFile(ctx, was.BaseSHA, configFile)
	b, errB := s.mirror.ReadFile(ctx, c.BaseSHA, configFile)
	return bytes.Equal(a, b) && (errA == nil) == (errB == nil), nil
}

// sameTree says whether two commits have the same files.
func (s *session) sameTree(ctx context.Context, a, b string) (bool, error) {
	if a == b {
		return true, nil
	}
	var trees [2][]byte
	for i, oid := range []string{a, b} {
		var err error
		if trees[i], err = s.mirror.Git(ctx, "rev-parse", "--verify", oid+"^{tree}"); err != nil {
			return false, err
		}
	}
	return bytes.Equal(trees[0], trees[1]), nil
}

// taken is the report of a run that took its verdict over.
func (s *session) taken(t *takeover) (*report.Report, error) {
	was, err := readReport(filepath.Join(s.dir, previousDir))
	if err != nil {
		return nil, err
	}
	rep := s.facts()
	rep.Outcome, rep.Verdict, rep.Reasons, rep.Checks, rep.Findings = report.Completed, was.Verdict, was.Reasons, was.Checks, was.Findings
	rep.NotCovered, rep.Denied, rep.Tests, rep.Model = was.NotCovered, was.Denied, was.Tests, was.Model
	rep.Versions.Toolchains = was.Versions.Toolchains
	rep.Subagents = slices.Clone(was.Subagents)
	for i := range rep.Subagents {
		rep.Subagents[i].Transcript = previousDir + "/" + rep.Subagents[i].Transcript
	}
	rep.Notes = append(rep.Notes, fmt.Sprintf("nothing was run: run %s verified the same files at %s, and its verdict, checks and findings are taken over; what carries them is in %s/",
		t.RunID, change.Short(t.Head), previousDir))
	rep.Timings.DurationMS = s.Now().Sub(s.began).Milliseconds()
	return rep, nil
}

// takenOver holds a report that was taken over against the run that it is from.
func (c *Checked) takenOver(dir string, s *session, t *takeover) {
	sub := filepath.Join(dir, previousDir)
	was, err := Check(sub, t.Digest)
	if err != nil {
		c.problem("%v", err)
		return
	}
	for _, p := range was.Problems {
		c.problem("%s: %s", previousDir, p)
	}
	if was.Report == nil {
		return
	}
	s.Now = func() time.Time { return s.began }
	again, err := s.taken(t)
	if err != nil {
		c.problem("%v", err)
		return
	}
	c.compare("what follows from the run that it is from", again, false)
}

package run

import (
	"bytes"
	"context"
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

// previousDir is where a run keeps the directory of the last one, whose verdict it
// took over or whose checks it ran again.
const previousDir = "previous"

// A takeover is what became of the last run: its directory is kept in this one,
// and its verdict is taken over where it verified the same files.
type takeover struct {
	RunID  string `json:"run_id"` // of the run whose verdict is taken over; empty: none is
	Head   string `json:"head"`
	Digest string `json:"digest"`        // of the SHA256SUMS of what is kept; empty: nothing is
	Why    string `json:"why,omitempty"` // nothing is kept
	// Accepted says that the verdict is not taken over but concluded again, with what
	// a person accepted.
	Accepted bool `json:"accepted,omitempty"`
}

// takeOver keeps the last run, and looks whether it verified the very same: the
// same files at head, merge base and configuration, the same task, model and
// program. Then its verdict is this run's. Nothing but PASS and FAIL is taken
// over: the rest may have been the fault of that day.
func (s *session) takeOver(ctx context.Context) (*takeover, error) {
	dir := Origin(s.job.Previous)
	was, err := Check(dir, "")
	switch {
	case err != nil:
		return &takeover{Why: err.Error()}, nil
	case len(was.Problems) > 0:
		return &takeover{Why: fmt.Sprintf("%s is not intact: %s", s.job.Previous, was.Problems[0])}, nil
	}
	if err := s.keep(dir); err != nil {
		return nil, fmt.Errorf("keep the last run: %w", err)
	}
	t := &takeover{Digest: was.Digest}
	if s.driven {
		return t, nil // the run that is driven again went on, or it would not be driven
	}
	same, err := s.sameWork(ctx, dir, was.Report)
	if err != nil {
		return nil, err
	}
	if same {
		t.RunID, t.Head = was.Report.RunID, was.Report.HeadSHA
	}
	return t, nil
}

// Origin is the run directory that a finished run rests on: dir itself, or the
// one that it keeps where it took a verdict over and ran nothing.
func Origin(dir string) string {
	j, err := journal.Read(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		return dir // whoever reads it next says what is wrong
	}
	var t takeover
	s := &session{journal: j}
	if !s.lookup("stage", "takeover", &t) || t.RunID == "" {
		return dir
	}
	return filepath.Join(dir, previousDir)
}

// keep copies the directory of the last run into this one's, without the run that
// it keeps itself: else each run would hold all before it.
func (s *session) keep(dir string) error {
	to := filepath.Join(s.dir, previousDir)
	if isRun(to) {
		return nil
	}
	part := to + ".part" // of a copy that a crash broke off
	if err := os.RemoveAll(part); err != nil {
		return err
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && rel == previousDir:
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(part, rel), 0o700)
		}
		data, err := os.ReadFile(path) // a regular file: the directory was checked
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(part, rel), data, 0o600)
	})
	if err != nil {
		return err
	}
	return os.Rename(part, to)
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
	rep.Expectations, rep.Accepted, rep.Statistics, rep.Believed = was.Expectations, was.Accepted, was.Statistics, was.Believed
	rep.Title, rep.Phase, rep.Executed = was.Title, was.Phase, was.Executed
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
func (c *Checked) takenOver(s *session, t *takeover) {
	if !c.kept(t) {
		return
	}
	s.Now = func() time.Time { return s.began }
	remade := s.taken
	if t.Accepted {
		remade = s.accepted
	}
	again, err := remade(t)
	if err != nil {
		c.problem("%v", err)
		return
	}
	c.compare("what follows from the run that it is from", again, false)
}

// kept checks the last run, which this one keeps.
func (c *Checked) kept(t *takeover) bool {
	was, err := Check(filepath.Join(c.dir, previousDir), t.Digest)
	if err != nil {
		c.problem("%v", err)
		return false
	}
	for _, p := range was.Problems {
		c.problem("%s: %s", previousDir, p)
	}
	return was.Report != nil
}
